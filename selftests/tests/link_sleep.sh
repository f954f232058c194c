#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A host is about to sleep or to hibernate, and wakes again. Its links end before, and
# their peers are told; with daemons the links come up again, and channels go on; its
# groups get other keys. The kernel tries to sleep until the last device refuses.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 400
# The libraries set the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/group/lib.sh"
. "$LIB_DIR/chan/faults.sh"
. "$LIB_DIR/rdmasim/lib.sh"

[ -e /sys/power/pm_test ] || skip_all "needs a kernel that can try to sleep"
[ -z "${RCLINK_DEV:-}" ] || skip_all "has all processes of a host stand still"

cuts=0

# A link stays up while processes are frozen: until then the kernel may wait for what
# is still to be written to a disk at the other end.
stands_still()
{
	local epoch status

	epoch=$(of 1 l .epoch)
	on 1 sh -c 'echo freezer >/sys/power/pm_test &&
		echo 1 >/sys/module/suspend/parameters/pm_test_delay &&
		echo freeze >/sys/power/state'
	status=$?
	on 1 sh -c 'echo none >/sys/power/pm_test'
	[ $status -eq 0 ] && is 1 l .state up && is 1 l .epoch "$epoch"
}

# sleeps HOST freeze|disk
sleeps()
{
	local status

	on "$1" sh -c "echo 1 >$SIM/sleepless &&
		! echo $2 2>/dev/null >/sys/power/state"
	status=$?
	on "$1" sh -c "echo 0 >$SIM/sleepless"
	return $status
}

says_why()
{
	is 1 l .state down && is 1 l .reason sleep &&
		tells 1 'it went down: this host was about to sleep' \
			'Most likely: this host was suspended' &&
		becomes 2 l .state down && is 2 l .reason replaced &&
		tells 2 'was about to sleep'
}

# This host keeps the key of group k, host 2 that of group m.
groups()
{
	rclink group add k "${group_at[@]}" link l &&
		on 2 "$tool" group add k "${group_at[@]}" from l &&
		on 2 "$tool" group add m "${other_at[@]}" link l &&
		rclink group add m "${other_at[@]}" from l &&
		until_true 60 meet k && until_true 60 meet m
}

# heard HOST GROUP SENDER: HOST heard SENDER lately, under the present key
heard()
{
	group_of "$1" "$2" ".peers[] | select(.sender == $3 and .age_ms < 5000)"
}

# meet GROUP: both hosts have the same key of GROUP, and hear each other
meet()
{
	local id near far

	id=$(group_of 1 "$1" .key_id) && group_is 2 "$1" .key_id "$id" &&
		near=$(group_of 1 "$1" .sender) &&
		far=$(group_of 2 "$1" .sender) &&
		heard 1 "$1" "$far" && heard 2 "$1" "$near"
}

# used HOST GROUP: print the key and the sender that HOST's counter belongs to
used()
{
	group_of "$1" "$2" '"\(.key_id) \(.sender)"'
}

# other HOST GROUP USED
other()
{
	meet "$2" && [ "$(used "$1" "$2")" != "$3" ]
}

# outlives HOST STATE: HOST is about to enter STATE; then its groups have other keys,
# and the traffic on channels goes on
outlives()
{
	local host=$1 k m

	k=$(used "$host" k) && m=$(used "$host" m) &&
		recovers sleeps "$host" "$2" || return
	cuts=$((cuts + 1))
	if until_true 60 other "$host" k "$k" &&
	   until_true 60 other "$host" m "$m" && goes_on; then
		return
	fi
	on_all "$tool" group
	show_daemons
	return 1
}

resumed()
{
	[ "$(of 1 l .stats.chan_resumes)" -ge $((cuts * channels)) ] &&
		[ "$(of 1 l .stats.chan_suspended)" = 0 ]
}

plan 16
link_setup
on_all "$LIB_DIR/rdmasim/load" || bail "no device that refuses"
link_listen l
# Without a heartbeat, the peer can learn of the end only from this host.
check "the link comes up" link_pair l heartbeat 0
check "it stays up while processes stand still" stands_still
check "this host sleeps" sleeps 1 freeze
check "both ends were told why the link is down" says_why
check "and nothing is left of it" eval 'empty 1 && empty 2'
check "it comes up again" link_dial l
link_listen_end
rclink del l
on 2 "$tool" del l
holds "the daemons' comes up" begin
check "two groups have their keys by it" groups
holds "channels carry data both ways" chaos_begin 300
holds "a host that dials slept" outlives 1 freeze
if grep -qw disk /sys/power/state; then
	holds "and one that hibernated" outlives 1 disk
else
	skip "and one that hibernated: the kernel cannot"
fi
holds "and one that answers" outlives 2 freeze
holds "each message arrived once, in order, and whole" chaos_end
check "what one end sent the other one got" adds_up
check "channels went on" resumed
holds "daemons end" daemon_end 1 2
[ "$RCL_DEV" = sim0 ] || on_all rmmod rdmasim
finish
