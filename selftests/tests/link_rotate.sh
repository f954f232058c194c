#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link is rotated: it gets another epoch with new QPs, PSNs and keys, while it stays
# up and its channels go on. If the rotation fails, the link stays as it was.
# hosts: 2
# kernels: 6.12-all 6.1-all mixed-all debug-all
# lab: shapes the lab's network
# timeout: 500
# The libraries set or use the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/chan/faults.sh"

seen=/tmp/rclink-test-monitor
refused=/tmp/rclink-test-refused
timed=/tmp/rclink-test-timed

# The heartbeat is slow, so that a busy machine does not take the link down.
conf()
{
	link_section l "$1" heartbeat 1000 misses 8 recover "${2:-resume}" qps 6 \
		"${@:3}"
}

rotations=5
calls=$LIB_DIR/../build/chan/calls
asked=/tmp/rclink-test-asked	# and the word
askers=()

# The QPNs, PSNs and rkeys of the present epoch at both ends, one on each line.
secrets()
{
	local host

	for host in 1 2; do
		of $host l '.local | (.queue_pairs[] | "qpn \(.qpn)", "psn \(.psn)"),
			"rkey \(.rkey)"' | sed "s/^/host $host: /"
	done
}

stays_up()
{
	"$tool" monitor >"$seen" &
	watcher=$!
	downs=$(of 1 l .stats.downs)-$(of 2 l .stats.downs)
}

stayed_up()
{
	kill "$watcher"
	wait "$watcher" 2>/dev/null
	cat "$seen"
	! grep -q ' down ' "$seen" &&
		[ "$(of 1 l .stats.downs)-$(of 2 l .stats.downs)" = "$downs" ]
}

# asks WORD: `calls` asks the peer in the background until it gets SIGTERM
asks()
{
	"$calls" l "$1" >"$asked-$1" 2>&1 &
	askers+=($!)
}

# Requests that wait for the peer's answer when the link is rotated do not fail.
calls_go_on()
{
	local asker far status=0

	on 2 "$calls" l listen >"$asked-listen" 2>&1 &
	far=$!
	until_true 10 grep -q listening "$asked-listen" || return
	asks import
	until_true 10 is 1 l .stats.channels 1 || return
	asks open
	rotates 1 $rotations || status=1
	for asker in "${askers[@]}"; do
		kill -TERM "$asker"
		wait "$asker" || status=1
	done
	kill "$far"
	wait "$far"
	tail "$asked"-*
	[ "$status" -eq 0 ] && [ "$(sum "$asked-import" times)" -gt 100 ] &&
		[ "$(sum "$asked-open" times)" -gt 20 ]
}

# Any process that may open a channel can have requests open all the time: a ping and a
# rotation have to get through all the same.
asked_all_the_time()
{
	local far asker status=0

	"$calls" l listen >"$asked-listen" 2>&1 &
	far=$!
	until_true 10 grep -q listening "$asked-listen" || return
	on 2 "$calls" l ask >"$asked-ask" 2>&1 &
	asker=$!
	until_true 10 is 2 l .stats.channels 1 &&
		on 2 "$tool" ping l -c 5 -i 0 -q &&
		on 2 "$tool" rotate l --timeout $((10 * RCL_SLOW)) || status=1
	on 2 pkill -TERM -x -f "$calls l ask"
	wait "$asker" || status=1
	kill "$far"
	wait "$far"
	cat "$asked-ask"
	return "$status"
}

# leads ADDRESS1 ADDRESS2: the link is rotated, and its new path is between these
leads()
{
	rclink set l gid-index "$(gid_index 1 "$1")" && rotates 1 1 &&
		is 1 l .gid "$1" && is 2 l .gid "$2"
}

# The path changes while messages are in flight. chaos_end finds any that were lost or
# duplicated.
other_path()
{
	local status

	leads 2001:db8::1 2001:db8::2 &&
		leads "::ffff:$RCL_IP" "::ffff:$RCL_PEER_IP" &&
		leads 2001:db8::1 2001:db8::2
	status=$?
	rclink set l gid-index auto && rotates 1 1 && return "$status"
}

# The link is up over IPv6. The next epoch may also use IPv4, which is tried first and
# fails.
second_path()
{
	local status

	leads 2001:db8::1 2001:db8::2 && rclink set l gid-index auto &&
		no_roce 2 ip || return
	rotates 1 1 && is 1 l .gid 2001:db8::1 &&
		rclink why l | grep "path 1 of .*, from $RCL_IP .* failed"
	status=$?
	rdma_hears 2
	return "$status"
}

