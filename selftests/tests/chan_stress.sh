#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 64 processes move and check data over one link at once, each in a page of its own,
# then all in the same page. Then processes that open channels, and processes that
# accept them, are killed at random moments, and nothing of theirs stays at either end.
# hosts: 2
# kernels: 6.12-all 6.1-all mixed-all debug-all
# timeout: 600
# soak: 5400 STRESS_KILLS=1000 STRESS_TAKERS=200
# The libraries set the variables; eval expands its argument.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/figure.sh"

kills=${STRESS_KILLS:-100}
takers=${STRESS_TAKERS:-20}
# An emulated host stands still for a second now and then, and is slow otherwise.
limit=$((5000 * RCL_SLOW))
seed=${STRESS_SEED:-1}

# There are as many objects as before the first channel, and two more, which that
# channel made: the QP that registers memory, and its CQ.
as_before()
{
	[ "$(objects 1)" -eq "$objects1" ] && [ "$(objects 2)" -eq "$objects2" ]
}

nothing_stays()
{
	until_true 30 as_before || {
		echo "host 1: $(objects 1) of $objects1, host 2: $(objects 2) of $objects2"
		return 1
	}
}

pinned()
{
	on "$1" "$LIB_DIR/oracle" pinned
}

# All pinned pages of a host count, also those of processes that have died.
pinned_as_before()
{
	[ "$(pinned 1)" -eq "$pinned1" ] && [ "$(pinned 2)" -eq "$pinned2" ]
}

unpinned()
{
	until_true 10 pinned_as_before || {
		echo "host 1: $(pinned 1) of $pinned1, host 2: $(pinned 2) of $pinned2"
		return 1
	}
}

both_pin()
{
	[ "$(pinned 1)" -gt "$pinned1" ] && [ "$(pinned 2)" -gt "$pinned2" ]
}

# Pages do get pinned, or their absence later would prove nothing. The processes that
# pin them run until that was seen, in a process group of their own.
pins()
{
	local busy ret=0

	setsid "$CHAN/stress" l many 4 "$((2 ** 30))" &
	busy=$!
	until_true 30 both_pin || {
		ret=1
		echo "host 1: $(pinned 1), $pinned1 before," \
			"host 2: $(pinned 2), $pinned2 before"
	}
	kill -- "-$busy" || ret=1
	wait "$busy"
	return "$ret"
}

# When the process that accepts channels is killed, the program that opened them notices
# and ends by itself. Before, it has read the counter, and each of its four processes
# has written a page and begun to read it back. Any further operations come from
# processes that have read their page.
takers_die()
{
	local i near status began took ops longest=0

	RANDOM=$seed
	ops=$(of 1 l .stats.chan_ops)
	for ((i = 0; i < takers; i++)); do
		chan_far stress l listen || return
		timeout $((60 * RCL_SLOW)) "$CHAN/stress" l many 4 $((2 ** 30)) &
		near=$!
		sleep "$((RANDOM % (1 + RCL_SLOW))).$((RANDOM % 1000))"
		began=$(ms)
		on 2 pkill -KILL -x stress || return
		wait "$near"
		status=$?
		took=$(($(ms) - began))
		[ $took -le $longest ] || longest=$took
		wait "$far"
		[ $status -eq 1 ] || return
	done
	figure "their peers have ended after" $longest ms "<= 1000"
	[ $longest -le $limit ] &&
		[ "$(of 1 l .stats.chan_ops)" -gt $((ops + 9 * takers)) ]
}

takes()
{
	local status

	chan_far stress l listen || return
	"$CHAN/stress" l many 4 3
	status=$?
	chan_far_end "$far"
	return $status
}

plan 17
chan_build
chan_setup qps 64
objects1=$(($(objects 1) + 2))
objects2=$(($(objects 2) + 2))
pinned1=$(pinned 1)
pinned2=$(pinned 2)
chan_far stress l listen
holds "channels pin pages at both ends" pins
chan_far_end "$far"
holds "host 2 takes channels" chan_far stress l listen
holds "64 processes on one link" "$CHAN/stress" l many 64 3
holds "64 processes write one record in turn" "$CHAN/stress" l same 64 2
holds "nothing of them stays" nothing_stays
chan_far_end "$far"
holds "host 2 takes channels again" chan_far stress l listen
comment <<<"seed $seed"
holds "$kills processes are killed" "$CHAN/stress" l kill "$kills" "$seed"
comment <"$said"
chan_far_end "$far"
holds "nothing of them stays" nothing_stays
holds "no page is pinned" unpinned
holds "$takers that take channels are killed" takers_die
grep '^# ' "$said"
grep -o 'stress: [a-z]*:.*' "$said" | sort | uniq -c | comment
check "and none of their peers got wrong data" eval '[ -s "$said" ] && ! grep "Bad message" "$said"'
holds "nothing of them stays, either" nothing_stays
holds "nor any page of theirs" unpinned
holds "and the next one takes channels" takes
for host in 1 2; do
	check "host $host: each QP is wired to the peer's" \
		until_true 10 qps_match $host
done
check "the link is still up" is 1 l .state up
rclink disconnect l
finish
