#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Random allocations fail on a host that carries data, loses its link and adds others.
# Nothing breaks, and all is well once the failures end.
# hosts: 2
# kernels: debug-all
# lab: takes ports away
# only: Debian's kernels have no fault injection
# timeout: 900
# The libraries set the variables.
# shellcheck disable=SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/chan/faults.sh"

rounds=3

starve()
{
	on "$1" "$LIB_DIR/chan/starve" "$2"
}

# Some of these commands succeed, and the others say why they do not.
tries()
{
	local i

	for ((i = 0; i < rounds; i++)); do
		on "$1" "$tool" add "n$i" qps 2
		on "$1" timeout 20 "$tool" ping l -c 2
		on "$1" "$tool" show
		on "$1" "$tool" del "n$i"
	done
}

# failed_so FILE: each channel that failed did so for lack of memory at one of its ends,
# as the error of a call or the status of a completion says
failed_so()
{
	local ops='recv|send|send-imm|write|fadd'
	local errors='Cannot allocate memory|Connection reset by peer|Stale file handle'
	local statuses='work request flushed error|general error'

	statuses+='|local (QP operation|protection) error'
	statuses+='|remote (access|operation|invalid request) error'
	statuses+='|(transport|RNR) retry counter exceeded'
	! grep '^chaos: ' "$1" |
		grep -vE "^chaos: (submit: ($errors)|($ops): ($statuses)) \(sent "
}

# ends: a channel may have ended for lack of memory, but until then no message was lost,
# duplicated or corrupted; if no channel has ended, all that was sent has arrived
ends()
{
	local file status far_status word

	kill -TERM "$client" 2>/dev/null
	wait "$client"
	status=$?
	wait "$server"
	far_status=$?
	status=$((status | far_status))
	[ "$status" -le 1 ] || return
	for file in "$told" "$heard"; do
		sed -n "s/^/# ${file##*-}: /p" "$file" >&3
		failed_so "$file" || return
		for word in lost duplicated corrupt; do
			[ "$(sum "$file" $word)" = 0 ] || return
		done
	done
	[ "$status" -ne 0 ] || adds_up
}

# starved HOST PERCENT
starved()
{
	local failed status=0

	chaos_begin 3600 && starve "$1" "$2" || return
	{
		tries "$1"
		cut || status=1
		sleep 5
		rotate 1 10
		tries "$1"
	} > >(sed -n 's/^rclink: /# host '"$1"': /p' >&3) 2>&1
	failed=$(starve "$1" 0) || return
	echo "# host $1, $2 %: $failed allocations failed" >&3
	[ "$failed" -gt 0 ] && up && ends && return "$status"
}

# With no more failures, channels carry data again and survive a cut of the link.
well()
{
	up && chaos_begin 3600 && goes_on && recovers cut && goes_on &&
		chaos_end && adds_up
}

[ -w /sys/kernel/debug/failslab/require-start ] ||
	skip_all "needs a kernel with failslab"
exec 3>&1
plan 6
link_setup
holds "the link comes up" begin
for percent in 10 1; do
	for host in 1 2; do
		holds "of host $host $percent % fail: no message is lost" \
			starved $host $percent
	done
done
holds "and then nothing is amiss" well
daemon_end 1 2
finish
