#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hostile processes at both ends of a link hurt their own channels only. FUZZ_SEED is
# the seed, by default 1; FUZZ_ROUNDS sets the number of rounds.
# hosts: 2
# kernels: 6.1-all 6.12-all mixed-all debug
# timeout: 300
# soak: 5400 FUZZ_ROUNDS=1000
# The libraries define the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

seed=${FUZZ_SEED:-1}
rounds=${FUZZ_ROUNDS:-40}

# Two hostile processes on this host, one on host 2, and good ones beside them.
fuzz()
{
	local status=0 pids=() pid

	"$CHAN/fuzz" l "$seed" "$rounds" &
	pids+=($!)
	"$CHAN/fuzz" l "$((seed + 1))" "$rounds" &
	pids+=($!)
	"$CHAN/stress" l many 2 30 || status=1
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	kill -0 "$hostile" || status=1
	return "$status"
}

plan 7
chan_build
chan_setup qps 8 timeout 18
holds "host 2 takes channels" chan_far stress l listen
good=$far
holds "and those of hostile ones" chan_far fuzz l "$((seed + 2))" 0 listen
hostile=$far
comment <<<"seed $seed, $rounds rounds"
holds "good processes beside hostile ones" fuzz
chan_far_end "$good"
holds "host 2 takes channels again" chan_far stress l listen
good=$far
holds "a new channel moves data" "$CHAN/stress" l many 1 3
chan_far_end "$good" "$hostile"
rclink show l -j | gojq -c '.[0] | { state, reason_text, wc_status }' | comment
check "the link is still up" is 1 l .state up
check "it still answers pings" rclink ping l --op write -c 3
rclink disconnect l
finish
