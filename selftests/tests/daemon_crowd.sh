#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Many daemons dial one daemon at the same moment, for far more links than it allows
# exchanges at once: callers that are put off come again, and all links end up healthy.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 560
# The libraries set the variables; eval expands its argument.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

# Links of each daemon: as many as it dials at once, so that all are dialled at once.
each=16
daemons=${CROWD_DAEMONS:-15}
number=$((daemons * each))
crowd=/tmp/rclink-test-crowd
callers=()

# What the daemon of host 2 says when it puts a caller off.
off='too many exchanges are under way\|too many callers'

# sections DAEMON PIN [KEY VALUE]...
sections()
{
	local d=$1 i

	shift
	for ((i = 1; i <= each; i++)); do
		link_section "d${d}l$i" "$@" qps 1
	done
}

# member DAEMON: make its key and configuration on host 1; print its sections for host 2
member()
{
	local dir=$crowd/$1 pin

	mkdir -p "$dir"
	pin=$("$tool" genkey "$dir/key") || return
	{
		printf '[Host]\nkey = %s\nlisten = none\n' "$dir/key"
		sections "$1" "$pin2" peer "$RCL_PEER_IP"
	} >"$dir/conf"
	sections "$1" "$pin"
}

begin()
{
	local d

	rm -rf "$crowd"
	for ((d = 1; d <= daemons; d++)); do
		member "$d" || return
	done >"$crowd.peers"
	configure 2 <"$crowd.peers" && daemon_start 2
}

# All links are up at both ends; records when half of them were up.
all_up()
{
	local begin=$1 up now

	up=$(ups 1)
	now=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[ "$up" -lt $((number / 2)) ] || [ -e "$crowd/half" ] ||
		echo "$now" >"$crowd/half"
	[ "$up" -eq "$number" ] && [ "$(ups 2)" -eq "$number" ]
}

come_up()
{
	local d begin=${EPOCHREALTIME/./} all

	for ((d = 1; d <= daemons; d++)); do
		"$daemon" --config "$crowd/$d/conf" >"$crowd/$d/log" 2>&1 &
		callers+=($!)
	done
	until_true 400 all_up "$begin"
	all=$(((${EPOCHREALTIME/./} - begin) / 1000))
	echo "# $(ups 1) of $number links up at host 1, $(ups 2) at host 2: half of" \
		"them after $(cat "$crowd/half") ms, the last after $all ms;" \
		"$(times 2 "$off") times a caller was put off" >&3
	all_up "$begin" || {
		show_daemons
		tail -n 5 "$crowd"/*/log
		return 1
	}
}

# If nobody was put off, there was no crowd.
put_off()
{
	[ "$(times 2 "$off")" -gt 0 ]
}

# not_healthy: print links that do not answer a ping, or whose ends differ in the epoch
not_healthy()
{
	local name

	for name in $(rclink show -j | gojq -r '.[].name'); do
		rclink ping "$name" -c 1 >/dev/null || echo "$name"
	done
	diff <(epochs 1) <(epochs 2)
}

epochs()
{
	on "$1" "$tool" show -j | gojq -r '.[] | "\(.name) \(.epoch)"' | sort
}

healthy()
{
	local bad

	bad=$(not_healthy) && [ -z "$bad" ] && return
	echo "$bad"
	return 1
}

end()
{
	local pid

	kill -TERM "${callers[@]}" || return
	for pid in "${callers[@]}"; do
		wait "$pid" || return
	done
	daemon_end 2
}

plan 5
exec 3>&1
link_setup
holds "a daemon knows $daemons others" begin
holds "$number links that are asked for at once come up" come_up
holds "callers beyond its limits were put off meanwhile" put_off
holds "each link answers, and both ends are in the same epoch" healthy
holds "the daemons end" end
finish
