#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A group on rxe: joined, refused, left, and what the port, the address, the
# device and the module do to it.
# hosts: 1
# kernels: 6.1 6.12 debug-all
# timeout: 180
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/group/lib.sh"

qps_in_rts()
{
	rdma resource show qp -j | jq -e --argjson n "$1" '[.[] |
		select(.comm == "rclink" and .type == "UD" and
			.state == "RTS")] | length == $n'
}

# shown ADDRESS: this host's IP stack has joined it on the device's interface
shown()
{
	ip maddr show dev eth0 | grep -qw -e "$1"
}

# member ADDRESS: as far as a kernel without CONFIG_IP_MULTICAST shows it
member()
{
	shown "$1" || [ ! -e /proc/net/igmp ]
}

joined()
{
	qps_in_rts 2 && member "$mgid4" && member "$mgid6" &&
		group_is 1 four .state joined && group_is 1 six .state joined
}

# Each has a GID of the kind of its address, and says what a message may have.
fits()
{
	group_is 1 four .gid "::ffff:$RCL_IP" || return
	group_of 1 six .gid | grep -q : || return
	! group_of 1 six .gid | grep -q ffff: || return
	group_is 1 four .mtu "$(rclink dev -j | jq '.[0].active_mtu')"
}

qkey_is_secret()
{
	group_is 1 four '.qkey >= 2147483648' true &&
		group_is 1 six .qkey 291 || return
	setpriv --reuid 1000 --clear-groups "$tool" group -j |
		jq -e 'length == 2 and all(has("qkey") | not)'
}

left()
{
	rclink group del four && qps_in_rts 1 && ! shown "$mgid4" &&
		rclink group -j | jq -e 'length == 1' && rclink group del six &&
		[ "$(objects 1)" -eq 0 ] && ! shown "$mgid6"
}

down()
{
	group_becomes 1 four .state down && group_is 1 four .reason "$1" &&
		empty 1 && ! shown "$mgid4"
}

up_again()
{
	group_becomes 1 four .state joined && qps_in_rts 1 && member "$mgid4" &&
		group_is 1 four .reason none &&
		group_is 1 four ".stats.joins >= $1" true
}

port_down()
{
	ip link set eth0 down && down port-down
}

address_gone()
{
	ip address delete "$RCL_IP/25" dev eth0 && down gid-changed
}

device_gone()
{
	local start=$SECONDS

	rdma link delete rxe0 || return
	[ $((SECONDS - start)) -lt $((8 * RCL_SLOW)) ] || return
	down device-removed
}

back()
{
	lab_rxe && up_again "$1"
}

module_gone()
{
	local start=$SECONDS

	rmmod rclink || return
	[ $((SECONDS - start)) -lt $((5 * RCL_SLOW)) ] && ! shown "$mgid4" &&
		[ "$(objects 1)" -eq 0 ]
}

if [ -n "${RCLINK_DEV:-}" ]; then
	skip_all "would take a real device away"
fi
plan 22
lab_device
lab_module
check "a group of an IPv4 address" rclink group add four mgid "$mgid4"
check "and one of an IPv6 address" rclink group add six dev rxe0 port 1 \
	mgid "$mgid6" qkey 0x123
check "both have a QP, and are joined by the host" joined
check "with a GID of that kind" fits
check "the Q_Key is random, or what was said, and for root" qkey_is_secret
refuse 1 "a name that is taken" 'group of that name' \
	rclink group add four mgid "$mgid4"
refuse 1 "an address of one" 'no multicast address' \
	rclink group add g mgid 192.0.2.1
refuse 1 "a GID of the other kind" 'of the same kind' \
	rclink group add g mgid "$mgid6" gid-index "$(group_of 1 four .gid_index)"
refuse 1 "a LID on RoCE" 'a RoCE port has none' \
	rclink group add g mgid "$mgid4" mlid 0xc001
refuse 1 "a device that is not there" 'no such RDMA device' \
	rclink group add g mgid "$mgid4" dev none0
refuse 1 "a name that nobody has" 'no group of that name' rclink group del g
refuse 1 "or that is none" 'name must be' rclink group add 'a b' mgid "$mgid4"
refuse 1 "an owner that is nobody" 'is nobody' \
	rclink group set four owner 4294967295
check "deleted, it is left, and nothing stays" left
rclink group add four mgid "$mgid4"
check "it ends with its port" port_down
check "and is joined again with it" back 2
check "it ends with its address" address_gone
check "and is joined again with it" back 3
check "it ends with its device" device_gone
check "and is joined again with it" back 4
check "the module goes, and leaves it" module_gone
lab_module
check "and knows it no more" sh -c "$tool group -j | jq -e 'length == 0'"
finish
