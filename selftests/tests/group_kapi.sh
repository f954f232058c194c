#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Groups through the interface for kernel modules, used by a module on two hosts:
# messages to and from modules and processes, and those that are refused; leaving while
# messages come, a group that is deleted, and one that is down.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# lab: takes the port and the device away
# timeout: 300
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/group/lib.sh"
. "$LIB_DIR/kapi/lib.sh"

# The link only brings the key: it has to outlive a peer that stands still for a while.
patient=(heartbeat 2000 misses 4 timeout 19)
FLOW=$CHAN/group_flow
says=/tmp/rclink-test-says
process=''

# heard HOST FILTER: it holds for what the module there has received
heard()
{
	on "$1" cat "$KAPI_DIR/group" | gojq -e "$2" || {
		on "$1" cat "$KAPI_DIR/group"
		return 1
	}
}

# Every message is right and came once, and no callback came too late.
right='.other == 0 and .twice == 0 and .late == 0'
from1=".sender == 0 and .from == \"$(gid_of 1)\""
from2=''

# member: host 2 becomes a member, and has the key
member()
{
	on 2 "$tool" group add g "${group_at[@]}" from l &&
		until_true 20 has_key 2 "$(key_id 1)" || return
	from2=".sender == $(group_of 2 g .sender) and
		.from == \"$(gid_of 2)\""
}

# rejoin HOST...: the module leaves and joins again, and counts messages from zero
rejoin()
{
	local host

	for host; do
		kapi "$host" group_leave
		kapi "$host" "group_join g" || return
	done
}

# start PROGRAM ARGS...: run it on host 2 until it is the second consumer there
start()
{
	: >"$says"
	on 2 "$@" >"$says" 2>&1 &
	process=$!
	until_true 10 group_is 2 g .consumers 2
}

ended()
{
	! kill -0 "$process" 2>/dev/null
}

# Sent again until the process ends: it may be counted before it has posted a receive.
said()
{
	kapi 1 "group_say tea" && ended
}

# A word gets to a process and to the module of host 2.
word()
{
	rejoin 2 && start "$tool" group recv g -n 1 && until_true 20 said &&
		wait "$process" && grep -qxF "0 $(gid_of 1) tea" "$says" &&
		heard 2 ".other >= 1 and .text == \"tea\" and $from1"
}

# more HOST SIZE OTHER COUNT: HOST sends some messages; OTHER has at least COUNT by now
more()
{
	kapi "$1" "group_send $2 10" && heard "$3" ".got >= $4"
}

sent()
{
	on "$1" cat "$KAPI_DIR/group" | gojq .sent
}

# flows FROM TO SIZE FILTER: TO hears at least 40 messages of SIZE, and no more than
# FROM sent
flows()
{
	local before counted

	rejoin 1 2 || return
	before=$(sent "$1")
	counted=$(group_of "$1" g .stats.tx_messages)
	until_true 30 more "$1" "$3" "$2" 40
	set -- "$@" $(($(sent "$1") - before))
	heard "$2" "$right and $4 and .got >= 40 and .got <= $5" &&
		heard "$1" '.got == 0' &&
		group_is "$1" g ".stats.tx_messages >= $((counted + $5))" true
}

max()
{
	kapi "$1" group_max
}

both_have()
{
	more 1 900 2 40 && ended
}

# A process and the module on host 2 hear the same messages.
to_process()
{
	rejoin 2 && start "$FLOW" recv g 40 && until_true 30 both_have &&
		wait "$process" && heard 2 "$right and $from1" &&
		tail -n 1 "$says" | gojq -e '.twice == 0 and .wrong == 0 and
			.got == 40 and .from == {"0": "'"$(gid_of 1)"'"}'
}

from_process()
{
	rejoin 2 || return
	"$FLOW" send g 0 200 2 && heard 2 "$right and $from1 and .got >= 40"
}

too_long()
{
	local size count

	size=$(max 1) || return
	count=$(sent 1)
	refuse_long "$((size + 1))" && refuse_long 1000000 &&
		[ "$(sent 1)" = "$count" ] && kapi 1 "group_send $size 1" &&
		[ "$(sent 1)" = $((count + 1)) ]
}

