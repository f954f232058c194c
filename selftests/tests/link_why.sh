#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `rclink why` tells at both ends what happened to a link.
# hosts: 2
# kernels: 6.1-all 6.12 debug-all
# lab: takes ports and the device away
# timeout: 400
# The library sets the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

wrong_pin=sha256:$(head -c 32 /dev/zero | base64)

# why HOST FILTER: apply FILTER to `rclink why l -j` of HOST
why()
{
	on "$1" "$tool" why l -j | gojq -er "$2"
}

tells_in_time()
{
	until_true 10 tells "$@" || tells "$@"
}

nobody_listens()
{
	local i

	for ((i = 0; i < 3; i++)); do
		! link_dial l 2>/dev/null || return
	done
	tells 1 'this host began failed: cannot connect.*refused.*; 3 times, last at' \
		'l is idle' 'never came up' 'Tried last, at .*cannot connect' \
		"$RCL_DEV port 1 is active, GID .*: $kind" &&
		why 1 'any(.record[]; .kind == "note" and .times == 3)'
}

wrong_pin()
{
	! link_dial l --pin "$wrong_pin" 2>/dev/null &&
		tells 1 'Tried last, at .*the peer.s key is .*, not the pinned one'
}

no_gid()
{
	rclink set l gid-index 200 && ! link_dial l 2>/dev/null || return
	tells 1 'the module refused to prepare: port, gid-index: no device has those' \
		"$RCL_DEV port 1 .* no GID to use: .*gid-index that is set" \
		'never came up' || return
	rclink set l gid-index auto port 7 && ! link_dial l 2>/dev/null &&
		tells 1 'the module refused to prepare: port, gid-index: no device' &&
		rclink set l port auto
}

comes_up()
{
	link_dial l && tells 1 'it was prepared; GID chosen: agreed with the peer' \
		'it came up, after .* connected; epoch 1' 'l is up since' &&
		! tells 1 'Most likely' && ! tells 1 'never'
}

peer_disconnects()
{
	on 2 "$tool" disconnect l && becomes 1 l .state down &&
		tells 1 'it went down: disconnected by the peer, after .* up; until then [1-9].* sent, [1-9]' \
			'Most likely: somebody on the peer' 'What to do: ' &&
		tells 2 'it went down: disconnected on this host'
}

# The peer's host runs, but its port is down and acknowledges nothing. The device gives
# up before the wait for an answer ends, also where guests are slow: after 7 x 0.5 s.
retry_exceeded()
{
	rclink set l timeout 17 && link_dial l && is 2 l .state up || return
	on 2 ip link set eth0 down
	rclink ping l -c 1 2>/dev/null
	becomes 1 l .reason completion &&
		tells 1 'the control QP: retry exceeded.* (RETRY_EXC_ERR, vendor error 0x' \
			'it went down: retry exceeded' \
			'Most likely: the peer lost its power' &&
		tells_in_time 2 'the device: the port went down' \
			'Most likely: the cable' &&
		why 1 'any(.record[]; .kind == "failure" and .qp == 0 and
			.wc_name == "RETRY_EXC_ERR" and .counters.completion_errors == 1)'
}

device_deleted()
{
	until_true 30 link_dial l || return
	lab_dev del
	becomes 1 l .reason device-removed &&
		tells 1 'the device: the RDMA device was removed' \
			'Most likely: the RDMA device was deleted' \
			'There is no RDMA device' || return
	! link_dial l 2>/dev/null &&
		tells 1 'the module refused to prepare: no active port' \
			'Tried last, at ' 'Most likely: the RDMA device was deleted'
}

hides_all()
{
	local all said secret

	said=$(rclink why l && rclink why l -j) || return
	! grep -qiE '"[^"]*(qpn|psn|rkey|addr|key)[^"]*":' <<<"$said" || return
	all=$(secrets_of 1 14 '.local, .remote | .rkey, .addr,
		.queue_pairs[].psn') || return
	for secret in $all; do
		! grep -wiE -e "$(written "$secret")" <<<"$said" || return
	done
}

# A new device has small rkeys, which may by chance equal a count of bytes. A real leak
# shows in each epoch.
says_no_secret()
{
	local epoch

	for epoch in 1 2 3; do
		link_dial l || return
		hides_all && return
		rclink disconnect l || return
	done
	echo "in epoch $epoch, too" >&2
	return 1
}

# Leaves out times, and the text of notes, which a user without rights does not get.
same='del(.for_ns, .since) | del(.record[] | .time, .last) |
	del(.record[] | select(.kind == "note") | .text, .sentence)'
nobody_reads_the_same()
{
	[ "$(as_nobody "$tool" why l -j | gojq -c "$same")" = \
		"$(rclink why l -j | gojq -c "$same")" ] &&
		as_nobody "$tool" why l -j | gojq -e '[.record[] |
			select(.kind == "note") | .text] | length > 0 and
			all(. == null)' &&
		as_nobody "$tool" why l | grep -q 'l is up since'
}

# Each state began when the one before ended, and lasted as long as the entry says.
is_in_order()
{
	why 1 '.record as $r | ($r | map(.number)) == [range(1; 1 + ($r | length))]
		and ($r | map(.boot_ns) | . == sort)
		and ([$r[] | select(.kind == "state")] as $s |
			all(range(1; $s | length); . as $i | $s[$i].from == $s[$i - 1].to
				and $s[$i].lasted_ns == $s[$i].boot_ns - $s[$i - 1].boot_ns))'
}

has_all_keys()
{
	why 1 '[has("name", "state", "reason", "since", "for_ns", "epoch", "peer",
		"times_up", "times_down", "gid", "gid_reason", "ports", "cause",
		"advice", "last_attempt", "entries_lost", "record")] | all' >/dev/null &&
		why 1 'all(.record[]; [has("number", "time", "last", "times", "kind",
			"epoch", "from", "to", "reason", "wc_status", "vendor_err",
			"qp", "text", "counters", "sentence")] | all)'
}

plan 13
link_setup
kind='RoCE v2'
! is_ib || kind=InfiniBand
check "links are added on both hosts" eval 'link_add 1 l && link_add 2 l'
refuse 1 "a link that is not there has no story" 'no link' rclink why nobody
check "never came up: nobody listens" nobody_listens
link_listen l
check "never came up: the pin is wrong" wrong_pin
check "never came up: there is no GID to use" no_gid
check "up, and since when" comes_up
check "the peer disconnects" peer_disconnects
check "the peer does not answer any more: retry exceeded" retry_exceeded
on 2 ip link set eth0 up
check "the device is deleted" device_deleted
lab_dev
check "nothing of it is secret" says_no_secret
check "a user without rights reads the same" nobody_reads_the_same
check "entries are in order under their numbers" is_in_order
check "the document has all its keys" has_all_keys
link_listen_end
finish
