#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link between InfiniBand ports of two hosts: by LID and, to another subnet, by
# GRH; the LID of the subnet manager or of a port changes; partitions; messages that
# are lost, late, damaged or duplicated.
# hosts: 2
# kernels: 6.12-ib 6.1-ib
# timeout: 300
# The libraries define the variables; eval expands its arguments.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

[ "$RCL_DEV" = sim0 ] || skip_all "needs the lab's InfiniBand ports"
# A host that shares its processor may answer late.
patient=(timeout 17)
sim=/sys/kernel/debug/rdmasim/sim0

# knob HOST NAME VALUE
knob()
{
	on "$1" sh -c "echo '$3' >$sim/$2"
}

moves()
{
	local op

	for op in send write read; do
		rclink ping l --op $op -s 65536 -c 2 -i 0 -q &&
			on 2 "$tool" ping l --op $op -s 4097 -c 2 -i 0 -q ||
			return
	done
	rclink ping l --op cas -c 5 -i 0 -q && on 2 "$tool" ping l --op fadd \
		-c 5 -i 0 -q
}

# port_has HOST FILTER: FILTER is true of the first device of `rclink dev -j`
port_has()
{
	on "$1" "$tool" dev -j | gojq -e ".[0] | $2"
}

other_sm()
{
	knob 1 sm_lid 7 && knob 2 sm_lid 7 && port_has 1 '.sm_lid == 7' &&
		port_has 2 '.sm_lid == 7' && moves && is 1 l .epoch "$1"
}

# The LID that writes go to changes while they are under way.
other_lid()
{
	local far writes

	on 2 "$tool" bench l --listen >/dev/null 2>&1 &
	far=$!
	until_true 10 listens 2 || return
	rclink bench l bw -o write -s 65536 -n 1000000 >"$said" 2>&1 &
	writes=$!
	until_true 20 eval '[ "$(of 1 l .stats.chan_ops)" -gt 50 ]' || return
	knob 2 lid 12 || return
	becomes 2 l .reason gid-changed && becomes 1 l .state down || return
	wait "$writes"
	set -- $?
	kill "$far"
	wait "$far" 2>/dev/null
	[ "$1" -eq 1 ] && grep -q 'retry counter exceeded\|the link failed' \
		"$said" && port_has 2 '.lid == 12'
}

up_again()
{
	until_true 30 link_dial l && is 2 l .state up && moves && return
	rclink why l
	on 2 "$tool" why l
	rclink show l
	on 2 "$tool" show l
	on_all cat $sim/fault
	return 1
}

# Packets have a GRH where the port is virtual (lab_dev), and none elsewhere.
grh_as_needed()
{
	local host qps grh=${RCL_GRH:-0}

	for host in 1 2; do
		qps=$(on $host cat $sim/qps)
		echo "$qps"
		grep -q " grh $grh" <<<"$qps" &&
			! grep -q " grh $((1 - grh))" <<<"$qps" || return
	done
}

# Host 2 is in another subnet for a while, and the link comes up there and back.
by_grh()
{
	local status=0

	rclink disconnect l
	becomes 2 l .state down || return
	knob 2 prefix 0xfec0000000000001 || return
	until_true 10 port_has 2 '.gids[0].gid | startswith("fec0:")' &&
		up_again || status=1
	rclink disconnect l
	becomes 2 l .state down || status=1
	knob 2 prefix 0xfe80000000000000
	until_true 10 port_has 2 '.gids[0].gid | startswith("fe80:")' &&
		up_again && return "$status"
}

# partition PKEY1 PKEY2: sets the P_Keys at index 1 of the ports of host 1 and host 2
partition()
{
	knob 1 pkey "1 $1" && knob 2 pkey "1 $2"
}

partition_refused()
{
	local text=$1

	shift
	partition "$@" && ! link_dial p >"$said" 2>&1 && grep -q "$text" "$said" &&
		rclink why p | grep -q "$text" &&
		on 2 "$tool" why p | grep -q "$text" && is 1 p .state down &&
		empty_but_l
}

# What the refused link had is gone: objects are those of l alone.
empty_but_l()
{
	until_true 10 objects_are "${alone[@]}"
}

partition_taken()
{
	partition "$@" && link_dial p && rclink ping p -c 2 -i 0 -q &&
		rclink disconnect p && becomes 2 p .state down
}

# Neither end is told, and no message arrives any more: the heartbeat finds out.
taken_out()
{
	partition 0x8005 0x8005 && rclink set p heartbeat 300 &&
		on 2 "$tool" set p heartbeat 300 && until_true 30 link_dial p &&
		knob 2 pkey "1 0x8006" || return
	becomes 1 p .state down && becomes 2 p .state down || return
	partition 0x8005 0x8005 && rclink set p heartbeat 30000 &&
		on 2 "$tool" set p heartbeat 30000 && until_true 30 link_dial p &&
		rclink disconnect p
}

# faulty HOST FAULT...: data moves while these faults happen at HOST, all of them
faulty()
{
	local host=$1 fault

	shift
	for fault; do
		knob "$host" fault "$fault" || return
	done
	moves || return
	on "$host" awk '$5 > 0 { bad = 1; print } END { exit bad }' $sim/fault
}

# Who sent it would hear from its heartbeat, which is slow here.
damaged()
{
	local ping

	knob 1 fault "corrupt 1" || return
	rclink ping l -c 1 &
	ping=$!
	becomes 2 l .reason unauthenticated && rclink disconnect l &&
		! wait "$ping"
}

plan 21
link_setup
link_listen l p
check "a link finds its peer by LID" link_pair l "${patient[@]}"
check "host 1's GID is that of its port's number" \
	is 1 l .gid "fe80::200:0:0:1"
check "data moves, of any size" moves
check "with a GRH if the port has to have one, and else without" grh_as_needed
check "another subnet manager changes nothing" other_sm "$(of 1 l .epoch)"
check "another LID ends the epoch, at both ends, under writes" other_lid
check "by the new one it comes up again" up_again
check "to another subnet, and back, it leads by GRH" by_grh
alone=("$(objects 1)" "$(objects 2)")
link_add 1 p pkey-index 1 "${patient[@]}" || bail "no link p"
link_add 2 p pkey-index 1 "${patient[@]}" || bail "no link p on host 2"
check "another partition is refused, and both say so" \
	partition_refused 'another partition' 0x8005 0x8006
check "so are two limited members of one" \
	partition_refused 'limited members' 0x0005 0x0005
check "full members are taken" partition_taken 0x8005 0x8005
check "and one limited member" partition_taken 0x8005 0x0005
check "taken out of the partition, it is missed, and comes back" taken_out
check "messages may be lost" faulty 1 'drop 2 3'
check "and their answers" faulty 2 'lose_ack 2 3'
check "they may be late" faulty 1 'delay 3 2 30'
check "and come twice" faulty 2 'duplicate 1 20'
check "all of that" faulty 1 'drop 5 2' 'lose_ack 3 2' 'duplicate 7 5'
check "a message that was damaged ends the epoch" damaged
check "and it comes up again" up_again
check "nothing is left" eval 'rclink del l && rclink del p &&
	on 2 "$tool" del l && on 2 "$tool" del p && empty 1 && empty 2'
link_listen_end
finish
