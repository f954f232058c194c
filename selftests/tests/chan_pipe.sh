#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rclink send, recv and pingpong between two hosts: the data arrive unchanged, a
# transfer has a clear end, and a message tells why if it has not.
# hosts: 2
# kernels: 6.1 6.12-all mixed-all debug-all
# timeout: 300
# The libraries define the variables; gojq expands those in its filters.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

in=/tmp/rclink-test-in
out=/tmp/rclink-test-out
recv_says=/tmp/rclink-test-recv
receiver=''

# sum_on_2 FILE: the SHA-256 of FILE on host 2
sum_on_2()
{
	on 2 sha256sum "$1" | cut -d ' ' -f 1
}

# receive COMMAND: host 2 runs a shell command that has rclink recv in it
receive()
{
	on 2 sh -c "$1" >"$recv_says" 2>&1 &
	receiver=$!
	until_true 10 listens 2
}

# received STATUS: the receiver ends with STATUS
received()
{
	local status

	wait "$receiver"
	status=$?
	cat "$recv_says"
	[ "$status" -eq "$1" ]
}

# moves BYTES: so many random bytes arrive, and both ends print their number and SHA-256
moves()
{
	local sum doc

	head -c "$1" /dev/urandom >"$in"
	sum=$(sha256sum <"$in" | cut -d ' ' -f 1)
	receive "$tool recv l -j >$out" || return
	doc=$(rclink send l -j <"$in") || return
	received 0 || return
	[ "$(sum_on_2 "$out")" = "$sum" ] || return
	gojq -e --argjson bytes "$1" --arg sum "$sum" \
		'.bytes == $bytes and .sha256 == $sum' <<<"$doc" &&
		gojq -e --argjson bytes "$1" --arg sum "$sum" \
			'.bytes == $bytes and .sha256 == $sum' "$recv_says"
}

# Input that comes in small pieces arrives piece by piece; its end ends the transfer.
drops()
{
	receive "$tool recv l:drops" || return
	{ echo a; until_true 10 grep -qx a "$recv_says" && echo b; } |
		rclink send l:drops || return
	received 0 && [ "$(cat "$recv_says")" = $'a\nb' ]
}

# on_terminals [-q]: a transfer between terminals; sets said_1 and said_2 to what sender
# and receiver print there
on_terminals()
{
	head -c 3000000 /dev/zero >"$in"
	receive "script -qec '$tool recv l $1 >$out' /dev/null" &&
		said_1=$(script -qec "$tool send l $1 <$in" /dev/null) &&
		received 0 && [ "$(sum_on_2 "$out")" = \
			"$(sha256sum <"$in" | cut -d ' ' -f 1)" ] &&
		said_2=$(<"$recv_says")
}

quiet()
{
	local said_1 said_2

	on_terminals -q || return
	printf '%s\n' "$said_1" "$said_2"
	[ -z "$said_1$said_2" ] && on_terminals '' || return
	grep -q 'MiB/s' <<<"$said_1" && grep -q 'MiB/s' <<<"$said_2"
}

closed()
{
	[ "$(of 1 l .stats.channels)" -eq 0 ] &&
		[ "$(of 2 l .stats.channels)" -eq 0 ]
}

# Host 2 counts as many bytes received by channels as host 1 counts sent.
counted()
{
	local sent got

	sent=$(of 1 l .stats.chan_bytes)
	got=$(of 2 l .stats.chan_recv_bytes)
	moves 100000 || return
	sent=$(($(of 1 l .stats.chan_bytes) - sent))
	got=$(($(of 2 l .stats.chan_recv_bytes) - got))
	echo "sent $sent, received $got"
	[ "$sent" -ge 100000 ] && [ "$sent" -eq "$got" ] && until_true 10 closed
}

# The input fits into the buffers on the way, but counts as arrived only once the
# receiver has written it out.
slow_reader()
{
	local doc

	head -c 600000 /dev/zero >"$in"
	receive "$tool recv l |
		{ head -c 1; sleep $((4 * RCL_SLOW)); cat; } >$out" || return
	doc=$(rclink send l -j <"$in") || return
	echo "$doc"
	received 0 && gojq -e '.duration > 1e9' <<<"$doc"
}

shows_rate()
{
	rclink show l >"$said"
	grep -qE '^ *channels +1 open' "$said" &&
		grep -qE '^ *at the moment +[1-9][0-9.]* [KMG]iB/s$' "$said"
}

