#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Another user takes all queue pairs of a device: a link of the daemon that fails then
# reports that reason, is dialled again, less and less often, and comes up when the
# queue pairs are free.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# ib: no, it has devices of its own
# timeout: 150
# The libraries set the variables; eval expands its argument.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

# Five for each end of a link; the rest is not enough for another link.
qps=12
seconds=8

begin()
{
	{
		link_section a "$pin1" peer 127.0.0.1 peer-link b device sim1 loopback 1
		link_section b "$pin1" device sim1 loopback 1
	} | configure 1 && daemon_start 1 && until_true 30 is 1 a .state up &&
		until_true 30 is 1 b .state up
}

# The daemon is stopped meanwhile, so that somebody else gets the queue pairs first.
starve()
{
	daemon_signal 1 STOP
	rclink disconnect a && until_true 10 is 1 b .state down &&
		rclink add x device sim1 loopback 1 &&
		rclink add y device sim1 loopback 1 && link_self_dial x y 7186
	set -- $?
	daemon_signal 1 CONT
	return "$1"
}

tries()
{
	times 1 'a: not up'
}

# A try that fails reports the reason, and there is at most one try a second.
tried()
{
	local before

	until_true 10 said 1 'a: not up: .*queue pair could not be made' || {
		show_daemons
		return 1
	}
	before=$(tries)
	sleep "$seconds"
	echo "# $(tries) tries, $before of them at first" >&3
	[ "$(tries)" -gt "$before" ] && [ $(($(tries) - before)) -le "$seconds" ] &&
		is 1 x .state up && is 1 y .state up && rclink ping x -q -c 1
}

freed()
{
	rclink del x && rclink del y && until_true 60 is 1 a .state up &&
		until_true 10 is 1 b .state up && rclink ping a -q -c 1
}

plan 6
exec 3>&1
link_setup
sim_load "sim1 ib 2 qps=$qps"
holds "a link of the daemon's is up" begin
holds "it falls, and somebody else has the queue pairs first" starve
holds "it is tried again and again, with that reason" tried
holds "when they are free it comes up" freed
holds "the daemon ends" daemon_end 1
check "they are deleted" eval 'rclink del a && rclink del b && empty 1'
sim_unload
finish
