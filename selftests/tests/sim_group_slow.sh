#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A subnet manager that does not answer holds up the daemon's groups on its ports, but
# no link, nor the daemon itself; the groups are there when it answers.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 300
# The libraries set the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/group/lib.sh"

groups=(g h i)
self=''

# conf_with NAME...: configure the link a, which leads to b of this host, and the groups
conf_with()
{
	local name i=0

	{
		link_section a "$pin1" loopback 1 peer 127.0.0.1:7186 peer-link b
		for name; do
			group_section "$name" dev sim0 mgid "ff15::$((++i))"
		done
	} | configure 1
}

# listens_for_b: start the listener that answers when the link a is dialled
listens_for_b()
{
	: >"$log"
	"$tool" listen --port 7186 --key "$key" --peer "b=$pin1" >"$log" 2>&1 &
	self=$!
	until_true 10 grep -q listening "$log"
}

# If the link had to wait for the groups, it would be 10 s for each of them.
link_is_quick()
{
	rclink add b loopback 1 && listens_for_b && conf_with "${groups[@]}" &&
		daemon_start 1 && until_true 9 is 1 a .state up && return
	show_daemons
	return 1
}

still_asked_for()
{
	! said 1 'subnet manager' && rclink group -j | gojq -e 'length == 0'
}

# Other work of the daemon, such as reading its configuration, does not wait, either.
reads_again()
{
	local begin=$SECONDS

	conf_with "${groups[@]}" && reload 1 &&
		[ $((SECONDS - begin)) -le $((5 * RCL_SLOW)) ]
}

refused()
{
	local name

	for name in "${groups[@]}"; do
		until_true 20 said 1 "Group $name.: .*subnet manager does not answer" ||
			return
	done
	is 1 a .stats.downs 0
}

answers()
{
	local name

	echo 0 >"$SIM/sim0/sa"
	for name in "${groups[@]}"; do
		until_true 60 group_is 1 "$name" .state joined || return
	done
}

# one_less: deleting a group does not wait until another one is added
one_less()
{
	echo 2 >"$SIM/sim0/sa"
	conf_with g h j && reload 1 &&
		until_true 5 eval '! rclink group show i >/dev/null' &&
		group_is 1 g .state joined
}

# The daemon waits for the request that is under way.
ends()
{
	daemon_end 1 && is 1 a .state up && group_is 1 h .state joined
}

plan 7
link_setup
sim_load "sim0 ib 1 sa=1"
echo 2 >"$SIM/sim0/sa"
holds "a link comes up while nobody answers for the groups" link_is_quick
check "they are asked for meanwhile" still_asked_for
holds "and the configuration is read again" reads_again
holds "each of them is told why it is not there" refused
check "they are there when the subnet manager answers" answers
holds "one that is no longer configured is deleted, another one waits" one_less
holds "the daemon ends, and groups stay" ends
kill "$self"
wait "$self"
rclink del a
rclink del b
for name in g h; do
	rclink group del "$name"
done
sim_unload
finish
