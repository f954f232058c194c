# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The test module of the kernel interface. Sourced after lib.sh, before plan.
# shellcheck disable=SC2034

KAPI_DIR=/sys/kernel/debug/rclink_test

[ -e "$LIB_DIR/../build/$(uname -r)/selftests/kapi/rclink_test.ko" ] ||
	skip_all "no rclink_test.ko: it is built in a tree, by make modules"

# Load the module on every host; after lab_module.
kapi_load()
{
	on_all "$LIB_DIR/kapi/load" || bail "rclink_test.ko does not load"
}

# kapi_bench LINK: how long a WRITE of 64 bytes takes on this host, by the interface and
# by the verbs alone: "NS NS RATIO" one at a time, and the same with 16 in flight;
# ratios in thousandths
kapi_bench()
{
	local device port index

	device=$(of 1 "$1" .device)
	port=$(of 1 "$1" .port)
	index=$(rclink dev -j | gojq -r --arg d "$device" \
		'[.[] | select(.device == $d or .name == $d)][0].chosen_gid')
	kapi 1 "bench $1 $device $port $index"
}

# kapi HOST COMMAND: see kapi/main.c
kapi()
{
	on "$1" "$LIB_DIR/kapi/run" "$2"
}

# again: brings l up again, in another epoch
again()
{
	link_listen_again l && link_dial l
}
