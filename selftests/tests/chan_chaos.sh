#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Traffic on some channels while faults are drawn from a list by a seed.
# CHAOS_SECONDS and CHAOS_SEED say how long, and which; see `make chaos`.
# hosts: 2
# kernels: 6.12-all
# timeout: 500
# The libraries have the variables.
# shellcheck disable=SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/chan/faults.sh"

seconds=${CHAOS_SECONDS:-120}
seed=${CHAOS_SEED:-$RANDOM}
faults=(cut deaf unplugged orphaned)
injected=0

# Bash's own generator, so that a seed draws the same faults again.
draw()
{
	local begin=$SECONDS fault

	RANDOM=$seed
	while [ $((SECONDS - begin)) -lt "$seconds" ]; do
		fault=${faults[RANDOM % ${#faults[@]}]}
		echo "# $((SECONDS - begin)) s: $fault" >&3
		recovers "$fault" || return
		injected=$((injected + 1))
		# Some traffic in between, for not always the same time.
		sleep "$((RANDOM % 5)).$((RANDOM % 10))"
	done
}

told_all()
{
	local word

	figure "faults drawn by seed $seed" "$injected" ''
	figure "epochs of the link" "$(of 1 l .stats.epochs)" ''
	figure "times that a channel went on" "$(of 1 l .stats.chan_resumes)" ''
	for word in sent received lost duplicated corrupt unknown outage_ms; do
		figure "$word, host 1 and host 2" "$(sum "$told" $word)" \
			"and $(sum "$heard" $word)"
	done
	[ "$injected" -gt 0 ]
}

exec 3>&1
plan 7
link_setup
! has_ingress || faults+=(roce_lost)
holds "the link comes up" begin
holds "channels carry data both ways" chaos_begin $((seconds + 600))
holds "it recovers from all faults" draw
holds "each message arrived once, in order, and whole" chaos_end
check "what one end sent the other one got" adds_up
check "an atomic that completed was carried out once" atomics_add_up
measured "the run" told_all
daemon_end 1 2
finish
