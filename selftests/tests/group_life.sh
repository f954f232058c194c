#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A group on rxe: it is joined, refused and left; it ends with its port, address, device
# or module, and returns with the first three; and listeners are told of all that.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, it is about IP addresses, and sim_group about LIDs
# timeout: 180
# The libraries set the variables; gojq expands the quoted text.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/group/lib.sh"

trace=/sys/kernel/tracing
json=/tmp/rclink-test-group-json
text=/tmp/rclink-test-group-text
monitors=()

qps_in_rts()
{
	rdma resource show qp -j | gojq -e --argjson n "$1" '[.[] |
		select(.comm == "rclink" and .type == "UD" and
			.state == "RTS")] | length == $n'
}

# shown ADDRESS: this host's IP stack has joined ADDRESS on the device's interface
shown()
{
	ip maddr show dev eth0 | grep -qw -e "$1"
}

# member ADDRESS: as shown, or the kernel, without CONFIG_IP_MULTICAST, cannot show it
member()
{
	shown "$1" || [ ! -e /proc/net/igmp ]
}

joined()
{
	qps_in_rts 2 && member "$mgid4" && member "$mgid6" &&
		group_is 1 four .state joined && group_is 1 six .state joined
}

# Each group has a GID of the same kind as its address, and `four` tells how large a
# message may be.
fits()
{
	group_is 1 four .gid "::ffff:$RCL_IP" || return
	group_of 1 six .gid | grep -q : || return
	! group_of 1 six .gid | grep -q ffff: || return
	group_is 1 four .mtu "$(rclink dev -j | gojq '.[0].active_mtu')"
}

qkey_is_secret()
{
	group_is 1 four '.qkey >= 2147483648' true &&
		group_is 1 six .qkey 291 || return
	setpriv --reuid 1000 --clear-groups "$tool" group -j |
		gojq -e 'length == 2 and all(has("qkey") | not)'
}

# tells TEXT...: the output of `group why four` contains each TEXT
tells()
{
	local told text

	told=$(rclink group why four) || return
	for text; do
		grep -qF -e "$text" <<<"$told" && continue
		printf '%s\nis not in:\n%s\n' "$text" "$told"
		return 1
	done
}

# for_why FILTER: FILTER is true of `group why four -j`
for_why()
{
	rclink group why four -j | gojq -e "$1"
}

why_alone()
{
	tells "four is joined to ::ffff:$mgid4, from rxe0 port 1 with GID" \
		'never down' 'gives it to nobody: no link is named' \
		'It hears no other member' 'and dropped nothing' \
		'What to do: name the links' &&
		for_why '(.advice | length) == 1 and .cause == null and
			.members == 1 and .peers == [] and .dropped == [] and
			.key_links == [] and (has("qkey") | not)'
}

why_link()
{
	tells 'to the peer of 1 link, of which 0 are up' 'Link x is idle' \
		"What to do: see \`rclink why x\`" &&
		for_why '.key_links == [{"name": "x", "state": "idle",
			"reason": "none", "reason_text": null}]'
}

note_link()
{
	rclink add other && rclink group set four link nosuch,other 2>&1 |
		grep -x 'rclink: group set: done, but there is no link nosuch here yet' &&
		rclink del other 2>&1 | grep 'group set four no-link other' &&
		rclink group set four no-link 'nosuch, other' &&
		! rclink group add there mgid 239.1.2.9 link x 2>&1 | grep . &&
		rclink group del there &&
		hears 'set joined none' 'rekeyed joined none' 'set joined none'
}

why_down()
{
	tells 'four is down: the RDMA device was removed' \
		'Most likely: the RDMA device was deleted' \
		'There is no RDMA device or port that it may use' \
		'What to do: bring the device back' &&
		for_why '.state == "down" and .reason == "device-removed" and
			.ports == [] and (.advice[0] | test("rclink dev"))'
}

why_again()
{
	tells 'Since it was made it was down 3 times' &&
		for_why '.state == "joined" and .stats.joins == 4 and
			.ports[0].device == "rxe0" and .ports[0].gid == .gid'
}

