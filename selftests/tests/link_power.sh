#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The peer cannot be reached any more, or loses power.
# hosts: 2
# kernels: 6.1 6.12 mixed
# timeout: 400
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

command -v lab_power >/dev/null || skip_all "needs a host whose power can be cut"

fro=/tmp/rclink-test-fro

ping_ends()
{
	local said

	said=$(timeout $((60 * RCL_SLOW)) "$tool" ping l -c 3 2>&1)
	[ $? -eq 1 ] && grep -q 'retry exceeded' <<<"$said"
}

# Messages go to and fro, until they do not.
pingpong_begins()
{
	on 2 "$tool" pingpong l --listen >/dev/null 2>&1 &
	# Who listens may be later.
	while "$tool" pingpong l -n 10000000 >"$fro" 2>&1 ||
		grep -q 'nobody' "$fro"; do
		:
	done &
	pingpong=$!
	until_true 20 pingpong_moves
}

pingpong_moves()
{
	[ "$(rclink stats l -j | jq '.[0].chan_recvs')" -gt 100 ]
}

pingpong_ends()
{
	wait "$pingpong"
	grep -q 'transport retry counter exceeded' "$fro"
}

plan 10
link_setup
link_listen l
check "the link comes up" link_pair l
holds "messages go to and fro" pingpong_begins
on 2 ip link set eth0 down
holds "they end by themselves: transport retry counter exceeded" pingpong_ends
check "the link is down" becomes 1 l .state down
on 2 ip link set eth0 up
check "with the network back it comes up again" until_true 30 link_dial l
lab_power 2 off
check "a ping ends by itself: retry exceeded" ping_ends
check "the link is down for that reason" eval 'becomes 1 l .state down &&
	is 1 l .reason completion && is 1 l .reason_text \
	"retry exceeded: the peer did not acknowledge"'
check "nothing is left" empty 1
# The host that it ran on is gone, and nobody has told it so.
kill -KILL "$listener"
wait "$listener" 2>/dev/null
listener=''
lab_power 2 on
on 2 "$LIB_DIR/oracle" begin "$TEST_NAME"
on 2 lab_rxe
on 2 "$LIB_DIR/vm/lab_load"
on 2 rm -f "$key"
pin2=$(on 2 "$tool" genkey "$key")
link_add 2 l
link_listen l
check "with the peer back it comes up again" until_true 30 link_dial l
check "it is deleted" eval 'rclink del l && on 2 "$tool" del l'
link_listen_end
finish
