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

# kernel_memory: KiB that the kernel has for it
kernel_memory()
{
	awk '$1 == "kernel" { print int($2 / 1024) }' $cgroup/memory.stat
}

# Both ends are this process's; that of the listener is made when the peer asks.
charged()
{
	local pid kib

	cgroup_made $cgroup && link_self qps $channels || return
	sh -c "echo \$\$ >$cgroup/cgroup.procs &&
		exec '$CHAN/idle' a b $channels" >$idles 2>&1 &
	pid=$!
	until_true 20 grep -q ready $idles || cat $idles
	kib=$(kernel_memory)
	echo "$kib KiB for $channels channels"
	kill $pid
	wait $pid
	until_true 10 rmdir $cgroup && [ "$kib" -ge $((2 * channels * (ring + struct))) ]
}

plan $((1 + $(harness_points "$CHAN_SRC/chan_lock.c")))
chan_build
link_setup
harness "$CHAN_SRC/chan_lock.c" "$CHAN/chan_lock"
holds "rings are the memory of who connected, and of who listened" charged
finish
