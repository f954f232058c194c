#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Links between two simulated InfiniBand ports (selftests/rdmasim) of this host: by LID
# and by GRH, channels with all operations, what a subnet manager and the device report,
# removal of a device with operations in flight.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, it has simulated devices of its own
# timeout: 240
# The library sets the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/chan/lib.sh"

far_says=/tmp/rclink-test-far
heard=/tmp/rclink-test-heard
# IB_EVENT_LID_CHANGE of enum ib_event_type.
lid_change=11
far=''

# sim_up: brings up the link l of this host, whose peer is this host's link m
sim_up()
{
	local peer status

	"$tool" listen --key "$key" --peer "m=$pin1" --once 1 >"$log" 2>&1 &
	peer=$!
	until_true 10 grep -q listening "$log"
	rclink connect l 127.0.0.1 --key "$key" --pin "$pin1" --peer-link m \
		--timeout $((20 * RCL_SLOW))
	status=$?
	[ "$status" -eq 0 ] || kill "$peer" 2>/dev/null
	wait "$peer"
	return "$status"
}

add_both()
{
	rclink add l device sim0 && rclink add m device sim1
}

port_is_shown()
{
	rclink dev -j | gojq -e '.[] | select(.device == "sim1") |
		.link_layer == "infiniband" and .lid == 2 and .sm_lid == 1'
}

# Its cable is in, but nobody has set up the subnet.
no_sm_is_said()
{
	local status

	echo 2 >"$SIM/sim0/up"
	rclink dev -j | gojq -e '.[] | select(.device == "sim0") | .state == "init" and
		(.reason | contains("does a subnet manager run?"))'
	status=$?
	echo 1 >"$SIM/sim0/up"
	return "$status"
}

new_sm_is_shown()
{
	echo 9 >"$SIM/sim1/sm_lid"
	rclink dev -j | gojq -e '.[] | select(.device == "sim1") | .sm_lid == 9' &&
		is 1 l .state up
}

far_listens()
{
	"$CHAN/far" m >"$far_says" 2>&1 &
	far=$!
	until_true 10 grep -q listening "$far_says"
}

moves_data()
{
	local op

	for op in send write read cas fadd; do
		rclink ping l -c 2 --op "$op" || return
	done
}

has_channels()
{
	"$tool" show l -j | gojq -e '.[0].stats.channels > 0'
}

# The device is removed while its channels are busy.
removed_in_flight()
{
	local busy start=$SECONDS

	"$CHAN/chan_ops" >/dev/null 2>&1 &
	busy=$!
	until_true 10 has_channels || return
	echo sim1 >"$SIM/del_device" || return
	[ $((SECONDS - start)) -lt $((20 * RCL_SLOW)) ] || return
	# Operations in flight, and those that followed, have failed, and at once.
	wait "$busy" && return 1
	[ $((SECONDS - start)) -lt $((20 * RCL_SLOW)) ] || return
	is 1 m .state down && is 1 m .reason device-removed
}

# Nothing is in flight: only the other end can tell the process that waits on this one.
removed_idle()
{
	local receiver sender start status

	mkfifo "$heard.in"
	exec 9<>"$heard.in"
	"$tool" recv l 9<&- >/dev/null 2>"$heard" &
	receiver=$!
	until_true 10 listens 1
	"$tool" send m <&9 9<&- 2>/dev/null &
	sender=$!
	start=$SECONDS
	if ! { until_true 10 has_channels && echo sim1 >"$SIM/del_device" &&
		until_true 20 eval "! kill -0 $receiver"; }; then
		kill "$receiver" "$sender"
	fi
	wait "$receiver"
	status=$?
	wait "$sender"
	exec 9>&-
	rm "$heard.in"
	cat "$heard"
	echo "after $((SECONDS - start)) s"
	[ "$status" -eq 1 ] && becomes 1 l .state down && is 1 l .reason replaced &&
		is 1 m .reason device-removed
}

