#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures, not a test: what the interface for kernel modules costs over plain verbs,
# by WRITEs of 64 bytes from this host to itself, with both in turns: on the host's
# device, and on a simulated one, which does next to nothing itself. Figures of the
# debug kernel would be meaningless.
# hosts: 1
# alone: yes
# kernels: 6.1-all 6.12-all
# ib: no, it has a simulated device of its own
# timeout: 200
# The library sets the variables.
# shellcheck disable=SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/kapi/lib.sh"
. "$LIB_DIR/figure.sh"

# compare WHERE
compare()
{
	local where=$1 one bare ratio many bares ratios

	kapi_bench a >"$said" || return
	read -r one bare ratio many bares ratios <"$said"
	figure "WRITE 64 B by rclink_post(), one at a time, $where" "$one" ns
	figure "WRITE 64 B by ib_post_send(), one at a time, $where" "$bare" ns
	figure "kernel API overhead per op, one at a time, $where" \
		"$(ratio "$ratio" 1000)" "" "<= 1.05"
	figure "WRITE 64 B by rclink_post(), 16 in flight, $where" "$many" ns
	figure "WRITE 64 B by ib_post_send(), 16 in flight, $where" "$bares" ns
	figure "kernel API overhead per op, 16 in flight, $where" \
		"$(ratio "$ratios" 1000)" "" "<= 1.05"
	# On rxe the difference is lost in the noise.
	[ "$where" = rxe ] ||
		figure "own cost per op, 16 in flight" $((many - bares)) ns
}

# The listener goes on: a service belongs to the name of a link.
link_simulated()
{
	rclink del a && rclink del b && link_self device sim0
}

plan 5
link_setup
kapi_load
holds "a link to this host itself comes up" link_self
check "it listens on the other one" kapi 1 "listen b"
measured "the interface was compared" compare rxe
sim_load "sim0 ib 1"
holds "a link on a simulated port comes up" link_simulated
measured "the interface was compared there" compare simulated
rclink del a
rclink del b
sim_unload
rmmod rclink_test
finish