# The link is up over IPv6. The next epoch may use IPv4 only, which fails until
# path_again.
no_path()
{
	local status start=$SECONDS

	epoch_then=$(of 1 l .epoch)
	rclink set l gid-index "$(gid_index 1 "::ffff:$RCL_IP")" &&
		no_roce 2 ip || return
	on 1 "$tool" rotate l --timeout $((100 * RCL_SLOW)) 2>"$refused"
	status=$?
	cat "$refused"
	echo "after $((SECONDS - start)) s"
	[ "$status" -eq 1 ] && grep -q 'the new epoch did not come up' "$refused" &&
		[ $((SECONDS - start)) -lt $((50 * RCL_SLOW)) ]
}

path_again()
{
	rdma_hears 2
	rclink set l gid-index auto
	until_true 60 later "$epoch_then"
}

nothing_is_the_same()
{
	local before after

	before=$(secrets)
	rotates 1 1 || return
	after=$(secrets)
	comment <<<"$before"
	comment <<<"$after"
	[ "$(grep -c qpn <<<"$after")" -eq 14 ] &&
		[ -z "$(sort <<<"$before"$'\n'"$after" | uniq -d)" ]
}

# qps: how many QPs the module has on host 1 and on host 2
qps()
{
	local near far

	near=$(objects 1 qp) && far=$(objects 2 qp) && echo "$near-$far"
}

# Each device has the QPs of one epoch only.
has_moved()
{
	qps_match 1 && qps_match 2
}

no_qp_too_many()
{
	local before now

	until_true 20 has_moved && before=$(qps) && rotates 1 1 || return
	until_true 20 has_moved
	now=$(qps) || return
	echo "before $before, now $now"
	[ "$before" = "$now" ]
}

# bench_while FILE: round trips of messages, one after the other, while FILE exists
bench_while()
{
	while [ -e "$1" ]; do
		rclink bench l lat -o send -n 500 -j || return
	done >"$timed" 2>&1
}

# messages COMMAND...: runs COMMAND beside round trips of messages; sets most to the
# longest time that half of a round trip took
messages()
{
	local ops bench status=0

	touch "$timed.on"
	bench_while "$timed.on" &
	bench=$!
	ops=$(of 1 l .stats.chan_ops)
	until_true 20 eval "[ \"\$(of 1 l .stats.chan_ops)\" -gt $((ops + 100)) ]" &&
		"$@" || status=1
	rm "$timed.on"
	wait $bench || status=1
	most=$(gojq -s 'map(.max) | max / 1000000 | floor' "$timed") &&
		return $status
}

# The channel has one message under way, so a rotation has hardly anything to wait for,
# and the pause is far below a second. Only a longer one in each of the tries is a
# failure: a host that stands still causes one now and then.
quick_beside_rotations()
{
	local i goal=200	# the default of heartbeat

	for i in 1 2 3; do
		messages rotates 1 3 || return
		figure "beside 3 rotations, the pause with it" "$most" ms "< $goal"
		[ "$most" -ge $((1000 * RCL_SLOW)) ] || return 0
	done
	return 1
}

pause()
{
	local most server status=0

	on 2 "$tool" bench l --listen >/dev/null 2>&1 &
	server=$!
	if until_true 10 listens 2 && messages true; then
		figure "longest half of a round trip" "$most" ms
		quick_beside_rotations || status=1
	else
		status=1
	fi
	on 2 pkill -x -f "$tool bench l --listen"
	wait $server
	return $status
}

# Over the whole run of the three chaos channels, whose processes have a low priority.
quick()
{
	figure "longest time without a message" "$(sum "$told" outage_ms)" ms
	[ "$(sum "$told" unknown)" -eq 0 ] &&
		[ "$(sum "$told" outage_ms)" -lt $((5000 * RCL_SLOW)) ]
}

# After the command, l is up with the same epoch as before at both ends, and no QP of
# another epoch is left.
fails()
{
	local epoch before

	epoch=$(of 1 l .epoch)
	before=$(qps) && "$@" || return
	until_true 20 eval '[ "$(qps)" = "'"$before"'" ]' &&
		[ "$(of 1 l .epoch)-$(of 2 l .epoch)" = "$epoch-$epoch" ] &&
		is 1 l .state up && is 2 l .state up &&
		rclink ping l -c 2 -i 0 -q && on 2 "$tool" ping l -c 2 -i 0 -q
}