rate()
{
	local sender status=0

	receive "$tool recv l >/dev/null" || return
	rclink send l </dev/zero &
	sender=$!
	until_true 10 shows_rate || status=1
	cat "$said"
	pkill -KILL -x -f "$tool send l"
	wait "$sender" 2>/dev/null
	received 1 && return "$status"
}

# A second transfer to the same service while the first goes on: the name is taken.
second_sender()
{
	local first sender status said=$out	# refuse has another one

	receive "$tool recv l:twice >/dev/null" || return
	first=$receiver
	rclink send l:twice </dev/zero 2>/dev/null &
	sender=$!
	until_true 10 shows_rate && until_true 10 eval '! listens 2' &&
		receive "$tool recv l:twice >/dev/null"
	rclink send l:twice </dev/null
	status=$?
	pkill -KILL -x -f "$tool send l:twice"
	wait "$first" "$receiver" "$sender" 2>/dev/null
	return "$status"
}

# sends_until_end STATUS COMMAND...: runs COMMAND and returns its status, once the
# receiver has ended with STATUS
sends_until_end()
{
	local status

	"${@:2}"
	status=$?
	received "$1" || return 99
	return "$status"
}

much_and_the_end()
{
	head -c 3000000 /dev/zero
	on 2 pkill -KILL -x rclink
	cat /dev/zero
}

# The receiver is killed while much data is still to come; below, the sender is.
kill_receiver()
{
	receive "$tool recv l >$out" || return
	sends_until_end 137 rclink send l < <(much_and_the_end)
}

kill_sender()
{
	local status=0

	receive "$tool recv l >$out" || return
	mkfifo "$out.in"
	# This shell keeps the FIFO open, so the sender's input does not end by itself.
	exec 9<>"$out.in"
	rclink send l <&9 &
	timeout $((20 * RCL_SLOW)) head -c 3000000 /dev/zero >&9 || status=1
	until_true 20 on 2 test -s "$out" || status=1
	pkill -KILL -x -f "$tool send l"
	wait $! 2>/dev/null
	exec 9>&-
	rm "$out.in"
	received 1 && [ "$status" -eq 0 ] && grep -q 'broken off' "$recv_says" &&
		[ "$(wc -l <"$recv_says")" -eq 1 ]
}

# When one end cannot go on, the other one prints the reason.
full()
{
	receive "$tool recv l >/dev/full" || return
	sends_until_end 1 rclink send l <"$in"
}

unreadable()
{
	receive "$tool recv l >$out" || return
	rclink send l </
	[ $? -eq 1 ] && received 1 && grep -q 'gave up: Is a dir' "$recv_says"
}

