# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# RCL_SLOW: how many times longer than Debian's kernels this kernel may take.
# Time limits of the tests are multiplied by it; those of the product are not.
# Programs read it by netlink/slow.h.

if [ -z "${RCL_SLOW:-}" ]; then
	RCL_SLOW=1
	[ ! -e /sys/kernel/debug/kmemleak ] || RCL_SLOW=6
fi
export RCL_SLOW
