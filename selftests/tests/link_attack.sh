#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An attacker who knows QPN and PSN of a link's QPs sends to them in the peer's name:
# what the tripwire counts, how the link ends, and that it comes back with other
# numbers. Each host is attacked from the other one; a third host would send the same
# packets.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it makes packets of RoCE
# timeout: 650
# soak: 1800 ATTACK_SECONDS=600
# The libraries set the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/figure.sh"

user=(setpriv --reuid 1000 --regid 1000 --clear-groups)
inject=$LIB_DIR/../build/link/inject
recv_says=/tmp/rclink-test-recv
fifo=/tmp/rclink-test-fifo
metrics=/tmp/rclink-test-metrics
psns=${ATTACK_SWEEP:-400}
seconds=$((${ATTACK_SECONDS:-20} * RCL_SLOW))
address=([1]=$RCL_IP [2]=$RCL_PEER_IP)
more=()		# of each link's section
busy=()		# percent of each host's time
spin=80		# who spins has all of a guest's only processor, as in chan_rnr.c

# Packets are injected only where the kernel handles RoCE, not a NIC that offloads it.
[ -z "${RCLINK_DEV:-}" ] || skip_all "injects to rxe, whose packets the kernel sees"

# qp HOST INDEX NAME: QPN of that QP of the link, and its PSN that rdma calls NAME;
# INDEX 0 is the control QP
qp()
{
	local qpn

	qpn=$(of "$1" l ".local.queue_pairs[$2].qpn") || return
	on "$1" rdma resource show qp -j | gojq -er --argjson qpn "$qpn" \
		".[] | select(.lqpn == \$qpn) | \"\(.lqpn) \(.\"$3\")\""
}

# attack HOST INDEX PSN[:COUNT[:STEP]] OP...: sends to that QP of HOST from the other
# host, in its name; PSN is relative to the one that HOST expects next
attack()
{
	local host=$1 index=$2 psn=$3 next qpn

	shift 3
	read -r qpn next < <(qp "$host" "$index" rq-psn)
	psn=$(((next + ${psn%%:*}) & 0xffffff))${psn#"${psn%%:*}"}
	on $((3 - host)) "$inject" "${address[3 - host]}" "${address[host]}" \
		"$qpn" "$psn" "$@"
}

count()
{
	of "$1" l ".stats.$2"
}

# The numbers of this epoch that an attacker would have to know.
secrets()
{
	local host

	for host in 1 2; do
		of "$host" l '[.local.rkey, .local.queue_pairs[].qpn,
			(.local.queue_pairs[] | "psn\(.psn)")] | .[]' |
			sed "s/^/host $host: /"
	done
}

is_up()
{
	is 1 l .state up && is 2 l .state up
}

goes_up()
{
	rclink disconnect l 2>/dev/null
	link_dial l && is_up
}

# again: the link comes up, with other numbers than before, and carries data
again()
{
	local common

	until_true 30 goes_up || return
	common=$(comm -12 <(sort <<<"$before") <(secrets | sort))
	[ -z "$common" ] || {
		echo "as before: $common"
		return 1
	}
	rclink ping l -q -c 1 --op write
}

# sets_off HOST: what an intruder may have set off, as `rclink why` on HOST lists it
sets_off()
{
	on "$1" "$tool" why l | grep "may have set off: "
}

# logs HOST: how often the kernel there has logged that l goes down
logs()
{
	on "$1" dmesg | grep -c 'rclink: link l goes down: '
}

# ends HOST REASON COUNTER CMD...: what CMD does ends the link at HOST for REASON, is
# counted once by COUNTER, listed by `rclink why` and logged; then the link comes back
ends()
{
	local host=$1 reason=$2 counter=$3 was logged told

	shift 3
	is_up || until_true 30 goes_up || return
	before=$(secrets)
	was=$(count "$host" "$counter") || return
	logged=$(logs "$host")
	told=$(sets_off "$host")
	"$@" || return
	if ! becomes "$host" l .state down || ! is "$host" l .reason "$reason"; then
		on "$host" "$tool" why l
		return 1
	fi
	[ "$(count "$host" "$counter")" -eq $((was + 1)) ] || {
		of "$host" l .stats
		return 1
	}
	sets_off "$host" | grep -v -xF "${told:-none}" | grep -q ': .*[1-9]' || {
		echo "host $host tells as before: $told"
		return 1
	}
	[ "$(logs "$host")" -gt "$logged" ] || {
		echo "host $host logged nothing"
		return 1
	}
	again
}

