#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Callers that want to keep the listener busy: many connections that send next to
# nothing. An honest caller, even from the same address, still gets its link in no more
# than twice the usual time plus some slack, and each slow connection is closed in time.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 240
# The library sets the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/figure.sh"

# How many callers the listener takes from one address.
places=128
many=160
# How many of them do a handshake; a slow machine has to do all of these within the
# time limit of a step.
strangers=24
other=/tmp/rclink-test-other.pem
loris=/tmp/rclink-test-loris
slow_pid=''
offers=6
# Milliseconds allowed beyond twice the usual time: the machine does other work, too. An
# exchange that had to wait for a slow caller would wait for 10 s, the limit of a step.
slack=$((500 * RCL_SLOW))

fresh()
{
	rclink disconnect l 2>/dev/null
	becomes 2 l .state down
}

# dial_ms: make one exchange, and print how many milliseconds it took
dial_ms()
{
	link_dial l | sed -n 's/.*, \([0-9]*\) ms$/\1/p'
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

# three: print how many milliseconds each of three exchanges took
three()
{
	local i

	for ((i = 0; i < 3; i++)); do
		dial_ms && fresh >/dev/null || return
	done
}

# besiege STRANGERS: slow callers take all places, STRANGERS of them with a handshake
besiege()
{
	local before keys=()

	[ "$1" -gt 0 ] && keys=("$other" "$1")
	before=$(grep -ac 'too many callers' "$log")
	"$LIB_DIR/link/slow.py" "$RCL_PEER_IP" 7185 $many "${keys[@]}" >"$loris" 2>&1 &
	slow_pid=$!
	until_true 60 grep -q '^open' "$loris"
	cat "$loris"
	# Some were closed to make room, and the time of the first may be over.
	awk -v places=$places -v strangers="$1" '$1 == "open" {
			ok = strangers ? $3 >= strangers / 2 : $2 >= places / 2
		} END { exit !ok }' "$loris" &&
		[ "$(grep -ac 'too many callers' "$log")" -gt "$before" ]
}

gets_through()
{
	local times now

	times=$(three) || return
	now=$(median <<<"$times") || return
	echo "# $who: $now ms (${times//$'\n'/, }), normally $normal (${usual//$'\n'/, })" >&3
	[ "$(wc -l <<<"$times")" -eq 3 ] && [ "$now" -le $((2 * normal + slack)) ]
}

closed_in_time()
{
	wait "$slow_pid"
	cat "$loris"
	awk -v limit=$((limit * RCL_SLOW)) '$1 == "longest" && $2 <= limit { ok = 1 }
		END { exit !ok }' "$loris"
}

refused_offers()
{
	[ "$(grep -ac 'refused .*too many exchanges for link l' "$log")" -ge \
		$((offers - 1)) ]
}

one_at_a_time()
{
	local i pids=()

	for ((i = 0; i < offers; i++)); do
		link_offer &
		pids+=($!)
	done
	wait "${pids[@]}"
	tail -n $offers "$log"
	refused_offers && until_true 20 grep -q 'l: not up, from' "$log" &&
		link_dial l && fresh
}

plan 8
exec 3>&1
link_setup
# A long timeout on the wire, where nobody is slow on purpose.
rclink add l timeout 18
on 2 "$tool" add l timeout 18
rm -f $other
"$tool" genkey $other >/dev/null
link_listen l
holds "links come up one after the other" link_dial l
fresh
usual=$(three) || bail "no normal time"
normal=$(median <<<"$usual") || bail "no normal time"
holds "a peer with a key has one exchange at a time" one_at_a_time
# The listener waits 10 s for each step, and 1 s for the caller to go; the rest is for
# a busy machine.
for kind in 'silent 0 18' "strangers $strangers 28"; do
	read -r who n limit <<<"$kind"
	# It writes only so many lines on such callers.
	link_listen_again l
	holds "$who: $many callers take the places" besiege "$n"
	holds "$who: an honest caller gets through" gets_through
	holds "$who: all are closed in $limit s" closed_in_time
done
link_listen_end
finish
