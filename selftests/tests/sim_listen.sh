#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A device that is slow to make and change QPs holds up its own exchange, but at no step
# another exchange of the same process.
# hosts: 1
# kernels: 6.12-all 6.1-all
# ib: no, it has simulated devices of its own
# timeout: 200
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"

qps=15		# and the control QP
step_ms=150	# for each of these
self=''
slow=''

# The number of QP calls that the device of s1 has got.
seen()
{
	awk '$1 == "slow_qp" { print $3 }' "$SIM/sim1/fault"
}

# is_at N: each QP has had N calls, and the first QP has the next one
is_at()
{
	[ "$(($(seen) - before))" -gt $(($1 * (qps + 1))) ]
}

# is_before N: not all QPs have had N calls
is_before()
{
	[ "$(($(seen) - before))" -lt $(($1 * (qps + 1))) ]
}

# quick N: the link a comes up while the slow device is at the next call after N for
# each QP, which is made to take even longer
quick()
{
	local status

	rclink disconnect a >/dev/null 2>&1
	until_true 20 is_at "$1" || return
	echo "slow_qp 1 1000 2000" >"$SIM/sim1/fault"
	rclink connect a 127.0.0.1:7185 --key "$key" --pin "$pin1" \
		--peer-link b --timeout 30 && is_before $(($1 + 1))
	status=$?
	echo "slow_qp 1 1000 $step_ms" >"$SIM/sim1/fault"
	return "$status"
}

slow_is_up()
{
	wait "$slow" && [ "$(of 1 s1 .state)" = up ] && rclink ping s0 -c 1
}

# dial_slow [OPTION...]
dial_slow()
{
	rclink connect s0 127.0.0.1:7185 --key "$key" --pin "$pin1" \
		--peer-link s1 --timeout 60 "$@"
}

slow_is_prepared()
{
	[ "$(of 1 s0 .state)" = prepared ]
}

is_rotating()
{
	[ "$(of 1 s0 .standby.state)" = prepared ]
}

# Two exchanges rotate the link: the second one finds it rotated, and makes no other
# epoch.
rotated_once()
{
	local second epoch

	dial_slow || return
	epoch=$(of 1 s0 .epoch)
	echo "slow_qp 1 1000 $step_ms" >"$SIM/sim1/fault" || return
	dial_slow --rotate >/tmp/rclink-test-slow 2>&1 &
	slow=$!
	until_true 10 is_rotating || return
	dial_slow --rotate --verbose >/tmp/rclink-test-second 2>&1 &
	second=$!
	until_true 10 grep 'BUSY .*again in' /tmp/rclink-test-second || return
	echo "slow_qp 1 0" >"$SIM/sim1/fault"
	wait "$slow" && wait "$second" && is_next_epoch "$epoch"
}

# is_next_epoch EPOCH: the link is up with the epoch after that one
is_next_epoch()
{
	[ "$(of 1 s0 .epoch)" -eq $(($1 + 1)) ] &&
		grep "s0: up, epoch $(($1 + 1)),.*by another exchange" \
			/tmp/rclink-test-second
}

# Both ends are one host, so neither goes first: the second dial comes again after a
# second at least.
disconnected()
{
	local second status

	rclink disconnect s0
	echo "slow_qp 1 1000 $step_ms" >"$SIM/sim1/fault" || return
	dial_slow >/tmp/rclink-test-slow 2>&1 &
	slow=$!
	until_true 10 slow_is_prepared || return
	dial_slow --verbose >/tmp/rclink-test-second 2>&1 &
	second=$!
	until_true 10 grep 'BUSY .*another exchange of the link is under way' \
		/tmp/rclink-test-second && rclink disconnect s0
	status=$?
	echo "slow_qp 1 0" >"$SIM/sim1/fault"
	! wait "$slow" && ! wait "$second" && [ "$status" -eq 0 ] &&
		grep -q 's0: the link was disconnected' /tmp/rclink-test-second
}

# The caller that gave way has sent no OFFER.
refused_nobody()
{
	grep 'given up, from .*another exchange of the link is under way' \
		"$log" && ! grep refused "$log"
}

plan 8
link_setup
sim_load "sim0 ib 1" "sim1 ib 2"
holds "links on quick devices, and on a slow one" eval \
	"rclink add a loopback 1 && rclink add b loopback 1 &&
	rclink add s0 loopback 1 device sim0 qps $qps &&
	rclink add s1 loopback 1 device sim1 qps $qps"
"$tool" listen --port 7185 --key "$key" --peer "b=$pin1" --peer "s1=$pin1" \
	>"$log" 2>&1 &
self=$!
until_true 10 grep -q listening "$log" || bail "nobody listens: $(<"$log")"
before=$(seen)
echo "slow_qp 1 1000 $step_ms" >"$SIM/sim1/fault" || bail "it is quick"
dial_slow >/tmp/rclink-test-slow 2>&1 &
slow=$!
# Making a QP counts as a call, too.
holds "another link comes up while it is prepared" quick 0
holds "another one while it is connected" quick 2
holds "another one while it is activated" quick 3
echo "slow_qp 1 0" >"$SIM/sim1/fault"
holds "and then it is up" slow_is_up
holds "who waits for its next dial is ended by a disconnect, too" disconnected
holds "and who gave way was not refused" refused_nobody
holds "who rotates comes again while another one does" rotated_once
kill "$self"
wait "$self"
for name in a b s0 s1; do
	rclink del "$name"
done
sim_unload
finish
