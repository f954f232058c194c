#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The chosen GID follows the addresses of the net device. GIDs of net devices in another
# network namespace are not used.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, GIDs of addresses are those of RoCE
# gojq expands the variables of its filters.
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

# many add|delete FIRST LAST: add or delete the addresses with these numbers
many()
{
	local i

	for ((i = $2; i <= $3; i++)); do
		printf 'address %s 2001:db8:0:1::%x/64 dev eth0' "$1" "$i"
		[ "$1" = delete ] || printf ' nodad'
		echo
	done | ip -batch -
}

# shows_num CONDITION: the number of GIDs shown meets CONDITION
shows_num()
{
	rclink dev -j |
		gojq -e "[.[] | select(.device == \"rxe0\").gids[]] | length $1"
}

# A preferred GID is chosen even if it comes behind many others.
behind_many()
{
	ip address delete "$RCL_IP/25" dev eth0 && many add 1 100 &&
		until_true 20 shows_num "> 100" && reason_is "routable IPv6" &&
		changes "IPv4 address" ip address replace "$RCL_IP/25" dev eth0
}

more_than_can_be_used()
{
	many add 101 280 && until_true 20 shows_num "== 256"
}

end_many()
{
	local status

	many delete 1 280 && until_true 20 shows_num "< 20"
	status=$?
	restore && return "$status"
}

restore()
{
	ip link set eth0 up
	ip address replace "$RCL_IP/25" dev eth0
	ip address replace "$ipv6/64" dev eth0 nodad
}

# The device has the GID, in whichever network namespace its net device is.
device_has()
{
	grep -qsx '0000:0000:0000:0000:0000:ffff:cb00:7101' \
		/sys/class/infiniband/rxe0/ports/1/gids/*
}

shows()
{
	rclink dev -j | gojq -e '.[] | select(.device == "rxe0") | .gids |
		any(.gid == "::ffff:203.0.113.1" and .netdev == "rclabove")'
}

# has_address [OPTIONS OF ip]
has_address()
{
	ip "$@" link set rclabove up &&
		ip "$@" address add 203.0.113.1/24 dev rclabove
}

# A net device on top of the port's has an address, and the port a GID for it.
above()
{
	ip link add link eth0 name rclabove type macvlan mode bridge &&
		has_address && until_true 5 shows
}

# A GID whose net device is in another network namespace is not shown, also when
# another GID of this host is chosen.
elsewhere()
{
	ip netns add rclink-test && ip link set rclabove netns rclink-test &&
		until_true 5 eval '! device_has' &&
		has_address -n rclink-test && until_true 5 device_has &&
		! shows && ip address delete "$RCL_IP/25" dev eth0 &&
		until_true 5 reason_is "routable IPv6" && device_has && ! shows
}

end_elsewhere()
{
	local status

	ip netns del rclink-test && until_true 10 eval '! device_has'
	status=$?
	restore
	until_true 5 reason_is "IPv4 address" && return "$status"
}

if [ -n "${RCLINK_DEV:-}" ]; then
	skip_all "would take the addresses of a real device"
fi
ipv6=2001:db8::$RCL_HOST
plan 15
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
check "one behind a hundred others is chosen, too" behind_many
check "all are shown that have an index which can be used" more_than_can_be_used
check "they end with the addresses" end_many
if modprobe -q macvlan; then
	check "a net device above has another one" above
	check "that is not shown once it is in another network namespace" elsewhere
	check "which ends" end_elsewhere
else
	for what in above elsewhere ends; do
		skip "$what: the kernel has no macvlan"
	done
fi
finish
