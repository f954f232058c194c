#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a link of the daemon lacked for a while is there again: its port, its device,
# its address, or another one. The daemon, which waited longer each time, hears of it.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 400
# The libraries have the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/figure.sh"

heard=/tmp/rclink-test-heard
# ms to be up again, an exchange included. After so many failures, and one more by
# going down, the daemon waits for 15 s and more.
soon=4000
failures=5

[ -z "${RCLINK_DEV:-}" ] || skip_all "takes ports and devices away"

# l is dialled by host 1 over IPv4; s too, but called by an address of IPv6.
begin()
{
	{
		link_section l "$pin2" qps 1 peer "$RCL_PEER_IP"
		link_section s "$pin2" qps 1 peer "[2001:db8::2]:7185"
	} | configure 1
	{
		link_section l "$pin1" qps 1
		link_section s "$pin1" qps 1
	} | configure 2
	daemon_start 1 2 && both_up l s
}

# at TEXT: when host 1 first heard that, in ms
at()
{
	date -d "$(grep -m 1 -e "$1" $heard | cut -d ' ' -f 1)" +%s%3N
}

tries()
{
	times 1 ">$1: up\|>$1: not up"
}

has_failed()
{
	[ "$(times 1 '>l: not up')" -ge "$1" ]
}

# returns AWAY BACK: after the one, l fails until it has to wait; after the other it
# is up before that would have been over, and was dialled once a second at most
returns()
{
	local before failed monitor waited

	before=$(epoch l)
	failed=$(times 1 '>l: not up')
	$1 || return
	until_true 90 has_failed $((failed + failures)) || {
		show_daemons
		$2
		return 1
	}
	failed=$(tries l)
	: >$heard
	"$tool" monitor >$heard &
	monitor=$!
	until_true 10 grep -q ' l present' $heard && $2 && up_again l "$before" &&
		until_true 10 grep -q ' l changed up' $heard
	kill $monitor
	waited=$(($(at ' l changed up') - $(at " device $RCL_DEV "))) || return
	failed=$(($(tries l) - failed))
	echo "# up again $waited ms after that, $failed exchanges"
	if [ "$waited" -gt $((soon * RCL_SLOW)) ] ||
	   [ "$failed" -gt $((1 + waited / 1000)) ]; then
		show_daemons
		return 1
	fi
}

# A host that stands still just then is late, once.
returns_soon()
{
	returns "$@" || returns "$@"
}

port_down()
{
	ip link set eth0 down
}

device_gone()
{
	lab_dev del
}

# Nobody can be called without it.
address_gone()
{
	ip address delete "$RCL_IP/25" dev eth0
}

# s_goes FROM TO: over these GIDs
s_goes()
{
	is 1 s .gid "$1" && is 2 s .gid "$2"
}

over_ipv6()
{
	local before

	s_goes "::ffff:$RCL_IP" "::ffff:$RCL_PEER_IP" || return
	before=$(epoch s)
	address_gone && up_again s "$before" &&
		s_goes 2001:db8::1 2001:db8::2
}

plan 7
link_setup
holds "links come up" begin
measured "a port that was down is back, and soon the link" \
	returns_soon port_down lab_dev
measured "so with a device" returns_soon device_gone lab_dev
holds "all links are up again" both_up l s
if is_ib; then
	skip "an InfiniBand port does not go with an address"
	skip "nor does it come with one"
else
	holds "without its IPv4 address a link comes up over IPv6" over_ipv6
	holds "it stays there, and the other one is soon up with the address" \
		eval 'lab_dev && until_true 10 is 1 l .state up &&
			s_goes 2001:db8::1 2001:db8::2'
fi
holds "the daemons end" daemon_end 1 2
finish
