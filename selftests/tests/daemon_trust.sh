#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Whom two daemons believe: names certified by a CA, a certificate that is renewed or
# revoked, a CA that is replaced. And too many dials: by both ends at once, by many slow
# callers, by a peer that never stops.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 300
# The libraries have the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/link/ca.sh"
. "$LIB_DIR/daemon/lib.sh"

ca=/tmp/rclink-test-ca
loris=/tmp/rclink-test-loris
both=(m1 m2 m3 m4 m5)
other=()	# links by the first name of either, which all others are not by
callers=200
strangers=12
offer_s=${offer/'\1l'/'\1s'}

# conf_1 [NAME]...: host 1 dials l, those of other and each NAME; both hosts dial those
# of both
conf_1()
{
	local name

	{
		for name in l "${both[@]}" "$@"; do
			link_section "$name" dns:host2.test qps 1 \
				peer "$RCL_PEER_IP"
		done
		for name in "${other[@]}"; do
			link_section "$name" dns:b.test qps 1 peer "$RCL_PEER_IP"
		done
		link_section r dns:host2.test qps 1
	} | configure 1 key /tmp/host1.test.pem ca $ca.pem
}

# conf_2 [KEY VALUE]...: more settings of [Host]
conf_2()
{
	local name

	{
		link_section l dns:host1.test qps 1
		link_section s dns:host1.test qps 1
		for name in "${both[@]}"; do
			link_section "$name" dns:host1.test qps 1 peer "$RCL_IP"
		done
		for name in "${other[@]}"; do
			link_section "$name" dns:a.test qps 1
		done
	} | configure 2 key /tmp/host2.test.pem ca $ca.pem "$@"
}

# Each host is known by the second name of its certificate.
begin()
{
	make_ca $ca && sign $ca host1.test 1 a.test &&
		sign $ca host2.test 1 b.test &&
		sign $ca stranger.test 1 && give $ca.pem &&
		give /tmp/host2.test.pem && conf_1 && conf_2 &&
		daemon_start 1 2 && both_up l "${both[@]}"
}

