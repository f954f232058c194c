#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every operation of a channel between two hosts, and every error that can be
# provoked, with librclink at both ends.
# hosts: 2
# kernels: 6.1 6.12-all 6.1-ib 6.12-ib mixed mixed-back debug-all
# timeout: 300
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

far_says=/tmp/rclink-test-far
tracing=/sys/kernel/tracing
failures=$tracing/events/rclink/rcl_link_fail/enable

# traced HOST STATUS...: the trace of HOST has a failed completion with each STATUS, a
# number of enum ib_wc_status, and none for a flushed work request
traced()
{
	local host=$1 trace status

	shift
	trace=$(on "$host" grep rcl_link_fail $tracing/trace)
	echo "$trace"
	for status; do
		grep -qE "link=l reason=5 wc_status=($status) " <<<"$trace" || return
	done
	! grep -q 'wc_status=5 ' <<<"$trace"
}

plan $((3 + $(harness_points "$CHAN_SRC/chan_ops.c")))
chan_build
chan_setup
on_all sh -c "echo >$tracing/trace; echo 1 >$failures" || bail "this kernel has no tracing"
on 2 "$CHAN/far" l >"$far_says" 2>&1 &
far=$!
until_true 10 grep -q listening "$far_says" ||
	bail "the far end does not listen"
harness "$CHAN_SRC/chan_ops.c" "$CHAN/chan_ops"
comment <"$far_says"
# For a message that is too long, some devices report a remote operation error.
check "what the peer refuses is traced" traced 1 10 13 '9|11'
check "and what fails at the peer, there" traced 2 '1|2'
on_all sh -c "echo 0 >$failures"
rclink show l -j | gojq -c '.[0] | { state, reason_text, wc_status }' | comment
check "the link is still up" is 1 l .state up
kill $far
wait $far 2>/dev/null
rclink disconnect l
finish
