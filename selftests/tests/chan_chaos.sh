#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Traffic on several channels while faults are injected, drawn from a list by a
# seeded generator. CHAOS_SECONDS and CHAOS_SEED set the duration and the seed; see
# `make chaos`.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# lab: takes ports and devices away
# timeout: 600
# soak: 5400 CHAOS_SECONDS=3600 CHAOS_SEED=3
# The libraries have the variables.
# shellcheck disable=SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/chan/faults.sh"

# A slow kernel gets through only a few faults in the shorter time.
seconds=${CHAOS_SECONDS:-$((RCL_SLOW > 1 ? 600 : 120))}
seed=${CHAOS_SEED:-$RANDOM}
faults=(cut deaf unplugged orphaned lossy rotated murder daemonless)
# By each of these the link goes down once. A fault beside other guests may cost one
# more: a heartbeat that was late, or an operation that rxe has lost (testing.rst).
downing=(cut deaf unplugged orphaned rdma_lost still)
declare -A injected
memory_then=''
later_faults=0	# since memory_then
unmoved=0	# rotations that failed
noticed=0	# faults that the link was not to notice, and that an epoch ended with
# KiB of `used` that come and go, as in chan_flap.sh
noise=512
[ "$RCL_SLOW" -eq 1 ] || noise=4096
victims=0
victim=/tmp/rclink-test-victim	# and a number, and the host's

# still: host 2 is paused until host 1 has noticed, or a little longer
still()
{
	lab_power 2 pause
	until_true 20 is 1 l .state down
	sleep $((RANDOM % 3))
	lab_power 2 resume
}

# moved HOST: rotates the link from HOST; a rotation that fails is counted
moved()
{
	rotate "$1" $((30 * RCL_SLOW)) && return
	unmoved=$((unmoved + 1))
	up
}

rotated()
{
	moved $((1 + RANDOM % 2))
}

# After a retransmission a device may silently leave undone what was in flight
# (testing.rst): the next epoch detects that.
lossy()
{
	local percent=$((1 + RANDOM % 3)) span=$((2 + RANDOM % 4))

	on_all pkill -USR1 -x chaos
	# Atomics already posted complete while the network still loses nothing.
	goes_on && goes_on || return
	on_all tc qdisc add dev eth0 root netem delay 1ms 2ms \
		loss $percent% duplicate $percent% reorder $((10 * percent))% ||
		return
	sleep "$span"
	on_all tc qdisc del dev eth0 root &&
	up && moved 1 && on_all pkill -USR2 -x chaos
}

# victim_kill HOST SIGNAL: to the process on HOST, not to the relay to it
victim_kill()
{
	on "$1" pkill "-$2" -f '^[^ ]*chaos l .* victim$'
}

# The victims have a channel of their own, and run until a fault kills one of them.
victim_try()
{
	local files=$victim-$((++victims))

	up || return
	on 2 nice "$chaos" l listen 1 victim >"$files-2" 2>&1 &
	prey[2]=$!
	until_true 10 grep -q listening "$files-2" || return
	nice "$chaos" l connect 1 3600 victim >"$files-1" 2>&1 &
	prey[1]=$!
	until_true 20 grep -q begun "$files-1" &&
		until_true 10 grep -q begun "$files-2"
}

# A busy machine may miss a heartbeat while the channel opens: try twice.
victim_begin()
{
	local host

	victim_try && return
	cat "$victim-$victims"-*
	for host in 1 2; do
		victim_kill $host KILL
		wait "${prey[host]}"
	done
	victim_try
}

# The survivor notices; it has missed no message, and got none twice or damaged.
murder()
{
	local host=$((1 + RANDOM % 2)) files=$victim-$victims word

	victim_kill $host KILL || return
	! wait "${prey[3 - host]}" && ! wait "${prey[host]}" || return
	for word in lost duplicated corrupt; do
		[ "$(sum "$files-$((3 - host))" $word)" = 0 ] || {
			cat "$files"-*
			return 1
		}
	done
	victim_begin
}

# The last victims end in order, and each received all that the other one sent.
victim_end()
{
	local files=$victim-$victims

	kill -TERM "${prey[1]}"
	if wait "${prey[1]}" && wait "${prey[2]}" &&
	   [ "$(sum "$files-1" sent)" = "$(sum "$files-2" received)" ] &&
	   [ "$(sum "$files-2" sent)" = "$(sum "$files-1" received)" ]; then
		return
	fi
	cat "$files"-*
	return 1
}

# The link does not notice that a daemon is killed and another one started.
daemonless()
{
	local host=$((1 + RANDOM % 2))

	kill_daemon $host && daemon_start $host
}

# unnoticed FAULT: the link stays up in its epoch. On a busy machine heartbeats may be
# missed meanwhile by chance, but not a second time; on a slow kernel always.
unnoticed()
{
	local epoch

	for _ in 1 2; do
		epoch=$(of 1 l .epoch)
		"$1" && up && goes_on || return
		is 1 l .epoch "$epoch" && return
		noticed=$((noticed + 1))
	done
	[ "$RCL_SLOW" -gt 1 ]
}