# While `rclink rotate` is stopped, there are more events than its socket has room for.
# The newest ones are lost, among them the one that tells of the new epoch.
hears_the_oldest()
{
	local epoch i room rotate status=0

	epoch=$(of 1 l .epoch)
	room=$(sysctl -n net.core.rmem_max)
	daemon_signal 2 STOP && sysctl -qw net.core.rmem_max=4096 || status=1
	"$tool" rotate l --timeout $((15 * RCL_SLOW)) &
	rotate=$!
	until_true 10 eval 'ss -Htn state established "dport = :7185" | grep -q .' ||
		status=1
	kill -STOP $rotate
	sysctl -qw "net.core.rmem_max=$room"
	for ((i = 0; i < 10; i++)); do
		rclink add x && rclink del x || status=1
	done
	daemon_signal 2 CONT
	until_true 20 later "$epoch" || status=1
	kill -CONT $rotate
	wait $rotate && return $status
}

# Host 1's daemon, which dials, is gone: nobody takes up the wish to rotate.
unheard()
{
	local status

	kill_daemon 1
	on 1 "$tool" rotate l --timeout 2 2>"$refused"
	status=$?
	cat "$refused"
	[ "$status" -eq 1 ] && grep -q 'nobody did' "$refused"
}

# The module keeps the wish to rotate, and a daemon that starts later finds it.
heard_later()
{
	local epoch

	epoch=$(of 1 l .epoch)
	is 1 l .unwanted_epoch "$epoch" && daemon_start 1 &&
		until_true 20 later "$epoch" &&
		is 1 l '.unwanted_epoch // "none"' none
}

# Without host 1's daemon nobody dials, so `rclink rotate` waits until the link, and its
# record with it, is deleted.
deleted()
{
	local monitor rotate status

	kill_daemon 1
	"$tool" monitor >"$seen" &
	monitor=$!
	until_true 10 grep -q ' l present' "$seen" || return
	"$tool" rotate l 2>"$refused" &
	rotate=$!
	until_true 10 grep -q ' l rotate' "$seen" && rclink del l
	wait $rotate
	status=$?
	kill $monitor
	wait $monitor
	cat "$seen" "$refused"
	[ "$status" -eq 1 ] && grep -qx \
		'rclink: rotate l: the link was deleted; .rclink add. makes one' \
		"$refused" && daemon_start 1 && until_true 30 is 1 l .state up
}

# says_refused SECONDS: `rclink rotate` says that the peer refused, long before its time
# is up, although no event tells of an exchange that prepared nothing
says_refused()
{
	local start=$SECONDS

	! rotate 1 "$1" 2>"$refused" || return
	cat "$refused"
	echo "after $((SECONDS - start)) s"
	grep -q 'rotate l: an exchange that this host began failed: .*refused' \
		"$refused" && [ $((SECONDS - start)) -lt $(($1 / 2)) ]
}

# Host 2 has no daemon for a while. The wish to rotate, expressed once, is met when the
# daemon is back.
refused_at_first()
{
	local epoch before

	epoch=$(of 1 l .epoch)
	before=$(of 1 l .stats.downs)
	daemon_end 2 && says_refused $((10 * RCL_SLOW)) &&
		said 1 'l: not rotated' && is 1 l .epoch "$epoch" &&
		daemon_start 2 && until_true 40 later "$epoch" &&
		is 1 l .stats.downs "$before"
}

by_itself()
{
	local epoch

	epoch=$(of 1 l .epoch)
	conf "$pin2" resume peer "$RCL_PEER_IP" \
		rotate $((20 * RCL_SLOW)) | configure 1 &&
		reload 1 && until_true 45 later "$epoch" && said 1 'dialled'
}

# A daemon that has run for less than the interval rotates the link, too. Counted from
# its start that would take at least 18 seconds, times RCL_SLOW.
after_a_restart()
{
	local epoch

	daemon_end 1 || return
	epoch=$(of 1 l .epoch)
	sleep $((24 * RCL_SLOW))
	is 1 l .epoch "$epoch" && daemon_start 1 && until_true 14 later "$epoch"
}

# The peer begins an exchange with an OFFER that has only paths of the other kind,
# InfiniBand or RoCE, so it fails. The next rotation comes all the same.
goes_on_by_itself()
{
	local epoch offer other=0101

	! is_ib || other=0203
	offer=0000002e00020002800300016c80120021${other}00001000
	offer+=00000001fe800000000000000002c90300a1b2c3066d6c78355f30
	epoch=$(of 1 l .epoch)
	on 2 "$LIB_DIR/link/begin.py" "$RCL_IP" 7185 "$key" "$offer"
	until_true 10 said 1 'no path in common' &&
		until_true 45 later "$epoch"
}

