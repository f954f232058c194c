# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Groups through the command line tool. Sourced after link/lib.sh.
# The library has `tool`, tests use the addresses.
# shellcheck disable=SC2034,SC2154

mgid4=239.1.2.3
mgid6=ff15::4:5:6

# group_of HOST NAME FILTER: from `group show -j`
group_of()
{
	on "$1" "$tool" group show "$2" -j | gojq -er ".[0] | $3"
}

# group_is HOST NAME FILTER VALUE
group_is()
{
	local value

	value=$(group_of "$1" "$2" "$3")
	[ "$value" = "$4" ] || {
		echo "host $1, group $2: $3 is $value, not $4"
		return 1
	}
}

group_becomes()
{
	until_true 10 group_is "$@" || group_is "$@"
}

# hears HOST SENDER FROM: that host has heard that number from that host just now
hears()
{
	group_of "$1" g ".peers[] | select(.sender == $2 and
		.gid == \"::ffff:192.0.2.$3\" and .age_ms < 5000)"
}

# hear A SENDER-OF-A B SENDER-OF-B: two hosts hear each other
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
