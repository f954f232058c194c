#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation fails once: below each command of the netlink family, below loading
# the module, and below an event.
# hosts: 1
# kernels: debug-all
# only: Debian's kernels have no fault injection
# timeout: 700
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

export RCLINK_KO=$LIB_DIR/../build/$RCL_KVER/kmod/rclink.ko
plan "$(harness_points "$NL_SRC"/nl_{fault,lost}.c)"
nl_build
lab_device
lab_module
for name in lost fault; do
	harness "$NL_SRC/nl_$name.c" "$NL/nl_$name"
done
finish
