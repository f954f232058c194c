#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A peer that posts no receive, with rnr-retry 0, 3 and 7. With 7 the device retries
# for ever: then the heartbeat alone decides, here for half a minute.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# timeout: 150
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC/chan_rnr.c")"
chan_build
lab_device
lab_module
harness "$CHAN_SRC/chan_rnr.c" "$CHAN/chan_rnr"
finish
