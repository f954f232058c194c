# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The test module of the kernel interface. Sourced after lib.sh, before plan.
# shellcheck disable=SC2034

KAPI_DIR=/sys/kernel/debug/rclink_test

[ -e "$LIB_DIR/../build/$(uname -r)/selftests/kapi/rclink_test.ko" ] ||
	skip_all "no rclink_test.ko: it is built in a tree, by make modules"

# The module, on every host; after lab_module.
kapi_load()
{
	on_all "$LIB_DIR/kapi/load" || bail "rclink_test.ko does not load"
}

# kapi HOST COMMAND: see kapi/main.c
kapi()
{
	on "$1" "$LIB_DIR/kapi/run" "$2"
}
