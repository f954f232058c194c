#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The GID that is chosen follows the addresses of the net device.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, GIDs of addresses are those of RoCE
# What gojq gets is expanded there.
# shellcheck disable=SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

reason_is()
{
	rclink dev -j | gojq -e --arg text "$1" \
		'.[] | select(.device == "rxe0").reason | contains($text)'
}

# chosen_is GID-PATTERN
chosen_is()
{
	rclink dev -j | gojq -e --arg gid "$1" '.[] | select(.device == "rxe0")
		.gids[] | select(.chosen).gid | test($gid)'
}

nothing_is_chosen()
{
	rclink dev -j | gojq -e '[.[] | select(.device == "rxe0")
		.gids[] | select(.chosen)] == []'
}

# changes TEXT CMD...: after CMD the reason soon has TEXT in it
changes()
{
	local text=$1

	shift
	"$@" && until_true 5 reason_is "$text"
}

restore()
{
	ip link set eth0 up
	ip address replace "$RCL_IP/25" dev eth0
	ip address replace "$ipv6/64" dev eth0 nodad
}

if [ -n "${RCLINK_DEV:-}" ]; then
	skip_all "would take the addresses of a real device"
fi
ipv6=2001:db8::$RCL_HOST
plan 9
nl_build
lab_device
lab_module
check "an IPv4 address is chosen first" reason_is "IPv4 address"
check "it is this host's" chosen_is "${RCL_IP//./\\.}\$|c000:020$RCL_HOST"
check "without it the routable IPv6 address is" \
	changes "routable IPv6" ip address delete "$RCL_IP/25" dev eth0
check "it is this host's, too" chosen_is '^2001:0?db8:'
check "without that the link-local one is" \
	changes "link-local" ip address delete "$ipv6/64" dev eth0
check "the link-local one is" chosen_is '^fe80:'
check "a net device that is down leaves none" \
	changes "no RoCE v2 GID" ip link set eth0 down
check "none is chosen then" nothing_is_chosen
check "with the addresses back it is the first one again" \
	changes "IPv4 address" restore
finish
