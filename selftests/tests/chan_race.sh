#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Registered memory that another thread changes all the time, or that fork() and exec()
# pass on; and files that are closed while other threads poll them or wait for them.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 200
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan "$(harness_points "$CHAN_SRC"/chan_{race,close}.c)"
chan_build
lab_device
lab_module
harness "$CHAN_SRC/chan_race.c" "$CHAN/chan_race"
harness "$CHAN_SRC/chan_close.c" "$CHAN/chan_close"
finish
