#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every operation over a network that loses, reorders, duplicates and damages
# packets: what is reported as done is there, once, and in order, at both ends.
# First so that a channel survives; then worse, and with the link going down.
# NETEM_SEED=7 NETEM_SECONDS=60 for others, by hand.
# hosts: 2
# kernels: 6.1 6.12
# timeout: 180
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

seed=${NETEM_SEED:-1}
seconds=${NETEM_SECONDS:-6}
writers=8
run=0

network()
{
	on_all tc qdisc replace dev eth0 root netem "$@"
}

network_good()
{
	on_all tc qdisc del dev eth0 root 2>/dev/null
}

# ARP has no checksum: a damaged answer would send all packets elsewhere.
neighbours()
{
	local host mac

	for host in 1 2; do
		mac=$(on "$host" cat /sys/class/net/eth0/address)
		on $((3 - host)) ip neigh replace "192.0.2.$host" dev eth0 \
			lladdr "$mac" nud permanent || return
	done
}

# moves [end]: for a while, with a seed of its own
moves()
{
	run=$((run + 1))
	"$CHAN/lossy" l run "$writers" "$seconds" $((seed * 100 + run)) "$@"
}

# survives WHAT NETEM...
survives()
{
	local what=$1 status

	shift
	network "$@" || bail "no netem"
	holds "$what: all of it is done, once, in order" moves
	grep ' operations in ' "$said" | comment
	network_good
}

goes_up()
{
	is 1 l .state up && is 2 l .state up && return
	rclink disconnect l
	link_dial l
}

# Until the operations are over, whatever happens to the link.
kept_up()
{
	local pid=$1

	while kill -0 "$pid" 2>/dev/null; do
		goes_up
		sleep 0.2
	done >/dev/null 2>&1
	wait "$pid"
}

bad_network()
{
	moves end &
	kept_up $!
}

# At random moments, at either end.
goes_down_and_up()
{
	local pid host

	moves end &
	pid=$!
	RANDOM=$seed
	while kill -0 "$pid" 2>/dev/null; do
		sleep "1.$((RANDOM % 10))"
		host=$((1 + RANDOM % 2))
		on "$host" ip link set eth0 down
		sleep "0.$((RANDOM % 10))"
		on "$host" ip link set eth0 up
		neighbours
		until_true 10 goes_up
	done >/dev/null 2>&1
	wait "$pid"
}

ended()
{
	awk '{ sum += $(NF - 2) } END { print sum " channels ended" }' "$said"
}

plan 10
chan_build
chan_setup qps 16 timeout 15 rnr-retry 7
link_listen l
neighbours
comment <<<"seed $seed"
holds "host 2 takes channels" chan_far lossy l listen "$writers"
survives "2 of 100 packets are lost" loss 2%
survives "3 of 100 packets overtake" delay 3ms reorder 97%
survives "10 of 100 packets come twice" duplicate 10%
survives "2 of 100 packets are damaged" corrupt 2%
survives "all of that" delay 3ms reorder 97% loss 1% duplicate 5% corrupt 1%
network loss 15% duplicate 10% corrupt 1% delay 10ms 5ms
holds "a network too bad for a channel: what was done is there" bad_network
ended | comment
network_good
until_true 30 goes_up
holds "the link goes down and up: what was done is there" goes_down_and_up
ended | comment
until_true 30 goes_up
check "the far ends have found nothing wrong" kill -0 "$far"
chan_far_end "$far"
check "the link is up" until_true 30 goes_up
link_listen_end
rclink disconnect l
finish
