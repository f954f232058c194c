# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Simulated devices on this host. Sourced after lib.sh, before plan.
# shellcheck disable=SC2034

SIM=/sys/kernel/debug/rdmasim

[ -e "$LIB_DIR/../build/$(uname -r)/selftests/rdmasim/rdmasim.ko" ] ||
	skip_all "no rdmasim.ko: it is built in a tree, by make modules"

# sim_load [LINE...]: the module, and a device of each line; none of a test before
sim_load()
{
	[ ! -e "$SIM" ] || rmmod rdmasim
	"$LIB_DIR/rdmasim/load" "$@" || bail "no simulated device"
}

# sim_unload: with all devices; their users hear of it
sim_unload()
{
	rmmod rdmasim
}
