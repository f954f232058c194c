# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Ways to make the link l of two daemons fail while chaos.c sends over it. Sourced
# after link/lib.sh and daemon/lib.sh, whose variables it uses.
# shellcheck disable=SC2154,SC2034

chaos=$LIB_DIR/../build/chan/chaos
heard=/tmp/chan-resume-listen
told=/tmp/chan-resume-connect
channels=3

conf()
{
	link_section l "$1" heartbeat 300 misses 4 recover "${2:-resume}" qps 6 \
		"${@:3}"
}

begin()
{
	conf "$pin2" resume peer "$RCL_PEER_IP" | configure 1 &&
		conf "$pin1" | configure 2 && daemon_start 1 2 && up
}

# A daemon dials a link that failed often after half a minute at most.
up()
{
	until_true 45 is 1 l .state up && until_true 30 is 2 l .state up
}

# later EPOCH: both ends are up, host 1 in a later epoch than EPOCH
later()
{
	[ "$(of 1 l .epoch)" -gt "$1" ] && is 1 l .state up &&
		is 2 l .state up
}

# rotate HOST: rotates the link l from HOST
rotate()
{
	on "$1" "$tool" rotate l --timeout "${2:-$((20 * RCL_SLOW))}"
}

# rotates HOST TIMES: after each rotation, both ends are up in a later epoch
rotates()
{
	local epoch i

	for ((i = 0; i < $2; i++)); do
		epoch=$(of 1 l .epoch)
		rotate "$1" && until_true 10 later "$epoch" || return
	done
}

# sum FILE WORD
sum()
{
	sed -n "s/.*\<$2 \([0-9]*\).*/\1/p" "$1"
}

# Each of these takes the link down, and lets it come up again.
cut()
{
	local status=0

	on 2 ip link set eth0 down
	until_true 20 is 1 l .state down || status=1
	on 2 ip link set eth0 up
	return "$status"
}

deaf()
{
	on 2 tc qdisc add dev eth0 root netem loss 100%
	until_true 20 is 1 l .state down
	on 2 tc qdisc del dev eth0 root
}

# Not every kernel can drop incoming packets.
has_ingress()
{
	on 1 tc qdisc add dev eth0 clsact 2>/dev/null &&
		on 1 tc qdisc del dev eth0 clsact
}

# The exchange still works, so the host that dials is back before the other one notices.
rdma_lost()
{
	rdma_deaf 1 && rdma_deaf 2 || return
	until_true 20 is 1 l .state down
	rdma_hears 1
	rdma_hears 2
}

unplugged()
{
	on 2 lab_dev del
	until_true 20 is 1 l .state down
	on 2 lab_dev
}

orphaned()
{
	kill_daemon 2 && cut && daemon_start 2
}

kill_daemon()
{
	daemon_signal "$1" KILL
	wait "${running[$1]}"
	true
}

# The channels make progress.
goes_on()
{
	local ops

	ops=$(of 1 l .stats.chan_ops)
	# Waits as long as up(), as the link may just have failed again.
	until_true 45 eval "[ \"\$(of 1 l .stats.chan_ops)\" -gt $((ops + 20)) ]"
}

# The count is the same twice, with traffic in between: no link has just gone down.
objects_settle()
{
	objects_then=$(objects_of_both) && goes_on && objects_same
}

recovers()
{
	local epoch

	epoch=$(of 1 l .epoch)
	"$@" && until_true 60 later "$epoch"
}

# Traffic runs all the while, with nice, so that causing faults need not wait for it.
chaos_try()
{
	server=''
	client=''
	: >"$heard"
	: >"$told"
	up || return
	on 2 nice "$chaos" l listen "$channels" >"$heard" 2>&1 &
	server=$!
	until_true 10 grep -q listening "$heard" || return
	nice "$chaos" l connect "$channels" "$1" >"$told" 2>&1 &
	client=$!
	until_true 45 eval "[ \"\$(of 1 l .stats.channels)\" = $channels ]"
}

# On a busy machine a heartbeat may be missed while channels open.
chaos_begin()
{
	chaos_try "$1" && return
	cat "$told" "$heard"
	on_all pkill -KILL -x chaos
	# shellcheck disable=SC2086
	[ -z "$server" ] || wait $client $server
	chaos_try "$1"
}

chaos_end()
{
	local status=0

	kill -TERM "$client"
	wait "$client" || status=1
	wait "$server" || status=1
	sed 's/^/# host 1: /' "$told"
	sed 's/^/# host 2: /' "$heard"
	[ "$status" -eq 0 ] || {
		rclink why l
		on 2 "$tool" why l
		show_daemons
	}
	return "$status"
}

# Each end received what the other one sent, and much was sent.
adds_up()
{
	[ "$(sum "$told" sent)" -gt $((channels * 50)) ] &&
		[ "$(sum "$told" sent)" = "$(sum "$heard" received)" ] &&
		[ "$(sum "$heard" sent)" = "$(sum "$told" received)" ]
}

# Each atomic that completed was carried out once; of those whose fate is unknown, any
# number was.
atomics_add_up()
{
	atomics_of "$told" "$heard" && atomics_of "$heard" "$told"
}

# atomics_of FROM TO: those of the end that wrote FROM, at the end that wrote TO
atomics_of()
{
	local counter fadds

	counter=$(sum "$2" counter)
	fadds=$(sum "$1" fadds)
	echo "$fadds completed, $counter were carried out"
	[ "$counter" -gt 0 ] && [ "$counter" -ge "$fadds" ] &&
		[ "$counter" -le $((fadds + $(sum "$1" unknown))) ]
}
