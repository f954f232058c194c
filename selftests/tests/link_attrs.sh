#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The attributes of a link reach its QPs, as simulated InfiniBand ports show, and its
# packets, as filters on the peer's network device count.
# hosts: 2
# kernels: 6.1 6.12-all debug-all
# lab: sends packets through the lab's network
# ib: no, it has simulated devices of its own, and is about IP packets
# timeout: 240
# The library sets the variables; awk and eval expand the quoted text.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"

# What the links a, from sim0 to sim1, and b, back, are set to: two different numbers
# for each attribute. The P_Key 0x8005 is at index 1 of sim0, and at index 2 of sim1.
a_has=(mtu 512 timeout 17 retry 5 rnr-retry 3 min-rnr-timer 9 rd-atomic 7
	pkey-index 1 sl 11 traffic-class 184 hop-limit 33 flow-label 703710)
b_has=(mtu 2048 timeout 18 retry 4 rnr-retry 2 min-rnr-timer 10 rd-atomic 6
	pkey-index 2 sl 12 traffic-class 96 hop-limit 34 flow-label 123456)

set_both()
{
	rclink set a "${a_has[@]}" && rclink set b "${b_has[@]}" &&
		echo "1 0x8005" >"$SIM/sim0/pkey" &&
		echo "2 0x8005" >"$SIM/sim1/pkey"
}

# given LINK WORD: the value of WORD that each QP of the link has, in their order
given()
{
	local dev=sim0

	[ "$1" = a ] || dev=sim1
	of 1 "$1" '.local.queue_pairs[].qpn' | while read -r qpn; do
		awk -v qpn="$qpn" -v word="$2" '$2 == qpn {
			for (i = 1; i < NF; i += 2)
				if ($i == word)
					print $(i + 1)
		}' "$SIM/$dev/qps"
	done
}

# has LINK WORD VALUE: all five QPs of the link have VALUE
has()
{
	local values

	values=$(given "$1" "$2")
	[ "$values" = "$(yes "$3" | head -5)" ] && return
	printf '%s: %s of the QPs is\n%s\nnot %s\n' "$1" "$2" "$values" "$3"
	return 1
}

# reaches WORD A B: the QPs of link a have A, and those of link b have B
reaches()
{
	has a "$1" "$2" && has b "$1" "$3"
}

# The defaults, so that the values that are set later are known to come from that.
nothing_set()
{
	reaches timeout 14 14 && reaches traffic-class 0 0 && reaches sl 0 0 &&
		reaches flow-label 0 0 && reaches pkey-index 0 0 &&
		reaches retry 6 6 && reaches rnr-retry 6 6 &&
		reaches min-rnr-timer 12 12 && reaches hop-limit 64 64 &&
		reaches grh 1 1 && reaches mtu 1024 1024
}

# A QP of the pool does not retry for ever: something else would have to notice.
retry_for_ever()
{
	rclink disconnect a
	becomes 1 b .state down && rclink set a retry 7 && link_self_dial || return
	given a retry
	[ "$(given a retry | tr '\n' ' ')" = "7 6 6 6 6 " ] && has b retry 4
}

# counts PROTOCOL MATCH: the peer's eth0 counts the RoCE packets of PROTOCOL that come
# in and match MATCH, words of u32, and separately all other RoCE packets
counts()
{
	local header=ip

	[ "$1" != ipv6 ] || header=ip6
	on 2 tc qdisc del dev eth0 clsact 2>/dev/null
	on 2 tc qdisc add dev eth0 clsact || return
	# shellcheck disable=SC2086
	on 2 tc filter add dev eth0 ingress protocol "$1" pref 1 u32 \
		match $header dport 4791 0xffff $2 action pass &&
		on 2 tc filter add dev eth0 ingress protocol ip pref 2 u32 \
			match ip dport 4791 0xffff action pass &&
		on 2 tc filter add dev eth0 ingress protocol ipv6 pref 3 u32 \
			match ip6 dport 4791 0xffff action pass
}

# counted PREF: packets that the filter with that preference has counted
counted()
{
	on 2 tc -s filter show dev eth0 ingress pref "$1" |
		awk '$1 == "Sent" { n += $4 } END { print n + 0 }'
}

