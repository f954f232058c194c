#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What memory may be registered, and what becomes of it meanwhile.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 120
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/chan_memory.c")"
chan_build
lab_device
lab_module
harness "$CHAN_SRC/chan_memory.c" "$CHAN/chan_memory"
finish
