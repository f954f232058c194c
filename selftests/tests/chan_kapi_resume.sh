#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Channels of a kernel module outlive the epoch: what each call says meanwhile,
# how the module hears that they go on, and what becomes of what was in flight.
# hosts: 2
# kernels: 6.1-all 6.12 mixed-all debug-all
# timeout: 300
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/kapi/lib.sh"

# The port of host 1 goes, which ends the epoch there at once.
falls()
{
	ip link set eth0 down && until_true 10 is 1 l .state down
}

# The other end may still be up: then it is replaced.
comes_back()
{
	ip link set eth0 up &&
		until_true 20 ping -c 1 -W 1 "$RCL_PEER_IP" || return
	until_true 30 again || again
}

# lose HOST: what that host sends does not arrive
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

# goes_on WHAT REPLAY: then it is over by itself, and not before
goes_on()
{
	kapi 1 "goes_on $1 $2" && is 1 l .stats.chan_suspended 0 && kapi 1 drop
}

# Neither the requests nor what may have been sent again arrived.
cut_off()
{
	lose 1 && kapi 1 "fly lost" && falls && found 1
}

received()
{
	[ "$(of 2 l .stats.chan_recvs)" -gt "$1" ]
}

# The message has arrived, but neither its acknowledgment nor the answer.
unheard()
{
	local before

	before=$(of 2 l .stats.chan_recvs)
	lose 2 && kapi 1 "fly answered" && until_true 5 received "$before" &&
		falls && found 2
}

# outlives WHAT HOW REPLAY CMD...: a channel does what CMD does to its link
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

# Those of the peer that nobody has closed here are as many as there are.
peer_is_over()
{
	until_true 10 eval '[ "$(of 2 l .stats.channels)" = 0 ]'
}

meant()
{
	kapi 1 "stay l $1 replay" && rclink disconnect l && kapi 1 "over 104" &&
		kapi 1 drop
}

plan 60
# Else the first to need it waits for it.
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
	if [ -n "${RCLINK_DEV:-}" ]; then
		for _ in 1 2 3 4 5; do
			skip "$how: its device goes"
		done
	else
		outlives idle $how replay device_goes
	fi
done
holds "one that is closed meanwhile" closes
holds "then the link comes up without it" comes_back
check "and it is over at the peer, too" peer_is_over
for how in events polled; do
	check "$how: who disconnects means it" meant $how
	holds "$how: the link comes up again" again
done
check "host 2 listens no more" kapi 2 unlisten
check "the test module goes" on_all rmmod rclink_test
rclink disconnect l
link_listen_end
finish
