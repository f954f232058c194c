#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The operations of a channel, up to 8 KiB, over a network that loses, reorders,
# duplicates and damages packets: what is reported as done is there, once and in order,
# at both ends. At first channels must survive the network; then it is too bad for them,
# and the link goes down, too. SEND, WRITE and READ of 64 KiB and 1 MiB meet a network
# that does a little of all of that. On simulated ports all operations are mixed. On rxe,
# which has no masked atomics, SEND (also with invalidate) and WRITE, READ, and atomics
# are apart, except where packets only come twice; there, READ meets only losses, and a
# channel with READs of 1 MiB may end, as may one with SEND and WRITE on a network too
# bad for it.
# NETEM_SEED=7 NETEM_SECONDS=60 NETEM_WRITERS=64 change the defaults; 64 writers need
# more than 2 s to open a channel each on the worst of these networks.
# hosts: 2
# kernels: 6.12-all 6.1-all mixed-all debug-all
# timeout: 240
# soak: 7200 NETEM_SECONDS=300
# The libraries set the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

[ -z "${RCLINK_DEV:-}" ] || skip_all "netem is for the lab's eth0"

seed=${NETEM_SEED:-1}
seconds=${NETEM_SECONDS:-2}
writers=${NETEM_WRITERS:-8}
run=0
# Channels that got stuck, as rxe may leave some (testing.rst), in all `survives` runs.
# A simulated port leaves none.
stuck=0 stuck_max=6
! is_ib || stuck_max=0
# Operations of these runs: regions that a SEND ended, masked atomics, large ones
lent=0 masked=0 of_64k=0 of_1m=0
all=0 sends=1 reads=2 atomics=3 large_sends=5 large_reads=6 large_all=7
# 1 MiB takes a thousand packets, and on simulated ports each loss costs a timeout.
mild=(delay 3ms reorder 99.8% loss 0.1% duplicate 2% corrupt 0.1%)
mixed=(delay 3ms reorder 97% loss 1% duplicate 5% corrupt 1%)
worse=(delay 2ms reorder 75% loss 10% duplicate 10% corrupt 1%)
losses=(2%)
[ -z "${RCL_SOAK:-}" ] || losses=(0.1% 1% 5%)

# disturbed: print how many requests were repeated or out of order, as rxe counts them
disturbed()
{
	local host

	for host in 1 2; do
		on "$host" rdma statistic show link "$RCL_DEV" -j
	done | gojq '.[0] | .out_of_seq_request + .duplicate_request' |
		awk '{ n += $1 } END { print n + 0 }'
}

network()
{
	is_ib || undisturbed=$(disturbed)
	on_all tc qdisc replace dev eth0 root netem "$@"
}

network_good()
{
	on_all tc qdisc del dev eth0 root 2>/dev/null
}

# lost: print how many packets netem has dropped on both hosts
lost()
{
	local host

	for host in 1 2; do
		on "$host" tc -s -j qdisc show dev eth0
	done | gojq '.[] | select(.kind == "netem").drops' |
		awk '{ n += $1 } END { print n + 0 }'
}

# happened [NETEM...]: there were operations; and packets were lost or, with a NETEM
# without loss on rxe, requests were repeated or out of order (returns 2 if not)
happened()
{
	local drops

	awk '/ operations, / { n += $3 } END { exit !n }' "$said" || {
		echo "no operations"
		return 1
	}
	if [[ " $* " != *" loss "* ]]; then
		[ $# -gt 0 ] && ! is_ib || return 0
		[ "$(disturbed)" -gt "$undisturbed" ] && return
		echo "no request came again, or not in turn"
		return 2
	fi
	drops=$(lost)
	echo "$drops packets lost"
	[ "$drops" -gt 0 ] || return 2
}

# ARP has no checksum: a damaged reply would send all packets to a wrong address.
neighbours()
{
	local host mac

	for host in 1 2; do
		mac=$(on "$host" cat /sys/class/net/eth0/address)
		on $((3 - host)) ip neigh replace "192.0.2.$host" dev eth0 \
			lladdr "$mac" nud permanent || return
	done
}

# Later tests may need ARP to resolve the peer's address, or to fail to.
neighbours_end()
{
	local host

	for host in 1 2; do
		on $((3 - host)) ip neigh del "192.0.2.$host" dev eth0
	done
}

# moves MIX [end]: move data for a while, with this run's seed and a MIX of lossy.h.
# With `end`, channels may end and are opened again.
moves()
{
	"$CHAN/lossy" l run "$writers" "$seconds" $((seed * 100 + run)) "$@"
}

# moves_and_lives MIX NETEM...: move data; the link still answers pings afterwards. A
# link that does not is brought up again for the next run.
moves_and_lives()
{
	local status

	# A run that stood still nearly all the time may have lost nothing: try again.
	for _ in 1 2 3; do
		moves "$1" && happened "${@:2}"
		status=$?
		[ "$status" -eq 2 ] || break
	done
	network_good
	pings || pings || {
		echo "the link does not answer any more"
		until_true 30 goes_up
		status=1
	}
	return "$status"
}

# survives WHAT MIX NETEM...
survives()
{
	local what=$1 mix=$2

	shift 2
	run=$((run + 1))
	network "$@" || bail "no netem"
	holds "$what" moves_and_lives "$mix" "$@"
	summary
	stuck=$((stuck + $(sum 9)))
	lent=$((lent + $(sum 11)))
	masked=$((masked + $(sum 13)))
	of_64k=$((of_64k + $(sum 15)))
	of_1m=$((of_1m + $(sum 19)))
}

# sum FIELD: print the sum of that field of what the writers reported
sum()
{
	awk -v field="$1" '/ operations, / { n += $field } END { print n + 0 }' "$said"
}

# all_there: the runs had some of each operation that they are to have
all_there()
{
	[ "$lent" -gt 0 ] && [ "$of_64k" -gt 0 ] && [ "$of_1m" -gt 0 ] &&
		{ ! is_ib || [ "$masked" -gt 0 ]; }
}

# summary: print the totals of what the writers reported
summary()
{
	awk '/ operations, / {
			op += $3; batch += $5; end += $7; stuck += $9
			lent += $11; masked += $13; large += $15; huge += $19
		}
		END { printf "%u operations in %u batches, ", op, batch
			printf "%u channels ended, %u were stuck\n", end, stuck
			printf "%u SENDs with invalidate, %u masked, ", lent, masked
			printf "%u of 64 KiB, %u of 1 MiB\n", large, huge
		}' "$said" | comment
}

