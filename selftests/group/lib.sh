# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Groups through the command line tool. Sourced after link/lib.sh.
# `tool` comes from link/lib.sh; tests use the addresses.
# shellcheck disable=SC2034,SC2154

mgid4=239.1.2.3
mgid6=ff15::4:5:6

# A group for all hosts, two others, and how `tc` recognizes messages to groups: on
# InfiniBand, a frame of rdmasim has the group's GID in it, else the GID of a port.
if is_ib; then
	group_at=(mgid "$mgid6" mlid 0xc001)
	other_at=(mgid ff15::4:5:7 mlid 0xc002)
	hand_at=(mgid ff15::4:5:8 mlid 0xc003)
	other_gid=ff15::4:5:7
	to_groups=(protocol 0x88b5 u32 match u8 0xff 0xff at 16)
else
	group_at=(mgid "$mgid4")
	other_at=(mgid 239.1.2.9)
	hand_at=(mgid 239.1.2.10)
	other_gid=::ffff:239.1.2.9
	to_groups=(protocol ip u32 match ip dst 239.0.0.0/8)
fi

# gid_of HOST: the GID that HOST sends to groups from
gid_of()
{
	if is_ib; then
		echo "fe80::200:0:0:$1"
	else
		echo "::ffff:192.0.2.$1"
	fi
}

# group_of HOST NAME FILTER: FILTER of `group show NAME -j` on HOST
group_of()
{
	on "$1" "$tool" group show "$2" -j | gojq -er ".[0] | $3"
}

# group_is HOST NAME FILTER VALUE: as is(), for a group
group_is()
{
	local value

	value=$(group_of "$1" "$2" "$3")
	if [ -z "$4" ] || [ "$4" = null ] || [ "$value" != "$4" ]; then
		echo "host $1, group $2: $3 is ${value:-nothing}, not ${4:-something}"
		return 1
	fi
}

group_becomes()
{
	until_true 10 group_is "$@" || group_is "$@"
}

# hears HOST SENDER FROM: HOST has just heard the sender with number SENDER on host FROM
hears()
{
	group_of "$1" g ".peers[] | select(.sender == $2 and
		.gid == \"$(gid_of "$3")\" and .age_ms < 5000)"
}

# hear A SENDER-OF-A B SENDER-OF-B: A and B hear each other, and have the same key
hear()
{
	until_true 20 hears "$1" "$4" "$3" && until_true 20 hears "$3" "$2" "$1" &&
		[ "$(group_of "$1" g .key_id)" = "$(group_of "$3" g .key_id)" ]
}

key_id()
{
	group_of "$1" g .key_id
}

# has_key HOST ID
has_key()
{
	[ "$(key_id "$1")" = "$2" ]
}

# listen3 [OPTIONS]: host 3 waits for host 1 on the link m
listen3()
{
	local log3=/tmp/rclink-test-listen-3

	: >"$log3"
	on 3 "$tool" listen --key "$key" --peer "m=$pin1" "$@" >"$log3" 2>&1 &
	listener3=$!
	until_true 10 grep -q listening "$log3" || bail "host 3 does not listen"
}