# stays CMD...: the link does not notice what CMD does
stays()
{
	local was

	was="$(of 1 l .epoch) $(count 1 rx_messages) $(of 1 l .tripwire)"
	"$@" && [ "$(of 1 l .epoch) $(count 1 rx_messages) $(of 1 l .tripwire)" = \
		"$was" ] && rclink ping l -q -c 1 && is 1 l .state up && return
	rclink why l
	return 1
}

# numbers CMD...: QPN of host 1's control QP and the PSN that it expects next, as host
# 2's end of the link shows them to CMD
numbers()
{
	local qpn

	qpn=$(of 2 l '.local.queue_pairs[0].qpn') || return
	on 2 "$@" rdma resource show qp -j | gojq -er --argjson qpn "$qpn" \
		'.[] | select(.lqpn == $qpn) | .rqpn, ."sq-psn" | numbers'
}

# An unprivileged user of the peer's host, where everybody may open the device.
local_user()
{
	local -a all

	mapfile -t all < <(numbers "${user[@]}" 2>/dev/null)
	[ ${#all[@]} -eq 2 ] || {
		echo "# a user is not shown the numbers: root tells them" >&3
		mapfile -t all < <(numbers)
	}
	[ ${#all[@]} -eq 2 ] &&
		on 2 sh -c 'chmod 666 /dev/infiniband/uverbs*' &&
		on 2 "${user[@]}" "$CHAN/intruder" "$RCL_DEV" "::ffff:$RCL_IP" \
			"${all[@]}"
}

has_come()
{
	tc -s filter show dev eth0 ingress | awk '
		$1 == "Sent" { n += $4 }
		END { exit n != 1 }'
}

# Sends from an address that is not the peer's; a filter shows that the packet arrives.
stranger()
{
	local from=192.0.2.99 qpn psn status

	read -r qpn psn < <(qp 1 0 rq-psn)
	tc qdisc add dev eth0 clsact || return
	tc filter add dev eth0 ingress protocol ip u32 match ip src $from/32 \
		match ip dport 4791 0xffff action pass &&
		on 2 "$inject" $from "$RCL_IP" "$qpn" "$psn" send &&
		until_true 5 has_come
	status=$?
	tc -s filter show dev eth0 ingress
	tc qdisc del dev eth0 clsact
	return $status
}

# How often the device saw a PSN that it did not expect.
unexpected()
{
	rdma statistic show link rxe0 -j |
		gojq '.[0] | .out_of_seq_request + .duplicate_request'
}

saw_more()
{
	[ "$(unexpected)" -ge "$1" ]
}

# Sends PSNs from their whole space, except the expected one.
sweep()
{
	local was

	was=$(unexpected)
	attack 1 0 "1:$psns:$((0xffffff / psns))" send &&
		until_true 5 saw_more $((was + psns / 3))
}

# The clear part of the next message is no secret; the rest is made up.
forged()
{
	attack 1 0 0 send "$(printf '%016x%016x%048x' "$(of 1 l .epoch)" \
		"$(count 1 rx_messages)" 0x123)"
}

replayed()
{
	local spy qpn

	read -r qpn _ < <(qp 1 0 rq-psn)
	on 2 "$inject" "$RCL_PEER_IP" "$RCL_IP" "$qpn" replay >"$said.spy" &
	spy=$!
	until_true 10 grep -q ready "$said.spy" && rclink ping l -q -c 1
	wait $spy
}

wrong_rkey()
{
	attack 1 "$1" 0 write 0xdeadbeef
}

# key_of_buffer: rkey and address of host 1's link buffer
key_of_buffer()
{
	of 1 l '.local | "\(.rkey) \(.addr)"'
}

expects()
{
	[ "$(qp 1 0 rq-psn)" = "$1" ]
}

# As long as the epoch lasts, an attacker who knows all the numbers can write.
right_rkey()
{
	local qpn psn rkey addr

	read -r qpn psn < <(qp 1 0 rq-psn)
	read -r rkey addr < <(key_of_buffer)
	attack 1 0 0 write "$rkey" "$addr" &&
		until_true 5 expects "$qpn $(((psn + 1) & 0xffffff))" && is_up
}

# old_rkey RKEY ADDRESS: attacks with those of an earlier epoch
old_rkey()
{
	[ "$(key_of_buffer)" != "$1 $2" ] && attack 1 0 0 write "$1" "$2"
}

# Long enough for a seal, but no message has this size, so it cannot be authentic.
odd_size()
{
	attack 1 0 0 send "$(printf '%016x%016x%040x' "$(of 1 l .epoch)" \
		"$(count 1 rx_messages)" 0x123)"
}

too_long()
{
	attack 1 0 0 send "$(printf '%01200x' 1)"
}

is_moving()
{
	is 1 l .stats.channels 1 && [ "$(count 1 chan_recvs)" -gt 0 ]
}

# If an attacker breaks the QP of a channel, that channel ends, and nothing else.
channel()
{
	local epoch reader writer status

	epoch=$(of 1 l .epoch)
	timeout 60 "$tool" recv l >/dev/null 2>"$recv_says" &
	reader=$!
	# Sends once the listener is there; the fifo stays open, so its data has no end.
	on 2 sh -c "rm -f $fifo; mkfifo $fifo && exec 3<>$fifo || exit
		until echo a >&3 && $tool send l <&3; do sleep 0.1; done" \
		>/dev/null 2>&1 &
	writer=$!
	until_true 20 is_moving && wrong_rkey 1
	wait $reader
	status=$?
	kill $writer
	wait $writer
	cat "$recv_says"
	[ $status -eq 1 ] && [ "$(of 1 l .epoch)" -eq "$epoch" ] &&
		is 1 l .state up && rclink ping l -q -c 1
}

# Drops what host 2 sends, so that an answer is outstanding there.
lose()
{
	on 2 tc qdisc add dev eth0 root netem loss 100%
}

lose_end()
{
	on 2 tc qdisc del dev eth0 root
}

# answered SYNDROME COUNT: host 2 sends a message that is lost; COUNT forged answers
# with SYNDROME come in the name of host 1
answered()
{
	local was psn qpn status

	is_up || until_true 30 goes_up || return
	before=$(secrets)
	was=$(qp 2 0 sq-psn)
	read -r qpn psn <<<"$was"
	lose || return
	on 2 "$tool" ping l -c 1 >"$said.ping" 2>&1 &
	pinger=$!
	until_true 10 eval '[ "$(qp 2 0 sq-psn)" != "$was" ]' &&
		"$inject" "$RCL_IP" "$RCL_PEER_IP" "$qpn" "$psn:$2:0" ack "$1"
	status=$?
	[ "$status" -eq 0 ] || lose_end
	return "$status"
}

# ends_so REASON: the link ends at host 2 for REASON, and the ping fails
ends_so()
{
	local status=0

	until_true 20 is 2 l .state down || status=1
	lose_end
	wait "$pinger" && status=1
	is 2 l .reason "$1" && grep -q . "$said.ping" || status=1
	return $status
}

false_ack()
{
	answered 0x1f 1 && lose_end || return
	# For the device all is well; only the peer's answer to the message is missing.
	sleep 1
	lose
	ends_so timed-out && again
}

false_nak()
{
	answered 0x62 1 && ends_so completion && is 2 l .wc_status 10
}

none_spins()
{
	[ "${busy[1]}" -lt $spin ] && [ "${busy[2]}" -lt $spin ]
}

# After the answers nothing polls for a while, as that would count as busy.
storm()
{
	answered 0x21 200 && sleep $((3 * RCL_SLOW))
}

rnr_storm()
{
	busy_while "200 answers that nobody listens" storm && ends_so completion &&
		is 2 l .wc_status 13 && again && none_spins
}

tells()
{
	rclink why l | grep 'may have set off: ' | grep '2 not authentic' |
		grep '1 out of sequence' | grep '2 of the wrong size' |
		grep -q '2 of the wrong kind' || return
	rclink show l | grep -q 'tripwire  *2 not authentic, ' || return
	rclink stats -p | grep -q '^rclink_rx_wrong_kind_total{link="l"} 2$'
}

# How long the last dial that brought the link up took, in ms.
dial_took()
{
	sed -n 's/.*: up, .* dialled, \([0-9]*\) ms$/\1/p' "${said_by}1" | tail -n 1
}

# Both hosts have a daemon; that of host 1 writes metrics.
daemons()
{
	link_listen_end
	sections l
	daemon_start 1 2 && until_true 30 is_up
}

# sections LINK...
sections()
{
	local name

	for name; do
		link_section "$name" "$pin2" peer "$RCL_PEER_IP" qps 1 \
			heartbeat 0 "${more[@]}"
	done | configure 1 metrics $metrics
	for name; do
		link_section "$name" "$pin1" qps 1 heartbeat 0 "${more[@]}"
	done | configure 2
}

# told COUNTER: value of that counter of the port in the daemon's metrics
told()
{
	sed -n "s/^rclinkd_port_unexpected_total{.*counter=\"$1\"} //p" $metrics
}

# A second sweep is counted, but not reported again. The daemon reads the counters every
# 15 s. (Of PSNs ahead of the expected one rxe counts only the first in a row.)
sweep_told()
{
	local was said='rxe0 port 1: .*duplicate_request by [0-9]*.*of that port: l\.'

	stays sweep && until_true 40 said 1 "$said" || return
	was=$(told duplicate_request)
	stays sweep && until_true 60 eval \
		'[ "$(told duplicate_request)" -ge $((was + psns / 3)) ]' &&
		[ "$(times 1 "$said")" -eq 1 ]
}

# The link is broken each time it has been up for 11 s, too short for a failure to be
# forgiven: each time the daemon waits longer before it dials, the third time at least
# 2 s.
broken_again()
{
	local began waited

	for _ in 1 2 3; do
		until_true 30 is_up || return
		sleep 11
		before=$(secrets)
		epoch=$(of 1 l .epoch)
		wrong_rkey 0 || return
		began=$(ms)
		until_true 30 eval '[ "$(of 1 l .epoch)" -gt "$epoch" ] && is_up' || {
			show_daemons
			return 1
		}
		waited=$(($(ms) - began - $(dial_took)))
		echo "# up again after $(($(ms) - began)) ms, of which $waited ms before the dial"
		[ -z "$(comm -12 <(sort <<<"$before") <(secrets | sort))" ] || return
	done
	[ "$waited" -ge 2000 ]
}

# A channel is refused access, as an attacker could cause it: with `recover resume` the
# link is rotated to another epoch, and is never down.
rotated()
{
	local epoch downs old status

	more=(recover resume)
	epoch=$(of 1 l .epoch)
	sections l && reload 2 && reload 1 && up_again l "$epoch" || return
	epoch=$(of 1 l .epoch)
	downs=$(of 1 l .stats.downs)
	old=$(key_of_buffer)
	chan_far far l || return
	"$CHAN/chan_ops" -r chan.events.a_region_that_was_withdrawn &&
		until_true 20 eval '[ "$(of 1 l .epoch)" -gt "$epoch" ]' &&
		is_up && is 1 l .stats.downs "$downs" && dmesg |
		grep 'rclink: link l is to be rotated: access failed on a channel'
	status=$?
	chan_far_end "$far"
	# The old key is no longer valid. (First wait for messages about the closed
	# channel, which would take the PSN.)
	# shellcheck disable=SC2086
	[ $status -eq 0 ] && sleep "$RCL_SLOW" && is_up && old_rkey $old &&
		until_true 10 eval '[ "$(of 1 l .stats.downs)" -gt "$downs" ]' &&
		until_true 30 is_up
	status=$?
	# Restores the configuration; to the daemon a changed link has not failed yet.
	more=()
	epoch=$(of 1 l .epoch)
	sections l && reload 2 && reload 1 && up_again l "$epoch" &&
		return $status
}

# Sends a wrong key whenever the link is up, for $seconds s. Sets hits, and how many
# epochs began in the first and in the second half of that time.
hammer()
{
	local half
	local -a epochs

	hits=0
	epochs=("$(count 1 epochs)")
	for half in $((SECONDS + seconds / 2)) $((SECONDS + seconds)); do
		while [ $SECONDS -lt "$half" ]; do
			is_up >/dev/null && wrong_rkey 0 && hits=$((hits + 1))
			sleep 0.1
		done
		epochs+=("$(count 1 epochs)")
	done
	sooner=$((epochs[1] - epochs[0]))
	later=$((epochs[2] - epochs[1]))
}

rest()
{
	sleep $((5 * RCL_SLOW))
}

# Sends one more wrong key, and polls only once a second until the link is back.
strike()
{
	local end=$((SECONDS + 90 * RCL_SLOW))

	wrong_rkey 0 && rest || return
	until is_up; do
		[ $SECONDS -lt $end ] || return
		sleep "$RCL_SLOW"
	done
}

# Polling ten times a second, as hammer() does, keeps an emulated processor busy, so the
# busy time of hammer() is only printed.
strikes_without_spin()
{
	local downs

	busy_while "at rest" rest && none_spins || return
	downs=$(of 1 l .stats.downs)
	busy_while "from a wrong key until the link is back" strike && none_spins &&
		[ "$(of 1 l .stats.downs)" -gt "$downs" ]
}

# Objects of an epoch that has just ended may exist for another moment.
objects_rest()
{
	objects_then=$(objects_of_both) && sleep 1 && objects_same
}

# Attacks ten times a second. The link comes back at most once a second, more and more
# seldom, and the link beside it never notices. Each epoch ends at once, and after the
# first one the daemon waits 0.5 to 1 s, then twice as long each time, up to 30 s: in 10 s
# there are three or four more, and in the next 10 s two at most. Afterwards there are as
# many objects as before.
goes_on()
{
	local first other more

	sections l m && reload 2 && reload 1 && both_up m && until_true 30 is_up ||
		return
	forgiven 1 l && until_true 20 objects_rest || return
	first=$(of 1 l .epoch)
	other=$(of 1 m .epoch)
	busy_while "wrong keys for $seconds s" hammer && until_true 90 is_up || return
	more=$(($(of 1 l .epoch) - first))
	echo "# in $seconds s $hits requests with a wrong key, $more more epochs," \
		"$sooner in the first half and $later in the second" >&3
	[ "$hits" -ge 2 ] && [ "$more" -ge 2 ] && [ "$more" -le "$seconds" ] &&
		[ "$later" -lt "$sooner" ] && until_true 20 objects_same &&
		strikes_without_spin && is 1 m .epoch "$other" && is 1 m .state up &&
		rclink ping m -q -c 1 && rclink ping l -q -c 1 &&
		until_true 20 objects_same
}

# Without heartbeats, as one could take a PSN between its reading and its use, or end a
# link before the attack does.
plan 25
exec 3>&1
chan_build
link_setup
on_all modprobe -a sch_netem
link_listen l
check "the link comes up" link_pair l qps 1 timeout 19 \
	heartbeat 0
check "who is not its peer's address is not heard" stays stranger
check "PSNs of the whole space: only the device's counters tell" stays sweep
check "a PSN that is hit: an empty SEND" ends 1 not-a-message rx_wrong_size \
	attack 1 0 -100:110 send
check "an empty WRITE with immediate" ends 1 not-a-message rx_wrong_kind \
	attack 1 0 0 imm
check "one of a local user, who has a QP of his own" \
	ends 1 not-a-message rx_wrong_kind local_user
check "a message of the right form, but not authentic" \
	ends 1 unauthenticated rx_unauthenticated forged
check "so is one of a size that no message has" \
	ends 1 unauthenticated rx_unauthenticated odd_size
check "an authentic message a second time" \
	ends 1 out-of-sequence rx_out_of_sequence replayed
check "a message longer than any" ends 1 not-a-message rx_wrong_size too_long
# rxe reports only that the QP has failed; other devices report an access event.
check "a request with a wrong key" ends 1 completion unexplained_errors \
	wrong_rkey 0
old=$(key_of_buffer)
check "with the right one it is no error" right_rkey
until_true 30 goes_up
# shellcheck disable=SC2086
check "that is wrong in the next epoch" ends 1 completion unexplained_errors \
	old_rkey $old
holds "to a channel's QP: the channel ends, the link stays" channel
holds "a lost message that somebody acknowledges is no success" false_ack
check "an answer that denies access" ends 2 completion remote_access_errors \
	false_nak
holds "an answer without end that nobody listens" rnr_storm
check "all of it is told" tells
holds "with daemons it is as before" daemons
holds "the daemon says once what the device counts, and counts on" sweep_told
holds "a channel that is refused access has the link moved" rotated
measured "broken again and again it comes back, after a longer wait" broken_again
holds "attacked for $seconds s without a pause it comes back, more and more seldom" \
	goes_on
holds "and all is as before" eval 'daemon_end 1 2 && rclink ping l -q -c 1'
check "they are deleted" eval \
	'rclink del l && rclink del m && on 2 "$tool" del l && on 2 "$tool" del m'
finish
