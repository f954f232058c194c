#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The peer cannot be reached any more, or loses power.
# hosts: 2
# kernels: 6.1-all 6.12 mixed-all
# timeout: 400
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

command -v lab_power >/dev/null || skip_all "needs a host whose power can be cut"

bench=/tmp/rclink-test-bench

ping_ends()
{
	local said

	said=$(timeout $((60 * RCL_SLOW)) "$tool" ping l -c 3 2>&1)
	[ $? -eq 1 ] && grep -q 'retry exceeded' <<<"$said"
}

# Host 1 always has WRITEs in flight. They begin again while nobody listens yet.
writes_begin()
{
	local end=$((SECONDS + 20 * RCL_SLOW))

	on 2 "$tool" bench l --listen >/dev/null 2>&1 &
	while timeout $((60 * RCL_SLOW)) "$tool" bench l bw -o write -s 4096 \
		-n 1000000 >"$bench" 2>&1 ||
		{ [ $SECONDS -lt $end ] && grep -q 'nobody' "$bench"; }; do
		sleep 0.1
	done &
	writes=$!
	until_true 20 writes_move
}

writes_move()
{
	[ "$(rclink stats l -j | gojq '.[0].chan_ops')" -gt 100 ]
}

writes_end()
{
	wait "$writes"
	cat "$bench"
	grep -q 'transport retry counter exceeded' "$bench"
}

plan 11
link_setup
link_listen l
# Without a heartbeat, which would notice before the ping does (link_beat.sh). The
# device gives up after 3.8 s, before the wait for an answer ends.
check "the link comes up" link_pair l heartbeat 0 timeout 17
holds "a channel writes to the peer" writes_begin
on 2 ip link set eth0 down
holds "it ends by itself: transport retry counter exceeded" writes_end
check "the link is down" becomes 1 l .state down
on 2 ip link set eth0 up
check "with the network back it comes up again" until_true 30 link_dial l
check "host 2 has complained of nothing until then" complained_of_nothing 2
lab_power 2 off
check "a ping ends by itself: retry exceeded" ping_ends
check "the link is down for that reason" eval 'becomes 1 l .state down &&
	is 1 l .reason completion && is 1 l .reason_text \
	"retry exceeded: the peer did not acknowledge"'
check "nothing is left" empty 1
link_host_back
link_add 2 l
link_listen l
check "with the peer back it comes up again" until_true 30 link_dial l
check "it is deleted" eval 'rclink del l && on 2 "$tool" del l'
link_listen_end
finish
