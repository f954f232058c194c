#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Channels outlive the epoch: what was sent arrives once and in order, whatever cut
# the link. They end if one end does not want to resume, or has closed.
# hosts: 2
# kernels: 6.12-all 6.1-all mixed-all debug-all
# lab: takes ports away
# timeout: 600
# The libraries set or use the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/chan/faults.sh"

resumed()
{
	figure "channels of host 1 resumed" "$(of 1 l .stats.chan_resumes)" times
	figure "operations posted again" "$(of 1 l .stats.chan_resends)" ''
	figure "longest time without a message" "$(sum "$told" outage_ms)" ms
	[ "$(of 1 l .stats.chan_resumes)" -ge $((cuts * channels)) ] &&
		[ "$(of 1 l .stats.chan_suspended)" = 0 ]
}

receives()
{
	on 2 sh -c 'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q /dev/rclink'
}

# A pipe through `rclink send` and `rclink recv` does not notice that the link was cut.
piped()
{
	local status=0

	head -c 600000 /dev/urandom >/tmp/pipe-in
	on 2 "$tool" recv l >/tmp/pipe-out 2>/dev/null &
	server=$!
	up && until_true 10 receives || return
	{
		# The second half is sent only if the link went down and came back.
		head -c 300000 /tmp/pipe-in && recovers cut >&2 &&
			tail -c +300001 /tmp/pipe-in
	} | rclink send l || status=1
	wait "$server" || status=1
	cmp /tmp/pipe-in /tmp/pipe-out && return "$status"
}

# parted CMD: the link goes down, and does not come up while CMD runs
parted()
{
	local status=0

	on 2 ip link set eth0 down
	until_true 20 is 1 l .state down || status=1
	"$@"
	on 2 ip link set eth0 up
	up && return "$status"
}

# A message reaches the stopped client, whose answer then finds the channel suspended.
played()
{
	local status=0

	on 2 "$tool" pingpong -l l -e &
	server=$!
	up && until_true 10 receives || return
	"$tool" pingpong l -e -n 100000000 &
	client=$!
	goes_on && kill -STOP "$client" && sleep 1 &&
		parted eval 'kill -CONT $client; sleep 1' &&
		goes_on || status=1
	kill -KILL "$client"
	! wait "$client" && ! wait "$server" && return "$status"
}

# A sender that waits for its first grant does not fail, however long it waits.
not_granted()
{
	local server status=0

	head -c 100000 /dev/urandom >/tmp/pipe-in
	on 2 "$tool" recv l:late >/tmp/pipe-out 2>/dev/null &
	server=$!
	up && until_true 10 receives && on 2 pkill -STOP -x rclink || return
	"$tool" send l:late </tmp/pipe-in &
	client=$!
	# The client waits. Its time limits run on while it is stopped.
	until_true 10 eval '[ "$(of 1 l .stats.channels)" = 1 ]' && sleep 1 &&
		kill -STOP "$client" &&
		parted eval 'sleep 11; kill -CONT $client; sleep 1' || status=1
	on 2 pkill -CONT -x rclink
	wait "$client" || status=1
	wait "$server" || status=1
	cmp /tmp/pipe-in /tmp/pipe-out && return "$status"
}

closed()
{
	chaos_begin 60 &&
		parted eval 'kill -KILL $client; wait $client' 2>/dev/null ||
		return
	! wait "$server" && grep -q 'Connection reset\|flushed' "$heard" &&
		until_true 10 eval '[ "$(of 2 l .stats.channels)" = 0 ]' &&
		[ "$(of 1 l .stats.channels)" = 0 ]
}

unwanted()
{
	on 2 "$tool" set l recover reset && recovers cut &&
		chaos_begin 60 && recovers cut || return
	! wait "$server" && ! wait "$client" &&
		until_true 10 eval '[ "$(of 1 l .stats.channels)" = 0 ]'
}

plan 17
link_setup
holds "the link comes up" begin
holds "channels carry data both ways" chaos_begin 300
holds "a cable is pulled" recovers cut
holds "what one host sends does not arrive" recovers deaf
cuts=4
if has_ingress; then
	cuts=5
	holds "only RDMA has no way" recovers rdma_lost
else
	skip "only RoCE has no way: the kernel has no clsact"
fi
holds "a device goes" recovers unplugged
holds "a cable is pulled while no daemon runs there" recovers orphaned
holds "each message arrived once, in order, and whole" chaos_end
check "what one end sent the other one got" adds_up
check "an atomic that completed was carried out once" atomics_add_up
check "channels went on" resumed
holds "a pipe does not notice" piped
holds "nor does one whose first grant is late" not_granted
holds "a pingpong by events does not fail" played
holds "one that closes meanwhile ends the other one" closed
holds "an end that does not want it ends both" unwanted
holds "daemons end" daemon_end 1 2
finish
