#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The device, its port and its address, or LID, go away under links in every state.
# hosts: 1
# kernels: 6.1-all 6.12 6.12-ib-all debug-all
# timeout: 180
# gojq expands the variables of its filters.
# shellcheck disable=SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

# all_down REASON: all links are down for REASON, or because a work request failed
# first; that a work request was flushed does not count as the reason
all_down()
{
	rclink show -j | gojq -e --arg reason "$1" 'length > 0 and
		all(.[]; .state == "down" and (.reason == $reason or
		(.reason == "completion" and
		(.reason_text | contains("flushed") | not))))' && return
	rclink show
	return 1
}

# lose REASON SECONDS CMD...: within SECONDS after CMD all links are down for REASON
lose()
{
	local reason=$1 limit=$2 start=$SECONDS

	shift 2
	"$@" || return
	[ $((SECONDS - start)) -le $((limit * RCL_SLOW)) ] || return
	if ! until_true "$limit" all_down "$reason"; then
		all_down "$reason"
		return 1
	fi
	[ "$(objects)" -eq 0 ]
}

# Unload the driver's module, which removes the device.
driver_goes()
{
	if is_ib; then
		rmmod rdmasim
	else
		rmmod rdma_rxe
	fi
}

forget()
{
	local name

	drop
	for name in $(rclink show -j | gojq -r '.[].name'); do
		rclink del "$name" || return
	done
}

back()
{
	lab_dev && until_true 10 usable
}

usable()
{
	rclink dev -j | gojq -e '.[0].state == "active" and
		(.[0].reason | test("IPv4|InfiniBand"))'
}

# A change that concerns no link: a further address, or another LID of the subnet
# manager.
other_comes()
{
	if is_ib; then
		echo 9 >/sys/kernel/debug/rdmasim/sim0/sm_lid
	else
		ip address add 192.0.2.100/25 dev eth0
	fi
}

other_goes()
{
	if is_ib; then
		echo 1 >/sys/kernel/debug/rdmasim/sim0/sm_lid
	else
		ip address delete 192.0.2.100/25 dev eth0
	fi
}

if [ -n "${RCLINK_DEV:-}" ]; then
	skip_all "would take a real device away"
fi
plan 16
nl_build
lab_device
lab_module
for state in prepared connected up "up 3 ping"; do
	# shellcheck disable=SC2086
	hold $state || bail "no links that are $state"
	check "the device removed under links that are $state takes them down" \
		lose device-removed 8 lab_dev del
	forget
	back || bail "the device did not come back"
done
for state in up "up 3 ping"; do
	# shellcheck disable=SC2086
	hold $state || bail "no links"
	check "the driver unloaded under links that are $state takes them down" \
		lose device-removed 8 driver_goes
	forget
	back || bail "the driver did not come back"
done
for state in prepared up "up 3 ping"; do
	# shellcheck disable=SC2086
	hold $state || bail "no links"
	check "a port that goes down takes links that are $state down" \
		lose port-down 5 ip link set eth0 down
	forget
	back || bail "the port did not come back"
	# shellcheck disable=SC2086
	hold $state || bail "no links"
	check "an address that goes takes links that are $state down" \
		lose gid-changed 5 lab_dev lost
	forget
	back || bail "the address did not come back"
done
hold up
check "an address that comes leaves links up" \
	other_comes
sleep 0.5
check "and they still work" rclink ping p0a -c 2
check "an address of others that goes does, too" \
	other_goes
check "and they still work" rclink ping p0b -c 2
forget
finish
