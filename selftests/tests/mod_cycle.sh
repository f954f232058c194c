#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module loaded and unloaded again and again, with a link in between.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# timeout: 300
# soak: 5400 CYCLE_LOADS=1000 CYCLE_LINKS=100
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

slab()
{
	awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo
}

# cycle TIMES STATE
cycle()
{
	local i

	for ((i = 0; i < $1; i++)); do
		"$LIB_DIR/vm/lab_load" || return
		[ -z "$2" ] || hold "$2" || return
		rmmod rclink || return
		drop
		[ "$(objects)" -eq 0 ] || return
	done
}

flat()
{
	local before after

	before=$(slab)
	cycle 10 up || return
	after=$(slab)
	echo "slab: $before kB, then $after kB"
	[ $((after - before)) -lt 1024 ]
}

plan 3
loads=${CYCLE_LOADS:-20}
links=${CYCLE_LINKS:-30}
nl_build
lab_device
check "$loads times without a link" cycle "$loads" ""
check "$links times with a link that was up" cycle "$links" up
check "10 more leave the slab as it was" flat
finish
