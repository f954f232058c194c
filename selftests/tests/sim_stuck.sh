#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# CQs that cannot be polled or armed, and registrations that are not released, or only
# slowly, or while they are written, on simulated devices.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

points=$(harness_points "$CHAN_SRC/chan_stuck.c")
plan $((points + 1))
chan_build
lab_module
sim_load
harness "$CHAN_SRC/chan_stuck.c" "$CHAN/chan_stuck"
sim_unload
some_is_lost
finish
