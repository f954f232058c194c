#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures: that all links stayed up, beat, and took time is all that is tested.
#  - what the heartbeats of idle links cost, by the difference to links without,
#    and the memory of the links. IDLE_LINKS has another number of them: make soak has 500.
# hosts: 1
# kernels: 6.12-all
# only: one kernel tells the size of a figure
# ib: no, its figures are of rxe
# timeout: 300
# soak: 1800 IDLE_LINKS=500
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/figure.sh"

links=${IDLE_LINKS:-100}
seconds=10
interval=/sys/module/rclink/parameters/heartbeat

# rested: hundredths of a second that all processors were idle, since they began.
# What they were busy with is only looked at in each tick, when timers run out.
rested()
{
	awk '$1 == "cpu" { print $5 + $6; exit }' /proc/stat
}

beats()
{
	rclink stats -j | gojq 'map(.heartbeats) | add'
}

# idle MS: what idle links with that interval leave of the processors
idle()
{
	local before sent

	echo "$1" >"$interval"
	memory=$(used)
	hold up $((links / 2)) || return
	sleep 1
	memory=$(($(used) - memory))
	sent=$(beats)
	before=$(rested)
	sleep $seconds
	rest=$(($(rested) - before))
	sent=$(($(beats) - sent))
	up=$(rclink show -j | gojq '[.[] | select(.state == "up")] | length')
	drop
	forget
	rate=$((sent / seconds))
}

cost()
{
	local none stayed was

	was=$(<"$interval")
	idle 0 || return
	none=$rest
	stayed=$up
	idle 200 || return
	echo "$was" >"$interval"
	figure "links that stayed up, of $links" "$up" ""
	figure "heartbeats of $links idle links, 200 ms" "$rate" /s
	figure "memory of $links idle links" "$((memory / 1024))" MiB
	figure "share of one processor for them" \
		"$(ratio $((none - rest)) $seconds)" % "< 0.1 with hardware"
	[ "$stayed" -eq "$links" ] && [ "$up" -eq "$links" ] &&
		[ "$rate" -gt 0 ] && [ "$none" -gt "$rest" ]
}

plan 1
nl_build
lab_device
lab_module
measured "the cost of heartbeats was measured" cost
finish
