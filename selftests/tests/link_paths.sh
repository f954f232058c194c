#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which path an exchange takes when there are several, and what becomes of the others.
# hosts: 2
# kernels: 6.1-all 6.12-all mixed-all debug-all
# ib: no, one port has one GID there, so one path
# timeout: 380
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"

here6=2001:db8::1
there6=2001:db8::2

# goes_over ADDRESS1 ADDRESS2: the link is up with these GIDs at its ends, and carries
# data
goes_over()
{
	is 1 l .state up && is 1 l .gid "$1" && is 2 l .gid "$2" &&
		is 2 l .mtu "$(of 1 l .mtu)" && is 2 l .epoch "$(of 1 l .epoch)" &&
		rclink ping l -c 2 -i 0 -q
}

ends()
{
	rclink disconnect l && becomes 2 l .state down
}

# Both ends offer an IPv4, an IPv6 and a link-local GID.
# usable HOST NUMBER: HOST has at least NUMBER GIDs; its port may have been down
usable()
{
	[ "$(on "$1" "$tool" dev -j |
		gojq '[.[].gids[] | select(.type == "roce-v2")] | length')" -ge "$2" ]
}

first_one()
{
	local said

	said=$(link_dial l -v) || return
	echo "$said"
	grep -q 'PATHS .*: 3 to try' <<<"$said" &&
		! grep -q FAILED <<<"$said" &&
		goes_over "::ffff:$RCL_IP" "::ffff:$RCL_PEER_IP" && ends
}

black_hole()
{
	local said

	no_roce 2 ip && said=$(link_dial l -v) || return
	echo "$said"
	grep -q "FAILED .*path 1 of 3, from $RCL_IP (rxe0 port 1)" <<<"$said" &&
		goes_over $here6 $there6
}

# Either end may notice first, but both know why the path failed.
both_tell()
{
	tells 1 "path 1 of 3, from $RCL_IP (rxe0 port 1) to the peer's $RCL_PEER_IP (rxe0 port 1), failed: .*\(retry exceeded\|timed out\)" \
		'agreed with the peer' 'l is up' &&
		tells 2 "path 1 of 3, from $RCL_PEER_IP (rxe0 port 1) to the peer's $RCL_IP (rxe0 port 1), failed: .*\(retry exceeded\|timed out\)" \
			'l is up' && ! tells 1 'path 2 of' >/dev/null
}

# The module does not find the neighbour, and refuses to connect.
no_neighbour()
{
	rdma_hears 2
	on 2 tc qdisc add dev eth0 clsact &&
		on 2 tc filter add dev eth0 ingress protocol arp matchall \
			action drop && ip neigh flush dev eth0 &&
		rclink connect l "$there6" --key "$key" --pin "$pin2" &&
		goes_over $here6 $there6 &&
		tells 1 "path 1 of 3, from $RCL_IP .*failed: no route to the peer.s GID" &&
		tells 2 "path 1 of 3, .* failed: peer: no route to the peer.s GID" &&
		ends
}

# timers HERE THERE: how long until a path fails, at each end, from the next epoch on
timers()
{
	rclink set l timeout "$1" && on 2 "$tool" set l timeout "$2"
}

# has_ended DIALLER: it failed, the link is not up, and nothing is left at either end
has_ended()
{
	local status

	wait "$1"
	status=$?
	cat /tmp/rclink-test-dial
	[ "$status" -eq 1 ] && ! is 1 l .state up && empty 1 && empty 2
}

# was_disconnected DIALLER: it ended because the link was disconnected
was_disconnected()
{
	has_ended "$1" && grep -q 'the link was disconnected' /tmp/rclink-test-dial
}

# begins [OPTION]: an exchange tries the first path, which does not work; sets dialler
begins()
{
	link_dial l -v "$@" >/tmp/rclink-test-dial 2>&1 &
	dialler=$!
	until_true 10 grep -q ACTIVATED /tmp/rclink-test-dial
}

# A link that is disconnected is not tried over the two other paths, either.
stays_disconnected()
{
	local dialler

	rdma_hears 2
	no_roce 2 ip && timers 18 18 && begins && rclink disconnect l
	was_disconnected "$dialler"
}

# The dialler is stopped until the peer has found that the path fails and this end is
# disconnected, so that it learns of both at once.
nor_between_paths()
{
	local dialler

	timers 19 17 && begins || return
	pkill -STOP -x rclink
	until_true 20 is 2 l .state down && rclink disconnect l
	pkill -CONT -x rclink
	was_disconnected "$dialler"
}