left()
{
	rclink group del four && qps_in_rts 1 && ! shown "$mgid4" &&
		rclink group -j | gojq -e 'length == 1' && rclink group del six &&
		[ "$(objects 1)" -eq 0 ] && ! shown "$mgid6"
}

down()
{
	group_becomes 1 four .state down && group_is 1 four .reason "$1" &&
		empty 1 && ! shown "$mgid4"
}

up_again()
{
	group_becomes 1 four .state joined && qps_in_rts 1 && member "$mgid4" &&
		group_is 1 four .reason none &&
		group_is 1 four ".stats.joins >= $1" true
}

port_down()
{
	ip link set eth0 down && down port-down
}

address_gone()
{
	ip address delete "$RCL_IP/25" dev eth0 && down gid-changed
}

device_gone()
{
	local start=$SECONDS

	lab_dev del || return
	[ $((SECONDS - start)) -lt $((8 * RCL_SLOW)) ] || return
	down device-removed
}

back()
{
	lab_dev && up_again "$1"
}

# mtu_is NETDEVS MESSAGES JOINS: when the netdev's MTU becomes NETDEVS, the group is
# joined again with MESSAGES, although no event of the port tells of the change
mtu_is()
{
	ip link set eth0 mtu "$1" && group_becomes 1 four .mtu "$2" &&
		up_again "$3"
}

mtu_changes()
{
	mtu_is 2200 2048 5 && mtu_is 1500 1024 6
}

# Link x is there for the monitors to show: once they do, they listen.
listen()
{
	rclink add x || return
	"$tool" monitor -j >$json &
	monitors=($!)
	"$tool" monitor >$text 2>&1 &
	monitors+=($!)
	until_true 10 grep -q '"x"' $json && until_true 10 grep -q ' x ' $text
}

# heard NAME: each event of that group, in order
heard()
{
	gojq -sr --arg name "$1" '.[] | select(.group == $name) |
		"\(.kind) \(.state) \(.reason)"' $json
}

has_heard()
{
	heard "$1" | grep -qx "$2"
}

# hears LINE...: the events of `four` are those of so_far, and then each LINE
hears()
{
	local want

	want=$(printf '%s\n' "${so_far[@]}" "$@")
	until_true 10 eval "[ \"\$(heard four)\" = '$want' ]" || {
		cat $json
		return 1
	}
	so_far+=("$@")
}

so_far=()

# The `rekeyed` events of `four` are of its first key and of its present one.
rekeyed()
{
	local before said

	before=$(group_of 1 four .key_id)
	said=$(rclink group set four rekey 2>&1) &&
		grep -q 'done, but link x is not up: until it is' <<<"$said" &&
		hears 'rekeyed joined none' || return
	gojq -se --arg old "$before" --arg new "$(group_of 1 four .key_id)" \
		'map(select(.group == "four" and .kind == "rekeyed").key_id) ==
			[$old, $new] and $old != $new' $json
}

other_link()
{
	[ "$(rclink group set four link y no-link x 2>&1)" = \
		'rclink: group set: done, but there is no link y here yet' ] &&
		hears 'rekeyed joined none' 'set joined none'
}

consecutive()
{
	gojq -se 'map(select(.kind != "present").event_seq) |
		length > 20 and . == [range(.[0]; .[0] + length)]' $json
}

# A group that is listed has the number of the last event that the listing reflects.
accounted_for()
{
	rclink group add late mgid 239.1.2.4 &&
		until_true 10 has_heard late 'rekeyed joined none' || return
	group_is 1 late .event_seq "$(gojq -s '.[-1].event_seq' $json)" &&
		rclink group del late
}

