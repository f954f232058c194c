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
	on "$1" "$tool" group show "$2" -j | jq -er ".[0] | $3"
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
