#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A host that stands still under traffic, for shorter and for longer than its peer
# waits for it; and clocks that are set while a link is up.
# hosts: 2
# kernels: 6.12-all 6.1-all debug-all
# timeout: 500
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

command -v lab_power >/dev/null || skip_all "needs a host that can stand still"

# A peer is given up after 8 to 10 s; rxe retransmits nothing before 8.6 s.
words=(heartbeat 2000 misses 4 timeout 21)
bench=/tmp/rclink-test-still
server='' writer=''

count()
{
	on "$1" "$tool" stats l -j | gojq ".[0].$2"
}

# Host 2, which is the one to stand still, has the operations in flight.
writes_begin()
{
	"$tool" bench l --listen >"$bench.1" 2>&1 &
	server=$!
	until_true 20 eval 'ls -l /proc/$server/fd | grep -q /dev/rclink' ||
		return
	on 2 "$tool" bench l bw -o write -s 4096 -n 1000000 >"$bench.2" 2>&1 &
	writer=$!
	until_true 20 moves 100
}

# moves OPERATIONS: channels of host 2 have carried out more than OPERATIONS
moves()
{
	[ "$(count 2 chan_ops)" -gt "$1" ]
}

stands_still()
{
	lab_power 2 pause
	sleep "$1"
	lab_power 2 resume
}

# goes_on CMD...: the epoch survives CMD, and traffic and heartbeats go on
goes_on()
{
	local epoch before

	epoch=$(of 1 l .epoch)
	"$@" || return
	before=$(count 2 chan_ops)
	until_true 20 moves $((before + 100)) || {
		echo "$before writes, and then $(count 2 chan_ops)"
		return 1
	}
	beats || {
		echo "no heartbeats"
		return 1
	}
	same "$epoch"
}

# same EPOCH: both ends are up in EPOCH, and a ping gets through
same()
{
	is 1 l .state up && is 2 l .state up && is 1 l .epoch "$1" &&
		is 2 l .epoch "$1" && rclink ping l -c 3 -i 0 -q
}

# At least two more heartbeats are sent.
beats()
{
	local before

	before=$(($(count 1 heartbeats) + $(count 2 heartbeats)))
	until_true 30 eval \
		"[ \$((\$(count 1 heartbeats) + \$(count 2 heartbeats))) -gt $((before + 1)) ]"
}

# The watchdogs of host 2 would take such a long pause for a lockup or a stall.
watched()
{
	on 2 sh -c "echo $1 >/proc/sys/kernel/watchdog &&
		echo $((1 - $1)) >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress"
}

# Host 2 stands still about three times as long as its peer waits.
given_up()
{
	watched 0 || return
	lab_power 2 pause
	until_true 30 is 1 l .state down
	set -- $?
	# The other end knows of nothing, and it is much later there; here nothing is left
	# that could take what it sends.
	sleep 15
	empty 1 || set -- 1
	lab_power 2 resume
	watched 1
	of 1 l .reason_text
	return "$1"
}

# The writer of host 2, which went on with the old epoch, is told that it has ended.
finds_out()
{
	until_true 30 is 2 l .state down || return
	wait "$writer" && return 1
	cat "$bench.2"
	[ "$(wc -l <"$bench.2")" -eq 1 ] && empty 1 && empty 2
}

# The server that host 1 started in the old epoch serves the new one.
begins_anew()
{
	local epoch=$1

	link_dial l && [ "$(of 2 l .epoch)" -gt "$epoch" ] &&
		on 2 "$tool" bench l bw -o write -s 4096 -n 64
}

# Set the clock of this host a day ahead, and that of host 2 a day back.
clocks_part()
{
	date -s '1 day' && on 2 date -s '-1 day' && are_apart 2
}

# are_apart DAYS: the clock of this host is DAYS ahead of host 2's, to a minute
are_apart()
{
	local late=$(($(date +%s) - $(on 2 date +%s) - $1 * 86400))

	echo "$late s from $1 days apart"
	[ "${late#-}" -le 60 ]
}

clocks_meet()
{
	date -s '-1 day' && on 2 date -s '1 day' && are_apart 0
}

clocks_jump()
{
	local epoch status=0

	epoch=$(of 1 l .epoch)
	clocks_part || return
	beats && same "$epoch" || status=1
	clocks_meet || return
	beats && same "$epoch" || status=1
	return $status
}

dials_apart()
{
	local status

	clocks_part || return
	rclink disconnect l
	link_dial l && rclink ping l -c 3 -i 0 -q
	status=$?
	clocks_meet && return $status
}

# An answer may take as long as heartbeats allow, if that is more than 10 s.
answers_late()
{
	local epoch pinger status=0

	rclink set l heartbeat 5000 misses 6 &&
		on 2 "$tool" set l heartbeat 5000 misses 6 &&
		rclink disconnect l && link_dial l && watched 0 || return
	epoch=$(of 1 l .epoch)
	lab_power 2 pause
	rclink ping l -c 1 &
	pinger=$!
	sleep 13
	is 1 l .state up || status=1
	lab_power 2 resume
	wait "$pinger" || status=1
	watched 1
	[ $status -eq 0 ] && same "$epoch"
}

plan 11
link_setup
link_listen l
check "the link comes up" link_pair l "${words[@]}"
holds "host 2 writes to host 1" writes_begin
check "a second of standing still is survived" goes_on stands_still 1
check "so is half of what the peer waits" goes_on stands_still 4
epoch=$(of 1 l .epoch)
check "after longer than that the peer has given it up" given_up
holds "it finds out by itself, and its writes end" finds_out
check "what served goes on with the next epoch" begins_anew "$epoch"
kill "$server"
wait "$server" 2>/dev/null
check "clocks that jump by a day, and back, are no matter" clocks_jump
check "a link comes up between hosts two days apart" dials_apart
holds "an answer may take as long as heartbeats allow" answers_late
check "it is deleted" eval 'rclink del l && on 2 "$tool" del l'
link_listen_end
finish
