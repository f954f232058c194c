#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every verbs call of a channel's life fails once, and every work request, on
# simulated devices. And a kernel module has masked atomics there.
# hosts: 1
# kernels: 6.12 debug-all
# ib: no, it has simulated devices of its own
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/kapi/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

points=$(harness_points "$CHAN_SRC/chan_sim.c")
plan $((points + 3))
chan_build
link_setup
sim_load
harness "$CHAN_SRC/chan_sim.c" "$CHAN/chan_sim"
sim_load "sim0 ib 1"
kapi_load
holds "a link on a device with masked atomics" link_self device sim0
kapi 1 "listen b"
for how in events polled; do
	check "$how: masked atomics of a kernel module" kapi 1 "masked a $how"
done
on_all rmmod rclink_test
rclink del a
rclink del b
sim_unload
finish
