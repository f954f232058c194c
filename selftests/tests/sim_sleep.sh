#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# This host is about to sleep while epochs come up, are up or end, on simulated
# devices that may be slow.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/lib.sh"

plan "$(harness_points "$NL_SRC/nl_sim_sleep.c")"
nl_build
lab_module
sim_load
harness "$NL_SRC/nl_sim_sleep.c" "$NL/nl_sim_sleep"
sim_unload
finish
