#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A daemon's link lacks its port, device or address for a while, and then has it again,
# or another address. The daemon, which waited longer after each failure, hears of it.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 400
# The libraries define the variables; eval expands its arguments.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/figure.sh"

heard=/tmp/rclink-test-heard
# ms until the link is up again, including the exchange. After so many failures, and one
# more because the link went down, the daemon would wait for 15 s or more.
soon=4000
failures=5

[ -z "${RCLINK_DEV:-}" ] || skip_all "takes ports and devices away"

# Host 1 dials link l at an IPv4 address and link s at an IPv6 address.
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

# at TEXT: when `rclink monitor` on host 1 first printed TEXT, in ms
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

# returns AWAY BACK: after AWAY, dials of l fail until the daemon waits long; after
# BACK, l is up before that wait would have ended, dialled once a second at most
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

# A host that stands still at that moment is late; it may be so once.
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

# Without this address, host 1 cannot call anybody over IPv4.
address_gone()
{
	ip address delete "$RCL_IP/25" dev eth0
}

# s_goes FROM TO: link s has the GID FROM at host 1 and TO at host 2
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
