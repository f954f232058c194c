#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One daemon with links to two hosts, whose QPs have the same numbers: each link
# carries its own data, fails alone, and serves only its own peer.
# hosts: 3
# kernels: 6.1-all 6.12-all debug-all
# timeout: 300
# The libraries set or use the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

out=/tmp/rclink-test-out

# Host 1 dials: link b leads to host 2 and link c to host 3. Each of them calls it a.
begin()
{
	pin3=$(on 3 "$tool" genkey "$key") || return
	{
		link_section b "$pin2" qps 1 peer 192.0.2.2 peer-link a
		link_section c "$pin3" qps 1 peer 192.0.2.3 peer-link a
	} | configure 1
	link_section a "$pin1" qps 1 | configure 2
	link_section a "$pin1" qps 1 | configure 3
	daemon_start 1 2 3 && both_are_up 0 0
}

# are_up HOST NAME EPOCH: link NAME, which is a on HOST, is up with the same epoch at
# both ends, later than EPOCH
are_up()
{
	is_later 1 "$2" "$3" && is "$1" a .state up &&
		is "$1" a .epoch "$(epoch "$2")"
}

# both_are_up EPOCH-OF-B EPOCH-OF-C
both_are_up()
{
	until_true 60 are_up 2 b "$1" && until_true 60 are_up 3 c "$2" && return
	show_daemons
	return 1
}

qpns()
{
	of "$1" a '.local.queue_pairs[].qpn'
}

common()
{
	comm -12 <(qpns 2 | sort) <(qpns 3 | sort) | grep .
}

# rxe numbers QPs by counting up: the link to the host that is behind is made anew until
# some numbers are the same. rdmasim counts up, too, but from a random number.
same_numbers()
{
	local before b c host

	if is_ib; then
		for host in 2 3; do
			on $host sh -c \
				'echo 4711 >/sys/kernel/debug/rdmasim/sim0/next_qpn' ||
				return
		done
		b=$(epoch b)
		c=$(epoch c)
		rclink disconnect b && rclink disconnect c &&
			both_are_up "$b" "$c" || return
	fi
	for _ in {1..20}; do
		common && return
		if [ "$(qpns 2 | head -n 1)" -lt "$(qpns 3 | head -n 1)" ]; then
			before=$(epoch b)
			rclink disconnect b && both_are_up "$before" 0
		else
			before=$(epoch c)
			rclink disconnect c && both_are_up 0 "$before"
		fi || return
	done
	return 1
}

# Both links carry data at the same time, with WRITEs into the peers' link buffers in
# between.
own_data()
{
	local host pids=() pid status=0

	for host in 2 3; do
		head -c 300000 /dev/urandom >"$out-for-$host"
		on $host "$tool" recv a >"$out-at-$host" &
		pids+=($!)
	done
	until_true 20 listens 2 && until_true 20 listens 3 || return
	rclink send b <"$out-for-2" &
	pids+=($!)
	rclink send c <"$out-for-3" &
	pids+=($!)
	for _ in 1 2 3; do
		rclink ping b -q -c 2 -i 0 --op write &&
			rclink ping c -q -c 2 -i 0 --op write || status=1
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	for host in 2 3; do
		cmp "$out-for-$host" "$out-at-$host" || status=1
	done
	return $status
}

fails_alone()
{
	local b c

	b=$(epoch b)
	c=$(epoch c)
	rclink disconnect b && both_are_up "$b" 0 && [ "$(epoch c)" = "$c" ] &&
		is 1 c .state up
}

# Host 3 asks for link b, but is known by its key and gets c, the only link with it.
is_its_peers()
{
	local b c

	b=$(epoch b)
	on 3 "$tool" add x qps 1 && on 3 "$tool" connect x "$RCL_IP" \
		--key "$key" --pin "$pin1" --peer-link b \
		--timeout $((30 * RCL_SLOW)) || return
	c=$(epoch c)
	[ "$(of 3 x .epoch)" = "$c" ] && on 3 "$tool" del x &&
		both_are_up 0 "$c" && [ "$(epoch b)" = "$b" ] &&
		is 1 b .state up
}

plan 6
link_setup
holds "links to two hosts come up" begin
holds "their QPs there have the same numbers" same_numbers
holds "each has its own data" own_data
holds "one is lost and comes back, and the other one stays" fails_alone
holds "who asks for the other's link gets its own" is_its_peers
holds "the daemons end" daemon_end 1 2 3
finish
