#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lab itself: what every other test takes for granted.
# hosts: 2
# kernels: 6.1 6.12-all mixed-all debug-all
# ib: no, it is about rxe by libibverbs
. "$(dirname "$0")/../lib.sh"

status_comes_back()
{
	on 2 sh -c 'exit 37'
	[ $? -eq 37 ]
}

streams_stay_apart()
{
	[ "$(on 2 sh -c 'echo out; echo err >&2' 2>/dev/null)" = out ] &&
		[ "$(on 2 sh -c 'echo out; echo err >&2' 2>&1 >/dev/null)" = err ]
}

bytes_come_back()
{
	local sum

	sum=$(head -c 1000000 /dev/urandom | tee /tmp/sent | sha256sum)
	[ "$(on 2 cat </tmp/sent | sha256sum)" = "$sum" ]
}

words_stay_words()
{
	# shellcheck disable=SC2016
	[ "$(on 2 printf '%s|' 'a  b' '' '$HOME' "it's")" = "a  b||\$HOME|it's|" ]
}

killing_it_kills_the_command()
{
	local marker=31$$

	on 2 sleep "$marker" &
	until_true 5 on 2 pgrep -f "sleep $marker" || return
	kill "$!"
	until_true 5 on 2 sh -c "! pgrep -f '[s]leep $marker'"
}

# pingpong SERVER CLIENT
pingpong()
{
	on "$1" timeout $((30 * RCL_SLOW)) ibv_rc_pingpong -d rxe0 -g 1 -n 100 >/dev/null &
	until_true 10 on "$1" sh -c 'ss -Hltn sport = 18515 | grep -q .' || return
	on "$2" timeout $((30 * RCL_SLOW)) ibv_rc_pingpong -d rxe0 -g 1 -n 100 "192.0.2.$1" &&
		wait $!
}

# The oracle reports a complaint of the kernel, but not after `oracle begin`.
oracle_hears()
{
	local status=0

	"$LIB_DIR/oracle" sofar "$TEST_NAME" || return
	echo "BUG: none, of $TEST_NAME" >/dev/kmsg
	! "$LIB_DIR/oracle" sofar "$TEST_NAME" || status=1
	"$LIB_DIR/oracle" begin "$TEST_NAME"
	"$LIB_DIR/oracle" sofar "$TEST_NAME" && return "$status"
}

# The oracle reports what a test has left on a host, once.
oracle_finds()
{
	local host said

	for host in 1 2; do
		on "$host" sh -c 'tc qdisc add dev eth0 clsact &&
			echo 0 >/proc/sys/kernel/print-fatal-signals' || return
		said=$(on "$host" "$LIB_DIR/oracle" end "$TEST_NAME") && return 1
		echo "$said"
		grep -q 'qdisc clsact' <<<"$said" &&
			grep -q 'print-fatal-signals 0' <<<"$said" &&
			on "$host" "$LIB_DIR/oracle" end "$TEST_NAME" || return
	done
}

if [ "$RCL_HOSTS" -lt 2 ] || [ -n "${RCLINK_PEER:-}" ]; then
	skip_all "needs two guests"
fi
plan 9
check "on returns the exit status" status_comes_back
check "on keeps stdout and stderr apart" streams_stay_apart
check "on carries a megabyte both ways" bytes_come_back
check "on keeps words as they are" words_stay_words
check "a killed on takes its command along" killing_it_kills_the_command
check "the oracle hears what the kernel complains of" oracle_hears
check "it finds what a test has left on a host, and the next one does not" oracle_finds
lab_device
check "rxe moves data, host 2 serving" pingpong 2 1
check "rxe moves data, host 1 serving" pingpong 1 2
finish
