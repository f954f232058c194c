#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module loaded and unloaded again and again, with a link in between.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# timeout: 300
# soak: 5400 CYCLE_LOADS=1000 CYCLE_LINKS=100
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/figure.sh"

# As much as the kernel has when nothing of the module is left.
settled()
{
	sleep 2
	echo 3 >/proc/sys/vm/drop_caches
	used
}

kinds()
{
	grep -E '^(SUnreclaim|VmallocUsed|Percpu|PageTables|KernelStack):' /proc/meminfo |
		tr -s ' \n' ' '
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

# flat TIMES STATE: that often, and no time costs memory of any kind. Pages are looked
# at, not slabs alone; lists of free objects come and go, so that TIMES is not too few.
flat()
{
	local before after was

	was=$(kinds)
	before=$(settled)
	cycle "$@" || return
	after=$(settled)
	echo "# $1 times${2:+ with a link}: $before kB, then $after kB" >&3
	[ $((after - before)) -lt $((noise + $1 * each)) ] || {
		printf '%s\n' "$was" "$(kinds)"
		return 1
	}
}

# An idle link's peer is asked long before the lab's loader would have it.
beats()
{
	[ "$(rclink show p0a -j | gojq -r '.[0].stats.heartbeats')" -ge 1 ]
}

# What somebody has who loads it without parameters.
shipped()
{
	local said status=0

	"$LIB_DIR/vm/lab_load" bare || return
	rclink add x && said=$(rclink show x -j |
		gojq -r '.[0] | "\(.heartbeat) ms, \(.misses) misses"')
	echo "$said"
	[ "$said" = "200 ms, 3 misses" ] || status=1
	hold up && until_true 5 beats || status=1
	drop
	rmmod rclink && return "$status"
}

# kB; a page each time is more than that in a hundred times. The debug kernel keeps what
# was freed, and from where.
noise=256
[ "$RCL_SLOW" -eq 1 ] || noise=4096
each=1
exec 3>&1
plan 4
loads=${CYCLE_LOADS:-20}
links=${CYCLE_LINKS:-30}
nl_build
lab_device
check "without parameters a link has the heartbeat that is documented" shipped
check "what is made once is there" cycle 5 up
check "$loads times without a link cost no memory" flat "$loads" ""
check "$links times with a link that was up cost none" flat "$links" up
finish
