#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The simulated device itself, as a user of verbs in the kernel sees it.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, it has simulated devices of its own
# timeout: 60
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"

self=$LIB_DIR/../build/$(uname -r)/selftests/rdmasim/self/rdmasim_self.ko
names=$(sed -n 's/^	{ "\(.*\)", self_.*/\1/p' "$LIB_DIR/rdmasim/self/main.c")
said=/tmp/rclink-test-self

is_refused()
{
	! echo "$1" >"$SIM/new_device"
}

refused()
{
	local line

	for line in "" "x" "x ib" "x ib y" "x ib 70000" "x roce nosuch0" \
		"sim0 ib 9" "x ib 3 qps" "x ib 3 qps=z" "x ib 3 mtu=1000" \
		"x ib 3 sges=9" "x ib 3 dma=3" "a/b ib 3" "%d ib 3"; do
		is_refused "$line" 2>/dev/null || {
			echo "taken: $line"
			return 1
		}
	done
}

faults_refused()
{
	local line

	for line in "" "drop" "nosuch 1" "drop 0" "send 1 1 0" "send 1 1 22" \
		"alloc_pd 1 1 12" "delay 1 1 -1"; do
		! echo "$line" >"$SIM/sim0/fault" || return
	done 2>/dev/null
}

# Index 1 of both ports: one partition, of which sim1 is a limited member; index 2: two
# partitions; index 3: one partition, of which both are limited members.
partitions()
{
	local line

	for line in "sim0 1 0x8005" "sim1 1 0x0005" "sim0 2 0x8006" "sim1 2 0x8007" \
		"sim0 3 0x0008" "sim1 3 0x0008"; do
		echo "${line#* }" >"$SIM/${line%% *}/pkey" || return
	done
}

# has_points WHERE: one point for each test of rdmasim_self.ko
has_points()
{
	local name

	partitions || bail "no partition keys"
	insmod "$self" || bail "rdmasim_self.ko does not load"
	cat /sys/kernel/debug/rdmasim_self >"$said"
	while read -r name; do
		check "$1: $name" grep -qx "ok [0-9]* $name" "$said"
	done <<<"$names"
	grep -v '^ok' "$said" | comment
	rmmod rdmasim_self
}

plan $((2 * $(wc -l <<<"$names") + 5))
sim_load "sim0 ib 1" "sim1 ib 2"
check "a line that is no device is refused" refused
check "a line that is no fault is refused" faults_refused
has_points "virtual DMA"
export SIM_WORDS=dma=1
sim_load "sim0 ib 1" "sim1 ib 2"
check "a device has a parent for its DMA" sim_has_dma 2
has_points "real DMA"
check "it is unloaded with its devices" sim_unload
check "and with what they had for their DMA" sim_has_dma 0
finish
