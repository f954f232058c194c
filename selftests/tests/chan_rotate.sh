#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is asked of channels while their link is rotated: nothing that is opened is
# torn, what a peer exports is found, and what was posted goes on where the rotation
# is given up.
# hosts: 2
# kernels: 6.12 6.1-all mixed-all
# timeout: 400
# The libraries have the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/chan/faults.sh"

# A heartbeat that a busy machine misses is not what this is about.
conf()
{
	link_section l "$1" heartbeat 1000 misses 8 recover resume qps 8 "${@:3}"
}

rotations=5
asked=/tmp/rclink-test-asked	# and the word, and the host's number
askers=()
listeners=()

# listens_on HOST...: for the other one
listens_on()
{
	local host

	for host; do
		on "$host" "$CHAN/calls" l listen >"$asked-listen$host" 2>&1 &
		listeners+=($!)
	done
	for host; do
		until_true 10 grep -q listening "$asked-listen$host" || return
	done
}

# asks WORD: both hosts, until they are told to end
asks()
{
	local host

	for host in 1 2; do
		on "$host" "$CHAN/calls" l "$1" >"$asked-$1$host" 2>&1 &
		askers+=($!)
	done
}

found()
{
	local host

	for host in 1 2; do
		until_true 20 grep -q found "$asked-import$host" || return
	done
}

both_ask()
{
	downs=$(of 1 l .stats.downs)-$(of 2 l .stats.downs)
	listens_on 1 2 && asks import && found && asks fresh && asks open
}

# Who is told to end may be in the middle of opening one.
none_is_torn()
{
	tail -n 3 "$asked"-listen?
	! grep -q torn "$asked"-listen?
}

# asked_well WORD TIMES: so often at least at each host, and not once in vain
asked_well()
{
	local host

	for host in 1 2; do
		comment <"$asked-$1$host"
		figure "$1, host $host" "$(sum "$asked-$1$host" times)" times
		[ "$(sum "$asked-$1$host" times)" -ge "$2" ] || return
		! grep -q 'calls:' "$asked-$1$host" || return
	done
}

# ends WORDS: those that ask for one of these, joined by |
ends()
{
	on_all pkill -TERM -f "^[^ ]*calls l ($1)\$"
}

# What has the regions comes last.
asking_ends()
{
	local asker status=0

	ends 'fresh|open'
	for asker in "${askers[@]:2}"; do
		wait "$asker" || status=1
	done
	ends import
	for asker in "${askers[@]:0:2}"; do
		wait "$asker" || status=1
	done
	kill "${listeners[@]}"
	wait "${listeners[@]}"
	tail "$asked"-*
	return "$status"
}

stayed_up()
{
	[ "$(of 1 l .stats.downs)-$(of 2 l .stats.downs)" = "$downs" ]
}

plan $((11 + $(harness_points "$CHAN_SRC/chan_rotate.c")))
chan_build
link_setup
harness "$CHAN_SRC/chan_rotate.c" "$CHAN/chan_rotate"
holds "the link comes up" begin
holds "both ends open channels and look regions up" both_ask
holds "the end that dials rotates" rotates 1 $rotations
holds "so does the other one" rotates 2 $rotations
holds "no end that was accepted is torn" none_is_torn
holds "all that was asked is answered" asking_ends
measured "channels were opened" asked_well open $rotations
measured "new channels found what old ones export" asked_well fresh $rotations
measured "so did those that went on" asked_well import $rotations
check "the link stayed up" stayed_up
holds "daemons end" daemon_end 1 2
finish
