#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Between two hosts: a message sent before the peer has posted a receive waits for
# that receive, and the sender can give it up by closing the channel.
# hosts: 2
# kernels: 6.1-all 6.12 mixed-all debug-all
# timeout: 200
# The libraries set the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

far_says=/tmp/rclink-test-far-late

listen_all()
{
	[ "$(grep -c listening "$far_says")" -eq 3 ]
}

quiet_says=/tmp/rclink-test-quiet

# The link goes down after unsignaled sends have arrived: none of them completes.
quiet()
{
	local near status=0

	on 2 "$CHAN/quiet" l listen >"$quiet_says" 2>&1 &
	far=$!
	until_true 10 grep -q listening "$quiet_says" || return
	"$CHAN/quiet" l connect >"$quiet_says.near" 2>&1 &
	near=$!
	until_true 20 grep -q got "$quiet_says" || return
	rclink disconnect l
	wait "$near" || status=1
	wait "$far" || status=1
	comment <"$quiet_says.near"
	[ "$status" -eq 0 ] && [ "$(cat "$quiet_says.near")" = 0 ]
}

# Host 2 withdraws a region that host 1 has just invalidated: the link stays up.
withdrawn()
{
	local status=0 says=/tmp/rclink-test-ended

	on 2 "$CHAN/ended" l listen >"$says" 2>&1 &
	far=$!
	until_true 10 grep -q listening "$says" || return
	"$CHAN/ended" l connect || status=1
	wait "$far" || status=1
	comment <"$says"
	[ "$status" -eq 0 ] && is 1 l .state up && is 2 l .state up
}

plan $((3 + $(harness_points "$CHAN_SRC/chan_late.c")))
chan_build
chan_setup
on 2 "$CHAN/late" l >"$far_says" 2>&1 &
far=$!
until_true 10 listen_all || bail "the far end does not listen"
harness "$CHAN_SRC/chan_late.c" "$CHAN/chan_late"
comment <"$far_says"
rclink show l -j | gojq -c '.[0] | { state, reason_text, wc_status }' | comment
check "the link is still up" is 1 l .state up
chan_far_end "$far"
check "a region that the peer has ended can be withdrawn" withdrawn
check "what is not signaled says nothing when the link ends" quiet
finish