# A second disconnect has nothing to change and is refused.
is_refused()
{
	! text=$(rclink disconnect l 2>&1) && grep -q 'nothing to end' <<<"$text"
}

# This end has given up its path and waits until the peer does so, too, before it tries
# the next one: the link is down.
nor_while_down()
{
	local dialler status

	timers 17 19 && begins || return
	on 2 pkill -STOP -x rclink
	until_true 20 grep -q FAILED /tmp/rclink-test-dial && is 1 l .state down &&
		! is 1 l .reason disconnected >/dev/null && rclink disconnect l &&
		is 1 l .reason disconnected && is_refused &&
		tells 1 'it went down: ' \
			'while it was down: disconnected on this host'
	status=$?
	on 2 pkill -CONT -x rclink
	was_disconnected "$dialler" && return "$status"
}

# The link is disconnected at the end that listens, which has given up its path.
nor_by_the_other_end()
{
	local dialler status

	timers 19 17 && begins || return
	pkill -STOP -x rclink
	until_true 20 is 2 l .state down && on 2 "$tool" disconnect l &&
		is 2 l .reason disconnected &&
		until_true 10 grep -q 'the link was disconnected' "$log"
	status=$?
	pkill -CONT -x rclink
	has_ended "$dialler" && timers 17 17 && return "$status"
}

# The first path of a replacement has failed; the old epoch is up over IPv6.
nor_while_rotated()
{
	local dialler status

	timers 17 17 && link_dial l || return
	begins --rotate || return
	on 2 pkill -STOP -x rclink
	until_true 20 grep -q FAILED /tmp/rclink-test-dial && is 1 l .state up &&
		rclink disconnect l && becomes 2 l .state down
	status=$?
	on 2 pkill -CONT -x rclink
	was_disconnected "$dialler" && timers 17 17 && return "$status"
}

# An end offers only the GID that an operator has set.
one_in_common()
{
	local said status

	rdma_hears 2
	on 2 "$tool" set l gid-index "$(gid_index 2 $there6)" &&
		said=$(link_dial l -v) && grep -q 'PATHS .*: 1 to try' <<<"$said" &&
		goes_over $here6 $there6 && ends
	status=$?
	echo "$said"
	on 2 "$tool" set l gid-index auto
	return $status
}

none_in_common()
{
	local said status

	rclink set l gid-index "$(gid_index 1 "::ffff:$RCL_IP")" &&
		on 2 "$tool" set l gid-index "$(gid_index 2 $there6)" || return
	! said=$(link_dial l 2>&1) && grep -q \
		"no path in common.*$there6 (rxe0 port 1).*$RCL_IP (rxe0 port 1)" \
		<<<"$said" && tells 1 'Tried last, at .*no path in common'
	status=$?
	echo "$said"
	on 2 "$tool" set l gid-index auto
	return $status
}

# The GID of host 1 is still set by none_in_common, so there is no second path.
only_one_and_bad()
{
	local said status

	no_roce 2 ip || return
	! said=$(link_dial l 2>&1) &&
		! grep -q '2001:\|no path to the peer' <<<"$said" &&
		tells 1 'path 1 of 1, from'
	status=$?
	echo "$said"
	rclink set l gid-index auto
	return $status
}

# Each end prints one line, with every path and why it failed.
none_works()
{
	local said

	no_roce 2 ip ipv6 || return
	! said=$(link_dial l 2>&1) || return
	echo "$said"
	# The listener learns of the last failure after the dialler has printed it.
	until_true 10 grep -q 'no path to the peer works' "$log"
	[ "$(wc -l <<<"$said")" -eq 1 ] && grep -q \
		"no path to the peer works: $RCL_IP to $RCL_PEER_IP: .*; $here6 to $there6: .*; fe80:[^ ]* to fe80:[^ ]*: " \
		<<<"$said" &&
		tells 1 'path 3 of 3, .*failed' 'Tried last, at .*no path to the peer works' &&
		empty 1 && empty 2 &&
		[ "$(grep -c 'no path to the peer works' "$log")" -eq 1 ]
}

# The opposite of none_works: hellos reach the peer, but its own do not get here.
none_comes_back()
{
	local epochs said status

	rdma_hears 2
	epochs=$(of 2 l .stats.epochs)
	no_roce 1 ip ipv6 && ! said=$(link_dial l 2>&1) &&
		grep -q 'no path to the peer works' <<<"$said" && empty 1 &&
		empty 2 && is 2 l .stats.epochs "$epochs"
	status=$?
	echo "$said"
	rdma_hears 1
	no_roce 2 ip ipv6
	return $status
}

