#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Channels of a kernel module outlive the epoch: what each call returns while they are
# suspended, how the module learns that they go on, and what becomes of operations in
# flight.
# hosts: 2
# kernels: 6.1-all 6.12 mixed-all debug-all
# lab: takes ports and the device away
# timeout: 300
# The libraries set the variables; eval expands its argument.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/kapi/lib.sh"

# The port of host 1 goes down, which ends the epoch on host 1 at once.
falls()
{
	ip link set eth0 down && until_true 10 is 1 l .state down
}

# The epoch of host 2 may still be up: then the new epoch replaces it.
comes_back()
{
	ip link set eth0 up &&
		until_true 20 ping -c 1 -W 1 "$RCL_PEER_IP" || return
	until_true 30 again || again
}

# lose HOST: nothing that HOST sends arrives
lose()
{
	on "$1" tc qdisc add dev eth0 root netem loss 100%
}

found()
{
	on "$1" tc qdisc del dev eth0 root
}

suspended()
{
	kapi 1 waits && is 1 l .stats.chan_suspended 1
}

# goes_on WHAT REPLAY: the channel goes on, no channel is suspended, and it is closed
goes_on()
{
	kapi 1 "goes_on $1 $2" && is 1 l .stats.chan_suspended 0 && kapi 1 drop
}

# Neither the requests nor their retransmissions arrive.
cut_off()
{
	lose 1 && kapi 1 "fly lost" && falls && found 1
}

received()
{
	[ "$(of 2 l .stats.chan_recvs)" -gt "$1" ]
}

# Host 2 receives the message, but host 1 gets neither the ACK nor the answer.
unheard()
{
	local before

	before=$(of 2 l .stats.chan_recvs)
	lose 2 && kapi 1 "fly answered" && until_true 5 received "$before" &&
		falls && found 2
}

# outlives WHAT HOW REPLAY CMD...: a channel goes on after CMD has made its link fail
outlives()
{
	local what=$1 how=$2 replay=$3

	shift 3
	check "$what, $how, $replay: a channel" kapi 1 "stay l $how $replay"
	check "$what, $how, $replay: the link fails" "$@"
	check "$what, $how, $replay: every call says so" suspended
	holds "$what, $how, $replay: the link comes up" comes_back
	check "$what, $how, $replay: the channel goes on" \
		goes_on "$what" "$replay"
}

# far_outlives HOW REPLAY: host 2 accepts a channel that way, and its READ gets lost
far_outlives()
{
	local far="accepted, $1, $2"

	check "$far: a channel" eval "kapi 2 'listen_with l $1 $2' &&
		kapi 1 'stay l events plain'"
	check "$far: the link fails under a READ of host 2" asks
	check "$far: every call says so" suspended
	holds "$far: the link comes up" comes_back
	check "$far: the READ is what it has to be" far_goes_on "$2"
}

# Host 2 receives the order, but its READ does not arrive.
asks()
{
	local before

	before=$(of 2 l .stats.chan_recvs)
	lose 2 && kapi 1 fetch && until_true 5 received "$before" && falls &&
		found 2
}

far_goes_on()
{
	kapi 1 "fetched $1" && is 1 l .stats.chan_suspended 0 && kapi 1 drop &&
		kapi 2 unlisten && peer_is_over
}

device_goes()
{
	kapi 1 "fly idle" && lab_dev del && until_true 10 is 1 l .state down &&
		lab_dev
}

closes()
{
	kapi 1 "stay l events plain" && falls && kapi 1 drop &&
		is 1 l .stats.chan_suspended 0
}

# Host 1 has closed all its channels, so host 2 must have none left.
peer_is_over()
{
	until_true 10 eval '[ "$(of 2 l .stats.channels)" = 0 ]'
}

meant()
{
	kapi 1 "stay l $1 replay" && rclink disconnect l && kapi 1 "over 104" &&
		kapi 1 drop
}

plan 75
# Load it now, or the first tc command that needs it waits for it.
on_all modprobe sch_netem
lab_device
lab_module
kapi_load
chan_setup recover resume
check "host 2 listens" kapi 2 "listen l"
for how in events polled; do
	for replay in plain replay; do
		outlives lost $how $replay cut_off
		outlives answered $how $replay unheard
	done
	outlives idle $how replay device_goes
done
holds "one that is closed meanwhile" closes
holds "then the link comes up without it" comes_back
check "and it is over at the peer, too" peer_is_over
for how in events polled; do
	check "$how: who disconnects means it" meant $how
	holds "$how: the link comes up again" again
done
check "host 2 listens no more" kapi 2 unlisten
far_outlives events plain
far_outlives events replay
far_outlives polled replay
check "the test module goes" on_all rmmod rclink_test
rclink disconnect l
link_listen_end
finish