# The link is up and data moves, in a later epoch if the fault ends the old one.
survives()
{
	case $1 in
	murder | daemonless) unnoticed "$1" ;;
	*) recovers "$1" && goes_on ;;
	esac
}

# What the first fault of each kind took stays in caches.
count_memory()
{
	[ -z "$memory_then" ] || later_faults=$((later_faults + 1))
	[ -n "$memory_then" ] || [ ${#injected[@]} -lt ${#faults[@]} ] ||
		memory_then=$(used)
}

# In an hour, of some 200 faults, a page lost in each of them is more than that.
memory()
{
	local kib

	[ -n "$memory_then" ] || return
	kib=$(($(used) - memory_then))
	figure "more kernel memory, $later_faults faults later" "$kib" KiB
	[ "$kib" -lt $((noise + later_faults)) ]
}

# Bash's own generator draws the faults, so that a seed draws the same ones again.
# No fault comes twice before all have come.
draw()
{
	local begin=$SECONDS fault deck=() i

	RANDOM=$seed
	while [ $((SECONDS - begin)) -lt "$seconds" ]; do
		[ ${#deck[@]} -gt 0 ] || deck=("${faults[@]}")
		i=$((RANDOM % ${#deck[@]}))
		fault=${deck[i]}
		unset "deck[i]"
		deck=("${deck[@]}")
		echo "# $((SECONDS - begin)) s: $fault" >&3
		survives "$fault" || return
		injected[$fault]=$((${injected[$fault]:-0} + 1))
		count_memory
		# Let traffic run for a random time between two faults.
		sleep "$((RANDOM % 3)).$((RANDOM % 10))"
	done
}

# both WORD: the sum of WORD over both ends
both()
{
	echo $(($(sum "$told" "$1") + $(sum "$heard" "$1")))
}

told_all()
{
	local fault kinds='' all=0 ends=0 rotations=0 word outage downs epochs
	local spare

	for fault in "${faults[@]}"; do
		[ -n "${injected[$fault]:-}" ] || continue
		kinds+=", ${injected[$fault]} $fault"
		all=$((all + injected[$fault]))
	done
	for fault in "${downing[@]}"; do
		ends=$((ends + ${injected[$fault]:-0}))
	done
	for fault in rotated lossy; do
		rotations=$((rotations + ${injected[$fault]:-0}))
	done
	for word in sent received lost duplicated corrupt unknown outage_ms; do
		figure "$word, host 1 and host 2" "$(sum "$told" $word)" \
			"and $(sum "$heard" $word)"
	done
	figure "times that a channel went on" "$(of 1 l .stats.chan_resumes)" ''
	spare=$(((2 + all / 10) * RCL_SLOW))
	downs=$(of 1 l .stats.downs)
	epochs=$(of 1 l .stats.epochs)
	outage=$(printf '%s\n' "$(sum "$told" outage_ms)" \
		"$(sum "$heard" outage_ms)" | sort -n | tail -n 1)
	figure "times that the link went down" "$downs" '' \
		"<= $ends and $spare by chance"
	figure "rotations" $((epochs - 1 - downs)) '' \
		"<= $rotations and $spare by chance"
	figure "rotations that failed at first" $unmoved '' \
		"<= $(((1 + rotations / 10) * RCL_SLOW))"
	figure "epochs that ended with a fault that ends none" $noticed ''
	echo "# CHAOS $(uname -r), seed $seed, $seconds s:" \
		"$all faults (${kinds#, })," \
		"$downs recoveries, $((epochs - 1 - downs)) rotations," \
		"longest outage $outage ms, $(both sent) messages sent," \
		"$(both received) delivered exactly once, lost $(both lost)," \
		"duplicated $(both duplicated)"
	[ "$all" -gt 0 ] && [ "$downs" -le $((ends + spare)) ] &&
		[ $((epochs - 1 - downs)) -le $((rotations + spare)) ] &&
		[ $unmoved -le $(((1 + rotations / 10) * RCL_SLOW)) ]
}

exec 3>&1
on_all modprobe -a sch_netem
# In the suite there is hardly time for more than one fault of each kind.
long=$((seconds >= 600 * RCL_SLOW))
plan $((10 + long))
link_setup
! has_ingress || faults+=(rdma_lost)
! command -v lab_power >/dev/null || faults+=(still)
holds "the link comes up" begin
holds "channels carry data both ways" chaos_begin $((seconds + 600))
holds "one more does, whose processes are to die" victim_begin
until_true 60 objects_settle
holds "it recovers from all faults" draw
check "there are as many objects as before" until_true 20 objects_same
[ $long -eq 0 ] || measured "memory does not grow" memory
holds "who took the place of who died ends in order" victim_end
holds "each message arrived once, in order, and whole" chaos_end
check "what one end sent the other one got" adds_up
check "an atomic that completed was carried out once" atomics_add_up
measured "the run" told_all
daemon_end 1 2
finish
