#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory that earlier test files have leaked. run.sh runs this file once, at the end,
# and not after each of them, because a scan takes 13 s in a guest.
# hosts: 2
# kernels: none
. "$(dirname "$0")/../lib.sh"

[ -e /sys/kernel/debug/kmemleak ] || skip_all "the kernel has no kmemleak"
plan 1
check "no memory of the module is left on any host" on_all "$LIB_DIR/oracle" \
	leaks
finish
