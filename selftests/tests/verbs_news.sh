#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The port, the address and the device go away under an endpoint of a process.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# lab: takes ports, addresses and devices away
# ib: no, libibverbs knows no simulated device
# timeout: 400
# The library has the variables.
# shellcheck disable=SC2154,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/link/verbs.sh"

port='the port went down'
address="the port's GID or LID changed"
removed='the RDMA device was removed'
# Where the peer is no longer heard, a heartbeat or a work request may notice it first.
silent='\(the peer fell silent\|retry exceeded: the peer did not acknowledge\)'

# here_ends WHY: the process of this host ends by itself, and says WHY
here_ends()
{
	local i

	for ((i = 0; i < 30 * RCL_SLOW; i++)); do
		kill -0 "$here" 2>/dev/null || break
		sleep 1
	done
	kill -KILL "$here" 2>/dev/null && echo "it did not end"
	wait "$here"
	cat "$out.here"
	grep -q "the link went down: $1" "$out.here"
}

# far_says WHY: the process of host 2 says that one more link went down, and WHY
far_says()
{
	local before=$downs

	downs=$((downs + 1))
	until_true 30 downs_are "$downs" && sed -n 's/^l: down: //p' "$out" |
		tail -n 1 | grep "^$1" && return
	echo "$before links had ended before that:"
	cat "$out"
	return 1
}

downs_are()
{
	[ "$(grep -c '^l: down: ' "$out")" -eq "$1" ]
}

# goes HOST WHY CMD...: CMD on HOST ends the link between the processes; that end gives
# WHY as the reason, the other one that it hears nothing
goes()
{
	local host=$1 why=$2 here_why far_why status

	shift 2
	here_why=$why
	far_why=$silent
	[ "$host" -eq 1 ] || here_why=$silent
	[ "$host" -eq 1 ] || far_why=$why
	keep qps 2 "${beat[@]}" || return
	on "$host" timeout $((20 * RCL_SLOW)) "$@"
	status=$?
	[ "$status" -eq 0 ] || echo "status $status of: $*"
	here_ends "$here_why" && far_says "$far_why" && [ "$status" -eq 0 ]
	status=$((status | $?))
	on "$host" lab_dev && return "$status"
}

# The process of host 2 still listens, now on the device that was made again.
still_listens()
{
	local -a words=("${slow[@]}" "${beat[@]}" qps 2)

	verbs ping l -c 1 -i 0 && far_says 'disconnected by the peer'
}

# kernel_goes WHY CMD...: CMD on host 2 ends a kernel's link because of WHY; the process
# at the other end is told that the epoch is given up
kernel_goes()
{
	local why=$1

	shift
	keep "${beat[@]}" || return
	on 2 "$@" && becomes 2 l .reason "$why" || return
	here_ends 'one end gave this epoch up' && on 2 lab_dev
}

# kernel_hears WHY CMD...: CMD on this host ends a process's link because of WHY; the
# kernel at the other end learns only that the peer is gone
kernel_hears()
{
	local why=$1

	shift
	keep "${beat[@]}" && "$@" && here_ends "$why" || return
	until_true 30 is 2 l .state down && lab_dev &&
		of 2 l .reason | grep -x 'peer-silent\|completion'
}

# No peer connects while the stock pingpong waits.
stock_gives_up()
{
	local status

	far listening "$tool" pingpong --stock || return
	on 2 timeout $((20 * RCL_SLOW)) lab_dev del
	status=$?
	far_end
	[ "$status" -eq 0 ] && grep -q "$removed" "$out" && on 2 lab_dev
}

device=$RCL_DEV
downs=0
plan 11
link_setup
holds "a process listens" far_listens "${beat[@]}" qps 2
holds "the port of who dialled goes down" \
	goes 1 "$port" ip link set eth0 down
holds "the port of who listens goes down" \
	goes 2 "$port" ip link set eth0 down
holds "the address of who dialled goes" goes 1 "$address" lab_dev lost
holds "the device of who dialled is removed, and that ends" \
	goes 1 "$removed" lab_dev del
holds "the device of who listens is removed, and that ends" \
	goes 2 "$removed" lab_dev del
holds "who listens goes on" still_listens
far_kill INT >"$said"

link_add 2 l "${beat[@]}"
link_listen l
holds "the device of a kernel is removed under a link to a process" \
	kernel_goes device-removed lab_dev del
holds "the device of a process is removed under a link to a kernel" \
	kernel_hears "$removed" lab_dev del
holds "the port of a process goes down under a link to a kernel" \
	kernel_hears "$port" ip link set eth0 down
link_listen_end
holds "the device is removed while a stock peer is waited for" stock_gives_up
finish
