# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Simulated devices on this host. Sourced after lib.sh, before plan.
# shellcheck disable=SC2034

SIM=/sys/kernel/debug/rdmasim

[ -e "$LIB_DIR/../build/$(uname -r)/selftests/rdmasim/rdmasim.ko" ] ||
	skip_all "no rdmasim.ko: it is built in a tree, by make modules"

# Words appended to each line, for example dma=1. The programs of netlink/ read them,
# too.
export SIM_WORDS=${SIM_WORDS:-}

# sim_load [LINE...]: loads the module anew, and makes a device of each LINE
sim_load()
{
	[ ! -e "$SIM" ] || rmmod rdmasim
	"$LIB_DIR/rdmasim/load" "${@/%/ $SIM_WORDS}" || bail "no simulated device"
}

# sim_new LINE: makes another device
sim_new()
{
	echo "$1 $SIM_WORDS" >"$SIM/new_device"
}

# sim_has_dma N: N devices have a parent that the DMA API maps for
sim_has_dma()
{
	local parents=(/sys/bus/platform/devices/rdmasim.*)

	[ -e "${parents[0]}" ] || parents=()
	[ ${#parents[@]} -eq "$1" ]
}

# sim_unload: unloads the module with all devices; their users are told
sim_unload()
{
	rmmod rdmasim
}
