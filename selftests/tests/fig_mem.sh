#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A figure, not a test: the memory that an idle link takes from the kernel, by
# the difference between few and many of them. A figure of the debug kernel would
# say nothing.
# hosts: 1
# kernels: 6.1 6.12
# timeout: 200
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/figure.sh"

few=5
many=25

# with PAIRS: KiB in use while so many pairs of links are up
with()
{
	hold up "$1" || return
	used
	drop
	rmmod rclink
}

memory()
{
	local low high

	lab_module
	low=$(with $few) || return
	lab_module
	high=$(with $many) || return
	figure "an idle link, 4 pooled QPs and 64 KiB of buffer" \
		"$(ratio $((high - low)) $((2 * (many - few))))" KiB
}

plan 1
nl_build
lab_device
measured "an idle link was weighed" memory
finish
