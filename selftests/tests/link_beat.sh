#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The heartbeat: how soon each end notices a failure of the other one or of the path to
# it, with a device that itself never gives up, and what does not take the link down.
# hosts: 2
# kernels: 6.12-all 6.1-all mixed-all debug-all
# lab: takes ports and the device away
# ib: no, it knows packets by what RoCE makes of them
# timeout: 500
# The library sets the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/figure.sh"

# An emulated host stands still for a second now and then, and then notices late. So
# there are several tries: one has to stay within `goal`, which is promised of any host,
# after the end of the fault's command, and within `limit` after its beginning.
limit=$((5000 * RCL_SLOW))
goal=$((1000 * RCL_SLOW))
seen=/tmp/rclink-test-beat
watchers=()

us()
{
	echo "${EPOCHREALTIME/[.,]/}"
}

# watch HOST: record the events of the link at HOST, stamped by this host's clock
watch()
{
	on "$1" "$tool" monitor -j 2>/dev/null > >(
		while read -r event; do
			echo "${EPOCHREALTIME/[.,]/} $event"
		done >"$seen$1"
	) &
	watchers+=($!)
	until_true 10 grep -q present "$seen$1"
}

watch_end()
{
	kill "${watchers[@]}" 2>/dev/null
	wait "${watchers[@]}" 2>/dev/null
	watchers=()
}

# went HOST: print the stamp and the reason of the event that took the link down there
went()
{
	grep -m 1 '"down"' "$seen$1" |
		sed 's/ .*"reason": *"\([a-z-]*\)".*/ \1/' | grep .
}

both_up()
{
	is 1 l .state up && is 2 l .state up
}

# Disconnect first: an end that the other one has left goes down by itself, but later.
goes_up()
{
	rclink disconnect l 2>/dev/null
	link_dial l && both_up
}

# policy [HOST] WORDS: set the policy of l, which applies from the next epoch on
policy()
{
	local hosts='1 2' host

	case $1 in [12]) hosts=$1; shift ;; esac
	for host in $hosts; do
		on "$host" "$tool" set l "$@" || return
	done
}

# Bring the link up and watch it, again if it went down at once because a host stood
# still.
ready()
{
	local host

	for _ in {1..10}; do
		until_true 30 goes_up || break
		watch 1 && watch 2 && both_up && return
		watch_end
	done
	echo "# it does not stay up: $(of 1 l .reason_text), $(of 2 l .reason_text)"
	return 1
}

# died: an end went down before CMD had ended, and not because of CMD but because a host
# stood still, so that CMD met no link
died()
{
	local host at reason

	for host in 1 2; do
		read -r at reason < <(went "$host") || continue
		[ "$at" -ge "$1" ] && continue
		[[ -n ${reasons[host - 1]} && $reason =~ ^(${reasons[host - 1]})$ &&
			$at -ge $2 ]] && continue
		echo "# once more: host $host was down before, $reason"
		return
	done
	return 1
}

# in_time ENDED: each host that is to give a reason noticed within `goal` after ENDED
in_time()
{
	local host at

	for host in 1 2; do
		[ -n "${reasons[host - 1]}" ] || continue
		read -r at _ < <(went "$host") &&
			[ $(((at - $1) / 1000)) -le "$goal" ] || return
	done
}

# notice WHAT REASON1 REASON2 UNDO CMD...: each host that is to give a reason notices in
# time what CMD does. Only CMD knows when exactly that takes effect, so the figure has
# the times since CMD ended and since it began.
notice()
{
	local what=$1 reasons=("$2" "$3") undo=$4 began ended='' try
	local host at since reason status=0

	shift 4
	for try in {1..5}; do
		ready || return
		began=$(us)
		"$@" || break
		ended=$(us)
		for host in 1 2; do
			[ -z "${reasons[host - 1]}" ] ||
				until_true 20 went "$host"
		done
		if ! died "$ended" "$began"; then
			in_time "$ended" || [ "$try" -eq 5 ] && break
			echo "# once more: it took longer than $goal ms"
		fi
		watch_end
		$undo
		ended=''
	done
	[ -n "$ended" ] || status=1
	for host in 1 2; do
		[ -n "${ended:+${reasons[host - 1]}}" ] || continue
		read -r at reason < <(went "$host") || {
			echo "# host $host did not notice: $(<"$seen$host")"
			status=1
			continue
		}
		since=$ended
		[ "$since" -lt "$at" ] || since=$at
		figure "$what, noticed by host $host after" \
			"$(((at - since) / 1000)) to $(((at - began) / 1000))" \
			"ms, $reason" "<= $goal"
		[ $(((at - began) / 1000)) -le "$limit" ] || status=1
		[ $(((at - since) / 1000)) -le "$goal" ] || status=1
		[[ $reason =~ ^(${reasons[host - 1]})$ ]] || status=1
	done
	watch_end
	$undo
	return "$status"
}

