#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each verbs call of a rotation fails once, at either end of the link, on simulated
# devices.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/lib.sh"

plan "$(harness_points "$NL_SRC/nl_sim_rotate.c")"
nl_build
lab_module
sim_load
harness "$NL_SRC/nl_sim_rotate.c" "$NL/nl_sim_rotate"
sim_unload
finish
