#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Calls that wait: how they end, and what happens when the waiting process ends.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 120
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/chan_block.c")"
chan_build
lab_device
lab_module
harness "$CHAN_SRC/chan_block.c" "$CHAN/chan_block"
finish
