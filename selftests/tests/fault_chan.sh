#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What fails below a call of /dev/rclink fails the call, and nothing more.
# hosts: 1
# kernels: debug
# timeout: 200
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/chan_fault.c")"
chan_build
lab_device
lab_module
harness "$CHAN_SRC/chan_fault.c" "$CHAN/chan_fault"
finish
