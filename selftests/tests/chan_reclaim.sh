#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A host is so short of memory that the kernel reclaims pages all the while. A link with
# traffic stays up there, in its epoch, is moved to others, and comes up again after it
# went down. No process is killed for memory, and no message is lost.
# hosts: 2
# kernels: 6.1-all 6.12-all
# timeout: 400
# The libraries set the variables; awk has its own.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/chan/faults.sh"

[ -z "${RCLINK_DEV:-}" ] || skip_all "takes all memory of a host"

seconds=${RECLAIM_SECONDS:-25}
left=32		# MiB, beside what cannot be reclaimed
least=100	# MiB that the kernel must have reclaimed, or memory was not short
hog_says=/tmp/rclink-test-hog

# events HOST NAME...: how many of those /proc/vmstat of HOST has counted
events()
{
	on "$1" awk -v names=" ${*:2} " 'index(names, " " $1 " ") { n += $2; some = 1 }
		END { if (!some) exit 1
			print n }' /proc/vmstat
}

# reclaimed: MiB that host 2 has reclaimed, by itself or for who needed a page
reclaimed()
{
	local pages

	pages=$(events 2 pgsteal_kswapd pgsteal_direct) && echo $((pages / 256))
}

# A host that must read its programs again and again may stand still for a second.
begins()
{
	link_section l "$pin2" heartbeat 500 misses 10 recover resume qps 6 \
		peer "$RCL_PEER_IP" | configure 1 &&
		link_section l "$pin1" heartbeat 500 misses 10 recover resume \
			qps 6 | configure 2 && daemon_start 1 2 && up
}

hog_begin()
{
	killed_then=$(events 2 oom_kill) || return
	: >$hog_says
	on 2 "$LIB_DIR/chan/hog" $left >$hog_says 2>&1 &
	hog=$!
	until_true 60 grep -q short $hog_says && reclaimed_then=$(reclaimed) &&
		return
	cat $hog_says
	return 1
}

hog_end()
{
	kill "$hog"
	wait "$hog"
} 2>/dev/null

none_killed()
{
	[ "$(events 2 oom_kill)" = "$killed_then" ]
}

# Operations complete within 10 s, again and again.
keeps_epoch()
{
	local end=$((SECONDS + seconds)) epoch ops

	epoch=$(of 1 l .epoch) || return
	while [ "$SECONDS" -lt "$end" ]; do
		ops=$(of 1 l .stats.chan_ops) || return
		until_true 10 eval \
			"[ \"\$(of 1 l .stats.chan_ops)\" -gt $((ops + 20)) ]" ||
			return
	done
	is 1 l .epoch "$epoch" && is 1 l .state up && is 2 l .state up &&
		none_killed
}

is_short()
{
	local mib

	mib=$(($(reclaimed) - reclaimed_then))
	figure "reclaimed meanwhile" $mib MiB ">= $least"
	figure "times that one had to wait for it" \
		"$(events 2 allocstall_dma allocstall_dma32 allocstall_normal \
			allocstall_movable)" ''
	figure "longest time without a message" "$(sum "$told" outage_ms)" ms
	[ $mib -ge $least ] && none_killed
}

plan 9
link_setup
holds "the link comes up" begins
holds "channels carry data both ways" chaos_begin 1000
# Packets that find no memory are sent again: see lossy() of chan_chaos.sh.
is_ib || on_all pkill -USR1 -x chaos
holds "memory is short on host 2" hog_begin
holds "for $seconds s the link keeps its epoch, and data moves" keeps_epoch
holds "it is moved to other epochs meanwhile" eval 'rotates 1 2 && goes_on'
holds "and comes up again after a cut" eval 'recovers cut && goes_on'
holds "each message arrived once, in order, and whole" chaos_end
measured "memory was short all the while, and nobody was killed" is_short
hog_end
check "what one end sent the other one got" adds_up
daemon_end 1 2
finish
