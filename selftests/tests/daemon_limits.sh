#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A daemon with few files, or with little memory and few processes, that has more
# callers than it has room for, or no thread for requests to the module: it lives on,
# links that are up stay up, and others come up, if need be later.
# hosts: 2
# kernels: 6.12-all 6.1-all debug-all
# timeout: 300
# The libraries set the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

files=40
mib=64
group=/sys/fs/cgroup/rclink-test
siege=/tmp/rclink-test-siege
besieger=''

# limited CMD: starts host 2's daemon after the shell command CMD
limited()
{
	printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$1" \
		"$LIB_DIR/../tools/rclinkd/rclinkd" |
		on 2 sh -c 'cat >/tmp/limited && chmod +x /tmp/limited'
	daemon=/tmp/limited daemon_start 2
}

# sections HOST LINK...
sections()
{
	local host=$1 name

	shift
	for name; do
		if [ "$host" = 1 ]; then
			link_section "$name" "$pin2" peer "$RCL_PEER_IP"
		else
			link_section "$name" "$pin1"
		fi
	done | configure "$host"
}

begin()
{
	sections 1 l && sections 2 l && limited "ulimit -n $files" &&
		daemon_start 1 && both_up l
}

# besieged NUMBER: starts so many callers that send next to nothing
besieged()
{
	: >"$siege"
	"$LIB_DIR/link/slow.py" "$RCL_PEER_IP" 7185 "$1" >"$siege" 2>&1 &
	besieger=$!
	until_true 60 grep '^open' "$siege"
}

relieved()
{
	kill "$besieger" 2>/dev/null
	wait "$besieger"
	besieger=''
}

# comes NAME: another link comes up, while l keeps its epoch and the daemon lives
comes()
{
	local epoch pid

	epoch=$(epoch l)
	pid=$(on 2 pidof rclinkd)
	sections 2 l "$1" && reload 2 && sections 1 l "$1" && reload 1 &&
		both_up "$1" && is 1 l .epoch "$epoch" &&
		is 2 l .state up && [ "$(on 2 pidof rclinkd)" = "$pid" ]
}

little_memory()
{
	on 2 sh -c '[ -e /sys/fs/cgroup/cgroup.procs ] ||
		mount -t cgroup2 none /sys/fs/cgroup || exit
		echo "+memory +pids +rdma" >/sys/fs/cgroup/cgroup.subtree_control
		mkdir '"$group"' && echo '"$mib"'M >'"$group"'/memory.max &&
		echo 4 >'"$group"'/pids.max &&
		echo '"$RCL_DEV"' hca_handle=0 hca_object=0 >'"$group"'/rdma.max' ||
		return
	daemon_end 2 && limited "echo \$\$ >$group/cgroup.procs" &&
		until_true 20 said 2 'l: is up' &&
		[ "$(on 2 cat $group/cgroup.procs)" = "$(on 2 pidof rclinkd)" ]
}

within()
{
	local peak

	peak=$(on 2 cat $group/memory.peak)
	echo "# most memory: $((peak / 1024)) KiB" >&3
	on 2 cat $group/memory.events
	on 2 grep -q '^oom_kill 0' $group/memory.events
}

# processes NUMBER: the daemon may have so many; each of its threads counts as one
processes()
{
	on 2 sh -c "echo $1 >$group/pids.max"
}

# How often the limit on processes was hit.
no_more()
{
	on 2 sed -n 's/^max //p' $group/pids.events
}

# The event loop is the daemon's only thread: link v cannot be prepared, but link u,
# which is no longer configured, is deleted all the same.
no_thread()
{
	local before

	first=$(epoch l)
	before=$(no_more)
	processes 1 && sections 2 l v && reload 2 && sections 1 l v && reload 1 &&
		until_true 30 said 2 'v: not up, .*no more threads to ask the module' ||
		return
	echo "# no thread was left $(($(no_more) - before)) times" >&3
	[ "$(no_more)" -gt "$before" ] && is 2 v .state idle &&
		[ "$(on 2 "$tool" show -j |
			gojq -r '[.[].name] | sort | join(" ")')" = 'l v' ] &&
		stays_up
}

stays_up()
{
	is 1 l .epoch "$first" && is 1 l .state up && is 2 l .state up &&
		rclink ping l -q -c 1
}

a_thread_again()
{
	processes 4 && both_up v && stays_up
}

exec 3>&1
plan 11
link_setup
holds "a link of a daemon with $files files comes up" begin
holds "more callers come than that is enough for" besieged 120
holds "another link comes up beside them, the first one stays" comes s
check "the daemon says what to do" said 2 'no file is left.*raise the limit'
holds "and another one when they are gone" eval 'relieved && comes t'
holds "it has $mib MiB, 4 processes, and no RDMA objects of its own" little_memory
holds "many callers come" besieged 120
holds "a link comes up beside them, the first one stays" comes u
check "nothing was killed for memory" within
relieved
holds "without a thread to ask the module the first one stays, another one waits" no_thread
holds "and comes up when there may be threads again" a_thread_again
daemon_end 1 2
# Lift the limit for the device. Otherwise the cgroup would stay in the device's list
# after it is freed.
on 2 sh -c "echo $RCL_DEV hca_handle=max hca_object=max >$group/rdma.max"
until_true 10 on 2 rmdir $group
finish
