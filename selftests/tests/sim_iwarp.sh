#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A simulated iWARP port is shown, but nothing is made on it. As there is no other
# device: what is said if its port cannot be read.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, it has simulated devices of its own
# The libraries set the variables; gojq expands those of its filters.
# shellcheck disable=SC2154,SC2016,SC2034
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"

needs='iWARP needs the RDMA CM: use InfiniBand or RoCE'

shown()
{
	rclink dev -j | gojq -e --arg needs "$needs" '.[] | select(.device == "sim0") |
		.link_layer == "iwarp" and .reason == $needs and
		([.gids[] | select(.chosen)] == [])' && rclink dev | grep "$needs"
}

no_port()
{
	! link_self 2>"$said" && grep 'no active port with a usable GID' "$said" &&
		rclink del a && rclink del b
}

other_is_taken()
{
	link_self && is 1 a .device sim1 && is 1 b .device sim1
}

unreadable()
{
	local status

	echo "query_port 1 1000 -5" >"$SIM/sim0/fault"
	[ "$(rclink dev -j | gojq length)" = 0 ] &&
		rclink dev | grep 'no port of one can be read' &&
		! rclink dev sim0 2>"$said" && grep 'the port cannot be read' "$said"
	status=$?
	echo "query_port 1 0" >"$SIM/sim0/fault"
	return "$status"
}

nothing_was_made()
{
	[ "$(objects 1)" -eq 0 ]
}

[ -z "${RCLINK_DEV:-}" ] || skip_all "a real device would be in the way"
plan 8
lab_module
# Some links name no device and must not find the lab's device.
lab_dev del 2>/dev/null
sim_load "sim0 ib 1 wire=eth0 iwarp=1"
rm -f "$key"
pin1=$("$tool" genkey "$key") || bail "no key"
check "it is shown, with the reason" shown
refuse 1 "a link that names it is refused" "$needs" "$tool" add l device sim0
check "a link that names none finds no port to go over" no_port
refuse 1 "a group on it is refused" "$needs" \
	"$tool" group add g device sim0 mgid ff12:601b::7
check "nothing was made on it" nothing_was_made
check "a device whose port cannot be read is not denied" unreadable
sim_new "sim1 ib 2"
check "a link takes the other port" other_is_taken
check "they end with the devices" eval \
	'sim_unload && is 1 a .reason device-removed && rclink del a && rclink del b'
finish
