#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures; tested is only that the links stayed up, sent heartbeats and took processor
# time:
#  - what heartbeats of idle links cost, compared with links without heartbeats, and
#    the memory of the links. IDLE_LINKS sets their number; make soak has 500.
# And a test: links send heartbeats at moments that they share.
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
tracing=/sys/kernel/tracing

# rested: hundredths of a second for which all processors were idle since boot. What
# keeps them busy is only sampled at ticks, which is when timers expire.
rested()
{
	awk '$1 == "cpu" { print $5 + $6; exit }' /proc/stat
}

beats()
{
	rclink stats -j | gojq 'map(.heartbeats) | add'
}

# idle MS: sets rest, the idle time of the processors while links have heartbeats every
# MS ms, and memory, up and rate
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

# How far the shared moments of a 200 ms interval are apart, in ticks of 4 ms, as
# Debian's kernels have them: the largest power of two within a quarter of it.
moment=8

# expiries: for each timer of a link that expired, the tick that it was set to
expiries()
{
	awk '/function=rcl_life_timer/ {
			match($0, /timer=[0-9a-f]+/)
			timer = substr($0, RSTART, RLENGTH)
		}
		/timer_start:.*rcl_life_timer/ {
			match($0, /expires=[0-9]+/)
			due[timer] = substr($0, RSTART + 8, RLENGTH - 8)
		}
		/timer_expire_entry:.*rcl_life_timer/ && timer in due {
			print due[timer]
		}' "$tracing/trace"
}

# If timers expired at random, one in eight would be due at a shared moment. Some of
# the timers are not for heartbeats.
together()
{
	local n shared was

	was=$(<"$interval")
	echo 200 >"$interval"
	hold up 20 || return
	echo >"$tracing/trace"
	echo 'timer:timer_start timer:timer_expire_entry' >"$tracing/set_event"
	sleep 3
	echo >"$tracing/set_event"
	drop
	forget
	echo "$was" >"$interval"
	n=$(expiries | wc -l)
	shared=$(expiries | awk -v m=$moment '$1 % m == 0' | wc -l)
	echo "$shared of $n"
	[ "$n" -ge 100 ] && [ $((shared * 4)) -ge $((n * 3)) ]
}

plan 2
nl_build
lab_device
lab_module
measured "the cost of heartbeats was measured" cost
check "links beat at moments that they share" together
finish