# lose HOST: what HOST sends is lost, what it receives is not
lose()
{
	on "$1" tc qdisc add dev eth0 root netem loss 100%
}

lose_end()
{
	on "$1" tc qdisc del dev eth0 root
}

cable_in()
{
	on "$1" ip link set eth0 up
	until_true 20 ping -c 1 -W 1 "$RCL_PEER_IP"
}

address_back()
{
	until_true 10 on 2 lab_dev
}

# Where large packets get lost, a link with a small MTU, which sends none, stays up.
# With heartbeats this fast it also goes down when a host stands still for a moment,
# so there are several tries.
small_goes_on()
{
	for _ in 1 2 3; do
		until_true 30 goes_up && [ "$(of 1 l .mtu)" = 512 ] &&
			no_large 2 && rclink ping l -c 20 -i 0.1 -q &&
			both_up && return
		rdma_hears 2
	done
	return 1
}

# The command that waits for an answer of the panicked host stays in the background.
panic()
{
	on 2 sh -c 'echo 0 >/proc/sys/kernel/panic
		echo c >/proc/sysrq-trigger' 2>/dev/null &
	watchers+=($!)
}

stands_still()
{
	lab_power 2 pause && lab_power 2 resume
}

back()
{
	link_host_back
	there_again
}

there_again()
{
	link_add 2 l "${words[@]}"
	policy 2 heartbeat 200
	link_listen l
}

off_and_back()
{
	lab_power 2 off
	back
}

# count HOST NAME
count()
{
	on "$1" "$tool" stats l -j | gojq ".[0].$2"
}

# sent: print how many heartbeats both ends send in an interval, in percent, measured
# over some seconds
sent()
{
	local began sent

	sent=$(($(count 1 heartbeats) + $(count 2 heartbeats)))
	began=$(us)
	sleep 4
	sent=$(($(count 1 heartbeats) + $(count 2 heartbeats) - sent))
	echo $((sent * 200000 * 100 / ($(us) - began)))
}

# One round trip per interval is enough for both ends.
idle()
{
	local percent

	# If a host stands still meanwhile, there are too few heartbeats.
	for _ in 1 2 3; do
		until_true 30 goes_up || return
		percent=$(sent)
		[ "$percent" -lt 50 ] || break
	done
	figure "heartbeats of both ends in an interval, idle" \
		"$(ratio "$percent" 100)" "" "<= 1.3"
	figure "intervals missed" \
		"$(count 1 heartbeats_missed), $(count 2 heartbeats_missed)" ""
	both_up && [ "$percent" -ge 50 ] && [ "$percent" -le 200 ]
}

# Round trips that one end makes show both ends that the other one is there.
busy()
{
	local percent trips

	until_true 30 goes_up || return
	"$tool" ping l -q -c 100000 -i 0.02 >/dev/null &
	trips=$!
	until_true 10 eval '[ "$(count 1 pings)" -gt 10 ]'
	percent=$(sent)
	kill -INT $trips
	wait $trips
	figure "heartbeats of both ends in an interval, beside round trips" \
		"$(ratio "$percent" 100)" "" 0
	both_up && [ "$percent" -le 20 ]
}

