#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module loaded and unloaded again and again, with a link in between.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# timeout: 900
# soak: 5400 CYCLE_LOADS=1000 CYCLE_LINKS=100
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/figure.sh"

# Kernel memory in use while nothing of the module is left: the least of some samples,
# as memory that is about to be freed does not count.
settled()
{
	for _ in 1 2 3 4 5; do
		sleep 1
		echo 3 >/proc/sys/vm/drop_caches
		used
	done | sort -n | head -n 1
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

# flat TIMES STATE: so many cycles cost no kernel memory of any kind, pages as well as
# slabs. Lists of free objects grow at first, and come and go; a leak grows in each
# round.
flat()
{
	local before after was

	was=$(kinds)
	after=$(settled)
	for _ in 1 2 3; do
		before=$after
		cycle "$@" || return
		after=$(settled)
		echo "# $1 times${2:+ with a link}: $before kB, then $after kB" >&3
		[ $((after - before)) -ge "$bound" ] || return 0
	done
	printf '%s\n' "$was" "$(kinds)"
	return 1
}

# An idle link sends a heartbeat long before the interval that the lab's loader sets.
beats()
{
	[ "$(rclink show p0a -j | gojq -r '.[0].stats.heartbeats')" -ge 1 ]
}

# The defaults of a module that is loaded without parameters.
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

# In kB: half a page for each of 50 cycles, and no more for a thousand, as noise does
# not grow with them. The debug kernel keeps freed memory, and where it was freed.
bound=100
[ "$RCL_SLOW" -eq 1 ] || bound=4136
exec 3>&1
plan 4
[ "$RCL_SLOW" -eq 1 ] && often=50 || often=20
loads=${CYCLE_LOADS:-$often}
links=${CYCLE_LINKS:-$often}
nl_build
lab_device
check "without parameters a link has the heartbeat that is documented" shipped
check "what is made once is there" cycle 15 up
check "$loads times without a link cost no memory" flat "$loads" ""
check "$links times with a link that was up cost none" flat "$links" up
finish
