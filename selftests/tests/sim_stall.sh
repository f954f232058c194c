#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The QP of a channel fails alone: where the link is rotated the channel goes
# on, and else it ends and says why, with each status. Who hears that a channel
# has ended finds all that came before, and where many end at once their link
# stays. On simulated devices.
# hosts: 1
# kernels: 6.12 6.1-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/"chan_{stall,status,over,crowd}.c)"
chan_build
lab_module
sim_load
for program in chan_stall chan_status chan_over chan_crowd; do
	harness "$CHAN_SRC/$program.c" "$CHAN/$program"
done
sim_unload
finish
