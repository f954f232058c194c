#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A thousand callers at ten addresses send next to nothing, before or after a TLS
# handshake, and call again when they are closed. The daemon takes no more of them than
# its limit, its memory is bounded, and its peer gets links in no more than twice the
# usual time plus some slack.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it is about TCP alone
# timeout: 300
# The libraries set the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

many=1000
strangers=40
# How many callers the daemon takes at once, from all addresses together.
places=256
seconds=$((80 * RCL_SLOW))
# Addresses of this host, on lo and not on the link's net device, so that no GID comes
# or goes.
net=198.51.100
sources=("$net".{1..10})
other=/tmp/rclink-test-other.pem
known=/tmp/rclink-test-known.pem
loris=/tmp/rclink-test-loris
slow_pid=''
# Milliseconds allowed beyond twice the usual time, for the median and for the slowest
# exchange: the machine does other work, too. An exchange that had to wait for a slow
# caller would wait for 10 s, the limit of a step.
slack=$((500 * RCL_SLOW))
worst=5000

addresses()
{
	local source

	for source in "${sources[@]}"; do
		ip addr "$1" "$source/32" dev lo || return
	done
	on 2 ip route "$1" "$net.0/24" via "$RCL_IP"
}

begin()
{
	local pin

	rm -f $other $known
	"$tool" genkey $other >/dev/null && pin=$("$tool" genkey $known) &&
		addresses add &&
		link_section l "$pin2" peer "$RCL_PEER_IP" qps 1 | configure 1 &&
		{
			link_section l "$pin1" qps 1
			link_section m "$pin" qps 1
		} | configure 2 && daemon_start 2 1 && both_up l
}

# The daemon waits for up to 30 s before it dials.
back()
{
	until_true 40 is_later 1 l "$1" && until_true 10 is_later 2 l "$1" && return
	show_daemons
	return 1
}

# three: print how many milliseconds each of three exchanges took, the fastest first
three()
{
	local i before times=()

	for i in 1 2 3; do
		before=$(epoch l)
		rclink disconnect l && back "$before" >&2 || return
		times+=("$(sed -n 's/.*>l: up, epoch .*, \([0-9]*\) ms$/\1/p' \
			"${said_by}1" | tail -n 1)")
	done
	printf '%s\n' "${times[@]}" | sort -n
}

# as_usual FASTEST MEDIAN SLOWEST
as_usual()
{
	echo "# normally $normal ms, now $*" >&3
	[ $# -eq 3 ] && [ "$2" -le $((2 * normal + slack)) ] &&
		[ "$3" -le $((2 * normal + worst)) ]
}

# taken: print how many sockets the daemon has open; connections that it has not
# accepted yet do not count
taken()
{
	on 2 sh -c 'ls -l /proc/$(pidof rclinkd)/fd | grep -c socket:'
}

memory()
{
	on 2 sh -c 'sed -n "s/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p" \
		/proc/$(pidof rclinkd)/status'
}

is_full()
{
	[ "$(taken)" -ge $((places / 2)) ]
}

besiege()
{
	"$LIB_DIR/link/slow.py" "$RCL_PEER_IP" 7185 $many $other $strangers \
		$seconds "${sources[@]}" >$loris 2>&1 &
	slow_pid=$!
	# Once all have called, the siege must still go on for a while.
	until_true 60 grep -q '^open' $loris
	cat $loris
	echo "$(taken) sockets"
	kill -0 "$slow_pid" && until_true 10 is_full && said 2 'too many callers'
}

gets_through()
{
	local times

	times=$(three) || return
	echo "# $(taken) sockets, $(memory) kB, before that $rss kB" >&3
	# The times only count if the siege still goes on. (Each time is a word.)
	# shellcheck disable=SC2086
	kill -0 "$slow_pid" && is_full && as_usual $times
}

# A few sockets belong to no caller, such as the listener's and netlink's.
bounded()
{
	local n

	n=$(taken)
	[ "$n" -le $((places + 24)) ] && [ "$(memory)" -le $((rss + 65536)) ]
}

few_left()
{
	[ "$(taken)" -le $((sockets + 1)) ]
}

# Each caller has 10 s for a step, and the last one calls at the end of the siege.
all_go()
{
	wait "$slow_pid"
	cat $loris
	grep -q '^longest' $loris && until_true 30 few_left
}

# connections PID: print how many connections of PID the daemon has not closed
connections()
{
	ss -Htnp state established '( dport = :7185 )' | grep -c "pid=$1,"
}

# Sixteen connections of a peer with a known key stay when others come; its further ones
# are closed first. Each has 10 s, so a host that stands still that long finds none
# left, and tries again.
sixteen()
{
	local peer crowd n i fd

	for _ in 1 2 3; do
		rm -f $loris $loris-crowd
		"$LIB_DIR/link/slow.py" "$RCL_PEER_IP" 7185 20 $known 20 >$loris &
		peer=$!
		until_true 10 grep -q '^open 20 20' $loris
		# A connection is first to be closed only when it is a second old.
		sleep 1
		# More connections than the daemon takes from one address. (Python
		# takes long to start.)
		{
			for ((i = 0; i < 120; i++)); do
				exec {fd}<>"/dev/tcp/$RCL_PEER_IP/7185"
			done
			echo open
			exec sleep 30
		} >$loris-crowd &
		crowd=$!
		until_true 10 grep -q '^open' $loris-crowd
		sleep 1
		n=$(connections $peer)
		kill $peer $crowd
		wait $peer $crowd
		echo "$n of 20"
		[ "$n" -ne 16 ] || return 0
		until_true 30 few_left
	done 2>/dev/null
	return 1
}

plan 8
exec 3>&1
ulimit -n 4096
link_setup
holds "two daemons have a link" begin
usual=$(three) || bail "no normal time"
normal=$(sed -n 2p <<<"$usual")
rss=$(memory)
sockets=$(taken)
holds "$many callers at ${#sources[@]} addresses take all places" besiege
holds "the peer gets through, in no more than twice the time" gets_through
holds "no more than $places are taken, and memory is bounded" bounded
holds "all of them go" all_go
holds "then it is as before" eval 'both_up l && as_usual $(three)'
holds "a peer that is known has 16 places for sure, and no more" sixteen
holds "the daemons end" daemon_end 1 2
addresses del
finish