# calls HOST: its daemon is connected to the other host for each link of both, at least
# to the kernel there
calls()
{
	[ "$(on "$1" ss -Htn state established '( dport = :7185 )' | wc -l)" \
		-ge ${#both[@]} ]
}

# Both daemons dial each link of both at once: each is stopped while the other dials.
meet()
{
	local name before=()

	daemon_signal 2 STOP
	for name in "${both[@]}"; do
		before+=("$(epoch "$name")")
		rclink disconnect "$name" || return
	done
	until_true 10 calls 1 || return
	daemon_signal 1 STOP
	daemon_signal 2 CONT
	until_true 10 calls 2 || return
	daemon_signal 1 CONT
	for name in "${both[@]}"; do
		up_again "$name" "${before[0]}" || return
		before=("${before[@]:1}")
	done
}

# Each link has two QPs, and nothing is left of a dial that was given up.
one_of_each()
{
	local host name met=0

	for name in "${both[@]}"; do
		[ "$(epoch "$name")" = "$(of 2 "$name" .epoch)" ] || return
	done
	for host in 1 2; do
		met=$((met + $(times $host 'both ends dial at once')))
		# A dial that met another one is not logged as refused.
		! grep 'refused .*both ends dial at once' "$said_by$host" &&
			[ "$(qps $host RTS)" -eq $((2 * (1 + ${#both[@]}))) ] &&
			[ "$(on $host rdma resource show qp | grep -cF '[rclink]')" \
			-eq $((2 * (1 + ${#both[@]}))) ] || return
	done
	echo "# $met dials met another one" >&3
	[ "$met" -gt 0 ]
}

# ends NAME PEER: the link is wired to the link NAME of host 2, where its peer is PEER
ends()
{
	is 2 "$1" .peer "$2" &&
		[ "$(of 1 "$1" '.remote.queue_pairs[0].qpn')" = \
			"$(of 2 "$1" '.local.queue_pairs[0].qpn')" ]
}

# By the names in the certificate, a dial may be for l or n: the link that the peer asks
# for decides.
two_names()
{
	local before

	before=$(epoch l)
	other=(n)
	conf_2 && reload 2 && conf_1 && reload 1 || return
	rclink disconnect l
	up_again l "$before" && both_up n && ends l host1.test &&
		ends n a.test || return
	other=()
	conf_1 && reload 1 && conf_2 && reload 2
}

# stays CMD...: l stays up, in the same epoch
stays()
{
	local before

	before=$(epoch l)
	"$@" && [ "$(epoch l)" = "$before" ] && is 1 l .state up
}

renew()
{
	sign $ca "host$1.test" 1 || return
	[ "$1" -eq 1 ] || give "/tmp/host$1.test.pem"
}

uses_renewed()
{
	local before

	before=$(epoch l)
	rclink disconnect l
	up_again l "$before" && said 2 'the keys changed; the new ones answer'
}

# The address and port that host 1 dials from: l is the only link that it dials now.
dials_from()
{
	ss -Htn state established '( dport = :7185 )' | awk '{ print $3 }'
}

# A dial of l waits for host 2, which is stopped, until another dial replaces it.
dials_anew()
{
	local before from status

	forgiven 1 l && before=$(epoch l) || return
	daemon_signal 2 STOP
	rclink disconnect l
	until_true 10 eval '[ "$(dials_from)" ]' && from=$(dials_from) &&
		renew 1 && reload 1 &&
		until_true 5 eval '[ "$(dials_from)" ] &&
			[ "$(dials_from)" != "$from" ]'
	status=$?
	daemon_signal 2 CONT
	up_again l "$before" && return $status
}

# lost TEXT1 TEXT2: l goes down and stays down, and each host logs why
lost()
{
	forgiven 1 l && rclink disconnect l
	if until_true 30 said 1 "l: not up: .*$1" &&
	   until_true 10 said 2 "refused .*$2" && ! is 1 l .state up; then
		return
	fi
	show_daemons
	return 1
}

revoked()
{
	revoke $ca host1.test && give $ca.crl && conf_2 crl $ca.crl && reload 2
}

# The daemon is not told that the file has another list.
revoked_in_place()
{
	local was

	was=$(times 2 'refused .*certificate revoked')
	forgiven 1 l && stays eval 'revoke $ca host1.test && give $ca.crl' ||
		return
	rclink disconnect l
	until_true 30 eval \
		'[ "$(times 2 "refused .*certificate revoked")" -gt "$was" ]' &&
		! is 1 l .state up
}

# revoked_amid BEFORE AFTER: a caller for the link s sends BEFORE, and AFTER once its
# certificate is revoked; it is told why it is not admitted, or not any more
revoked_amid()
{
	local caller heard=/tmp/rclink-test-heard again=/tmp/rclink-test-again status

	renew 1 || return
	rm -f $again
	: >$heard
	# shellcheck disable=SC2059
	{
		printf "$1"
		until_true 30 test -e $again
		printf "$2"
		sleep 5
	} | openssl s_client -quiet -alpn rclink/1 -connect "$RCL_PEER_IP:7185" \
		-cert /tmp/host1.test.pem -key /tmp/host1.test.pem \
		>$heard 2>/dev/null &
	caller=$!
	until_true 10 test -s $heard && { [ -z "$1" ] || until_true 10 has_offer; } &&
		revoke $ca host1.test && give $ca.crl && reload 2 &&
		touch $again &&
		until_true 5 grep -aq 'the keys changed meanwhile' $heard
	status=$?
	kill $caller
	wait $caller
	[ "$status" -eq 0 ] || tail -n 5 "${said_by}2"
	return "$status"
}

# The caller for s was admitted.
has_offer()
{
	is 2 s .state prepared
}

not_revoked()
{
	renew 1 && both_up l
}

# Host 1 does not have the new CA yet.
new_ca()
{
	make_ca $ca-new && cp $ca.pem $ca-old.pem && cp $ca-new.pem $ca.pem &&
		give $ca.pem && cp $ca-old.pem $ca.pem &&
		sign $ca-new host2.test 1 && give /tmp/host2.test.pem &&
		conf_2 && reload 2
}

knows_new_ca()
{
	cp $ca-new.pem $ca.pem && sign $ca-new host1.test 1 && both_up l
}

# took NAME: ms of its last exchange
took()
{
	sed -n "s/.*>$1: up, epoch .*, \([0-9]*\) ms\$/\1/p" "${said_by}1" |
		tail -n 1
}

# The last of the callers are strangers with a certificate; the others never complete a
# TLS handshake.
besieged()
{
	local siege status=0

	sign $ca-new stranger.test 1 || return
	"$LIB_DIR/link/slow.py" "$RCL_PEER_IP" 7185 $callers \
		/tmp/stranger.test.pem $strangers >$loris 2>&1 &
	siege=$!
	until_true 60 grep -q '^open' $loris || status=1
	conf_1 s && reload 1 && both_up s || status=1
	kill $siege
	wait $siege
	echo "# normally $(took l) ms, besieged $(took s) ms; $(head -n 1 $loris)" >&3
	# A slow caller is given 10 s: the exchange of s has waited for none of them.
	[ "$(took s)" -lt $((5000 * RCL_SLOW)) ] && return $status
}

# caller NAME END: until END, host 2 dials the link r of host 1 again and again
caller()
{
	on 2 sh -c '"$0" add "$1" qps 1
		while [ "$(date +%s)" -lt "$2" ]; do
			"$0" connect "$1" "$3" --peer-link r --ca "$4" \
				--name host1.test --key /tmp/host2.test.pem \
				--timeout "$5"
			"$0" disconnect "$1"
		done 2>&1; "$0" del "$1"' \
		"$tool" "$1" "$2" "$RCL_IP" $ca.pem "$RCL_SLOW"
}

greedy()
{
	local i seconds=$((5 * RCL_SLOW)) begin=$SECONDS end pids=() admitted refused

	end=$(($(on 2 date +%s) + seconds))
	for i in 1 2 3 4; do
		caller "x$i" "$end" >"/tmp/greedy$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	seconds=$((SECONDS - begin))
	admitted=$(times 1 '>r: up\|>r: not up')
	refused=$(times 1 'too many exchanges for link r')
	echo "# $admitted exchanges in $seconds s, and $refused callers refused" >&3
	# Three at once, and then one a second; the last second may have just begun.
	[ "$refused" -gt 0 ] && [ "$admitted" -gt 0 ] &&
		[ "$admitted" -le $((3 + seconds + 1)) ] &&
		grep -q 'try again in a second' /tmp/greedy*
}

plan 21
exec 3>&1
link_setup
holds "with a CA, links come up by names" begin
holds "both dial at once, and all links come up" meet
holds "those dials met: one link each, no QP too many" one_of_each
holds "two links by two names of one certificate, each with its own end" two_names
holds "a certificate is renewed, and the link stays" stays renew 2
holds "the next exchange has the new one" uses_renewed
holds "a certificate is renewed amid a dial, which begins again" dials_anew
holds "what is revoked is, and the link stays" stays revoked
holds "the next exchange is refused with the reason" lost \
	"this host's certificate is revoked" 'certificate revoked'
holds "with a new certificate it is believed again" not_revoked
holds "a list that is replaced in its place is read" revoked_in_place
holds "and a certificate that is in none is believed" not_revoked
holds "revoked between handshake and OFFER, it is refused" \
	revoked_amid '' "$offer_s"
holds "revoked when it was admitted, it has to go" revoked_amid "$offer_s" ''
holds "and is believed with a new one" not_revoked
holds "a CA is replaced at one end, and the link stays" stays new_ca
holds "the next exchange is refused, with the reason at both ends" lost \
	'not accepted: .*check it against the CA' 'the peer refused the connection'
holds "with the new CA at both ends it comes up" knows_new_ca
holds "$callers slow callers keep no peer waiting" besieged
holds "a peer that never stops gets one exchange a second" greedy
holds "the daemons end" daemon_end 1 2
finish
