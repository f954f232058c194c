#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Requests on channels while their link is rotated: no channel that is being opened is
# torn, regions that the peer exports are found, and posted operations go on if the
# rotation is given up.
# hosts: 2
# kernels: 6.12-all 6.1-all mixed-all
# timeout: 400
# The libraries set the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/figure.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/chan/faults.sh"

# Long heartbeats: one that a busy machine misses must not end the link here.
conf()
{
	link_section l "$1" heartbeat 1000 misses 8 recover resume qps 8 "${@:3}"
}

rotations=5
asked=/tmp/rclink-test-asked	# and the word, and the host's number
askers=()
listeners=()

# listens_on HOST...: each HOST accepts channels of the other host
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

# asks WORD: both hosts run `calls l WORD`, until they are told to end
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

# Checked before the askers are told to end, as one may then be opening a channel.
none_is_torn()
{
	tail -n 3 "$asked"-listen?
	! grep -q torn "$asked"-listen?
}

# asked_well WORD TIMES: each host asked at least so often, and never in vain
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

# ends WORDS: tells the askers of WORDS, which are joined by |, to end
ends()
{
	on_all pkill -TERM -f "^[^ ]*calls l ($1)\$"
}

# The askers of import end last: the exported regions belong to their channels.
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
