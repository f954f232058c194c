#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every operation of `rclink ping` at boundary sizes; the counters of both ends agree.
# hosts: 2
# kernels: 6.1 6.12-all 6.12-ib mixed-all debug-all
# timeout: 400
# The libraries set the variables; eval expands its argument.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

# moves HOST OP SIZE...
moves()
{
	local host=$1 op=$2 size said

	shift 2
	for size; do
		said=$(on "$host" "$tool" ping l --op "$op" -s "$size" -c 2 \
			-i 0 -j)
		gojq -e --argjson size "$size" '.ok == 2 and .failed == 0 and
			.size == $size and .min > 0' <<<"$said" || {
			echo "host $host: $op of $size bytes: $said"
			return 1
		}
	done
}

at_once()
{
	local op other

	for op in send write read cas fadd; do
		on 2 "$tool" ping l --op $op -c 100 -i 0 -q &
		other=$!
		rclink ping l --op $op -c 100 -i 0 -q || return
		wait $other || return
	done
}

# What one end sent, the other one received.
counters_agree()
{
	[ "$(of 1 l .stats.tx_messages)" -eq "$(of 2 l .stats.rx_messages)" ] &&
		[ "$(of 2 l .stats.tx_bytes)" -eq "$(of 1 l .stats.rx_bytes)" ] &&
		[ "$(of 1 l '.stats.rx_unauthenticated + .stats.rx_malformed +
			.stats.completion_errors + .stats.ping_errors')" -eq 0 ]
}

# looks_at_pings FILE: write to FILE the rates between two looks. A host that stood
# still meanwhile shows too few pings: then try again.
looks_at_pings()
{
	for _ in 1 2 3; do
		rclink stats l -i 2 -j >"$1" || return
		! gojq -e '.[0].per_second.pings >= 1' "$1" >/dev/null || return 0
	done
	return 1
}

# The rates between two looks at a link that is pinged all the time: each ping has one
# control round trip, and takes no less time than that. One ping may be under way at
# either look.
rates()
{
	local pings status looks=$said.looks pinged=$said.pings

	"$tool" ping l -i 0 -c 1000000 -j >"$pinged" &
	pings=$!
	until_true 10 eval '[ "$(of 1 l .stats.pings)" -gt "$pinged_before" ]' &&
		looks_at_pings "$looks"
	status=$?
	kill -INT "$pings"
	wait "$pings"
	cat "$looks" "$pinged"
	[ "$status" -eq 0 ] && gojq -e --slurpfile ping "$pinged" '.[0] |
		(.per_second.pings * .interval_ns / 1e9) as $pings |
		.control_rtt as $rtt | .interval_ns >= 2e9 and $pings >= 2 and
		($pings - $rtt.count | fabs) <= 1.5 and
		([$rtt.buckets[].count] | add) == $rtt.count and
		$rtt.p50_ns <= $rtt.p99_ns and
		$rtt.sum_ns <= ($ping[0].rtt | add)' "$looks"
}

# Links are added all the time, so some are new between the two looks.
new_rates()
{
	local looks=$said.looks n status stats

	"$tool" stats -i "$RCL_SLOW" -j >"$looks" &
	stats=$!
	for ((n = 0; n < 100; n++)); do
		rclink add "n$n"
		kill -0 "$stats" 2>/dev/null || break
		sleep 0.1
	done
	wait "$stats"
	status=$?
	rclink show -j | gojq -r '.[].name' | grep '^n' | xargs -n 1 "$tool" del
	cat "$looks"
	[ "$status" -eq 0 ] && gojq -e 'all(.[]; has("per_second") and
			has("interval_ns")) and
		any(.[]; .name == "l" and .per_second.pings == 0) and
		any(.[]; .per_second == null and .interval_ns == null)' "$looks"
}

plan 17
link_setup
link_listen l
check "the link comes up" link_pair l
mtu=$(of 1 l .mtu)
sizes=(1 64 $((mtu - 1)) "$mtu" $((mtu + 1)) 4095 4096 4097 65536)
for host in 1 2; do
	check "host $host: SEND" moves $host send 0 460 461 "${sizes[@]}"
	check "host $host: WRITE" moves $host write 0 "${sizes[@]}"
	check "host $host: READ" moves $host read 0 "${sizes[@]}"
	check "host $host: CAS and FADD" \
		eval "moves $host cas 8 && moves $host fadd 8"
done
check "both hosts at the same time" at_once
pinged_before=$(of 1 l .stats.pings)
holds "rates, and a histogram, of what there was between two looks" rates
holds "a link that is new has none" eval 'new_rates || new_rates || new_rates'
check "the counters of both ends agree" until_true 5 counters_agree
refuse 1 "more than the peer's buffer is refused" 'link buffer' \
	rclink ping l -q --op write -s 65537 -c 1
refuse 1 "an atomic takes 8 bytes" '8 bytes' rclink ping l -q --op cas -s 4 -c 1
check "a refusal leaves the link up" is 1 l .state up
check "it comes down" rclink disconnect l
link_listen_end
finish
