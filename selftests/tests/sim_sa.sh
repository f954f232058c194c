#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A group on simulated InfiniBand ports with a subnet manager, which assigns the
# group's LID and lets packets through to members only: joining and leaving, requests
# that are refused or get no answer, and what becomes of the group afterwards.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 240
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/group/lib.sh"

reregister=17	# enum ib_event_type

# members N: the subnet manager has N ports as members of the group
members()
{
	[ "$(grep -c "^$mgid6 " "$SIM/sa")" -eq "$1" ]
}

members_become()
{
	until_true 20 members "$1" || {
		cat "$SIM/sa"
		return 1
	}
}

joined_at()
{
	grep -qx "$mgid6 $(printf '0x%x' "$(group_of 1 "$1" .mlid)") $(group_of 1 "$1" .gid)" \
		"$SIM/sa"
}

gives_the_lid()
{
	rclink dev -j | gojq -e 'all(.[] | select(.device | startswith("sim")); .sa)' &&
		rclink group add g dev sim0 mgid "$mgid6" qkey 5 &&
		group_is 1 g .state joined && group_is 1 g '.mlid >= 49152' true &&
		members 1 && joined_at g
}

# hears NAME: the group NAME gets packets of the other one, under a key that it lacks
hears()
{
	local before

	before=$(group_of 1 "$1" .stats.rx_unknown_key)
	until_true 20 group_is 1 "$1" ".stats.rx_unknown_key > $((before + 1))" true
}

# Both have the MTU of the first member, which is the smaller one.
lets_through()
{
	rclink group add h dev sim1 mgid "$mgid6" qkey 5 && members 2 &&
		joined_at h && hears g && hears h &&
		group_is 1 h .mlid "$(group_of 1 g .mlid)" &&
		group_is 1 g .mtu 1024 && group_is 1 h .mtu 1024
}

# Two groups of one port share one membership.
is_left()
{
	rclink group add i dev sim0 mgid "$mgid6" && members 2 &&
		rclink group del g && group_is 1 i .state joined && members 2 &&
		rclink group del i && members_become 1 &&
		rclink group del h && members_become 0 && [ "$(objects 1)" -eq 0 ]
}

loses_some()
{
	echo "drop 1 2" >"$SIM/sim0/fault" &&
		rclink group add g dev sim0 mgid "$mgid6" && joined_at g &&
		rclink group del g && members_become 0
}

# add_fails TEXT: a group is refused with TEXT, and nothing is left
add_fails()
{
	local said

	said=$(rclink group add g dev sim0 mgid "$mgid6" 2>&1) && return 1
	echo "$said"
	grep -q "$1" <<<"$said" && [ "$(objects 1)" -eq 0 ] && members 0 &&
		rclink group -j | gojq -e 'length == 0'
}

refuses()
{
	echo 1 >"$SIM/sim0/sa"
	add_fails 'group add g: the subnet manager refuses it'
	set -- $?
	echo 0 >"$SIM/sim0/sa"
	return "$1"
}

# A port with limited membership asks for the group of those with full membership.
limited_joins()
{
	echo "0 0x7fff" >"$SIM/sim0/pkey"
	rclink group add h dev sim1 mgid "$mgid6" qkey 5 && joined_at h &&
		rclink group add g dev sim0 mgid "$mgid6" qkey 5 && joined_at g &&
		hears g && hears h && rclink group del g
	set -- $?
	echo "0 0xffff" >"$SIM/sim0/pkey"
	rclink group del h && members_become 0 && return "$1"
}

# OpenSM lets a port into a group of a partition where it is not, but the core does not.
other_partition()
{
	echo "0 0x8005" >"$SIM/sim1/pkey"
	echo 3 >"$SIM/sim0/sa"
	rclink group add h dev sim1 mgid "$mgid6" && joined_at h &&
		! rclink group add g dev sim0 mgid "$mgid6" 2>"$said" &&
		cat "$said" && grep -q 'group add g: .* another partition key' "$said" &&
		members_become 1 && rclink group del h
	set -- $?
	echo 0 >"$SIM/sim0/sa"
	echo "0 0xffff" >"$SIM/sim1/pkey"
	return "$1"
}

