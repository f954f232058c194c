#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures, not tests: the points say only that they were measured.
#  - what the heartbeats of idle links cost, by the difference to links without
# hosts: 1
# kernels: 6.12-all
# timeout: 300
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/figure.sh"

pairs=50
seconds=10
interval=/sys/module/rclink/parameters/heartbeat

# worked: hundredths of a second that all processors were busy, since they began
worked()
{
	awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8; exit }' /proc/stat
}

beats()
{
	rclink stats -j | gojq 'map(.heartbeats) | add'
}

# idle MS: what idle links with that interval let the processors work
idle()
{
	local before sent

	echo "$1" >"$interval"
	hold up $pairs || return
	sleep 1
	sent=$(beats)
	before=$(worked)
	sleep $seconds
	work=$(($(worked) - before))
	sent=$(($(beats) - sent))
	up=$(rclink show -j | gojq '[.[] | select(.state == "up")] | length')
	drop
	forget
	rate=$((sent / seconds))
}

cost()
{
	local none was

	was=$(<"$interval")
	idle 0 || return
	none=$work
	idle 200 || return
	echo "$was" >"$interval"
	figure "links that stayed up, of $((2 * pairs))" "$up" ""
	figure "heartbeats of $((2 * pairs)) idle links, 200 ms" "$rate" /s
	figure "share of one processor for them" \
		"$(ratio $((work - none)) $seconds)" % "< 0.1 with hardware"
}

plan 1
nl_build
lab_device
lab_module
measured "the cost of heartbeats was measured" cost
finish
