#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Registered memory counts for RLIMIT_MEMLOCK; rings are charged to the cgroup of the
# process that connects or listens.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 120
# The libraries define the variables.
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

# kernel_memory: KiB of kernel memory that are charged to the test's cgroup. The kernel
# adds up what its processors count every 2 s.
kernel_memory()
{
	sleep 3
	awk '$1 == "kernel" { print int($2 / 1024) }' $cgroup/memory.stat
}

# idle_begins WORDS...: starts idle in the cgroup; it has both ends of its channels, and
# the listener's end is made when the peer asks for a channel
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

# A rotation releases what the device needs for a region, and makes it again in the next
# epoch: that must be charged, too.
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
