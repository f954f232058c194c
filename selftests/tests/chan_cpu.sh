#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A processor goes offline and comes back, again and again, under traffic of every kind.
# hosts: 1
# cpus: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 200
# soak: 1200 CPU_TURNS=100
# The library has the variables; what gojq gets is expanded there.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

turns=${CPU_TURNS:-5}
# The second processor: the first one may be one that cannot be taken offline.
cpu=/sys/devices/system/cpu/cpu1/online
in=/tmp/rclink-test-in
says=/tmp/rclink-test-cpu
going=/tmp/rclink-test-going

[ -w $cpu ] || skip_all "there is no second processor that can be taken offline"

chan_ops()
{
	of 1 a .stats.chan_ops
}

pings_done()
{
	of 1 a .stats.pings
}

# has_device PID: the process has the device open: it listens, or is about to
has_device()
{
	[ -n "$(find "/proc/$1/fd" -lname /dev/rclink)" ]
}

# Starts a stream that lasts until its source ends, pings with checked data, and
# messages there and back.
begin()
{
	link_self heartbeat 1000 misses 20 timeout 19 || return
	head -c 1000000 /dev/urandom >$in
	"$tool" recv b:s -j >/dev/null 2>$says-recv &
	receiver=$!
	"$tool" bench b --listen >/dev/null 2>&1 &
	server=$!
	until_true 10 has_device "$receiver" && until_true 10 has_device "$server" ||
		return
	touch $going
	while [ -e $going ]; do
		cat $in
	done | rclink send a:s -j >$says-send 2>&1 &
	sender=$!
	while [ -e $going ]; do
		rclink bench a lat -o send -n 50 && echo came || echo failed
	done >$says-bench 2>&1 &
	bench=$!
	"$tool" ping a -q -c 1000000 -i 0.02 >$says-ping 2>&1 &
	pings=$!
	moves
}

done_by_bench()
{
	grep -c came $says-bench
}

# All traffic goes on; chan_ops includes the operations of the stream.
moves()
{
	local ops pings_then bench_then

	ops=$(chan_ops)
	pings_then=$(pings_done)
	bench_then=$(done_by_bench)
	until_true 20 eval "[ \"\$(chan_ops)\" -gt $((ops + 200)) ] &&
		[ \"\$(pings_done)\" -gt $((pings_then + 3)) ] &&
		[ \"\$(done_by_bench)\" -gt $bench_then ]"
}

turn()
{
	echo 0 >$cpu && moves && echo 1 >$cpu && moves
}

turn_all()
{
	local i

	for ((i = 0; i < turns; i++)); do
		turn || {
			echo "turn $i"
			echo 1 >$cpu
			return 1
		}
	done
}

answered()
{
	kill -INT "$pings"
	wait "$pings"
	cat $says-ping
	grep -q ' ok, 0 failed' $says-ping
}

# sum FILE
sum()
{
	gojq -r '"\(.bytes) \(.sha256)"' "$1"
}

arrived()
{
	rm $going
	wait "$sender" && wait "$receiver" || return
	cat $says-send $says-recv
	[ "$(sum $says-send)" = "$(sum $says-recv)" ]
}

came_back()
{
	wait "$bench"
	kill "$server"
	wait "$server"
	! grep failed $says-bench
}

plan 5
link_setup
holds "traffic of every kind" begin
holds "a processor goes and comes $turns times, and all of it goes on" turn_all
holds "each round trip was answered, with checked data" answered
holds "what was sent arrived" arrived
holds "no message failed" came_back
finish
