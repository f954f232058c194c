#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Registered memory and RLIMIT_MEMLOCK; and whose memory the rings are.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 120
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

cgroup=/sys/fs/cgroup/rclink-test
idles=/tmp/rclink-test-idle
channels=4
ring=56	# KiB, and that much for what else an end has
struct=16
pieces=256	# KiB, of a region of 8192 pages

# kernel_memory: KiB that the kernel has for it
kernel_memory()
{
	awk '$1 == "kernel" { print int($2 / 1024) }' $cgroup/memory.stat
}

# idle_begins WORDS...: both ends are its own; that of the listener is made when
# the peer asks
idle_begins()
{
	: >$idles
	sh -c "echo \$\$ >$cgroup/cgroup.procs && exec '$CHAN/idle' a b $*" \
		>$idles 2>&1 &
	idle=$!
	until_true 20 grep -q ready $idles || {
		cat $idles
		idle_ends
		return 1
	}
}

idle_ends()
{
	kill "$idle"
	wait "$idle"
	until_true 10 rmdir $cgroup
} 2>/dev/null

charged()
{
	local kib

	cgroup_made $cgroup && link_self qps $channels recover resume &&
		idle_begins $channels || return
	kib=$(kernel_memory)
	echo "$kib KiB for $channels channels"
	idle_ends && [ "$kib" -ge $((2 * channels * (ring + struct))) ]
}

resumed()
{
	[ "$(of 1 a .stats.chan_resumes)" -gt 0 ]
}

# What a device needs of it is given back, and made again.
charged_again()
{
	local before after

	cgroup_made $cgroup && idle_begins 1 region || return
	before=$(kernel_memory)
	link_self_dial a b 7185 --rotate && until_true 20 resumed
	set -- $?
	after=$(kernel_memory)
	echo "$before KiB before, $after KiB after"
	idle_ends && [ "$1" -eq 0 ] && [ "$after" -gt $((before - pieces / 2)) ]
}

plan $((2 + $(harness_points "$CHAN_SRC/chan_lock.c")))
chan_build
link_setup
harness "$CHAN_SRC/chan_lock.c" "$CHAN/chan_lock"
holds "rings are the memory of who connected, and of who listened" charged
holds "so is what is registered in another epoch" charged_again
finish
