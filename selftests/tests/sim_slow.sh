#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An epoch of many QPs comes up, or is given up, beside one that is up, on a simulated
# device that is slow with each QP. Processes are killed while such a device registers
# memory for them.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$NL_SRC/nl_sim_slow.c" "$CHAN_SRC/chan_killed.c")"
nl_build
chan_build
lab_module
sim_load
harness "$NL_SRC/nl_sim_slow.c" "$NL/nl_sim_slow"
harness "$CHAN_SRC/chan_killed.c" "$CHAN/chan_killed"
sim_unload
finish
