#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Imports that a channel gives back.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 120
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/chan_import.c")"
chan_build
lab_device
lab_module
harness "$CHAN_SRC/chan_import.c" "$CHAN/chan_import"
finish