# All rclink processes of the peer are stopped while one of them receives; the transfer
# goes on when they do.
stopped()
{
	local size=$((100 << 20)) sum sender receiver status

	until_true 30 goes_up || return
	sum=$(head -c $size /dev/zero | sha256sum)
	on 2 sh -c '"$0" recv l | sha256sum' "$tool" >"$seen-sum" &
	receiver=$!
	until_true 10 listens 2 || return
	head -c $size /dev/zero | "$tool" send l &
	sender=$!
	until_true 10 eval '[ "$(of 1 l .stats.chan_bytes)" -gt 1000000 ]' || return
	on 2 pkill -STOP -x rclink
	sleep 4
	both_up && rclink ping l -c 3 && kill -0 $sender
	status=$?
	on 2 pkill -CONT -x rclink
	wait $sender && wait $receiver && [ "$(cat "$seen-sum")" = "$sum" ] &&
		return $status
}

# Host 2, which stood still, heard nothing for longer than it grants its peer.
stood_still()
{
	for _ in 1 2 3; do
		until_true 30 goes_up && stands_still && sleep 1 && both_up &&
			rclink ping l -c 3 && return
	done
	return 1
}

plan 21
link_setup
words=(retry 7 rnr-retry 7)
# Only rxe takes retry 7 as retrying for ever: on other devices, 8 tries take 4 s.
if is_ib; then
	words+=(timeout 17)
elif [ "$RCL_SLOW" -eq 1 ]; then
	# With retry 6 the device is to give up before the heartbeat does.
	words+=(timeout 14)
fi
link_listen l
# Otherwise the first command to need sch_netem waits until it is loaded.
on_all modprobe -a sch_netem
refuse 1 "a link whose device never gives up needs a heartbeat" \
	'retry 7 never gives up' rclink add l retry 7 heartbeat 0
check "the link comes up" link_pair l "${words[@]}"
# The peer is granted more time than it can need, to see what takes no link down.
policy heartbeat 200 misses 50
measured "an idle link stays up for twenty intervals" idle 4
measured "traffic makes heartbeats needless" busy
check "processes that are stopped are no loss" stopped
policy misses 3
measured "a cable pulled at the peer" notice "cable out at the peer" \
	peer-silent port-down "cable_in 2" on 2 ip link set eth0 down
measured "a cable pulled here" notice "cable out here" \
	port-down peer-silent "cable_in 1" ip link set eth0 down
measured "a peer that is not heard" notice "host 2 is not heard" \
	peer-silent peer-silent "lose_end 2" lose 2
measured "a host that is not heard by its peer" notice "host 1 is not heard" \
	peer-silent peer-silent "lose_end 1" lose 1
measured "only small packets come through to the peer" notice \
	"host 2 gets no large packets" peer-silent peer-silent "rdma_hears 2" \
	no_large 2
measured "only small packets come through from the peer" notice \
	"host 1 gets no large packets" peer-silent peer-silent "rdma_hears 1" \
	no_large 1
policy 1 mtu 512
check "a link of smaller packets does not mind" small_goes_on
rdma_hears 2
policy 1 mtu auto
measured "an address taken away" notice "no address at the peer" \
	peer-silent gid-changed address_back on 2 lab_dev lost
measured "a device that goes" notice "no device at the peer" \
	replaced device-removed "on 2 lab_dev" on 2 lab_dev del
policy retry 6 rnr-retry 6
measured "a device that gives up may be first" notice "the same, retry 6" \
	'peer-silent|completion' port-down "cable_in 2" on 2 ip link set eth0 down
policy retry 7 rnr-retry 7
if command -v lab_power >/dev/null; then
	policy 1 misses 100
	check "a host that stood still does not blame its peer" stood_still
	policy 1 misses 3
	link_host_anew
	there_again
	measured "a peer without power" notice "power off" \
		peer-silent '' back lab_power 2 off
	check "it has complained of nothing since" complained_of_nothing 2
	measured "a peer that panics" notice "panic" \
		peer-silent '' off_and_back panic
else
	for what in stood-still left power complaints panic; do
		skip "$what: needs a host whose power can be cut"
	done
fi
check "it is deleted" eval 'rclink del l && on 2 "$tool" del l'
link_listen_end
finish
