#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which memory may be registered, and what happens to it while it is.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 120
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

image=/tmp/rclink-test-image
dir=/tmp/rclink-test-disk
dax=/tmp/rclink-test-dax

# The debug kernel has neither ext4 nor loop devices.
disk()
{
	modprobe -a loop ext4 2>/dev/null && truncate -s 16M "$image" &&
		mkfs.ext4 -q "$image" && mkdir -p "$dir" &&
		mount -o loop "$image" "$dir" && export RIG_DISK=$dir
}

disk_gone()
{
	[ -z "${RIG_DISK:-}" ] || umount "$dir"
	rm -rf "$image" "$dir"
}

# vm/run keeps some memory apart for it.
dax()
{
	modprobe -a nd_e820 nd_pmem ext4 2>/dev/null &&
		until_true 5 test -b /dev/pmem0 && mkfs.ext4 -q -b 4096 /dev/pmem0 &&
		mkdir -p "$dax" && mount -o dax /dev/pmem0 "$dax" &&
		export RIG_DAX=$dax
}

dax_gone()
{
	[ -z "${RIG_DAX:-}" ] || umount "$dax"
	rm -rf "$dax"
}

plan "$(harness_points "$CHAN_SRC"/chan_{memory,read_only}.c)"
chan_build
lab_device
lab_module
disk || comment <<<"no ext4 on a loop device"
dax || comment <<<"no ext4 with DAX"
# chan_read_only needs huge pages.
huge=$(</proc/sys/vm/nr_hugepages)
echo $((huge + 2)) >/proc/sys/vm/nr_hugepages
for part in chan_memory chan_read_only; do
	harness "$CHAN_SRC/$part.c" "$CHAN/$part"
done
echo "$huge" >/proc/sys/vm/nr_hugepages
disk_gone
dax_gone
finish
