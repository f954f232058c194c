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

# kernel_memory: KiB of kernel memory that are charged to the test's cgroup
kernel_memory()
{
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

# has_kib NUMBER: so much of the kernel's memory is charged, or more
has_kib()
{
	[ "$(kernel_memory)" -ge "$1" ]
}

charged()
{
	cgroup_made $cgroup && link_self qps $channels recover resume &&
		idle_begins $channels || return
	# What the kernel shows is up to 2 s old.
	until_true 5 has_kib $((2 * channels * (ring + struct)))
	set -- $?
	echo "$(kernel_memory) KiB for $channels channels"
	idle_ends && [ "$1" -eq 0 ]
}

resumed()
{
	[ "$(of 1 a .stats.chan_resumes)" -gt 0 ]
}

# A rotation releases what the device needs for a region, and makes it again in the next
# epoch: that must be charged, too.
charged_again()
{
	local before

	cgroup_made $cgroup && idle_begins 1 region || return
	before=$(kernel_memory)
	link_self_dial a b 7185 --rotate && until_true 20 resumed &&
		until_true 5 has_kib $((before - pieces / 2 + 1))
	set -- $?
	echo "$before KiB before, $(kernel_memory) KiB after"
	idle_ends && [ "$1" -eq 0 ]
}

plan $((2 + $(harness_points "$CHAN_SRC/chan_lock.c")))
chan_build
link_setup
harness "$CHAN_SRC/chan_lock.c" "$CHAN/chan_lock"
holds "rings are the memory of who connected, and of who listened" charged
holds "so is what is registered in another epoch" charged_again
finish
