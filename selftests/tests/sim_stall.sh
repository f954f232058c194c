#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The QP of a channel fails, but not its link: if the link is rotated, the channel goes
# on; otherwise it ends and says why. Each completion status is reported by its name. An
# end that hears that its channel has ended finds the messages sent before. Where many
# channels are closed at once, their link stays up. On simulated devices.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
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
