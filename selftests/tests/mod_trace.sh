#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tracepoints show each change of a link's state, the failure behind it, what was
# refused, each control message and each change of a group; none shows a secret.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# lab: takes the device away
# The libraries define the variables; eval expands its arguments.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/group/lib.sh"

tracing=/sys/kernel/tracing
events=$tracing/events/rclink

# traced PATTERN: how many lines of the trace match PATTERN
traced()
{
	grep -cE -e "$1" $tracing/trace
}

# clear: empties the trace
clear()
{
	echo >$tracing/trace
}

# states LINK: its changes of state in the trace, as FROM-TO, by number
states()
{
	sed -n "s/.* rcl_link_state: link=$1 .*from=\([0-9]*\) to=\([0-9]*\) .*/\1-\2/p" \
		$tracing/trace | tr '\n' ' '
}

# Idle (1), prepared, connected, up; down is 5.
comes_up()
{
	clear
	link_self || return
	[ "$(states a)" = "1-2 2-3 3-4 " ] && [ "$(states b)" = "1-2 2-3 3-4 " ]
}

# A round trip is a question and an answer, and each is sent and received once.
talks()
{
	local type

	clear
	rclink ping a -c 5 -i 0 -q || return
	for type in 3 4; do
		[ "$(traced "rcl_ctrl_tx: .*type=$type ")" -eq 5 ] &&
			[ "$(traced "rcl_ctrl_rx: .*type=$type ")" -eq 5 ] || return
	done
}

# refused: the state of link c does not allow the request
refused()
{
	clear
	! rclink rotate c 2>/dev/null && rclink add c && ! rclink rotate c &&
		[ "$(traced 'rcl_link_err: link=c .*err=-')" -eq 1 ]
}

# The next epoch goes through each state but the last, in which the link is already: it
# takes over from up (4) to up. The epoch that ends is not named.
rotates()
{
	local name next

	next=$(($(of 1 a .epoch) + 1)) && clear &&
		link_self_dial a b 7185 --rotate || return
	for name in a b; do
		[ "$(states $name)" = "1-2 2-3 4-4 " ] && [ "$(traced \
			"rcl_link_state: link=$name epoch=$next ")" -eq 3 ] ||
			return
	done
}

# Keys and PSNs of a link that is up, as `rdma` shows them to root: keys as hex digits.
secrets()
{
	rdma -d -d resource show mr -j |
		gojq -r '.[] | .rkey, .lkey // empty | "0x\(.)"'
	rdma resource show qp -j | gojq -r '.[] |
		select(.comm == "rclink") | ."sq-psn", ."rq-psn" // empty'
}

# The trace has no secret in any form: neither as a decimal number nor as hex digits,
# which the kernel mostly prints. Process and time are numbers, too, but not rclink's,
# and are cut off.
no_secrets()
{
	local value shown
	local -a values

	shown=$(sed -n 's/.*: \(rcl_\)/\1/p' $tracing/trace)
	mapfile -t values < <(secrets)
	echo "${#values[@]} values: ${values[*]}"
	[ "${#values[@]}" -ge 4 ] && [ "$(traced rcl_)" -ge 20 ] || return
	for value in "${values[@]}"; do
		((value > 255)) || continue
		! grep -wE "(0x)?0*($(printf '%d|%x' "$value" "$value"))" \
			<<<"$shown" || return
	done
}

# When one end disconnects, the other one goes down, too.
goes_down()
{
	clear
	rclink disconnect a && until_true 10 is 1 b .state down &&
		[ "$(traced 'rcl_link_state: link=a .*from=4 to=5 reason=1 ')" -eq 1 ] &&
		[ "$(traced 'rcl_link_state: link=b .*from=4 to=5 reason=2 ')" -eq 1 ]
}

fails()
{
	link_again && clear || return
	lab_dev del && until_true 10 is 1 a .state down &&
		[ "$(traced 'rcl_link_fail: link=a reason=[1-9]')" -ge 1 ] &&
		[ "$(traced 'rcl_link_state: link=a .*from=4 to=5 ')" -eq 1 ]
	set -- $?
	lab_dev
	return "$1"
}

link_again()
{
	rclink del a && rclink del b && link_self
}

group()
{
	clear
	rclink group add g "${group_at[@]}" || return
	until_true 10 eval 'rclink group show -j | gojq -e ".[0].state == \"joined\""'
	rclink group del g &&
		[ "$(traced 'rcl_group_state: group=g ')" -ge 2 ]
}

[ -d $tracing/events ] || skip_all "this kernel has no tracing"
plan 9
link_setup
echo 1 >$events/enable
check "a link that comes up goes through each state, at both ends" comes_up
check "each control message is sent once and received once" talks
check "none of them shows a key or a PSN" no_secrets
check "what is refused has the step and the error" refused
check "a rotation shows the next epoch, and that it takes over" rotates
check "a goodbye ends both, each with its reason" goes_down
check "what failed comes before the change that it makes" fails
check "a group's changes are there" group
echo 0 >$events/enable
clear
check "turned off, nothing is traced" eval \
	'rclink del a && rclink del b && rclink del c && [ "$(traced rcl_)" -eq 0 ]'
finish
