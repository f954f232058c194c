#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A peer that is authentic but hostile: whatever it sends on the control QP, its link
# refuses it or goes down, and no other link is affected.
# hosts: 1
# cpus: 2
# kernels: 6.12-all 6.1-all debug-all
# ib: no, its peer is a process, which finds no verbs there
# timeout: 900
# soak: 5400 HOSTILE_EPOCHS=1000
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC"/hostile_*.c)"
chan_build
lab_device
lab_module
for name in link chan load resume renew fuzz; do
	harness "$CHAN_SRC/hostile_$name.c" "$CHAN/hostile_$name"
done
finish
