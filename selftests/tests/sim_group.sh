#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A group on simulated devices: InfiniBand, failure of each verbs call and mapping, and
# removal of the device.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# lab: needs groups to find the simulated device
# ib: no, it has simulated devices of its own
# timeout: 180
# The library sets the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/group/lib.sh"

on_infiniband()
{
	rclink group add g dev sim0 mgid "$mgid6" mlid 0xc001 &&
		group_is 1 g .state joined && group_is 1 g .mlid 49153 &&
		rclink group del g && [ "$(objects 1)" -eq 0 ]
}

# joins_from DEVICE ARG...: a group that names no device takes DEVICE, the first fit one
joins_from()
{
	rclink group add g "${@:2}" && group_is 1 g .device "$1" &&
		rclink group del g && [ "$(objects 1)" -eq 0 ]
}

# on_roce NUMBER: makes the RoCE device simNUMBER, with the address 192.0.2.20NUMBER
on_roce()
{
	modprobe dummy numdummies=0
	ip link add "sim$1eth" type dummy &&
		ip address add "192.0.2.20$1/32" dev "sim$1eth" &&
		ip link set "sim$1eth" up && sim_new "sim$1 roce sim$1eth" &&
		until_true 10 grep -q "$(printf 'ffff:c000:02%x' $((200 + $1)))" \
			"/sys/class/infiniband/sim$1/ports/1/gids/"*
}

off_roce()
{
	echo "sim$1" >"$SIM/del_device"
	ip link delete "sim$1eth"
}

# If there is no other device, the refusal tells what is wrong with the first one.
first_is_unfit()
{
	local said status=0

	said=$(rclink group add g mgid "$mgid4" 2>&1) && status=1
	echo "$said"
	grep -q 'begins with ff' <<<"$said" || status=1
	on_roce 2 && joins_from sim2 mgid "$mgid4" &&
		joins_from sim2 mgid "$mgid4" port 1 &&
		joins_from sim0 mgid "$mgid6" mlid 0xc001 || status=1
	off_roce 2
	return "$status"
}

on_port()
{
	group_becomes 1 g .state joined && group_is 1 g .device "$1" &&
		group_is 1 g .stats.joins "$2"
}

# Another port may lead to another network: the group goes there only if its own port
# is down.
keeps_its_port()
{
	rclink group add g mgid "$mgid4" && on_port sim2 1 &&
		ip address delete 192.0.2.202/32 dev sim2eth &&
		group_becomes 1 g .state down && group_is 1 g .reason gid-changed ||
		return
	# The next try.
	sleep 3
	group_is 1 g .state down &&
		ip address add 192.0.2.202/32 dev sim2eth && on_port sim2 2 &&
		echo 0 >"$SIM/sim2/up" && until_true 10 group_is 1 g .device sim3 &&
		on_port sim3 3 && echo 1 >"$SIM/sim2/up" &&
		group_is 1 g .device sim3 && rclink group del g
}

two_may_be_meant()
{
	local status=0

	on_roce 2 && on_roce 3 && keeps_its_port || status=1
	off_roce 2
	off_roce 3
	return "$status"
}

# fails VERB NTH [TEXT]: if that call fails, the group is refused with a message, TEXT,
# and nothing is left
fails()
{
	local said

	echo "$1 $2 1 -12" >"$SIM/sim0/fault" || return
	said=$(rclink group add g dev sim0 mgid "$mgid6" mlid 0xc001 2>&1) && {
		echo "$1 $2 did not fail it"
		return 1
	}
	echo "$said"
	grep -q "group add g: .*${3-the }" <<<"$said" &&
		[ "$(objects 1)" -eq 0 ] && [ "$(<"$SIM/sim0/mapped")" -eq 0 ] &&
		rclink group -j | gojq -e 'length == 0'
}

each_verb()
{
	local nth

	fails alloc_pd 1 && fails create_ah 1 && fails create_cq 1 &&
		fails create_qp 1 && fails attach_mcast 1 || return
	for nth in 1 2 3; do
		fails modify_qp "$nth" || return
	done
	for nth in 1 2 32; do
		fails post_recv "$nth" || return
	done
}

# dma_is NUMBER: makes sim0 anew, with that kind of DMA
dma_is()
{
	echo sim0 >"$SIM/del_device" && sim_new "sim0 ib 1 dma=$1"
}

# The headers, what comes behind them, 16 buffers for sends and 32 for receives.
each_mapping()
{
	local nth status=0

	dma_is 2 || return
	for nth in 1 2 3 19 50; do
		fails dma_map "$nth" 'out of memory' || status=1
	done
	# There is no other one.
	echo "dma_map 51" >"$SIM/sim0/fault" && on_infiniband &&
		grep -q '^dma_map seen [0-9]* armed 1$' "$SIM/sim0/fault" &&
		[ "$(<"$SIM/sim0/mapped")" -eq 0 ] || status=1
	dma_is 0 || return
	return "$status"
}

