#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A failure below a call of /dev/rclink makes that call fail, and nothing else.
# hosts: 1
# kernels: debug
# only: Debian's kernels have no fault injection
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

# So that no new request is left without a variant.
each_request_is_swept()
{
	local all word status=0

	all=$(sed -n 's/^#define \(RCLINK_IOC_[A-Z]*\)[[:space:]].*/\1/p' \
		"$LIB_DIR/../kmod/include/uapi/linux/rclink_dev.h")
	for word in $all; do
		grep -qw "\.request = $word" "$CHAN_SRC/chan_fault.c" && continue
		echo "no variant has $word"
		status=1
	done
	[ "$(wc -w <<<"$all")" -ge 12 ] && return "$status"
}

plan $((1 + $(harness_points "$CHAN_SRC"/chan_{fault,starve}.c)))
chan_build
lab_device
lab_module
check "every request to the device is among them" each_request_is_swept
for name in fault starve; do
	harness "$CHAN_SRC/chan_$name.c" "$CHAN/chan_$name"
done
finish
