#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every verbs call of a channel's life fails once, and every work request, on
# simulated devices.
# hosts: 1
# kernels: 6.12 debug-all
# ib: no, it has simulated devices of its own
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/chan_sim.c")"
chan_build
lab_module
sim_load
harness "$CHAN_SRC/chan_sim.c" "$CHAN/chan_sim"
sim_unload
finish
