#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The ways in which a link ends, and what both hosts say about each.
# hosts: 2
# kernels: 6.1 6.12-all mixed debug-all
# lab: takes ports and the device away
# timeout: 500
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

goes_up()
{
	rclink disconnect l 2>/dev/null
	link_dial l && is 1 l .state up && is 2 l .state up
}

# The tool is killed while the exchange is under way, at many moments; whatever
# it had prepared is reaped, and the link can be brought up again.
killed_at_any_moment()
{
	local delay pid

	for delay in 20 50 80 100 120 150 200 300; do
		rclink disconnect l 2>/dev/null
		link_dial l >/dev/null 2>&1 &
		pid=$!
		sleep "$((delay * RCL_SLOW))e-3"
		pkill -KILL -x rclink
		wait $pid 2>/dev/null
		until_true 20 settled || {
			echo "after $delay ms: $(of 1 l .state), $(of 2 l .state)"
			return 1
		}
		if [ "$(of 1 l .state)" = up ]; then
			rclink ping l -c 1 || return
		fi
	done
	until_true 20 goes_up
}

# The link is up at both ends, or neither host has any objects.
settled()
{
	local a b

	a=$(of 1 l .state) && b=$(of 2 l .state)
	case "$a $b" in
	'up up') return 0 ;;
	up* | *up | prepared* | connected* | *prepared | *connected) return 1 ;;
	esac
	nothing_left 1 && nothing_left 2
}

listener_killed_half_way()
{
	rclink disconnect l 2>/dev/null
	link_dial l >/dev/null 2>&1 &
	local pid=$!
	sleep "$((100 * RCL_SLOW))e-3"
	on 2 pkill -KILL -x rclink
	wait $pid
	until_true 20 settled
}

# The peer acknowledges nothing any more; the ping ends by itself.
ping_ends()
{
	local said

	said=$(timeout $((60 * RCL_SLOW)) "$tool" ping l -c 3 2>&1)
	[ $? -eq 1 ] && grep -q 'retry exceeded' <<<"$said" &&
		becomes 1 l .state down && is 1 l .reason completion
}

# catches PID: the process is the tool and catches SIGINT, which bash has it ignore
# until then
catches()
{
	local mask

	[ "$(<"/proc/$1/comm")" = rclink ] || return
	mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status")
	((16#$mask & 2))
}

# The peer's tool is stopped, and the tool here waits for it.
connect_is_interruptible()
{
	local pid status

	rclink disconnect l
	becomes 2 l .state down || return
	on 2 pkill -STOP -x rclink
	"$tool" connect l "$RCL_PEER_IP" --key "$key" --pin "$pin2" \
		>"$said.connect" 2>&1 &
	pid=$!
	until_true 10 catches "$pid"
	until_true 10 eval 'ss -Htn | grep -q "ESTAB.*:7185"'
	kill -INT "$pid"
	wait "$pid"
	status=$?
	on 2 pkill -CONT -x rclink
	cat "$said.connect"
	[ "$status" -ne 0 ] && grep -q interrupted "$said.connect" && empty 1
}

# With a long time-out the ping gets no answer for a while; SIGINT ends it at once.
ping_is_interruptible()
{
	local pid start took

	rclink set l timeout 20 && goes_up || return
	on 2 ip link set eth0 down
	"$tool" ping l -c 1 &
	pid=$!
	until_true 10 catches "$pid"
	sleep 0.5
	start=$SECONDS
	kill -INT $pid || {
		echo "it had ended by itself"
		return 1
	}
	wait $pid
	took=$((SECONDS - start))
	is 1 l .state up && [ $took -le $((5 * RCL_SLOW)) ]
}

net_up()
{
	on 2 ip link set eth0 up
	until_true 20 ping -c 1 -W 1 "$RCL_PEER_IP"
}

plan 20
link_setup
trace=/sys/kernel/tracing
link_listen l
check "the link comes up" link_pair l
check "disconnect is told to the peer" eval 'rclink disconnect l &&
	becomes 2 l .reason peer-disconnected && is 1 l .reason disconnected'
check "nothing is left after it" eval 'empty 1 && empty 2'
refuse 1 "a second disconnect is refused" 'there is nothing to end' \
	rclink disconnect l
check "it comes up again" goes_up
check "the tool killed at any moment leaves nothing half-made" \
	killed_at_any_moment
check "the listener killed half-way leaves nothing half-made" \
	listener_killed_half_way
link_listen_end
link_listen l
check "and it comes up again" until_true 20 goes_up
check "a cable pulled at this end is noticed" eval 'ip link set eth0 down &&
	becomes 1 l .reason port-down && empty 1'
ip link set eth0 up
until_true 20 ping -c 1 -W 1 "$RCL_PEER_IP"
# The device gives up before the wait for an answer ends, also where guests are slow:
# after 7 x 0.5 s.
rclink set l timeout 17
check "the peer's end is replaced by a new exchange" until_true 30 goes_up
echo 1 >$trace/events/rclink/rcl_link_fail/enable
check "a peer that loses all is given up: retry exceeded" \
	eval 'on 2 tc qdisc add dev eth0 root netem loss 100% && ping_ends'
on 2 tc qdisc del dev eth0 root
# IB_WC_RETRY_EXC_ERR
check "the tracepoint has that completion" grep \
	'rcl_link_fail: .*link=l .*wc_status=12 ' $trace/trace
echo 0 >$trace/events/rclink/rcl_link_fail/enable
check "and comes up again" until_true 30 goes_up
check "the peer's rmmod is a goodbye" eval 'on 2 rmmod rclink &&
	becomes 1 l .reason peer-disconnected'
link_listen_end
on 2 "$LIB_DIR/vm/lab_load"
link_add 2 l
link_listen l
check "a peer that starts anew gets the larger epoch" eval \
	'until_true 30 goes_up && [ "$(of 1 l .epoch)" -eq "$(of 2 l .epoch)" ] &&
	[ "$(of 2 l .epoch)" -gt 3 ]'
check "a connect that waits can be interrupted" connect_is_interruptible
check "a waiting ping can be interrupted" ping_is_interruptible
net_up
check "a link that is up can be deleted at both ends" eval 'rclink del l && on 2 "$tool" del l'
refuse 1 "a second delete is refused" 'no link of that name' rclink del l
check "nothing is left" eval 'empty 1 && empty 2'
link_listen_end
finish
