#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A process that gets no processor, or no memory, while it works with a channel, listens
# or makes links does not hold up other processes, whatever it is in the middle of.
# hosts: 1
# cpus: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 290
# The library sets the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

says=/tmp/rclink-test-lazy
other=/tmp/rclink-test-other
hogs=6
hog_pids=()
listeners=4000
crowd=1000
storm=$LIB_DIR/../build/netlink/storm
cgroup=/sys/fs/cgroup/rclink-test
ballast=/dev/shm/rclink-test-ballast
# For a process that has a processor of its own; it may read the clock late, too.
most_ms=$((1000 * RCL_SLOW))

[ "$(nproc)" -ge 2 ] || skip_all "needs a second processor"

# Busy loops that compete for processor 1.
hogs_begin()
{
	local i

	for ((i = 0; i < hogs; i++)); do
		taskset -c 1 sh -c 'while :; do :; done' &
		hog_pids+=($!)
	done
}

hogs_end()
{
	kill "${hog_pids[@]}"
	wait "${hog_pids[@]}"
	hog_pids=()
} 2>/dev/null

# begins COMMAND...: starts COMMAND, and waits until it is ready; sets lazy
begins()
{
	: >$says
	(ulimit -n 8192 && exec "$@") >$says 2>&1 &
	lazy=$!
	until_true 30 grep -q ready $says || {
		cat $says
		return 1
	}
}

# lazy WORDS: runs the program on processor 1 at idle priority; it is ready before the
# busy loops begin, and hardly ever runs beside them
lazy()
{
	begins taskset -c 1 chrt -i 0 "$CHAN/lazy" "$@"
}

lazy_end()
{
	kill "$lazy"
	wait "$lazy"
} 2>/dev/null

# regions_go_on COMMAND...: a process run by COMMAND registers memory again and again;
# hardly any call is late, as its own processor may have stood still
regions_go_on()
{
	local number late

	"$@" "$CHAN/lazy" regions a b 15 "$most_ms" >$other 2>&1
	cat $other
	read -r number late < <(sed -n \
		's/^\([0-9]*\) times, \([0-9]*\) late.*/\1 \2/p' $other) &&
		[ "$late" -le 2 ] && [ "$number" -gt $((5 * late)) ]
}

beside_lazy()
{
	lazy regions a b 1000 "$most_ms" && hogs_begin && regions_go_on taskset -c 0
}

# The crowd has more threads than the 256 in which the module works on behalf of others.
beside_crowd()
{
	lazy crowd a b $crowd && regions_go_on
}

channels_come_up()
{
	local before begun ms

	lazy listen zz $listeners && hogs_begin || return
	before=$(of 1 a .epoch)
	begun=$(date +%s%3N)
	timeout 60 taskset -c 0 "$tool" bench a attach -n 50 || return
	ms=$(($(date +%s%3N) - begun))
	echo "50 channels after $ms ms"
	[ "$(of 1 a .epoch)" = "$before" ] && is 1 a .state up &&
		[ "$ms" -lt $((20 * most_ms)) ]
}

# Each request for a rotation is an event of the link; no daemon carries it out.
links_have_events()
{
	local before end

	begins taskset -c 1 chrt -i 0 "$storm" 1000000000 half && hogs_begin ||
		return
	before=$(of 1 a .epoch)
	end=$((SECONDS + 15))
	while [ "$SECONDS" -lt "$end" ]; do
		timeout 60 taskset -c 0 "$tool" rotate a -t 1 2>&1 |
			grep 'nobody did' || return
	done
	kill -0 "$lazy" && [ "$(of 1 a .epoch)" = "$before" ] && is 1 a .state up
}

# The cgroup is above a limit that it cannot get below, so each of its processes has to
# wait after it has allocated memory.
channels_cost_memory()
{
	local before

	cgroup_made $cgroup || return
	begins sh -c "echo \$\$ >$cgroup/cgroup.procs && exec '$CHAN/lazy' wait b" ||
		return
	sh -c "echo \$\$ >$cgroup/cgroup.procs && head -c 32M /dev/zero >$ballast" &&
		echo 1M >$cgroup/memory.high || return
	before=$(of 1 a .epoch)
	timeout 60 "$CHAN/lazy" connect a 60 || return
	grep -E '^(high|max|oom_kill) ' $cgroup/memory.events
	[ "$(of 1 a .epoch)" = "$before" ] && is 1 a .state up
}

channels_cost_memory_end()
{
	lazy_end
	rm -f $ballast
	until_true 10 rmdir $cgroup
}

plan 6
chan_build
programs netlink
link_setup
holds "a link to this host itself comes up" \
	link_self heartbeat $((300 * RCL_SLOW)) recover resume
holds "memory is registered beside who hardly ever runs" beside_lazy
hogs_end
lazy_end
holds "and beside a crowd of threads that do so with one channel" beside_crowd
lazy_end
holds "a link tells of itself beside who makes others, and hardly ever runs" \
	links_have_events
hogs_end
lazy_end
"$tool" bench b --listen >/dev/null 2>&1 &
server=$!
until_true 10 listens 1
holds "channels come up beside who listens, and hardly ever runs" channels_come_up
hogs_end
lazy_end
kill "$server"
wait "$server" 2>/dev/null
holds "and beside who listens, and is out of memory" channels_cost_memory
channels_cost_memory_end
finish
