#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link fails before or after the peer has carried out what is in flight: what
# becomes of each operation, on channels that go on in the next epoch and on those
# that do not. Each verbs call by which a channel goes on fails once, too. On
# simulated devices.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/"chan_{fate,return}.c)"
chan_build
lab_module
sim_load
for program in chan_fate chan_return; do
	harness "$CHAN_SRC/$program.c" "$CHAN/$program"
done
sim_unload
finish
