#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Regions that take more than one registration of the device, between two hosts, with
# librclink at both ends.
# hosts: 2
# kernels: 6.1 6.12-all mixed debug-all
# timeout: 300
# The libraries set the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan $((1 + $(harness_points "$CHAN_SRC/chan_regions.c")))
chan_build
chan_setup
# For the test that registers huge pages.
huge=$(</proc/sys/vm/nr_hugepages)
echo $((huge + 6)) >/proc/sys/vm/nr_hugepages
chan_far far l || bail "the far end does not listen"
harness "$CHAN_SRC/chan_regions.c" "$CHAN/chan_regions"
comment </tmp/rclink-test-far-far
check "the link is still up" is 1 l .state up
chan_far_end "$far"
echo "$huge" >/proc/sys/vm/nr_hugepages
rclink disconnect l
finish
