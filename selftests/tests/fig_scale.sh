#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures, not a test: the kernel memory that idle links take, by their number, on rxe
# and on the simulated device. A single link leads to the other host, or to a second
# simulated device; several links have both ends on one device of host 1. SCALE_LINKS
# sets other numbers of links, SCALE_SAMPLES how often each is measured; 1000 links
# need --timeout 600 and --mem 2560.
# hosts: 2
# kernels: 6.12-all
# lab: takes the device away
# only: one kernel tells the size of a figure
# ib: no, it has a simulated device of its own
# timeout: 400
# The library sets the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/figure.sh"

samples=${SCALE_SAMPLES:-1}
read -r -a numbers <<<"${SCALE_LINKS:-100}"

# queues: print how many KiB the queues of rxe take
queues()
{
	awk '/ rxe_queue_init/ { for (i = 1; i <= NF; i++)
			if (sub("^pages=", "", $i)) sum += $i }
		END { print 4 * sum }' /proc/vmallocinfo
}

one_rxe()
{
	link_pair l >/dev/null || return
	used
	rclink del l
	on 2 "$tool" del l
	until_true 10 nothing_left 1
}

one_sim()
{
	local peer

	rclink add l device sim0 && rclink add m device sim1 || return
	"$tool" listen --key "$key" --peer "m=$pin1" --once 1 >"$log" 2>&1 &
	peer=$!
	until_true 10 grep -q listening "$log"
	rclink connect l 127.0.0.1 --key "$key" --pin "$pin1" --peer-link m \
		--timeout $((20 * RCL_SLOW)) >/dev/null
	wait "$peer"
	used
	rclink del l
	rclink del m
	until_true 10 nothing_left 1
}

# many N: print the KiB in use while N links are up, in pairs on this host
many()
{
	hold up $(($1 / 2)) || return
	used
	[ ! -e /sys/class/infiniband/rxe0 ] ||
		comment <<<"of that in queues: $(queues) KiB" >&2
	drop
	forget
	until_true 60 nothing_left 1
}

# more SAMPLES ENDS COMMAND...: print how many KiB per end COMMAND finds in use beyond
# what was in use before, as the median of SAMPLES
more()
{
	local times=$1 ends=$2 i none some all=()

	shift 2
	for ((i = 0; i < times; i++)); do
		none=$(used)
		some=$("$@") || return
		all+=("$(ratio $((some - none)) "$ends")") || return
	done
	comment <<<"$*: ${all[*]}" >&2
	printf '%s\n' "${all[@]}" | median
}

# scale DEVICE ENDS: report all figures of DEVICE; a single link has ENDS on this host
scale()
{
	local n value

	# Memory that is allocated once and kept for reuse is not counted.
	"one_$1" >/dev/null || return
	value=$(more 5 "$2" "one_$1") || return
	figure "1 idle link, $1" "$value" KiB
	for n in "${numbers[@]}"; do
		value=$(more "$samples" "$n" many "$n") || return
		figure "each of $n idle links, $1" "$value" KiB
	done
}

sim_alone()
{
	lab_dev del &&
		sim_load "sim0 ib 1 qps=65536" "sim1 ib 2 qps=65536" &&
		scale sim 2
}

plan 2
nl_build
link_setup
link_listen l
measured "idle links on rxe were weighed" scale rxe 1
link_listen_end
measured "idle links on the simulated device were weighed" sim_alone
sim_unload
finish