large='packets of 1024 bytes do not come through'

# noticed HOST: prints how long HOST was connected before it gave up the path
noticed()
{
	local after

	after=$(on "$1" "$tool" why l |
		sed -n 's/.*it went down: .*, after \([^ ]* m\?s\) connected.*/\1/p' |
		tail -n 1)
	figure "large packets that are lost, noticed by host $1 after" \
		"${after:-?}" "" "<= 1 s"
	[ -n "$after" ]
}

# A host may stand still for half a second, and the link then fails for another reason:
# try again.
large_are_lost()
{
	local said

	for _ in 1 2 3; do
		! said=$(link_dial l 2>&1) || return
		echo "$said"
		! grep -q "$large: lower mtu" <<<"$said" || return 0
	done
	return 1
}

# Hellos get through, large packets do not.
only_one_and_small()
{
	rdma_hears 2
	timers 14 14 && no_large 2 &&
		rclink set l gid-index "$(gid_index 1 "::ffff:$RCL_IP")" || return
	large_are_lost && is 1 l .state down &&
		is 1 l .reason mtu &&
		tells 1 "it went down: $large" "path 1 of 1, .*failed: .*$large" &&
		tells 2 "path 1 of 1, .*failed: peer: .*$large" &&
		noticed 1 && noticed 2 && empty 1 && empty 2
}

# Host 2 still loses large packets.
small_enough()
{
	local status

	timers 17 17 && rclink set l mtu 512 && link_dial l && is 1 l .mtu 512 &&
		goes_over "::ffff:$RCL_IP" "::ffff:$RCL_PEER_IP" && ends
	status=$?
	rclink set l mtu auto gid-index auto
	return $status
}

# Now host 1 loses large packets, over IPv4 only.
larger_elsewhere()
{
	local said

	rdma_hears 2
	no_large 1 && said=$(link_dial l -v) || return
	echo "$said"
	goes_over $here6 $there6 && is 1 l .mtu 1024 &&
		tells 1 "path 1 of 3, .*failed: peer: .*$large" &&
		tells 2 "path 1 of 3, .*failed: .*$large" && ends
}

# One exchange rotates the link over the second path. When the first one fails, host 1,
# which large packets do not reach, has already answered the hello.
second_elsewhere()
{
	local downs epoch said

	link_dial l && downs=$(of 1 l .stats.downs) && epoch=$(of 1 l .epoch) &&
		said=$(link_dial l -v --rotate) || return
	echo "$said"
	grep -q 'FAILED .*path 1 of 3' <<<"$said" &&
		[ "$(grep -c PATHS <<<"$said")" -eq 1 ] &&
		[ "$(of 1 l .epoch)" -gt "$epoch" ] && is 1 l .stats.downs "$downs" &&
		goes_over $here6 $there6 && ends
}

[ -z "${RCLINK_DEV:-}" ] || skip_all "needs the addresses of the lab"
plan 20
link_setup
on 1 ip address replace "$here6/64" dev eth0 nodad
on 2 ip address replace "$there6/64" dev eth0 nodad
until_true 20 usable 1 3 || bail "host 1 has no three GIDs"
until_true 20 usable 2 3 || bail "host 2 has no three GIDs"
check "links are added on both hosts" eval 'link_add 1 l && link_add 2 l'
link_listen l
check "the best path is the first that is tried" first_one
check "with RoCE over IPv4 lost the link comes up over IPv6" black_hole
check "both ends tell which path failed, and why" both_tell
check "it ends as any other" ends
check "a path without a neighbour is followed by the next one" no_neighbour
check "a link that is disconnected meanwhile is not tried on" \
	stays_disconnected
check "nor is one whose path fails at the same time" nor_between_paths
check "nor is one that is down, between two paths" nor_while_down
check "nor where the end that answers says so" nor_by_the_other_end
check "nor one of which another epoch is between them" nor_while_rotated
check "what one end has set is the only path" one_in_common
check "two ends that set different kinds are told what both have" none_in_common
check "a GID that is set and does not work is not replaced" only_one_and_bad
check "when none works one sentence has all, and nothing is left" none_works
check "nor is the peer up where only it hears a hello" none_comes_back
measured "where only small packets come through the link goes down, and tells" \
	only_one_and_small
check "it comes up with an mtu that they have" small_enough
check "it comes up over another path that takes large ones" larger_elsewhere
check "so does another epoch of it, while it is up" second_elsewhere
rdma_hears 1
link_listen_end
finish