# An input that fails when much of it has been sent: the memory of this shell, up to
# addresses that are not mapped.
breaks_off()
{
	local from status i

	from=$(grep -m 1 ' r-xp .*bash$' /proc/$$/maps)
	for ((i = 0; i < 8; i++)); do
		receive "$tool recv l >$out" || return
		{
			dd bs=1 skip=$((16#${from%%-*})) count=0 2>/dev/null
			rclink send l
		} </proc/$$/mem
		status=$?
		received 1 && [ "$status" -eq 1 ] &&
			grep -q 'gave up: Input/output error' "$recv_says" &&
			on 2 test -s "$out" || return
	done
}

# When stdin is closed, no file that is opened later is taken for it.
without_stdin()
{
	receive "$tool recv l >$out" || return
	sends_until_end 1 timeout 20 "$tool" send l <&-
}

told_without_stdin()
{
	cat "$recv_says"
	grep -q 'gave up: Bad file descriptor' "$recv_says"
}

without_stdout()
{
	receive "$tool recv l >&-" || return
	sends_until_end 1 timeout 20 "$tool" send l <"$in"
}

# pings OPTIONS: both ends of a pingpong print both addresses and two lines of results
pings()
{
	local count

	on 2 "$tool" pingpong -l l "$@" >"$recv_says" 2>&1 &
	receiver=$!
	until_true 10 listens 2
	if ! rclink pingpong l "$@" >"$said"; then
		wait "$receiver"
		cat "$recv_says"
		return 1
	fi
	cat "$said"
	received 0 || return
	for count in "$said" "$recv_says"; do
		[ "$(wc -l <"$count")" -eq 4 ] &&
			grep -qE '^  local address:  LID 0x[0-9a-f]{4}, GID [0-9a-f:.]+$' "$count" &&
			grep -qE '^  remote address: LID 0x[0-9a-f]{4}, GID [0-9a-f:.]+$' "$count" &&
			grep -qE '^[0-9]+ bytes in [0-9.]+ seconds = [0-9.]+ Mbit/sec$' "$count" &&
			grep -qE '^[0-9]+ iters in [0-9.]+ seconds = [0-9.]+ usec/iter$' "$count" ||
			return
	done
}

# game: both ends of a pingpong print one object, with what host 1 asked for and
# a time that is not longer than the whole
game()
{
	local start=${EPOCHREALTIME/[.,]/} most doc

	on 2 "$tool" pingpong -l l:game -j >"$recv_says" &
	receiver=$!
	until_true 10 listens 2
	if ! rclink pingpong l:game -n 50 -s 700 -c -j >"$said"; then
		wait "$receiver"
		return 1
	fi
	received 0 || return
	most=$((${EPOCHREALTIME/[.,]/} - start))
	cat "$said"
	for doc in "$said" "$recv_says"; do
		gojq -es --argjson most "${most}000" 'length == 1 and
			(.[0] | .duration > 0 and .duration < $most and
			 del(.duration) == {name: "l", service: "game",
				size: 700, iters: 50, bytes: 70000})' \
			<"$doc" || return
	done
}

# Each half of its memory is more than may be locked.
locked()
{
	on 2 "$tool" pingpong -l l >"$recv_says" 2>&1 &
	receiver=$!
	until_true 10 listens 2
	(ulimit -l 1024 && exec setpriv --bounding-set -ipc_lock \
		"$tool" pingpong l -s 1048576)
	set -- $?
	wait "$receiver"
	return "$1"
}

# The library's examples, which are there to be copied from, work: each message is sent
# after the answer to the one before.
examples()
{
	local echo status said_all

	on 2 "$LIB_DIR/../tools/librclink/echo" l echo &
	echo=$!
	until_true 10 listens 2
	"$LIB_DIR/../tools/librclink/example" l echo "$@" >"$said"
	status=$?
	said_all=$(printf '%s\n' "$@")
	wait "$echo" && [ "$status" -eq 0 ] && [ "$(<"$said")" = "$said_all" ]
}

plan 31
chan_setup
for size in 0 1 65535 65536 65537 5242880; do
	check "$size bytes arrive as they are" moves $size
done
check "a stream in drops arrives" drops
check "on a terminal they tell how far they are, but with -q" quiet
check "both ends count what was moved" counted
check "a transfer lasts until its last byte is written" slow_reader
check "a transfer is seen while it lasts" rate
refuse 1 "a second sender to a service hears why it waited for nothing" \
	'another process uses this service' second_sender
refuse 1 "without a listener the sender is refused" 'nobody listens' \
	rclink send l
refuse 1 "a link that is not there is refused" 'no such link' \
	rclink send nosuch
refuse 1 "and so it is by the receiver" 'nosuch' rclink recv nosuch
refuse 1 "a receiver that is killed ends the sender" 'send l:pipe' \
	kill_receiver
check "a sender that is killed ends the receiver" kill_sender
refuse 1 "a receiver that cannot write says so at the sender" \
	'gave up: cannot write: No space' full
check "a sender that cannot read says so at the receiver" unreadable
check "and so does one that cannot read on" breaks_off
refuse 1 "a sender without an input says so" \
	'cannot read the input: Bad file descriptor' without_stdin
check "and the receiver hears why" told_without_stdin
refuse 1 "a receiver without an output says so at the sender" \
	'gave up: cannot write: Bad file descriptor' without_stdout
check "the next transfer works" moves 100000
check "pingpong by polling" pings --check
comment <"$said"
check "pingpong by events" pings --check --events
comment <"$said"
check "pingpong of 1 MiB, with one receive" \
	pings --check --size 1048576 --iters 20 --depth 1
check "pingpong in JSON, which has the parameters at both ends" game
refuse 1 "pingpong says once that it may not lock its memory" \
	'cannot register memory' locked
check "the examples of the library talk to each other" examples \
	"hello, world" {1..200} "good bye"
check "the link is still up" is 1 l .state up
rclink disconnect l
finish
