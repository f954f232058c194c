#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A peer with a trusted key begins exchanges of one link as fast as it can, and breaks
# each of them off: few are admitted, and other links are not affected. Then somebody at
# another address opens connections as fast as he can.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 200
# soak: 1200 FLOOD_SECONDS=600
# The libraries define the variables; eval and sh expand their arguments.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

seconds=${FLOOD_SECONDS:-15}
callers=6
metrics=/run/rclink-test.prom
out=/tmp/rclink-test-flood
# An address of this host, on lo and not on the link's net device, so that no GID comes.
stranger=198.51.100.1

begin()
{
	link_section m "$pin2" peer "$RCL_PEER_IP" heartbeat 2000 misses 5 |
		configure 1 || return
	{
		link_section l "$pin1"
		link_section m "$pin1" heartbeat 2000 misses 5
	} | configure 2 metrics $metrics
	daemon_start 1 2 && both_up m
}

# metric NAME{LABELS}: its current value on host 2
metric()
{
	reload 2 && on 2 cat $metrics | awk -v name="$1" '$1 == name { print $2 }'
}

daemon_kib()
{
	on 2 sh -c 'awk "/^VmRSS:/ { print \$2 }" /proc/$(pgrep -x rclinkd)/status'
}

flood()
{
	# shellcheck disable=SC2059
	hex=$(printf "$offer" | od -An -v -tx1 | tr -d ' \n')
	"$LIB_DIR/link/flood.py" "$RCL_PEER_IP" 7185 "$key" "$hex" "$seconds" \
		$callers >$out 2>&1 &
	flooder=$!
	until_true 10 said 2 'l: not up, from'
}

# Link m answers while the flood goes on.
others_answer()
{
	rclink ping m -c 5 -i 0.2 && kill -0 "$flooder"
}

ended()
{
	wait "$flooder"
	cat $out
	figure "exchanges that were begun in $seconds s" "$(<$out)" ''
	[ "$(<$out)" -gt $((5 * seconds)) ]
}

# The daemon admits one exchange a second, and three at once after a pause.
few_admitted()
{
	local failed

	failed=$(metric 'rclinkd_exchanges_total{link="l",by="peer",outcome="failed"}')
	figure "of these got further" "$failed" ''
	[ "$failed" -ge 2 ] && [ "$failed" -le $((seconds + 6)) ]
}

# All others, except those whose caller was gone before the daemon read its message.
others_refused()
{
	local refused

	refused=$(metric rclinkd_refused_total)
	figure "were refused" "$refused" ''
	[ "$refused" -gt $((2 * seconds)) ]
}

few_lines()
{
	local lines

	lines=$(wc -l <"${said_by}2")
	echo "$lines lines"
	# For callers without a link, 50 lines at first and one a second; and those of
	# the exchanges that were admitted.
	[ "$lines" -le $((100 + 3 * seconds)) ]
}

no_memory()
{
	local kib=$(($(daemon_kib) - kib_then))

	echo "$kib KiB more"
	[ "$kib" -lt 4096 ]
}

comes_up()
{
	until_true 30 link_dial l && rclink ping l -c 1
}

knock()
{
	ip addr add $stranger/32 dev lo && on 2 ip route add $stranger via "$RCL_IP" ||
		return
	"$LIB_DIR/link/knock.py" "$RCL_PEER_IP" 7185 $stranger \
		$((2 * seconds * RCL_SLOW)) 1000 >$out &
	knocker=$!
	until_true 10 said 2 "refused .*$stranger.*this address calls too often"
}

# three: print how many milliseconds each of three dials took
three()
{
	local i begin times=()

	for ((i = 0; i < 3; i++)); do
		rclink disconnect l && until_true 10 is 2 l .state down || return
		begin=$(date +%s%3N)
		link_dial l >/dev/null || return
		times+=($(($(date +%s%3N) - begin)))
	done
	printf '%s\n' "${times[@]}"
}

# How long it takes is only printed: TCP waits for a second if its first packet is lost,
# because so many come at once.
gets_through()
{
	local now

	now=$(three) || return
	figure "ms of a dial meanwhile" "$(median <<<"$now")" ''
	figure "ms of a dial before" "$(median <<<"$usual")" ''
	kill -0 "$knocker"
}

knocked()
{
	wait "$knocker"
	figure "connections from one address" "$(<$out)" ''
	[ "$(<$out)" -gt $((384 + 100 * seconds * RCL_SLOW)) ]
}

ulimit -n 4096
plan 13
link_setup
holds "a link of two daemons comes up" begin
m_then=$(epoch m)
kib_then=$(daemon_kib)
rclink add l
holds "exchanges of another one are begun and broken off" flood
check "the link answers meanwhile" others_answer
measured "there were many of them" ended
measured "one in a second got further" few_admitted
measured "the others were refused" others_refused
check "the daemon does not fill its log" few_lines
check "nor its memory" no_memory
check "the link that was up is, and in the same epoch" \
	eval 'is 1 m .state up && [ "$(epoch m)" = "$m_then" ]'
check "the other one comes up when somebody means it" comes_up
usual=$(three) || bail "no normal time"
holds "connections come from another address as fast as can be" knock
measured "the link comes up three times meanwhile" gets_through
measured "they were more than one address may begin" knocked
daemon_end 1 2
rclink del l
ip addr del $stranger/32 dev lo
finish