# A heartbeat goes unanswered: the wish to rotate waits, but the silent peer must be
# detected in time. Otherwise the device gives up, later and for another reason.
silent()
{
	local missed status

	missed=$(of 1 l .stats.heartbeats_missed)
	on 2 tc qdisc add dev eth0 root netem loss 100% || return
	until_true 10 eval \
		'[ "$(of 1 l .stats.heartbeats_missed)" -gt "$missed" ]' &&
		! rotate 1 1 && until_true 20 is 1 l .state down
	status=$?
	on 2 tc qdisc del dev eth0 root
	rclink why l | tee "$said"
	[ "$status" -eq 0 ] && grep 'it went down' "$said" | tail -n 1 |
		grep -q 'the peer fell silent' && until_true 30 is 1 l .state up
}

# Packets of host 1 are delayed, so that host 1 is in the next epoch already when
# host 2, which is not, disconnects.
parts_between()
{
	local epoch before status ms=1500

	# Enough to look and to disconnect; less than the next epoch has to come up.
	[ "$RCL_SLOW" -eq 1 ] || ms=4000
	epoch=$(of 1 l .epoch)
	until_true 10 eval '[ "$(of 2 l .epoch)" = '"$epoch ]" || return
	on 1 tc qdisc add dev eth0 root netem delay ${ms}ms || return
	"$tool" rotate l --timeout $((40 * RCL_SLOW)) &
	until_true 40 eval '[ "$(of 1 l .epoch)" -gt '"$epoch ]" &&
		on 2 "$tool" disconnect l
	status=$?
	before=$(on 2 "$tool" why l)
	on 1 tc qdisc del dev eth0 root
	wait $!
	echo "$before"
	[ "$status" -eq 0 ] && ! grep -q "moved to that epoch.*epoch $((epoch + 1))" <<<"$before"
}

# Host 1 is told of the disconnect, so its heartbeat does not have to find out.
parted()
{
	local i story

	for i in 1 2 3 4 5; do
		parts_between && break
		[ "$i" -lt 5 ] && up || return
	done
	story=$(rclink why l)
	echo "$story"
	grep 'it went down' <<<"$story" | tail -n 1 |
		grep -q 'disconnected by the peer' && up
}

told_why()
{
	rclink why l | tee "$said"
	grep -q 'another epoch was prepared beside it' "$said"
}

no_other_path=''
! is_ib || no_other_path='a port has one'
plan 30
link_setup
holds "the link comes up" begin
stays_up
holds "channels carry data both ways" chaos_begin 200
holds "the end that dials rotates" rotates 1 $rotations
holds "the end that does not dial has it rotated" rotates 2 2
if [ -n "$no_other_path" ]; then
	skip "it goes to another path, back, and again: $no_other_path"
else
	holds "it goes to another path, back, and again" other_path
fi
holds "each message arrived once, in order, and whole" chaos_end
check "what one end sent the other one got" adds_up
check "an atomic that completed was carried out once" atomics_add_up
measured "no pause was long, and nothing is of unknown fate" quick
measured "a message that is under way hardly notices" pause
holds "what asks the peer meanwhile gets its answer" calls_go_on
holds "a wish for another epoch, and a ping, come through beside such" asked_all_the_time
holds "no QPN, PSN or rkey stays" nothing_is_the_same
holds "no QP too many is left" no_qp_too_many
holds "the link stayed up all the while" stayed_up
check "rclink why tells of it" told_why
if [ -n "$no_other_path" ]; then
	skip "where the first path fails the second one does: $no_other_path"
	skip "where none works it says so, and stays up: $no_other_path"
	skip "and is rotated when one works again: $no_other_path"
else
	holds "where the first path fails the second one does" second_path
	holds "where none works it says so, and stays up" fails no_path
	holds "and is rotated when one works again" path_again
fi
holds "who misses that it was rotated looks" hears_the_oldest
holds "an end that is not answered says so, and stays up" fails unheard
holds "and is heard when a daemon is there again" heard_later
holds "a peer that refuses at first is asked again" refused_at_first
holds "a peer that falls silent is missed while it is asked to rotate" silent
if is_ib; then
	skip "a disconnect is told to who has moved already: it waits for what is acknowledged late"
else
	holds "a disconnect is told to who has moved already" parted
fi
holds "it rotates by itself, if that was configured" by_itself
holds "and goes on so after an exchange that failed" goes_on_by_itself
holds "and counts from when it was rotated, not from a restart" after_a_restart
holds "who waits for it hears that the link was deleted" deleted
holds "daemons end" daemon_end 1 2
finish
