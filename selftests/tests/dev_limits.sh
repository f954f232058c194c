#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The limits of devices as the module reports them, compared with what libibverbs
# reports of one device, and with what simulated devices were made with.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it has a device that libibverbs knows, and simulated ones of its own
# What gojq gets is expanded there.
# shellcheck disable=SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/netlink/lib.sh"

# The smaller of two values.
devinfo_min()
{
	printf '%s\n' "$(devinfo "$1")" "$(devinfo "$2")" | sort -n | head -n 1
}

# The values of ibv_devinfo and sysfs, spelt as `rclink dev` spells them.
as_devinfo_says()
{
	local word

	for word in link_layer state atomic_cap; do
		devinfo $word | sed 's/^PORT_//; s/^ATOMIC_//; s/^Ethernet$/roce/' |
			tr '[:upper:]' '[:lower:]'
	done
	for word in active_mtu max_mtu port_lid sm_lid max_qp max_qp_wr max_cqe \
		    max_mr max_sge max_srq; do
		devinfo $word
	done
	devinfo_min max_qp_rd_atom max_qp_init_rd_atom
	find "/sys/class/infiniband/$RCL_DEV/ports/1/pkeys" -type f | wc -l
}

same_as_devinfo()
{
	diff <(as_devinfo_says) <(rclink dev "$RCL_DEV" -j | gojq -r '.[] |
		.link_layer, .state, .atomics, .active_mtu, .max_mtu,
		(.lid, .sm_lid | . // 0), .max_qp, .max_qp_wr, .max_cqe, .max_mr, .max_sge,
		.max_srq, .max_rd_atomic, .pkeys')
}

# says DEVICE FILTER: it holds for the JSON of `rclink dev DEVICE`
says()
{
	rclink dev "$1" -j | gojq -c ".[0] | $2" | tee /dev/stderr |
		gojq -e . >/dev/null
}

# not_made SENTENCE WORDS...: a link with those WORDS is more than its device can carry
not_made()
{
	local sentence=$1

	shift
	refuse 1 "no link has $*" "$sentence" rclink add l dev "$@"
}

# All that the two devices have is not too much.
just_made()
{
	rclink add l dev sim0 qps 39 buffer-size $((64 * $(getconf PAGE_SIZE))) &&
		rclink add m dev sim5 mtu 2048 && rclink del l && rclink del m
}

nothing_made()
{
	[ "$(rclink show -j | gojq length)" = 0 ]
}

plan 15
nl_build
lab_device
lab_module
sim_load "sim0 ib 7 qps=40 cqes=500 mrs=90 pages=64 sges=5 atomics=1" \
	"sim1 ib 9 pages=0 atomics=0 mtu=2048" "sim2 ib 11 mtu=0" \
	"sim3 ib 13 sges=3" "sim4 ib 15 sizes=0x200000" "sim5 ib 17 mtu=2048"
check "a device is as ibv_devinfo has it" same_as_devinfo
if [ "$RCL_DEV" = rxe0 ]; then
	check "rxe takes 64 bytes inline" says rxe0 '.max_inline >= 64'
else
	skip "rxe takes 64 bytes inline"
fi
check "a device with limits of its own has those" says sim0 \
	'[.link_layer, .state, .lid, .atomics, .masked_atomics, .max_qp, .max_cqe,
	.max_mr, .fast_reg_pages, .max_sge, .max_inline] == ["infiniband", "active",
	7, "hca", "none", 40, 500, 90, 64, 5, 0]'
check "one that registers no memory, and has no atomics, is for no link" says sim1 \
	'[.fast_reg_pages, .atomics, .masked_atomics, .max_mtu, .chosen_gid,
	.reason] == [0, "none", "none", 2048, null,
	"the device has no fast registration (REG_MR)"]'
refuse 1 "nor is one made on it" "the device has no fast registration (REG_MR)" \
	rclink add l dev sim1
refuse 1 "nor is one on a device that takes fewer pieces than an entry has" \
	"the device takes too few pieces at once" rclink add l dev sim3
refuse 1 "nor on one without pages of the processor's size" \
	"the device lacks this kernel's page size" rclink add l dev sim4
not_made "qps is more than the device has: choose fewer" sim0 qps 40
not_made "buffer-size is more than the device registers" sim0 buffer-size 1048576
not_made "mtu is larger than the port's: see .rclink dev." sim5 mtu 4096
check "and nothing is left of them" nothing_made
check "what the devices just have is not refused" just_made
check "one with less than the least MTU is for no link" says sim2 \
	'[.state, .active_mtu, .chosen_gid, (.reason | contains("less than 256"))] ==
	["active", null, null, true]'
check "but one is made on it, as that can change" eval \
	'rclink add l dev sim2 && rclink del l'
refuse 1 "nor for a group" "the port's MTU is less than 256" \
	rclink group add g dev sim2 mgid ff12:401b:ffff::1 mlid 0xc001
sim_unload
finish
