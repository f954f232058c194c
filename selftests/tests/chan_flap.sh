#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A cable is pulled again and again, at random intervals, under traffic of channels
# that resume. Each time the link goes down at both ends and comes up again; no message
# is lost or duplicated, and neither the number of objects nor memory use grows.
# hosts: 2
# kernels: 6.1-all 6.12-all mixed-all debug-all
# lab: takes ports away
# timeout: 400
# soak: 9000 FLAPS=300
# The libraries define the variables; eval expands its arguments.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/chan/faults.sh"

flaps=${FLAPS:-6}
# An emulated host stands still for a second now and then: link_beat.sh
limit=$((5000 * RCL_SLOW))
# How many of the flaps may be noticed late.
exceptions=$((1 + flaps / 10))
goal=1200	# of faults.sh
# ms for an exchange, and until messages move; a dial that began while the port was down
# sends to it again a second later.
exchange=$((5000 * RCL_SLOW))
# KiB; in the soak, a page lost in each flap is more than that.
noise=512
[ "$RCL_SLOW" -eq 1 ] || noise=4096

# is_down HOST SECONDS: the link is down at HOST, or will be within SECONDS
is_down()
{
	until_true "$2" is "$1" l .state down
}

# longest_wait: ms that the daemon has waited at most before it dialled, as often as the
# link has failed so far: 1 s after one failure, twice as long after each more, but not
# more than 30 s (tools/rclinkd/backoff.c). A link that was up for 30 s has one less.
longest_wait()
{
	local failures

	failures=$(times 1 'l: down: \|l: not up: ')
	echo $((failures < 6 ? 500 << failures : 30000))
}

# A network device that is taken down may keep a frame until it comes back up. rxe then
# keeps the QP that sent the frame, for 50 s at most (testing.rst).
flap()
{
	local epoch begin

	epoch=$(of 1 l .epoch)
	begin=$(ms)
	on 2 ip link set eth0 down || return
	is_down 1 20 || {
		on 2 ip link set eth0 up
		return 1
	}
	notice_ms+=($(($(ms) - begin)))
	# Host 2 must have noticed all the same: none of its QPs is still in RTS.
	is_down 2 5 || {
		kept=$((kept + 1))
		[ "$(qps 2 RTS)" = 0 ] || {
			on 2 ip link set eth0 up
			return 1
		}
	}
	own_ms+=($(($(ms) - begin)))
	sleep "0.$((RANDOM % 10))"
	begin=$(ms)
	on 2 ip link set eth0 up
	until_true 60 later "$epoch" && goes_on || return
	recover_ms+=($(($(ms) - begin)))
	longest_ms+=("$(longest_wait)")
	sleep "$((RANDOM % 2)).$((RANDOM % 10))"
}

flaps_all()
{
	local i

	notice_ms=()
	own_ms=()
	recover_ms=()
	longest_ms=()
	kept=0
	memory_then=$(used)
	for ((i = 1; i <= flaps; i++)); do
		flap || {
			echo "flap $i"
			return 1
		}
		# The memory that the first flaps took stays in caches.
		[ $i -ne 3 ] || memory_then=$(used)
	done
}

# The device keeps a frame in one of thirty flaps. In a few flaps this may happen twice
# by chance, but not in the second run, too.
flaps_as_usual()
{
	flaps_all && { [ "$kept" -le $exceptions ] || flaps_all; }
}

most()
{
	printf '%s\n' "$@" | sort -n | tail -n 1
}

# beyond_limit: how many times in notice_ms are longer than the limit
beyond_limit()
{
	printf '%s\n' "${notice_ms[@]}" |
		awk -v limit=$limit '$1 > limit { n++ } END { print n + 0 }'
}

judge()
{
	local typical late back most

	late=$(beyond_limit)
	back=$(printf '%s\n' "${recover_ms[@]}" | median)
	most=$(printf '%s\n' "${longest_ms[@]}" | median)
	most=$((${most%.*} + exchange))
	typical=$(printf '%s\n' "${notice_ms[@]}" | median)
	figure "the peer is down, $flaps times, the longest" \
		"$(most "${notice_ms[@]}")" ms "<= $goal"
	figure "the same, median" "$typical" ms "<= $goal"
	figure "the host itself is down, median" \
		"$(printf '%s\n' "${own_ms[@]}" | median)" ms
	figure "it was only when the port was back" "$kept" times
	figure "until messages move again, median" "$back" ms "<= $most"
	figure "the longest" "$(most "${recover_ms[@]}")" ms
	figure "the peer took longer than $limit ms" "$late" times "<= $exceptions"
	[ "${typical%.*}" -le "$limit" ] && [ "$late" -le $exceptions ] &&
		[ "$kept" -le $exceptions ] && [ "${back%.*}" -le "$most" ]
}

memory()
{
	local kib=$(($(used) - memory_then))

	figure "more kernel memory than after three of them" "$kib" KiB
	[ "$kib" -lt $((noise + 2 * (flaps - 3))) ]
}

plan 8
link_setup
holds "the link comes up" begin
holds "channels carry data both ways" chaos_begin $((flaps * 100 * RCL_SLOW))
until_true 60 objects_settle
holds "it goes down and comes up each time, and data moves" flaps_as_usual
measured "both ends notice, and it is back when the dialler must have dialled" judge
check "there are as many objects as before" until_true 20 objects_same
measured "memory does not grow" memory
holds "each message arrived once, in order, and whole" chaos_end
check "what one end sent the other one got" adds_up
daemon_end 1 2
finish
