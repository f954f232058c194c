#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Entries and arguments that the kernel itself refuses on a channel, on the lab's device
# and on simulated ones, and what it leaves undone then.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC"/chan_{raw,args}.c)"
chan_build
lab_device
lab_module
sim_load
harness "$CHAN_SRC/chan_raw.c" "$CHAN/chan_raw"
harness "$CHAN_SRC/chan_args.c" "$CHAN/chan_args"
sim_unload
finish
