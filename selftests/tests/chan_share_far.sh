#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A region that is exported to all links, between two hosts with two links.
# hosts: 2
# kernels: 6.1 6.12-all mixed-all debug-all
# timeout: 300
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

# registrations HOST NUMBER
registrations()
{
	[ "$(objects "$1" mr)" -eq "$2" ]
}

both_up()
{
	link_listen l m && link_pair l && link_pair m
	link_listen_end
	becomes 2 l .state up && becomes 2 m .state up
}

plan $((3 + $(harness_points "$CHAN_SRC/chan_share_far.c")))
chan_build
link_setup
holds "two links are up" both_up
chan_far far l || bail "nobody listens on link l"
owner=$far
chan_far far m || bail "nobody listens on link m"
harness "$CHAN_SRC/chan_share_far.c" "$CHAN/chan_share_far"
comment </tmp/rclink-test-far-far
wait "$owner" 2>/dev/null
chan_far_end "$far"
# Only the two link buffers stay registered.
check "nothing of it is registered any more" until_true 10 registrations 2 2
check "both links are still up" eval \
	'is 1 l .state up && is 1 m .state up'
rclink disconnect l
rclink disconnect m
finish
