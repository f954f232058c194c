#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The QP of a channel fails alone: where the link is rotated the channel goes on,
# and else it ends and says why. On simulated devices.
# hosts: 1
# kernels: 6.12 6.1-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/chan_stall.c")"
chan_build
lab_module
sim_load
harness "$CHAN_SRC/chan_stall.c" "$CHAN/chan_stall"
sim_unload
finish