# is_taken: a name in use is refused at once, without waiting for the subnet manager
is_taken()
{
	local status=0 start=$SECONDS

	rclink group add h dev sim1 mgid ff15::7 || return
	"$tool" group add h dev sim0 mgid "$mgid6" >"$said" 2>&1 && status=1
	cat "$said"
	grep -q 'a group of that name already' "$said" || status=1
	# The subnet manager has 10 s to answer, also on a slow kernel.
	[ $((SECONDS - start)) -lt 8 ] || status=1
	rclink group del h && return "$status"
}

# Other requests are not held up while the subnet manager is silent.
is_silent()
{
	local add status=0

	echo 2 >"$SIM/sim0/sa"
	is_taken || status=1
	add_fails 'the subnet manager does not answer' || status=1
	"$tool" group add g dev sim0 mgid "$mgid6" >"$said" 2>&1 &
	add=$!
	rclink group add h dev sim1 mgid ff15::7 && rclink group del h || status=1
	kill -0 "$add" || status=1
	kill -KILL "$add"
	wait "$add"
	until_true 20 nothing_left 1 && rclink group -j | gojq -e 'length == 0' ||
		status=1
	echo 0 >"$SIM/sim0/sa"
	return "$status"
}

# Removing a device waits neither for the subnet manager's answer nor for a command that
# waits for one.
removed_meanwhile()
{
	local add before status=0

	echo 2 >"$SIM/sim1/sa"
	before=$(<"$SIM/sim1/sa_joins")
	"$tool" group add h dev sim1 mgid "$mgid6" >"$said" 2>&1 &
	add=$!
	until_true 10 asks sim1 "$before" || status=1
	echo sim1 >"$SIM/del_device" || status=1
	wait "$add" && status=1
	cat "$said"
	! grep -q 'subnet manager' "$said" || status=1
	sim_new "sim1 ib 3 sa=1"
	return "$status"
}

# asks DEVICE N: DEVICE has asked to join more than N times
asks()
{
	[ "$(<"$SIM/$1/sa_joins")" -gt "$2" ]
}

joins_become()
{
	until_true 30 group_is 1 g ".stats.joins == $1 and .state == \"joined\"" true ||
		group_is 1 g "[.stats.joins, .state] | tojson" "[$1,\"joined\"]"
}

# The subnet manager was started again, and knows no members.
begins_anew()
{
	rclink group add g dev sim0 mgid "$mgid6" qkey 5 &&
		rclink group add h dev sim1 mgid "$mgid6" qkey 5 || return
	echo forget >"$SIM/sa" && members 0 || return
	echo "$reregister" >"$SIM/sim0/event" &&
		echo "$reregister" >"$SIM/sim1/event" && joins_become 2 &&
		members_become 2 && joined_at g && hears g && hears h
}

# While the subnet manager is away, the group is down, says why, and tries again.
is_away()
{
	local status=0

	echo 2 >"$SIM/sim0/sa"
	echo "$reregister" >"$SIM/sim0/event"
	group_becomes 1 g .state down && group_is 1 g .reason subnet-manager &&
		until_true 10 down_for_it || status=1
	echo 0 >"$SIM/sim0/sa"
	joins_become 3 && joined_at g && hears g && return "$status"
}

down_for_it()
{
	rclink group why g -j | gojq -e 'any(.advice[]; test("see that one runs")) and
		.ports[0].gid != null'
}

# longest GROUP: the longest message that GROUP says it takes, in bytes
longest()
{
	"$tool" group send "$1" "$(printf '%05000d' 0)" 2>&1 |
		grep -oE 'longer than [0-9]+ bytes'
}

# keeps_length: the longest message stays the same while the group tries in vain to join
# again, from a port whose MTU is not the group's
keeps_length()
{
	local bytes before status=0

	bytes=$(longest h) || return
	echo 2 >"$SIM/sim1/sa"
	before=$(<"$SIM/sim1/sa_joins")
	echo "$reregister" >"$SIM/sim1/event"
	group_becomes 1 h .state down || status=1
	until_true 10 asks sim1 "$before" && [ "$(longest h)" = "$bytes" ] ||
		status=1
	echo 0 >"$SIM/sim1/sa"
	until_true 30 group_is 1 h .state joined && [ "$(longest h)" = "$bytes" ] &&
		return "$status"
}

