#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Processes wait for a peer in every possible way, on a device that never gives up
# (retry 7, rnr-retry 7), and the peer loses power: each of them is told.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 400
# The libraries set the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/figure.sh"

command -v lab_power >/dev/null || skip_all "needs a host whose power can be cut"

# An emulated host stands still for a second now and then: see link_beat.sh.
limit=$((5000 * RCL_SLOW))
beat=500
misses=4
goal=$((beat * misses))
kinds=(recv sleep rnr send read)
says=/tmp/rclink-test-blocked
declare -A waiting

serve()
{
	local kind

	servers=()
	for kind in "${kinds[@]}"; do
		chan_far blocked l listen "$kind" || return
		servers+=("$far")
	done
}

wait_for_peer()
{
	local kind

	rm -f "$says"-*
	for kind in "${kinds[@]}"; do
		"$CHAN/blocked" l "$kind" >"$says-$kind" 2>&1 &
		waiting[$kind]=$!
	done
	for kind in "${kinds[@]}"; do
		until_true 20 grep -q waits "$says-$kind" || return
	done
	until_true 10 moves
}

# The processes that send or read carry out one operation after the other.
moves()
{
	[ "$(of 1 l .stats.chan_ops)" -gt 100 ]
}

none_ended()
{
	! grep ended "$says"-* && is 1 l .state up
}

# Tries again if the link goes down before the power is cut, as it does when a host
# stands still for longer than its peer allows.
all_wait()
{
	for _ in 1 2 3; do
		is 1 l .state up || link_dial l || return
		serve && wait_for_peer && sleep 1 && complained_of_nothing 2 &&
			none_ended && return
		none_waits
	done
	return 1
}

cut_power()
{
	began=${EPOCHREALTIME/[.,]/}
	lab_power 2 off
}

# heard KIND: that process was told in time that its channel has ended and that its work
# request was flushed
heard()
{
	local at

	until_true 20 grep -q ended "$says-$1"
	at=$(sed -n 's/^ended \([0-9]*\) work request flushed error: .* reset by peer$/\1/p' \
		"$says-$1")
	[ -n "$at" ] || {
		comment <"$says-$1"
		return 1
	}
	figure "who waits ($1) hears of it after" $(((at - began) / 1000)) ms "<= $goal"
	[ $(((at - began) / 1000)) -le $limit ]
}

in_time()
{
	local kind

	for kind in "${kinds[@]}"; do
		heard "$kind" >/dev/null || return
	done
}

none_waits()
{
	chan_far_end "${waiting[@]}" "${servers[@]}"
}

# Host 1 may itself stand still just then and notice too late: it gets one more try.
power_goes()
{
	cut_power && in_time && return
	none_waits
	link_host_back
	link_add 2 l "${words[@]}" && link_listen l &&
		until_true 30 link_dial l && all_wait && cut_power
}

plan $((6 + ${#kinds[@]}))
check "nothing was left on host 2 before" host_has_nothing 2
words=(retry 7 rnr-retry 7 qps 8 heartbeat "$beat" misses "$misses")
chan_setup "${words[@]}"
# So that all_wait can dial the link again.
link_listen l
holds "processes wait for their peers, or move data" all_wait
holds "the power goes" power_goes
for kind in "${kinds[@]}"; do
	measured "who waits hears of it: $kind" heard "$kind"
done
check "the link is down for silence" eval 'becomes 1 l .state down &&
	is 1 l .reason peer-silent'
check "nothing is left" empty 1
none_waits
link_host_back
link_add 2 l "${words[@]}"
link_listen l
check "with the peer back it comes up again" until_true 30 link_dial l
link_listen_end
finish
