#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Twenty links from one host to the other at once.
# hosts: 2
# kernels: 6.1 6.12-all mixed-all debug-all
# timeout: 500
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

number=20
names=()
for ((i = 1; i <= number; i++)); do
	names+=("l$i")
done

each()
{
	local name

	for name in "${names[@]}"; do
		"$@" "$name" || return
	done
}

add_both()
{
	link_add 1 "$1" && link_add 2 "$1"
}

dial_all()
{
	local name status=0 pids=()

	for name in "${names[@]}"; do
		link_dial "$name" --timeout $((120 * RCL_SLOW)) &
		pids+=($!)
	done
	for name in "${pids[@]}"; do
		wait "$name" || status=1
	done
	return $status
}

distinct_qpns()
{
	[ "$(on "$1" "$tool" show -j |
		gojq '[.[].local.queue_pairs[].qpn] | unique | length')" \
		-eq $((number * 5)) ]
}

# pds HOST: how many PDs there are; they protect one link's memory from another's
pds()
{
	objects "$1" pd
}

ping_one()
{
	rclink ping "$1" -c 2 -i 0 -q --op write
}

delete_one()
{
	rclink del "$1" && on 2 "$tool" del "$1"
}

plan 12
link_setup
check "$number links are added" each add_both
link_listen "${names[@]}"
check "$number exchanges at once succeed" dial_all
for host in 1 2; do
	check "host $host: all are up" [ "$(ups $host)" -eq $number ]
	check "host $host: no two QPs are the same" distinct_qpns $host
	check "host $host: each has a PD of its own" [ "$(pds $host)" -eq $number ]
done
check "all carry data" each ping_one
check "one that goes disturbs no other" \
	eval 'rclink disconnect l7 && becomes 2 l7 .state down &&
		[ "$(ups 1)" -eq $((number - 1)) ] && ping_one l8'
check "all are deleted" each delete_one
check "nothing is left" eval 'empty 1 && empty 2'
link_listen_end
finish