# A new LID of the subnet manager takes nothing down; a new LID of the port does.
moves()
{
	echo 9 >"$SIM/sim0/sm_lid" && hears g && group_is 1 g .stats.joins 3 &&
		echo 7 >"$SIM/sim0/lid" && joins_become 4 && joined_at g &&
		hears g && rclink group del g && members_become 1 &&
		rclink group add g dev sim0 mgid "$mgid6" qkey 5 && members 2
}

device_goes()
{
	echo sim0 >"$SIM/del_device" && group_becomes 1 g .state down &&
		group_is 1 g .reason device-removed || return
	sim_new "sim0 ib 2 mtu=1024 sa=1"
	group_becomes 1 g .state joined && joined_at g && hears g
}

# crosses: a link to another subnet is refused, as it would need a router
crosses()
{
	local said=/tmp/rclink-test-crosses

	link_across sim0 sim1 >"$said" 2>&1 || return
	rclink disconnect a
	echo 0xfec0000000000001 >"$SIM/sim1/prefix" || return
	! link_self_dial >"$said" 2>&1 || return
	grep -q "links cross no router" "$said" || {
		cat "$said"
		return 1
	}
	rclink del a && rclink del b && rm -f "$said"
}

# The group is down for its port, then because the subnet manager refuses it: events
# tell each reason once, however often the group tries to join.
reason_changes()
{
	local told=/tmp/rclink-test-sa-told status=0 before monitor

	"$tool" monitor -j >$told &
	monitor=$!
	until_true 10 grep -q '"g"' $told || status=1
	echo 1 >"$SIM/sim0/sa"
	echo 0 >"$SIM/sim0/up"
	group_becomes 1 g .state down || status=1
	before=$(<"$SIM/sim0/sa_joins")
	echo 1 >"$SIM/sim0/up"
	until_true 20 group_is 1 g .reason subnet-manager &&
		until_true 20 asks sim0 $((before + 2)) || status=1
	group_is 1 g '.refusal | test("subnet manager refuses it")' true ||
		status=1
	echo 0 >"$SIM/sim0/sa"
	until_true 20 group_is 1 g .state joined || status=1
	until_true 10 says $told 'map(select(.state == "joined")) | length == 1' ||
		status=1
	says $told 'map(select(.state == "down").reason) | unique == sort and
		.[-1] == "subnet-manager"' || status=1
	kill "$monitor"
	wait "$monitor"
	rm -f $told
	return "$status"
}

# says FILE FILTER: FILTER is true of the events in FILE that say g has changed
says()
{
	gojq -se "map(select(.group == \"g\" and .kind == \"changed\")) | $2" "$1"
}

module_goes()
{
	rmmod rclink && members_become 0
}

plan 20
link_setup
sim_load "sim0 ib 2 mtu=1024 sa=1" "sim1 ib 3 sa=1"
check "the subnet manager gives a group its LID" gives_the_lid
check "it lets packets through, and the group has its MTU" lets_through
check "who leaves is no member, when nobody of the port is" is_left
refuse 1 "its LID is not said" "the port's subnet manager says it" \
	rclink group add g dev sim0 mgid "$mgid6" mlid 0xc001
refuse 1 "an IPv4 address is none here, either" 'begins with ff' \
	rclink group add g dev sim0 mgid "$mgid4"
check "questions that are lost are asked again" loses_some
check "who is refused is told so" refuses
check "a limited member joins full members" limited_joins
check "a group of another partition is refused" other_partition
check "and who gets no answer, and nobody else waits for that" is_silent
check "a device is removed meanwhile" removed_meanwhile
check "started again, it is asked again" begins_anew
check "while it is away the group is down, and joined again by itself" is_away
check "down, it says how long a message might be when it was joined" keeps_length
check "another LID of its own, and of the port" moves
check "removal takes it down, and it is joined again" device_goes
check "down for another reason, it says so, and what it is refused for" \
	reason_changes
check "a link to another subnet, which would need a router, is refused" crosses
check "the module goes, and with it the memberships" module_goes
check "the devices go, and with them QP1" sim_unload
finish
