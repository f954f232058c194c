#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every operation of a channel between two hosts, and every error that can be
# provoked, with librclink at both ends.
# hosts: 2
# kernels: 6.1 6.12-all mixed mixed-back debug-all
# timeout: 300
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

far_says=/tmp/rclink-test-far

plan $((1 + $(harness_points "$CHAN_SRC/chan_ops.c")))
chan_build
chan_setup
on 2 "$CHAN/far" l >"$far_says" 2>&1 &
far=$!
until_true 10 grep -q listening "$far_says" ||
	bail "the far end does not listen"
harness "$CHAN_SRC/chan_ops.c" "$CHAN/chan_ops"
comment <"$far_says"
rclink show l -j | gojq -c '.[0] | { state, reason_text, wc_status }' | comment
check "the link is still up" is 1 l .state up
kill $far
wait $far 2>/dev/null
rclink disconnect l
finish
