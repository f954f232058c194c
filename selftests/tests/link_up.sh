#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An exchange between two hosts, and what it makes at both ends.
# hosts: 2
# kernels: 6.1 6.12-all 6.12-ib mixed mixed-back debug-all
# timeout: 400
# The libraries set or use the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

# The pool has sent nothing, so its PSNs are still those of the exchange.
psns_match()
{
	local host=$1 other=$((3 - $1))

	[ "$(on "$host" rdma resource show qp -j | gojq -c '[.[] |
		select(.comm == "rclink") | [.lqpn, ."sq-psn", ."rq-psn"]] |
		sort | .[1:]')" = "$(gojq -nc --argjson a "$(of "$host" l .local)" \
		--argjson b "$(of "$other" l .local)" '[[$a.queue_pairs,
		$b.queue_pairs] | transpose[] | [.[0].qpn, .[0].psn, .[1].psn]] |
		sort | .[1:]')" ]
}

# Each epoch draws all PSNs anew.
all_differ()
{
	local epochs=3 all=''

	for ((i = 0; i < epochs; i++)); do
		all+=$(of 1 l '.local.queue_pairs[].psn')$'\n'
		all+=$(of 2 l '.local.queue_pairs[].psn')$'\n'
		rclink disconnect l || return
		becomes 2 l .state down || return
		link_dial l || return
	done
	echo "$all"
	# 30 draws of 24 bits: two are the same once in 40,000 runs.
	[ "$(grep -c . <<<"$all")" -eq 30 ] &&
		[ "$(grep . <<<"$all" | sort -u | wc -l)" -eq 30 ]
}

nobody_sees_no_secret()
{
	local all said secret

	said=$(as_nobody "$tool" show l; as_nobody "$tool" show l -j) || return
	gojq -e '.[0].local == null and .[0].remote == null' \
		<<<"$(as_nobody "$tool" show l -j)" || return
	all=$(secrets_of 1 14 '.local, .remote | .rkey, .addr,
		.queue_pairs[].psn') || return
	for secret in $all; do
		! grep -wiE -e "$(written "$secret")" <<<"$said" || return
	done
}

# A new device has small rkeys, and another number may be the same by chance. Only
# output that shows a secret in each epoch fails.
no_epoch_shows_secrets()
{
	for _ in 1 2 3; do
		nobody_sees_no_secret && return
		rclink disconnect l && becomes 2 l .state down && link_dial l ||
			return
	done
	return 1
}

# While the peer's tool is stopped, this end comes no further than TCP: nothing is
# made for an unproven peer.
waits_for_proof()
{
	local before status=0

	rclink disconnect l
	becomes 2 l .state down || return
	empty 1 || return
	before=$(rdma resource)
	on 2 pkill -STOP -x rclink
	link_dial l &
	dial=$!
	until_true 5 sh -c 'ss -Htn | grep -q "ESTAB.*:7185"' || status=1
	# The tool gives the handshake 10 s, also on a slow kernel.
	sleep 2
	[ "$(rdma resource)" = "$before" ] || status=1
	on 2 pkill -CONT -x rclink
	wait "$dial" && is 1 l .state up && return $status
}

# dials CMD...: CMD brings the link up, or finds it up already
dials()
{
	local said

	said=$("$@" 2>&1) || grep 'already up' <<<"$said" && return
	echo "$said"
	return 1
}

# cross MS: both hosts dial, this one so many milliseconds later
cross()
{
	local pid status

	dials on 2 "$tool" connect l "$RCL_IP" --key "$key" --pin "$pin1" \
		--timeout $((30 * RCL_SLOW)) &
	pid=$!
	sleep "0.$(printf %03d "$1")"
	dials link_dial l
	status=$?
	wait "$pid" && [ "$status" -eq 0 ]
}

# However the two dials cross, the link comes up with the same epoch at both ends.
dials_cross()
{
	local ms own status=0

	becomes 2 l .state down || return
	"$tool" listen --key "$key" --peer "l=$pin2" >/tmp/own-log 2>&1 &
	own=$!
	until_true 10 grep -q listening /tmp/own-log || status=1
	for ms in 0 5 10 15 20 25 30 40 50 70 90 120; do
		[ $status -eq 0 ] || break
		if ! cross $ms || ! is 1 l .state up || ! is 2 l .state up ||
		   ! is 2 l .epoch "$(of 1 l .epoch)" ||
		   ! rclink ping l -c 2 || ! rclink disconnect l ||
		   ! becomes 2 l .state down; then
			echo "$ms ms later"
			status=1
		fi
	done
	kill $own
	wait $own
	return $status
}

# The trace has each change in order, at both ends.
states_in_order()
{
	local trace=/sys/kernel/tracing

	on "$1" sh -c "grep -o 'rcl_link_state: .*' $trace/trace" |
		sed 's/.*from=\(.\) to=\(.\).*/\1\2/' | tr '\n' ' ' |
		grep -q '12 23 34 '
}

start_trace()
{
	on_all sh -c 'mount -t tracefs t /sys/kernel/tracing 2>/dev/null
		echo 1 >/sys/kernel/tracing/events/rclink/enable'
}

each_op()
{
	local op

	for op in send write read cas fadd; do
		rclink ping l --op $op -c 2 -i 0 -q || return
	done
}

plan 27
link_setup
start_trace
check "links are added on both hosts" \
	eval 'link_add 1 l && link_add 2 l'
link_listen l
check "connect brings the link up" link_dial l
for host in 1 2; do
	check "host $host: the link is up" is $host l .state up
	check "host $host: idle, prepared, connected, up in this order" \
		states_in_order $host
	check "host $host: control QP and pool of four in RTS" \
		[ "$(qps $host RTS)" -eq 5 ]
	check "host $host: QPNs are those of the exchange" qps_match $host
	check "host $host: PSNs are those of the exchange" psns_match $host
done
check "both hosts count the same epoch" is 2 l .epoch "$(of 1 l .epoch)"
check "host 1 names host 2 by its pin" is 1 l .peer "$pin2"
check "host 2 names host 1 by its pin" is 2 l .peer "$pin1"
check "the MTU is the same at both ends" is 2 l .mtu "$(of 1 l .mtu)"
check "each operation moves data" each_op
check "a user without rights sees no secret" no_epoch_shows_secrets
refuse 1 "and begins no exchange" 'root, or with CAP_NET_ADMIN' \
	as_nobody "$tool" connect l "$RCL_PEER_IP" --pin "$pin2"
refuse 1 "and waits for none" 'root, or with CAP_NET_ADMIN' \
	as_nobody "$tool" listen --port 7186 --peer "l=$pin2"
check "every PSN differs in three epochs" all_differ
check "nothing is made before the peer is proven" waits_for_proof
refuse 1 "a link that is up is not dialled again" disconnect link_dial l
rclink disconnect l
holds "both hosts dial at once, and one link is up" dials_cross
link_dial l
check "the listener may be killed, the link stays" \
	eval 'on 2 pkill -KILL -x rclink; rclink ping l -c 2 && is 2 l .state up'
check "delete at one end is told to the other" \
	eval 'rclink del l && becomes 2 l .reason peer-disconnected'
check "nothing is left" eval 'empty 1 && empty 2'
link_listen_end
on_all sh -c 'echo 0 >/sys/kernel/tracing/events/rclink/enable'
finish