text_is_the_same()
{
	local want

	want=$(gojq -r 'select(.group) | "\(.group) \(.kind) \(.state)" +
		if .key_id then " key " + .key_id else "" end +
		if .reason_text then ": " + .reason_text else "" end' $json)
	diff <(sed -n 's/^[^ ]* group //p' $text) - <<<"$want"
}

traced()
{
	local kinds

	kinds=$(sed -n 's/.*rcl_group_state: group=four \(.*\) wc.*/\1/p' \
		$trace/trace | tr '\n' ';')
	echo "$kinds"
	[[ "$kinds" = "kind=1 to=1 reason=0;kind=6 to=1 reason=0;"* ]] &&
		[[ "$kinds" = *"kind=2 to=2 reason=8;kind=2 to=1 reason=0;"* ]]
}

unheard()
{
	local status=0 pid

	for pid in "${monitors[@]}"; do
		wait "$pid"
		[ $? -eq 1 ] || status=1
	done
	hears 'deleted down none' && return $status
}

module_gone()
{
	local start=$SECONDS

	rmmod rclink || return
	[ $((SECONDS - start)) -lt $((5 * RCL_SLOW)) ] && ! shown "$mgid4" &&
		[ "$(objects 1)" -eq 0 ]
}

if [ -n "${RCLINK_DEV:-}" ]; then
	skip_all "would take a real device away"
fi
plan 42
lab_device
lab_module
mount -t tracefs t $trace 2>/dev/null
echo 1 >$trace/events/rclink/rcl_group_state/enable
holds "two listen" listen
check "a group of an IPv4 address" rclink group add four mgid "$mgid4"
check "and one of an IPv6 address" rclink group add six dev rxe0 port 1 \
	mgid "$mgid6" qkey 0x123
check "both have a QP, and are joined by the host" joined
check "with a GID of that kind" fits
check "the Q_Key is random, or what was said, and for root" qkey_is_secret
refuse 1 "a name that is taken" 'group of that name' \
	rclink group add four mgid "$mgid4"
refuse 1 "an address of one" 'no multicast address' \
	rclink group add g mgid 192.0.2.1
refuse 1 "a GID of the other kind" 'gid-index: that GID is not of the same kind' \
	rclink group add g mgid "$mgid6" gid-index "$(group_of 1 four .gid_index)"
refuse 1 "a LID on RoCE" 'a RoCE port has none' \
	rclink group add g mgid "$mgid4" mlid 0xc001
refuse 1 "a device that is not there" 'no such RDMA device' \
	rclink group add g mgid "$mgid4" dev none0
refuse 1 "a name that nobody has" 'no group of that name' rclink group del g
refuse 1 "there is no why of it" 'rclink group add' rclink group why g
refuse 1 "or that is none" 'name must be' rclink group add 'a b' mgid "$mgid4"
refuse 1 "an owner that is nobody" 'is nobody' \
	rclink group set four owner 4294967295
holds "it is told when it is made, and has a key" hears 'created joined none' \
	'rekeyed joined none'
check "it has nobody to be a group with, and is told what to do" why_alone
rclink group set four owner 7 link x
holds "and when it is set, once" hears 'set joined none'
check "a link that is not up is named" why_link
holds "and when it has another key, with its number" rekeyed
holds "or both, and who has not had a key does not go on with it" other_link
holds "a link that is not there is noted" note_link
check "deleted, it is left, and nothing stays" left
rclink group add four mgid "$mgid4"
holds "that is told, and that it is there again" hears 'deleted down none' \
	'created joined none' 'rekeyed joined none'
check "it ends with its port" port_down
check "and is joined again with it" back 2
check "it ends with its address" address_gone
check "and is joined again with it" back 3
check "it ends with its device" device_gone
check "it is told what to do then" why_down
check "and is joined again with it" back 4
check "and tells how often it was down" why_again
holds "each end was told with its reason, and each return" hears \
	'changed down port-down' 'changed joined none' \
	'changed down gid-changed' 'changed joined none' \
	'changed down device-removed' 'changed joined none'
check "another MTU of the port has it joined again with that" mtu_changes
holds "which is told" hears 'changed down mtu-changed' 'changed joined none' \
	'changed down mtu-changed' 'changed joined none'
holds "what is listed has the number of the last" accounted_for
check "the trace has them, too" traced
check "the module goes, and leaves it" module_gone
holds "who listens is told" unheard
check "no number was left out" consecutive
check "the text says the same" text_is_the_same
lab_module
check "and knows it no more" sh -c "$tool group -j | gojq -e 'length == 0'"
finish
