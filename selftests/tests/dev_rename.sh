#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A device gets another name: a link that is up does not notice, and the next epoch
# finds it by that name, and not by the old one.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# The library sets the variables; gojq expands those of its filters.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

other=rclinktest9
events=/tmp/rclink-test-events
refusal=/tmp/rclink-test-refusal

# rename FROM TO: rename the device, and wait for the event that tells of it
rename()
{
	: >"$events"
	rdma dev set "$1" name "$2" &&
		until_true 5 grep -q " device $2 changed\$" "$events"
}

# named NAME NOT: `rclink dev` shows a device NAME, and none that is called NOT
named()
{
	rclink dev -j | gojq -e --arg name "$1" --arg not "$2" \
		'map(.device) | any(. == $name) and all(. != $not)'
}

unnoticed()
{
	is 1 a .epoch "$1" && is 1 a .state up && is 1 b .state up &&
		rclink ping a -c 3 -q --op write
}

# The policy of link a names the device by its old name.
not_by_the_old_one()
{
	rclink disconnect a && until_true 10 nothing_left 1 || return
	! link_self_dial 2>"$refusal" && grep 'no such RDMA device' "$refusal"
}

# comes_up NAME: the link comes up with NAME as its device
comes_up()
{
	rclink set a device "$1" && link_self_dial && is 1 a .device "$1" &&
		is 1 b .device "$1" && rclink ping a -c 3 -q
}

[ -z "${RCLINK_DEV:-}" ] || skip_all "would rename a real device"
plan 8
link_setup
rclink add a loopback 1 device "$RCL_DEV" && rclink add b loopback 1
: >"$events"
"$tool" monitor >>"$events" &
monitor=$!
until_true 10 grep -q present "$events"
check "the link comes up" link_self_dial
epoch=$(of 1 a .epoch)
check "the device is renamed, and that is told" rename "$RCL_DEV" "$other"
check "it is shown by its new name" named "$other" "$RCL_DEV"
check "the link does not notice" unnoticed "$epoch"
check "the device is not found by its old name" not_by_the_old_one
check "by the new one it is" comes_up "$other"
epoch=$(of 1 a .epoch)
check "it has its old name again, which the link does not notice" eval \
	'rename "$other" "$RCL_DEV" && named "$RCL_DEV" "$other" && unnoticed "$epoch"'
rclink disconnect a
until_true 10 nothing_left 1
check "and by that the link comes up" comes_up "$RCL_DEV"
rdma dev set "$other" name "$RCL_DEV" 2>/dev/null
rclink del a
rclink del b
kill "$monitor"
wait "$monitor" 2>/dev/null
finish
