#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Very many links between two daemons come up at once: at the start, and after all have
# lost their port. And a few links come up beside many to a host that does not exist.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# lab: takes ports away
# timeout: 500
# soak: 1800 STORM_LINKS=240
# The libraries define the variables; eval expands its arguments.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

# 240 links fit into the time limit on a machine with nothing else to do.
number=${STORM_LINKS:-60}
# Seconds until all links have recovered: t_rec, and t_link more for each link. A link
# waits for 30 at most before it is dialled again. Busy, emulated machines took 0.5 to
# 0.7 for each link (figures.rst); t_link is about three times as much.
t_rec=40
t_link=2
limit=$(((t_rec + number * t_link) * RCL_SLOW))

# A dial to this address waits for 5 s; those of 60 links, if they had to take turns,
# for 15 and more. But every half second 16 more links are dialled, until 128 wait.
away=192.0.2.78
healthy=4
t_beside=$((2 + (number + 31) / 32))
[ "$number" -lt 128 ] || t_beside=$((t_beside + 5))

# sections PIN [KEY VALUE]...
sections()
{
	local i

	for ((i = 1; i <= number; i++)); do
		link_section "l$i" "$@" qps 1
	done
}

all_up()
{
	[ "$(ups 1)" -eq "$number" ] && [ "$(ups 2)" -eq "$number" ]
}

# worst FROM: the longest exchange in the log of host 1 after line FROM, in ms
worst()
{
	tail -n "+$(($1 + 1))" "$said_by"1 |
		sed -n 's/.*: up, epoch .*, \([0-9]*\) ms$/\1/p' | sort -n | tail -n 1
}

# epochs: name and epoch of each link that is up on this host
epochs()
{
	rclink show -j | gojq -r '.[] | select(.state == "up") | "\(.name) \(.epoch)"' |
		sort
}

# heals WHAT CMD...: after CMD, all links are up within the limit; prints the time taken
heals()
{
	local what=$1 begin failed told ms

	shift
	touch "$said_by"1
	told=$(wc -l <"$said_by"1)
	failed=$(($(times 1 'not up') + $(times 2 'not up')))
	begin=${EPOCHREALTIME/./}
	"$@" || return
	until_true $((limit / RCL_SLOW)) all_up
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	echo "# $what: $(ups 1) of $number links up at host 1, $(ups 2) at host 2," \
		"after $ms ms (limit $limit s);" \
		"worst exchange $(worst "$told") ms;" \
		"$(($(times 1 'not up') + $(times 2 'not up') - failed)) tries failed" >&3
	if ! all_up || [ "$ms" -gt $((limit * 1000)) ]; then
		show_daemons
		return 1
	fi
}

begin()
{
	sections "$pin2" peer "$RCL_PEER_IP" | configure 1 &&
		sections "$pin1" | configure 2 && daemon_start 2 1
}

none_up()
{
	[ "$(ups 1)" -eq 0 ]
}

# The port of all links goes down at host 1, which dials. Host 2 learns of that when
# host 1 dials again.
lose_port()
{
	local status

	epochs >"$said-epochs"
	ip link set eth0 down
	until_true 60 none_up
	status=$?
	[ "$status" -eq 0 ] || echo "$(ups 1) links have not noticed"
	ip link set eth0 up
	return "$status"
}

# No link is up again with the epoch that it had before.
all_are_new()
{
	local same

	[ "$(wc -l <"$said-epochs")" -eq "$number" ] || return
	same=$(epochs | comm -12 - "$said-epochs")
	[ -z "$same" ] || {
		echo "as before: $same"
		return 1
	}
}

# beside_sections: the links that can come up, in between those that cannot
beside_sections()
{
	local i

	for ((i = 1; i <= number; i++)); do
		link_section "a$i" "$pin2" peer $away qps 1
		[ "$i" -gt $healthy ] ||
			link_section "l$i" "$pin2" peer "$RCL_PEER_IP" qps 1
	done
}

healthy_up()
{
	[ "$(ups 1)" -eq $healthy ]
}

# A neighbour that never answers is like a host behind a router that reports nothing.
# Returns 2 if the healthy links were up too late.
beside_once()
{
	local begin ms took status

	ip neighbour replace $away lladdr 02:00:00:00:00:4e nud permanent dev eth0
	beside_sections | configure 1 &&
		number=$healthy sections "$pin1" | configure 2 &&
		daemon_start 2 || return
	begin=${EPOCHREALTIME/./}
	daemon_start 1 && until_true 60 healthy_up
	status=$?
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	# How long an exchange takes depends on the machine.
	took=$(worst 0)
	ms=$((ms - ${took:-0}))
	echo "# beside $number that nobody answers: $(ups 1) of $healthy links up," \
		"dialled after $ms ms (limit $((t_beside * RCL_SLOW)) s)" >&3
	[ "$status" -eq 0 ] || show_daemons
	configure 1 </dev/null && configure 2 </dev/null && reload 1 && reload 2 &&
		daemon_end 1 2 || return
	ip neighbour del $away dev eth0
	[ "$status" -eq 0 ] || return 1
	[ "$ms" -le $((t_beside * 1000 * RCL_SLOW)) ] || return 2
}

# A daemon that waits for an absent host is late each time; one on a host that was busy
# with other things is not.
beside()
{
	local status

	for _ in 1 2 3; do
		beside_once
		status=$?
		[ "$status" -eq 2 ] || break
	done
	return "$status"
}

plan 5
exec 3>&1
link_setup
rm -f "$said_by"*
holds "links come up beside $number that nobody answers" beside
# The daemons that start next write new logs.
rm -f "$said_by"*
holds "$number links come up" heals "from nothing" begin
holds "$number links that lose their port come up again" heals "port lost" lose_port
check "each of them in another epoch" all_are_new
holds "the daemons end" daemon_end 1 2
finish
