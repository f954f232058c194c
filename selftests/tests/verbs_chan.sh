#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each operation of a channel with the libibverbs endpoint of a process at one end or at
# both, checked at both ends; and what a peer may do wrong.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# ib: no, libibverbs knows no simulated device
# timeout: 300
# The libraries set the variables; gojq expands those of its filters.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/link/verbs.sh"
. "$LIB_DIR/chan/lib.sh"

mirror_says=/tmp/rclink-test-far-mirror

# sizes [OPTIONS]: do all operations; print the size and the result of each
sizes()
{
	verbs echo l -j "$@" >"$out.json" || return
	gojq -r '.[] | [.op, .size, .error // "works"] | join(" ")' "$out.json"
}

all_work()
{
	diff - <(sizes -s "$1") <<-END
		send $1 works
		send-imm $1 works
		write $1 works
		write-imm $1 works
		read $1 works
		cas 8 works
		fadd 8 works
		send-inv $1 works
	END
}

process_process()
{
	verbs echo l >"$out.text" && cat "$out.text" &&
		[ "$(grep -c ': as it must be$' "$out.text")" -eq 8 ] &&
		all_work 1 && all_work 65536
}

# The output of table.c with libibverbs at the other end.
others_work()
{
	diff - "$1" <<-END
		SEND	works
		SEND with immediate	works
		SEND with invalidate	works
		WRITE	works
		WRITE with immediate	works
		READ	works
		compare and swap	works
		fetch and add	works
		masked compare and swap	Operation not supported
		masked fetch and add	Operation not supported
	END
}

# More channels than the pool has QPs, two at a time: each has memory of its own.
module_process()
{
	local i

	for i in 1 2 3; do
		"$CHAN/table" --echo m >"$out.table.too" &
		"$CHAN/table" --echo m >"$out.table" && wait $! &&
			others_work "$out.table" &&
			others_work "$out.table.too" || return
	done
}

# The service echo sends back what example.c sends; pingpong is another service.
two_services()
{
	[ "$("$LIB_DIR/../tools/librclink/example" m echo 'to and fro')" = \
		'to and fro' ] && rclink pingpong m -n 10 -s 700 -c
}

# mirror WORD: start the process over the module on host 2, which behaves as WORD says
mirror()
{
	[ -z "$far" ] || chan_far_end "$far"
	chan_far mirror l "$@"
}

# The process over the module has printed this, for one channel after the other.
module_saw()
{
	until_true 10 seen "$1" && return
	cat "$mirror_says"
	return 1
}

seen()
{
	[ "$(tail -n +2 "$mirror_says")" = "$1" ]
}

all_seen='came: 5000 bytes, 5000 of them here
memory: 0 bytes changed
came: 5000 bytes, 5000 of them here, immediate 0x72636c65
memory: 0 bytes changed
memory: 5000 bytes changed
came: 5000 bytes, 0 of them here, immediate 0x72636c65
memory: 5000 bytes changed
memory: 0 bytes changed
memory: 8 bytes changed
memory: 8 bytes changed
came: 5000 bytes, 5000 of them here, ends echo.once
memory: 0 bytes changed'

process_module()
{
	mirror && all_work 5000 && module_saw "$all_seen"
}

echoes()
{
	verbs echo l -o "$@"
}

# refuses WORD TEXT OP [OPTIONS]: the peer behaves as WORD says, and OP fails with TEXT
refuses()
{
	local text=$2

	mirror "$1" || {
		fail "${*:3}: $text: nobody listens"
		return
	}
	shift 2
	refuse 1 "${*}: $text" "$text" echoes "$@"
}

# The first answer to each import is that the region is not registered yet.
shared()
{
	mirror share && echoes write && echoes read && module_saw \
		'memory: 4096 bytes changed
memory: 0 bytes changed'
}

# The process that dialled answers, too.
dialler_answers()
{
	keep "${calm[@]}" && on 2 "$CHAN/table" --echo l >"$out.table" &&
		others_work "$out.table" || return
	kill -INT "$here"
	wait "$here"
}

# The link goes on after operations that failed, and there is a line for each of them.
goes_on()
{
	local said status

	mirror read || return
	said=$(verbs echo l -s 100 -j 2>"$out.failed")
	status=$?
	cat "$out.failed"
	[ "$status" -eq 1 ] &&
		gojq -r '.[] | select(.error == null).op' <<<"$said" |
		diff - <(printf '%s\n' send send-imm read) &&
		gojq -r '.[] | select(.error).op' <<<"$said" |
		diff - <(sed 's/^rclink: echo l: \([a-z-]*\): .*/\1/' "$out.failed")
}

# The kernel holds no QPs or MRs for processes on either host.
no_objects()
{
	local all

	all=$(on_all sh -c 'rdma resource show qp && rdma resource show mr') &&
		! grep -w 'comm rclink' <<<"$all"
}

device=$RCL_DEV
far=''
plan 24
chan_build
link_setup

holds "a process listens" far_listens "${beat[@]}" qps 2
check "process and process: all operations" process_process
holds "a kernel dials a process" eval \
	'link_add 1 m qps 2 "${beat[@]}" && link_dial m'
check "a process over the module: all operations" module_process
check "the other services are there as well" two_services
rclink del m
far_kill INT

words=("${slow[@]}" "${calm[@]}")
link_add 2 l "${beat[@]}"
link_listen l
refuse 1 "nobody listens" 'nobody listens' echoes send
holds "all operations with a process over the module" process_module
refuses none 'shows no memory that is called echo' write
refuses none 'shows no memory that is called echo.once' send-inv
refuses small 'only 16 bytes' read -s 17
check "16 bytes can be written" echoes write -s 16
check "no more are" module_saw 'memory: 0 bytes changed
memory: 16 bytes changed'
refuses read 'is not shown for that' write
refuses read 'atomics need devices that have them' cas
refuses read 'no memory that is called echo.once' send-inv
check "none of that was done" module_saw 'memory: 0 bytes changed'
holds "memory for all links is asked for until it is registered" shared
refuses share 'no memory that is called echo.once' send-inv
refuses withdraw 'remote access error' write-imm
refuses mute 'no answer for 20 s' send
refuse 2 "masked atomics" 'libibverbs has no masked atomics' echoes mcas
holds "what fails on a link does not end it" goes_on
holds "a process that dialled answers" dialler_answers
chan_far_end "$far"
link_listen_end
check "no process has left anything" no_objects
finish