pings()
{
	timeout $((5 * RCL_SLOW)) "$tool" ping l -c 1
}

answers()
{
	is 1 l .state up && is 2 l .state up && pings
}

goes_up()
{
	answers && return
	rclink disconnect l
	link_dial l
}

# bad_network MIX NETEM...: move data to the end, and bring the link up whenever it fails
bad_network()
{
	local mix=$1 pid

	shift
	run=$((run + 1))
	network "$@" || return
	moves "$mix" end &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		goes_up
		sleep 0.2
	done >/dev/null 2>&1
	wait "$pid" && happened "$@"
}

# versions NETEM...: all writers replace one record in turn, under a lock
versions()
{
	local lossy=$far status

	chan_far stress l listen && network "$@" &&
		"$CHAN/stress" l same "$writers" 2 && [ "$(lost)" -gt 0 ]
	status=$?
	network_good
	chan_far_end "$far"
	far=$lossy
	return "$status"
}

# survives_not WHAT MIX NETEM...: channels may end, but what was reported as done is
# there
survives_not()
{
	holds "what was done is there, $1" bad_network "${@:2}"
	summary
	network_good
	until_true 30 goes_up
}

# Take eth0 down and up at random moments, at a random end.
goes_down_and_up()
{
	local pid host round seconds=6

	run=$((run + 1))
	moves $sends end &
	pid=$!
	RANDOM=$seed
	for round in 1 2 3; do
		sleep "0.$((RANDOM % 10))"
		host=$((1 + RANDOM % 2))
		on "$host" ip link set eth0 down
		sleep "0.$((RANDOM % 10))"
		on "$host" ip link set eth0 up
		neighbours
		until_true 30 goes_up || {
			echo "not up after $round"
			goes_up
			break
		}
	done
	wait "$pid" && happened
}

# with WHAT NETEM...: all operations in one run; on rxe, SEND and WRITE, then atomics
with()
{
	local what=$1

	shift
	if is_ib; then
		survives "all, $what" $all "$@"
		return
	fi
	survives "SEND and WRITE, $what" $sends "$@"
	survives "atomics, $what" $atomics "$@"
}

if is_ib; then
	plan $((14 + ${#losses[@]}))
	# With masked atomics, which rxe has not
	all=4
	sends=$all
else
	plan $((19 + 3 * ${#losses[@]}))
fi
chan_build
# On a slow host ACKs may be so late that all tries are used up before one comes.
[ "$RCL_SLOW" -eq 1 ] && late=16 || late=18
chan_setup qps $((2 * writers < 64 ? 2 * writers : 64)) timeout "$late" rnr-retry 7
link_listen l
neighbours
comment <<<"seed $seed"
holds "host 2 takes channels" chan_far lossy l listen "$writers"
survives "all, when packets come twice" $all duplicate 10%
for loss in "${losses[@]}"; do
	with "when $loss are lost" loss "$loss"
	is_ib || survives "READ, when $loss are lost" $reads loss "$loss"
done
with "when some overtake" delay 3ms reorder 97%
with "when some are damaged" corrupt 2%
with "with all of that" "${mixed[@]}"
if is_ib; then
	survives "all, up to 1 MiB, with a little of all of that" \
		$large_all "${mild[@]}"
else
	survives "SEND and WRITE up to 1 MiB, with a little of all of that" \
		$large_sends "${mild[@]}"
	# When a queue is full, rxe completes READs without their data (testing.rst).
	survives_not "READ up to 1 MiB, when 0.1% are lost" $large_reads \
		delay 1ms loss 0.1% limit 100000
fi
check "all kinds and sizes were among them: $lent, $masked, $of_64k, $of_1m" all_there
! is_ib || holds "a record is never torn, with all of that" versions "${mixed[@]}"
check "few channels stood still, if any: $stuck" [ "$stuck" -le "$stuck_max" ]
is_ib ||
	skip "READ and atomics behind SEND or WRITE: rxe takes a repeated ACK for their data"
survives_not "on a network too bad for a channel" $sends "${worse[@]}"
# All packets overtake each other, and an answer takes 20 to 180 ms: a message of many
# packets advances by NAKs alone, but rxe restarts its count of tries only at an ACK.
# (On a simulated port, each packet out of order waits for the timer of its QP.)
is_ib || seconds=$((seconds + 6)) \
	survives_not "when packets take 50 ms, more or less 40" $sends delay 50ms 40ms
# Each step of a channel takes several tries, 0.3 s apart, in both directions.
seconds=$((seconds + 15)) survives_not "when 20% are lost" $sends loss 20%
holds "what was done is there, when the link goes down and up" goes_down_and_up
summary
until_true 30 goes_up
check "the far ends have found nothing wrong" kill -0 "$far"
comment </tmp/rclink-test-far-lossy
chan_far_end "$far"
check "the link is up" until_true 30 goes_up
link_listen_end
rclink disconnect l
neighbours_end
finish
