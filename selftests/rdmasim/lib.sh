# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Simulated devices on this host. Sourced after lib.sh, before plan.
# shellcheck disable=SC2034

SIM=/sys/kernel/debug/rdmasim

[ -e "$LIB_DIR/../build/$(uname -r)/selftests/rdmasim/rdmasim.ko" ] ||
	skip_all "no rdmasim.ko: it is built in a tree, by make modules"

# Behind each line: dma=1, say. The programs of netlink/ have it from here.
export SIM_WORDS=${SIM_WORDS:-}

# sim_load [LINE...]: the module, and a device of each line; none of a test before
sim_load()
{
	[ ! -e "$SIM" ] || rmmod rdmasim
	"$LIB_DIR/rdmasim/load" "${@/%/ $SIM_WORDS}" || bail "no simulated device"
}

# sim_new LINE: another one
sim_new()
{
	echo "$1 $SIM_WORDS" >"$SIM/new_device"
}

# sim_has_dma N: so many have a parent that the DMA API maps for
sim_has_dma()
{
	local parents=(/sys/bus/platform/devices/rdmasim.*)

	[ -e "${parents[0]}" ] || parents=()
	[ ${#parents[@]} -eq "$1" ]
}

# sim_unload: with all devices; their users hear of it
sim_unload()
{
	rmmod rdmasim
}
