#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a person sees on the screen of `rclink top`.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# The library has the variables.
# shellcheck disable=SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/group/lib.sh"

screen=$LIB_DIR/link/screen.py
pids=()

# Data moves from link a to link b until traffic_ends.
traffic()
{
	"$tool" bench b --listen >/dev/null 2>&1 &
	pids=($!)
	until_true 20 lead
}

# Start the sender again if it ended because the listener was not ready.
lead()
{
	if ! kill -0 "${pids[1]:-}"; then
		"$tool" bench a bw -o write -s 4096 -n 1000000 >/dev/null 2>&1 &
		pids[1]=$!
	fi
	is 1 a .stats.channels 1
}

traffic_ends()
{
	kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	until_true 10 is 1 a .stats.channels 0
}

plan 15
# The longest name that a link may have.
long=a-name-that-has-31-characters-1
link_setup
rclink add x
refuse 1 "without a terminal it says what to do" 'rclink stats -j' \
	"$tool" top
refuse 2 "no interval is too short" '0.1' "$tool" top -i 0.01
holds "a link comes up" link_self
holds "links and their states, and one that is made and deleted" \
	"$screen" 'see=links 3, up 2, not up 1' 'see=^[0-9]+ x +idle ' \
	'see=^[0-9]+ a +up +0 ' "do=$tool add $long" "see=^[0-9]+ $long +idle +0 " \
	"do=$tool del $long" "gone=^[0-9]+ $long " 'key=q' -- "$tool" top -i 0.3
holds "data moves" traffic
holds "rates of a link that moves data" \
	"$screen" 'see=^[0-9]+ a +up +1 +[0-9.]+ .*/s +[1-9][0-9]* ' 'key=r' \
	'see=^[0-9]+ a +up +1 +[0-9.]+ .*/s +[1-9][0-9]* ' 'key=q' -- \
	"$tool" top -i 0.5
holds "the one that is not up comes first when asked" \
	"$screen" 'see=^5 x ' 'key=s' 'see=^3 x ' 'key=q' -- "$tool" top
traffic_ends
holds "why a link is down" \
	"$screen" 'see=^[0-9]+ a +up' "do=$tool disconnect a" 'see=^[0-9]+ a +down .*disconnect' \
	'key=q' -- "$tool" top -i 0.2
holds "also where its numbers leave no room for that" \
	env RCL_COLUMNS=80 "$screen" \
	'see=^[0-9]+ a +down +disconnected on this host' 'see=^[0-9]+ b +down +disconnected by the peer' \
	'see=^[0-9]+ x +idle +0 ' 'key=q' -- "$tool" top
holds "who waits for the peer says so on a terminal" \
	"$screen" 'see=^0 recv: waiting for the peer of link x' -- \
	sh -c "timeout 5 $tool recv x || :"
holds "a signal ends it with success" \
	"$screen" 'see=^[0-9]+ x ' 'signal=15' -- "$tool" top
holds "groups come below them, while there are any" \
	"$screen" 'see=^5 x ' 'gone=GROUP' \
	"do=$tool group add g ${group_at[*]}" 'see=groups 1, joined 1' \
	'see=^7 GROUP +STATE ' 'see=^8 g +joined +[^ ]+/1 +1 +[1-9][0-9]* +0 +0 ' \
	"do=$tool group del g" 'gone=GROUP' 'key=q' -- "$tool" top
rclink del a
rclink del b
holds "a line that does not fit is cut, too" \
	env RCL_COLUMNS=62 "$screen" "do=$tool group add g ${group_at[*]}" 'see=^6 g +joined ' \
	'see=^3 x +idle +0 ' 'gone=^1 +[^ ]' 'gone=^[0-9]+ +[0-9]' "do=$tool group del g" \
	'gone=GROUP' 'key=q' -- "$tool" top
rclink del x
holds "a head that does not fit is cut" \
	env RCL_COLUMNS=70 "$screen" 'see=links 0' 'see=NAME +STATE' 'gone=PEER' 'key=q' -- "$tool" top
# Unloading is tried again while rclink top is in the midst of a query.
holds "the end of the module is its end, with a reason" \
	"$screen" 'see=links 0' 'do=until rmmod rclink; do sleep 0.1; done' \
	'see=rclink: top: the rclink module was unloaded; run .modprobe rclink' \
	-- sh -c "! $tool top -i 0.3"
lab_module
finish
