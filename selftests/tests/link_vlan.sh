#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link over a VLAN: by GIDs of its net devices, with tagged packets.
# hosts: 2
# kernels: 6.1-all 6.12-all mixed-all
# ib: no, VLANs are Ethernet's
# timeout: 200
# The library has the variables; what gojq gets is expanded there.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

[ -z "${RCLINK_DEV:-}" ] || skip_all "would give eth0 of the lab a VLAN"

id=5
net=eth0.$id
in=/tmp/rclink-test-in
out=/tmp/rclink-test-out

vlan_up()
{
	local host

	for host in 1 2; do
		on "$host" ip link add link eth0 name "$net" type vlan id "$id" &&
			on "$host" ip address add "198.51.100.$host/24" dev "$net" &&
			on "$host" ip link set "$net" up || return
	done
}

# gid HOST: its GID in the VLAN
gid()
{
	echo "::ffff:198.51.100.$1"
}

is_of_the_vlan()
{
	on "$1" "$tool" dev -j | gojq -e --arg gid "$(gid "$1")" \
		--arg net "$net" --argjson id "$id" '.[].gids[] |
		select(.gid == $gid) | .vlan == $id and .netdev == $net'
}

is_there()
{
	is_of_the_vlan 1 && is_of_the_vlan 2
}

# The net device is set at host 1 alone: host 2's GID in the same VLAN is tried first.
comes_up()
{
	rclink set l netdev "$net" && link_dial l -v &&
		is 1 l .gid "$(gid 1)" && is 2 l .gid "$(gid 2)" &&
		is 1 l .netdev "$net" && of 2 l '.netdev == null'
}

# So does an index, which may change when an address is added.
by_index()
{
	rclink disconnect l && becomes 2 l .state down &&
		rclink set l netdev auto gid-index "$(gid_index 1 "$(gid 1)")" &&
		link_dial l && of 1 l '.netdev == null' && is 1 l .gid "$(gid 1)" &&
		rclink ping l -c 1 -q
}

# Index and net device must be of one GID.
of_two()
{
	rclink disconnect l && becomes 2 l .state down &&
		rclink set l netdev eth0 && ! link_dial l &&
		rclink why l >$in &&
		grep -q 'no GID to use: netdev: it has no GID at' $in &&
		rclink set l netdev "$net" gid-index auto && link_dial l
}

# packets HOST: how many its VLAN device has sent and received
packets()
{
	on "$1" awk '{ n += $1 } END { print n }' \
		"/sys/class/net/$net/statistics/tx_packets" \
		"/sys/class/net/$net/statistics/rx_packets"
}

# Each ping is a request and an answer, at least, at both ends.
tagged()
{
	local op here there

	for op in send write read; do
		here=$(packets 1)
		there=$(packets 2)
		rclink ping l --op "$op" -s 4096 -c 10 -i 0 -q &&
			[ $(($(packets 1) - here)) -ge 20 ] &&
			[ $(($(packets 2) - there)) -ge 20 ] || return
	done
}

carries()
{
	local receiver

	head -c 3000000 /dev/urandom >"$in"
	on 2 sh -c "$tool recv l >$out" &
	receiver=$!
	until_true 10 listens 2 && rclink send l <"$in" && wait "$receiver" &&
		[ "$(on 2 sha256sum "$out" | cut -d ' ' -f 1)" = \
			"$(sha256sum "$in" | cut -d ' ' -f 1)" ]
}

# heartbeats MS: set at both ends, from the next epoch on
heartbeats()
{
	rclink set l heartbeat "$1" && on 2 "$tool" set l heartbeat "$1"
}

# The net device below does not change, so only the heartbeat notices. This one is
# quick, and would also end the link to a host that stands still.
goes()
{
	heartbeats 300 && rclink disconnect l && becomes 2 l .state down &&
		until_true 30 link_dial l && is 1 l .gid "$(gid 1)" || return
	on 2 ip link set "$net" down && becomes 1 l .state down &&
		becomes 2 l .state down && rclink why l
}

# Without the VLAN the link takes its other path.
leaves_it()
{
	heartbeats 30000 && rclink set l netdev auto && link_dial l &&
		is 1 l .gid "::ffff:$RCL_IP" && rclink ping l -c 2 -i 0 -q
}

plan 10
link_setup
for host in 1 2; do
	link_add "$host" l || bail "no link on host $host"
done
link_listen l
check "each host gets a VLAN" vlan_up
check "its address is a GID, of that VLAN and net device" until_true 10 is_there
check "a link over it comes up" comes_up
check "pings of each kind are tagged, at both ends" tagged
check "a channel carries data" carries
check "an index of a GID may be set, too" by_index
check "but not one of another net device" of_two
holds "the VLAN goes at the peer, and both ends notice" goes
check "the link comes up without it" leaves_it
rclink disconnect l
link_listen_end
on_all ip link del "$net"
check "nothing is left of it" until_true 10 eval '! is_of_the_vlan 1'
finish
