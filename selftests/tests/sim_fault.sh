#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every verbs call of a link's life fails once, at either end, on simulated devices; and
# so do every mapping of memory for the device, and the registration of the link buffer,
# with each status that there is.
# hosts: 1
# kernels: 6.1 6.12-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/lib.sh"

plan "$(harness_points "$NL_SRC/nl_sim_fault.c")"
nl_build
lab_module
sim_load
harness "$NL_SRC/nl_sim_fault.c" "$NL/nl_sim_fault"
sim_unload
finish