refuse_long()
{
	! kapi 1 "group_send $1 1" 2>"$says" && grep -q 'too long' "$says"
}

# Messages that the module has no room for are counted, and a process still gets them.
no_room()
{
	local before

	rejoin 2 && start "$FLOW" recv g 20 && kapi 2 group_full || return
	before=$(group_of 2 g .stats.rx_missed)
	until_true 30 missed &&
		wait "$process" && heard 2 '.got == 0 and .late == 0' &&
		group_is 2 g ".stats.rx_missed >= $((before + 20))" true
}

missed()
{
	kapi 1 "group_send 100 10" && ended
}

# The module leaves during a callback, which is over when the leave returns.
parted()
{
	local i status=0

	"$FLOW" send g 100 0 1 &
	process=$!
	for ((i = 0; i < 10 && !status; i++)); do
		rejoin 2 && kapi 2 group_part &&
			heard 2 '.got >= 1 and .late == 0' || status=1
	done
	kill "$process"
	wait "$process" 2>/dev/null
	group_is 2 g .consumers 0 && heard 2 '.late == 0' && return "$status"
}

# The module is told once that the group ended, and still has to leave.
deleted()
{
	rejoin 2 && on 2 "$tool" group del g || return
	heard 2 '.ended == 1 and .late == 0' &&
		! kapi 2 "group_send 100 1" 2>"$says" &&
		grep -q 'after transport endpoint shutdown' "$says" &&
		kapi 2 group_leave && heard 2 '.ended == 1 and .late == 0' &&
		! kapi 2 "group_join g" 2>"$says" &&
		grep -q 'No such device' "$says"
}

# The module stays a member while the group is down.
down()
{
	rejoin 1 2 || return
	on 2 ip link set eth0 down && group_becomes 2 g .state down || return
	! kapi 2 "group_send 100 1" 2>"$says" &&
		grep -q 'Network is down' "$says"
	set -- $?
	on 2 lab_dev
	group_becomes 2 g .state joined || return
	until_true 30 more 1 100 2 20 && until_true 30 more 2 100 1 20
	heard 2 "$right and $from1 and .ended == 0 and .got >= 20" &&
		heard 1 "$right and $from2 and .ended == 0 and .got >= 20" &&
		return "$1"
}

# told: host 1 has heard of the memory that host 2's module exports to all links
told()
{
	rclink region list --group g -j | gojq -e 'length == 1 and
		.[0].name == "kapi.share" and .[0].gid == "'"$(gid_of 2)"'" and
		.[0].bytes > 0 and (.[0].rights | index("write") != null)'
}

told_none()
{
	rclink region list --group g -j | gojq -e '. == []'
}

for_all_links()
{
	kapi 2 "share buffer 1" && until_true 30 told && kapi 2 "unshare 1" &&
		until_true 30 told_none
}

# Unloading the test module ends its memberships, too.
unloaded()
{
	rejoin 1 2 && ! on 2 rmmod rclink 2>"$says" &&
		grep -q 'in use by.*rclink_test' "$says" &&
		on_all rmmod rclink_test && group_is 1 g .consumers 0 &&
		group_is 2 g .consumers 0
}

plan 17
chan_build
link_setup
kapi_load
link_listen l
link_pair l "${patient[@]}" >"$said" 2>&1 || bail "no link: $(<"$said")"
link_listen_end
rclink group add g "${group_at[@]}" link l || bail "no group"
member || bail "no member"
refuse 1 "a group that there is not" 'No such device' kapi 1 "group_join h"
check "a module joins at either end" on_all "$LIB_DIR/kapi/run" "group_join g"
holds "its word gets to a process and to the other one" word
for size in 4 700 "$(max 1)"; do
	holds "$size bytes, one way" flows 1 2 "$size" "$from1"
done
holds "and the other way" flows 2 1 700 "$from2"
holds "a process hears what the module does" to_process
holds "and the module what a process sends" from_process
holds "what is too long is refused" too_long
holds "what there is no room for is counted" no_room
holds "who leaves hears no more" parted
holds "a group that is deleted says so once" deleted
holds "made again, it works again" member
check "members hear what memory the module exports" for_all_links
holds "down, its sends fail, and it goes on afterwards" down
check "the module unloads with its membership" unloaded
finish