# dial_and_ping PROTOCOL MATCH: counts packets from the start of a new epoch on
dial_and_ping()
{
	# A link that has not been up yet cannot be disconnected.
	! rclink disconnect l 2>/dev/null || becomes 2 l .state down || return
	counts "$@" && link_dial l && rclink ping l --op write -s 4096 -c 3 -i 0 -q
}

# all_are PROTOCOL MATCH, none_is PROTOCOL MATCH: that of the RoCE packets from host 1
all_are()
{
	dial_and_ping "$@" || return
	echo "matched $(counted 1), others $(counted 2) $(counted 3)"
	[ "$(counted 1)" -gt 10 ] && [ "$(counted 2)" -eq 0 ] &&
		[ "$(counted 3)" -eq 0 ]
}

none_is()
{
	dial_and_ping "$@" || return
	echo "matched $(counted 1), others $(counted 2) $(counted 3)"
	[ "$(counted 1)" -eq 0 ] &&
		[ $(($(counted 2) + $(counted 3))) -gt 10 ]
}

some_are()
{
	dial_and_ping "$@" || return
	echo "matched $(counted 1), others $(counted 2) $(counted 3)"
	[ "$(counted 1)" -ge 9 ]
}

# comes_with WORDS PROTOCOL MATCH: no packet matches before WORDS are set, all do then
comes_with()
{
	none_is "$2" "$3" || return
	# shellcheck disable=SC2086
	rclink set l $1 && all_are "$2" "$3"
}

# A packet from the middle of a WRITE has as many bytes of data as the MTU, and besides
# them 20 of IPv4, 8 of UDP, 12 of RoCE and 4 of the checksum.
mtu_is()
{
	some_are ip "match u16 $(($1 + 44)) 0xffff at 2"
}

smaller()
{
	mtu_is 1024 && rclink set l mtu 256 && mtu_is 256 &&
		none_is ip "match u16 1068 0xffff at 2"
}

plan 22
link_setup
link_listen l
{ link_add 1 l && link_add 2 l; } || bail "no links"
check "traffic-class is in all packets" comes_with "traffic-class 184" ip \
	'match ip tos 184 0xff'
check "hop-limit is, too" comes_with "hop-limit 33" ip 'match u8 33 0xff at 8'
check "mtu is what packets have" smaller
check "gid-index says by which address" eval '
	comes_with "gid-index $(gid_index 1 2001:db8::1)" ipv6 \
		"match ip6 src 2001:db8::1/128"'
check "both are in the header of IPv6, too" all_are ipv6 \
	'match ip6 priority 184 0xff match u8 33 0xff at 7'
on 2 tc qdisc del dev eth0 clsact
check "nothing is left" eval 'rclink del l && on 2 "$tool" del l && empty 1 && empty 2'
link_listen_end

# At first no MTU is set: it is the smaller one of both ports.
sim_load "sim0 ib 1 mtu=1024" "sim1 ib 2 mtu=4096"
# Another subnet needs a GRH, which has the fields that an IP header has.
echo 0xfec0000000000001 >"$SIM/sim1/prefix"
rclink add a device sim0 || bail "no link a"
rclink add b device sim1 || bail "no link b"
check "two simulated ports are linked, by GRH" link_self_dial
check "their QPs have what links have by themselves" nothing_set
rclink disconnect a
becomes 1 b .state down || bail "b stays up"
check "all that a QP is given is set to other numbers" set_both
check "the link comes up with them" link_self_dial
check "the smaller MTU is that of both ends" reaches mtu 512 512
# A power of two, as some devices would round another number up.
check "READs that are sent at once are no more than the peer answers" \
	eval 'reaches rd-atomic 4 4 && reaches answers 7 6'
for ((i = 2; i < ${#a_has[@]}; i += 2)); do
	[ "${a_has[i]}" != rd-atomic ] || continue
	check "${a_has[i]} reaches the QPs of each end" \
		reaches "${a_has[i]}" "${a_has[i + 1]}" "${b_has[i + 1]}"
done
check "retry 7 reaches the control QP alone" retry_for_ever
rclink del a
rclink del b
sim_unload
finish
