#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Regions exported to all links: who may import them, and what ends them.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC"/chan_share{,_end}.c)"
chan_build
lab_device
lab_module
harness "$CHAN_SRC/chan_share.c" "$CHAN/chan_share"
harness "$CHAN_SRC/chan_share_end.c" "$CHAN/chan_share_end"
finish