# hears NAME: that group hears packets of the other one, under a key that it lacks
hears()
{
	until_true 20 group_is 1 "$1" '.stats.rx_unknown_key > 1' true ||
		group_is 1 "$1" .stats.rx_unknown_key 2
}

# Two groups of one address and Q_Key, each with a key of its own.
over_infiniband()
{
	sim_new "sim1 ib 2"
	rclink group add g dev sim0 mgid "$mgid6" mlid 0xc001 qkey 5 &&
		rclink group add h dev sim1 mgid "$mgid6" mlid 0xc001 qkey 5 &&
		hears g && hears h && group_is 1 g .stats.joins 1 &&
		group_is 1 g '.peers == []' true && rclink group del h
}

# First posting a send fails, then a send that was posted.
sends_fail()
{
	echo "post_send 1 1 -12" >"$SIM/sim0/fault" || return
	until_true 20 group_is 1 g .stats.joins 2 || group_is 1 g .stats.joins 2 ||
		return
	group_is 1 g .state joined || return
	echo "send 1 1 12" >"$SIM/sim0/fault" || return
	until_true 20 group_is 1 g .stats.joins 3 || group_is 1 g .stats.joins 3 ||
		return
	rclink group del g && [ "$(objects 1)" -eq 0 ]
}

# A process is told that a send failed. (A send of the group itself may take the fault
# instead.)
told()
{
	local said

	echo "post_send 1 1 -12" >"$SIM/sim0/fault" || return
	said=$("$CHAN/group_flow" send g 10 1 0 2>&1) && return 1
	grep -q flushed <<<"$said"
}

processes_are_told()
{
	rclink group add g dev sim0 mgid "$mgid6" mlid 0xc001 || return
	"$CHAN/group_flow" send g 10 40 0 && until_true 20 told &&
		group_is 1 g '.stats.joins > 1 or .state == "down"' true &&
		until_true 20 "$CHAN/group_flow" send g 10 40 0 &&
		rclink group del g && [ "$(objects 1)" -eq 0 ]
}

# The event that took the group down is over, and the group tells what keeps it down.
refused_again()
{
	local status=0

	rclink group add g dev sim0 mgid "$mgid6" mlid 0xc001 || return
	echo "attach_mcast 1 1000 -12" >"$SIM/sim0/fault" || return
	echo 9 >"$SIM/sim0/lid"
	group_becomes 1 g .refusal 'the device has no multicast, or no more of it' &&
		group_is 1 g .state down && rclink group why g |
		grep -q '^The last try was refused: the device has no' || status=1
	echo "attach_mcast 1 0 -12" >"$SIM/sim0/fault" || return
	group_becomes 1 g .state joined &&
		group_is 1 g '.refusal // "none"' none && rclink group del g &&
		return "$status"
}

event_ends()
{
	rclink group add g dev sim0 mgid "$mgid6" mlid 0xc001 || return
	echo 7 >"$SIM/sim0/lid"
	until_true 10 group_is 1 g .stats.joins 2 || return
	echo sim0 >"$SIM/del_device" || return
	group_becomes 1 g .state down &&
		group_is 1 g .reason device-removed && empty 1 || return
	sim_new "sim0 ib 1"
	group_becomes 1 g .state joined && rclink group del g
}

# Most drivers have no multicast: such a device is not taken, even if it comes first.
without_multicast()
{
	local said status=0

	echo sim0 >"$SIM/del_device" && sim_new "sim3 ib 3 mcast=0" &&
		sim_new "sim0 ib 1" || return
	joins_from sim0 mgid "$mgid6" mlid 0xc001 || status=1
	said=$(rclink group add g dev sim3 mgid "$mgid6" mlid 0xc001 2>&1) &&
		status=1
	echo "$said"
	grep -q 'its driver has no multicast' <<<"$said" || status=1
	echo sim3 >"$SIM/del_device"
	return "$status"
}

plan 13
chan_build
lab_module
# The device of an earlier test would be fit for a group that names none.
lab_dev del 2>/dev/null
sim_load "sim0 ib 1"
check "a group on InfiniBand" on_infiniband
refuse 1 "needs the LID of the group" 'an InfiniBand port needs' \
	rclink group add g dev sim0 mgid "$mgid6"
refuse 1 "and an address that is not IPv4's" 'begins with ff' \
	rclink group add g dev sim0 mgid "$mgid4" mlid 0xc001
check "without a device, it takes the first that is fit" first_is_unfit
check "which is none whose driver has no multicast" without_multicast
check "where another one is, too, it goes back to its own" two_may_be_meant
check "each verbs call that fails refuses it" each_verb
check "and so does each mapping of its memory" each_mapping
check "packets go over InfiniBand" over_infiniband
check "what is sent and fails takes it down, and it is joined again" sends_fail
check "a process whose send fails is told" processes_are_told
check "one that is refused again says why, until it is joined" refused_again
check "LID change and removal take it down, and it is joined again" event_ends
sim_unload
finish
