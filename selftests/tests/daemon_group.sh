#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two daemons and a group, which they make from their configuration alone, take over,
# change, make anew and delete; they also make it when the module is loaded again, and
# when its device comes late.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 400
# The libraries set the variables.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/group/lib.sh"

# Host 1 finds out by heartbeats that host 2 has lost these links.
links_1()
{
	link_section l "$pin2" peer "$RCL_PEER_IP" heartbeat 2000
	link_section m "${other_pin:-$pin2}" peer "$RCL_PEER_IP" heartbeat 2000
}

links_2()
{
	link_section l "$pin1"
	link_section m "${other_pin_2:-$pin1}"
}

# keeper LINKS [ADDRESS]: configure host 1 to make the key, for the peers of LINKS
keeper()
{
	local at=("${@:2}")

	[ $# -gt 1 ] || at=("${group_at[@]}")
	{
		links_1
		group_section g "${at[@]}" link "$1"
	} | configure 1
}

# member LINK [ADDRESS]: configure host 2 to get the key over LINK
member()
{
	local at=("${@:2}")

	[ $# -gt 1 ] || at=("${group_at[@]}")
	{
		links_2
		group_section g "${at[@]}" from "$1"
	} | configure 2
}

same_key()
{
	has_key 2 "$(key_id 1)"
}

# The hosts hear each other, under the key of the keeper, whose sender number is 0.
meet()
{
	until_true 60 same_key && hear 1 0 2 "$(group_of 2 g .sender)" && return
	show_daemons
	on 1 "$tool" group show g -j
	on 2 "$tool" group show g -j
	return 1
}

# state HOST: what would differ if the group had been made anew, or had another key
state()
{
	group_of "$1" g '[.stats.joins, .stats.keys, .key_id, .sender] | tojson'
}

# undisturbed CMD...: after CMD, both hosts still have the same group
undisturbed()
{
	local before

	before="$(state 1) $(state 2)"
	"$@" && [ "$(state 1) $(state 2)" = "$before" ] && meet
}

begin()
{
	keeper l && member l && daemon_start 1 2 && both_up l m && meet &&
		said 1 'group g: made$' && said 2 'group g: made$' &&
		group_is 1 g 'has("from") and .from == null' true && group_is 2 g .from l
}

killed()
{
	local host

	for host in 1 2; do
		daemon_signal "$host" KILL
		wait "${running[host]}"
	done
	daemon_start 1 2 && until_true 10 said 1 'group g: .*taken over' &&
		until_true 10 said 2 'group g: .*taken over'
}

reload_both()
{
	local before

	before="$(times 1 'group g') $(times 2 'group g')"
	reload 1 && reload 2 &&
		[ "$(times 1 'group g') $(times 2 'group g')" = "$before" ]
}

link_more()
{
	keeper 'l, m' && reload 1 &&
		until_true 10 said 1 'group g: .*: +m$' &&
		group_is 1 g '.links | join(" ")' 'l m'
}

# When m gets another peer, its former peer still knows the key. So the daemon has each
# group that lists m, also the one made by hand, get another key.
another_peer()
{
	local id hand other_pin=sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

	id=$(key_id 1)
	hand=$(group_of 1 hand .key_id)
	keeper 'l, m' && reload 1 &&
		until_true 20 said 1 'group g: changed: its key$' &&
		until_true 20 said 1 'group hand: changed: its key$' &&
		! is 1 m .state up && ! has_key 1 "$id" && meet &&
		group_is 1 hand ".key_id != \"$hand\"" true || return
	other_pin=
	keeper 'l, m' && reload 1 && both_up l m && meet
}

# The sender number of host 2 shows that it is a new member.
from_another()
{
	local id

	id=$(key_id 1)
	member m && reload 2 && until_true 10 said 2 'group g: made anew' &&
		group_is 2 g .from m && meet && has_key 1 "$id" &&
		group_is 2 g .sender 2
}

# The former peer of m made the key that host 2 has, and the other one has none yet.
keeper_is_another()
{
	local id n other_pin_2=sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

	id=$(key_id 1)
	n=$(times 2 'group g: made anew')
	member m && reload 2 &&
		until_true 20 eval "[ \$(times 2 'group g: made anew') -gt $n ]" &&
		! has_key 2 "$id" || return
	other_pin_2=
	member m && reload 2 && both_up l m && meet && has_key 2 "$id"
}

link_less()
{
	local id

	id=$(key_id 1)
	keeper m && reload 1 && until_true 10 said 1 'group g: .*: -l$' &&
		group_is 1 g '.links | join(" ")' m && ! has_key 1 "$id" &&
		group_is 1 g .stats.joins 1 && meet
}

elsewhere()
{
	keeper m "${other_at[@]}" && reload 1 &&
		member m "${other_at[@]}" && reload 2 &&
		group_becomes 1 g .mgid "$other_gid" &&
		group_becomes 2 g .mgid "$other_gid" && meet
}

# The daemon notices by itself that the group is gone.
by_hand()
{
	on 2 "$tool" group del g &&
		until_true 10 said 2 'group g: made again, as it was gone' &&
		meet
}

port_down()
{
	on 2 ip link set eth0 down &&
		until_true 10 said 2 'group g: down: the port went down$' &&
		on 2 lab_dev && until_true 20 said 2 'group g: joined again$' &&
		both_up l m && meet
}

# The file of the daemon has its group, in which host 1 hears host 2; `rclink stats` has
# the group made by hand, too.
metrics()
{
	local file=/tmp/rclink-test-group.prom

	{
		links_1
		group_section g "${group_at[@]}" link l
	} | configure 1 metrics $file && reload 1 &&
		grep -x 'rclink_group_joined{group="g"} 1' $file &&
		grep -x 'rclink_group_heard{group="g"} 1' $file &&
		grep -x 'rclink_group_rx_messages_total{group="g"} [1-9][0-9]*' \
			$file &&
		rclink stats --prometheus |
			grep -x 'rclink_group_joined{group="hand"} 1' &&
		keeper l && reload 1 && [ ! -e $file ]
}

refused_whole()
{
	member n && reload 2 && said 2 'there is no \[Link n\]' &&
		said 2 'is refused, the old' && member m "${other_at[@]}"
}

removed()
{
	links_2 | configure 2 && reload 2 &&
		said 2 'group g: no longer configured, deleted' &&
		until_true 10 eval '! on 2 "$tool" group show g'
}

put_back()
{
	member m "${other_at[@]}" && reload 2 && meet
}

loaded_again()
{
	on 2 rmmod rclink && until_true 10 said 2 'module was unloaded' &&
		on 2 "$LIB_DIR/vm/lab_load" && both_up l m && meet
}

# The daemon is there before the device is.
device_late()
{
	daemon_end 2 && on 2 "$tool" group del g && on 2 lab_dev del &&
		daemon_start 2 && until_true 10 said 2 \
		'conf:[0-9]*: \[Group g\]: .*no active port' && on 2 lab_dev && meet
}

outlives()
{
	daemon_end 1 2 && meet && group_is 1 hand .stats.joins 1
}

if [ -n "${RCLINK_DEV:-}" ]; then
	skip_all "would take a real device away"
fi
plan 19
link_setup
holds "a group is there from the files alone" begin
check "beside one that somebody makes by hand" \
	rclink group add hand "${hand_at[@]}" link m
holds "killed, the daemons take it over" undisturbed killed
holds "read again, the same files change nothing" undisturbed reload_both
holds "metrics tell of it, and of the other" undisturbed metrics
holds "one more link may have the key, which stays" undisturbed link_more
holds "another peer of a link, and there is another key" another_peer
holds "a member by another link is made anew" from_another
holds "a member forgets the key that the former peer has made" keeper_is_another
holds "a link less, and there is another key" link_less
holds "another address makes it anew" elsewhere
holds "a group that somebody deletes is made again at once" by_hand
holds "down and joined again, it is said why" port_down
holds "a link that is not configured is refused" undisturbed refused_whole
holds "no longer configured, it is deleted" removed
holds "and is made when it is configured again" put_back
holds "a module that is loaded again gets it back" loaded_again
holds "a device that comes late gets it" device_late
holds "it outlives the daemons, and one made by hand is left alone" outlives
finish
