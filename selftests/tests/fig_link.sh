#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures of a link. Only bring-up has a limit; recovery is only measured. A figure of
# the debug kernel would say nothing.
#  - bring-up, divided by a bare TLS 1.3 handshake with keys of the same kind
#  - recovery by two daemons, likewise, after a request to take the link down, and after
#    a cable was out until that was noticed; without the back-off, which is random
# hosts: 2
# kernels: 6.1-all 6.12-all
# lab: takes ports away
# ib: no, its figures are of rxe
# timeout: 800
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/figure.sh"

bench=$LIB_DIR/../build/unit/bench_exchange
rounds=5
# Twice the goal of bring-up: only a regression takes so long, even beside other guests.
most=6

handshake()
{
	"$bench" --handshake 5 | awk '{ print $1 / 1000 }'
}

bring_up()
{
	local i bare whole times bares=() wholes=()

	for ((i = 0; i < rounds; i++)); do
		bares+=("$(handshake)")
		rclink disconnect l 2>/dev/null
		until_true 20 is 2 l .state down
		wholes+=("$(link_dial l | sed -n 's/.*, \([0-9]*\) ms$/\1/p')")
	done
	bare=$(printf '%s\n' "${bares[@]}" | median) &&
		whole=$(printf '%s\n' "${wholes[@]}" | median) &&
		times=$(ratio "$whole" "$bare") || return
	figure "bare TLS 1.3 handshake, both ends here" "$bare" ms
	figure "bring-up, two hosts" "$whole" ms
	figure "bring-up / handshake" "$times" "" "<= 3"
	[ "${times%.*}" -lt "$most" ]
}

daemons()
{
	rclink del l
	on 2 "$tool" del l
	link_section l "$pin2" peer "$RCL_PEER_IP" | configure 1 &&
		link_section l "$pin1" | configure 2 && daemon_start 1 2 &&
		both_up l
}

on_request()
{
	rclink disconnect l
}

by_cable()
{
	on 2 ip link set eth0 down
}

# Ends the fault, if the link cannot come up with it.
mend()
{
	case $1 in
	by_cable) on 2 ip link set eth0 up ;;
	esac
}

# lose_link FAULT: sets down, the ms from the last event that the link is down, after
# mending, until it is up again; and asked, the ms from the fault until then. It waits
# for events, as polling would take the time of a host with a single processor. A loss
# after 30 s up does not count as a failure, so the back-off is short.
lose_link()
{
	local epoch monitor line from=''

	epoch=$(epoch l)
	sleep 31
	exec 4< <(timeout 60 "$tool" monitor)
	monitor=$!
	asked=${EPOCHREALTIME/./}
	"$1"
	while read -r line <&4; do
		case $line in
		*" down "*)
			[ -n "$from" ] || mend "$1"
			from=${EPOCHREALTIME/./}
			;;
		*" up "*) [ -z "$from" ] || break ;;
		esac
	done
	down=$(((${EPOCHREALTIME/./} - from) / 1000))
	asked=$(((${EPOCHREALTIME/./} - asked) / 1000))
	kill "$monitor" 2>/dev/null
	exec 4<&-
	[ -n "$from" ] && up_again l "$epoch"
}

# recovery FAULT TIMES: the daemon logs the time from the beginning of its dial on; the
# rest of the time down is the back-off, if no dial failed.
recovery()
{
	local i down asked bare dial failed bares=() downs=() dials=()

	failed=$(times 1 'not up')
	for ((i = 0; i < $2; i++)); do
		bares+=("$(handshake)")
		lose_link "$1" || return
		dial=$(sed -n 's/.*: up, .* dialled, \([0-9]*\) ms$/\1/p' \
			"${said_by}1" | tail -n 1)
		echo "# down for $down ms, of which $dial ms from the dial on"
		# The daemon may know of the link's end before the event is read here.
		[ "$dial" -gt 0 ] && [ "$dial" -le "$asked" ] || return
		downs+=("$down")
		dials+=("$dial")
	done
	bare=$(printf '%s\n' "${bares[@]}" | median) &&
		dial=$(printf '%s\n' "${dials[@]}" | median) || return
	figure "recovery by daemons, $1, until both ends are up" \
		"$(printf '%s\n' "${downs[@]}" | median)" ms
	figure "recovery, $1, without the back-off" "$dial" ms
	figure "that / handshake" "$(ratio "$dial" "$bare")" "" "<= 3"
	figure "dials that failed" "$(($(times 1 'not up') - failed))" ""
}

plan 4
link_setup
rclink add l
on 2 "$tool" add l
link_listen l
link_dial l >/dev/null
measured "bring-up was measured, and takes less than $most handshakes" bring_up
link_listen_end
holds "daemons have the link" daemons
measured "recovery was measured" recovery on_request $rounds
measured "and after a cable was out and in" recovery by_cable $rounds
daemon_end 1 2
finish