# A link from a port to itself, as the host's route to an address of its own leads to no
# other port.
roce_moves_data()
{
	modprobe dummy numdummies=0
	ip link add sim2eth type dummy &&
		ip addr add 192.0.2.65/28 dev sim2eth &&
		ip link set sim2eth up &&
		sim_new "sim2 roce sim2eth" || return
	until_true 10 grep -q ffff:c000:0241 /sys/class/infiniband/sim2/ports/1/gids/*
	rclink add l device sim2 loopback 1 &&
		rclink add m device sim2 loopback 1 || return
	sim_up && moves_data
}

netdev_goes()
{
	ip link del sim2eth && becomes 1 l .state down &&
		becomes 1 m .state down &&
		until_true 10 sh -c "! rdma dev show sim2"
}

# The first port of sim3 has no cable.
ports_are_shown()
{
	rclink dev -j | gojq -e '[.[] | select(.device == "sim3")] |
		map([.port, .state, .lid]) == [[1, "down", null], [2, "active", 3]]'
}

first_port_is_refused()
{
	rclink set l port 1 && ! sim_up 2>$heard && cat $heard &&
		grep -q 'the port is not active' $heard
}

# No port is set for the link.
second_port_is_taken()
{
	rclink add l device sim3 && rclink add m device sim0 && sim_up &&
		is 1 l .port 2 && is 1 l .lid 3 && moves_data
}

# An event of the other port does not affect the link. Links are told of an event before
# the monitor is.
other_port_changes()
{
	local monitor status

	"$tool" monitor >$heard &
	monitor=$!
	until_true 10 grep -q ' l present' $heard &&
		echo "$lid_change port 1" >"$SIM/sim3/event" &&
		until_true 10 grep -q ' device sim3 port 1 changed' $heard
	status=$?
	kill $monitor
	wait $monitor
	[ "$status" -eq 0 ] && is 1 l .state up && rclink ping l -c 1 &&
		echo "$lid_change" >"$SIM/sim3/event" &&
		becomes 1 l .state down && is 1 l .reason gid-changed
}

plan $((18 + $(harness_points "$NL_SRC/"nl_{sim,sim_ping,sim_news}.c \
	"$CHAN_SRC/chan_ops.c")))
nl_build
chan_build
lab_module
sim_load
for program in nl_sim nl_sim_ping nl_sim_news; do
	harness "$NL_SRC/$program.c" "$NL/$program"
done

# Removes the devices that a failed program left.
sim_unload
sim_load "sim0 ib 1" "sim1 ib 2"
rm -f "$key"
pin1=$("$tool" genkey "$key") || bail "no key"
check "addresses of the devices are of the kind that was asked for" \
	sim_has_dma $((${#SIM_WORDS} ? 2 : 0))
check "an InfiniBand port is shown with its LIDs" port_is_shown
check "a port that waits for a subnet manager is shown with that" no_sm_is_said
add_both || bail "no links"
check "a link between two ports comes up over TLS" sim_up
check "another subnet manager is shown, and the link stays" new_sm_is_shown
far_listens || bail "the far end does not listen"
harness "$CHAN_SRC/chan_ops.c" "$CHAN/chan_ops"
comment <"$far_says"
check "a device goes with channels in flight" removed_in_flight
chan_far_end "$far"
rclink disconnect l
sim_new "sim1 ib 2"
echo 0xfec0000000000001 >"$SIM/sim1/prefix"
check "the link comes up again, to another subnet now" sim_up
check "data moves by GRH" moves_data
check "a device goes under a channel where nothing is in flight" removed_idle
rclink del l
rclink del m
sim_new "sim3 ib 3 port=2"
check "both ports of a device are shown" ports_are_shown
check "the one that is active carries a link" second_port_is_taken
check "that ends when its port changes, and not with the other one" other_port_changes
check "a port without a cable is refused" first_port_is_refused
check "what any port has may be asked for" rclink add n device sim3 pkey-index 1
refuse 1 "but not of one that has it not" 'pkey-index is beyond' "$tool" set n port 1
rclink del n
rclink del l
rclink del m
check "a link on a RoCE port moves data" roce_moves_data
check "a port goes with its net device" netdev_goes
check "the simulated devices can be unloaded" sim_unload
rm -f "$key"
finish
