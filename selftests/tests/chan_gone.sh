#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A device is removed while processes wait, move data and have rings mapped: because the
# network device under it or the device itself is deleted, or its driver is unloaded.
# Waiting processes are told, none of them delays the removal, and the module can be
# unloaded once the last of them has ended.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# ib: no, its device has no network device
# timeout: 300
# The libraries set the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

if [ -n "${RCLINK_DEV:-}" ]; then
	skip_all "would take a real device away"
fi

net=rcl-test0
kinds=(recv sleep rnr send read)
declare -A ways=(
	["the network device is deleted"]="ip link delete $net"
	["the device is deleted"]="rdma link delete rxe1"
	["the driver is unloaded"]="rmmod rdma_rxe"
)
says=/tmp/rclink-test-blocked
idles=/tmp/rclink-test-idle
declare -A waiting
servers=()
idle=''

# Makes a device for this test alone, and a link on it from this host to itself.
begin()
{
	rm -f "$says"-* $idles
	modprobe dummy numdummies=0 && modprobe rdma_rxe &&
		ip link add $net type dummy &&
		ip address add 192.0.2.129/25 dev $net && ip link set $net up &&
		rdma link add rxe1 type rxe netdev $net &&
		until_true 10 usable && link_self device rxe1 qps 8 rnr-retry 7 \
			heartbeat 1000 misses 10
}

usable()
{
	rclink dev -j | gojq -e '.[] | select(.device == "rxe1") |
		.state == "active" and (.reason | test("IPv4"))'
}

idle_is_ready()
{
	grep -q ready $idles
}

processes()
{
	# Shows what the processes printed if one of them does not wait in time.
	all_wait || { tail -v -n 3 "$says"-* $idles 2>&1; return 1; }
}

all_wait()
{
	local kind

	for kind in "${kinds[@]}"; do
		"$CHAN/blocked" b listen "$kind" >"$says-$kind-far" 2>&1 &
		servers+=($!)
		until_true 10 grep -q listening "$says-$kind-far" || return
		"$CHAN/blocked" a "$kind" >"$says-$kind" 2>&1 &
		waiting[$kind]=$!
		until_true 20 grep -q waits "$says-$kind" || return
	done
	"$CHAN/idle" a b 1 memory >$idles 2>&1 &
	idle=$!
	until_true 10 idle_is_ready && uses 1
}

# uses TIMES: has the idle process use its mapped kernel memory; each of so far TIMES
# uses found there what the process had written
uses()
{
	kill -USR1 "$idle"
	until_true 10 eval "[ \$(grep -c mine $idles) -eq $1 ]" &&
		[ "$(grep -c 'still mine' $idles)" -eq "$1" ]
}

moves()
{
	local ops

	ops=$(of 1 a .stats.chan_ops)
	until_true 20 eval "[ \"\$(of 1 a .stats.chan_ops)\" -gt $((ops + 100)) ]"
}

# goes CMD...: CMD removes the device in time
goes()
{
	local began=$SECONDS

	timeout $((20 * RCL_SLOW)) "$@" || return
	until_true 10 [ ! -e /sys/class/infiniband/rxe1 ]
	echo "took $((SECONDS - began)) s"
	[ $((SECONDS - began)) -lt $((10 * RCL_SLOW)) ] &&
		[ ! -e /sys/class/infiniband/rxe1 ]
}

# heard KIND: an operation in flight did not succeed, and the channel ended for the
# link's reason. If the network device is deleted, the port may go down or lose its
# address before the device is removed, and the link ends for that.
# (A process that moves data may have nothing in flight at that moment.)
heard()
{
	local over

	until_true 10 grep -q ended "$says-$1"
	cat "$says-$1"
	over='Connection reset by peer'
	[[ $way == "the network device"* && $(of 1 a .reason) != device-removed ]] ||
		over='No such device'
	grep -E "^ended [0-9]+ .*: .*$over$" "$says-$1" || return
	case $1 in
	send | read) ;;
	*) ! grep -q success "$says-$1" ;;
	esac
}

# knows LINK: LINK is down, and its reason is the first loss: port, GID or device
knows()
{
	is 1 "$1" .state down &&
		of 1 "$1" .reason | grep -xE 'port-down|gid-changed|device-removed'
}

all_ended()
{
	local pid

	for pid in "${waiting[@]}" "${servers[@]}"; do
		! kill -0 "$pid" 2>/dev/null || return
	done
}

says_in_use()
{
	refuse 1 "$1" 'Module rclink is in use' rmmod rclink
}

# Ends the processes, and removes what a failed check left behind.
clean()
{
	# shellcheck disable=SC2086
	chan_far_end $idle "${waiting[@]}" "${servers[@]}"
	waiting=()
	servers=()
	[ ! -e /sys/class/infiniband/rxe1 ] || rdma link delete rxe1
	[ ! -e /sys/class/net/$net ] || ip link delete $net
}

plan $((${#ways[@]} * (11 + ${#kinds[@]})))
lab_device
link_setup
for way in "${!ways[@]}"; do
	lab_module
	holds "a link on a device of its own comes up" begin
	holds "processes wait for each other in every way" processes
	says_in_use "the module does not go from under them"
	holds "data still moves" moves
	# shellcheck disable=SC2086
	holds "$way" goes ${ways[$way]}
	for kind in "${kinds[@]}"; do
		holds "who waits hears of it: $kind" heard "$kind"
	done
	check "all that waited have ended" until_true 10 all_ended
	check "both ends of the link know why" eval 'knows a && knows b'
	check "nothing is left of the device" empty 1
	holds "what was mapped is still there" uses 2
	says_in_use "nor does it go while an open channel's rings are mapped"
	clean
	holds "then it does" rmmod rclink
done
finish
