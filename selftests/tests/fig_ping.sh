#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures, not tests: the points say only that they were measured. Round trips of
# 64 bytes are compared with those of perftest, from one host to itself, in turns.
# Figures of the debug kernel would say nothing.
# hosts: 1
# alone: yes
# kernels: 6.1-all 6.12-all
# ib: no, its figures are of rxe, beside perftest
# timeout: 400
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/figure.sh"

# pings OP: median and average in microseconds; gojq starts when the pings are over,
# because it would take a processor from them
pings()
{
	local json

	json=$(rclink ping a --op "$1" -c 500 -i 0 -j)
	gojq -r '"\(.median / 1000) \(.avg / 1000)"' <<<"$json"
}

# perftest prints half a round trip, so a ping with SEND is halved. A ping with WRITE
# is one way and its acknowledgment, and is not.
compare()
{
	local op=$1 peer=$2 half=$3 target=$4 i typical=() average=() mine=() mean=()
	local a b of=

	[ "$half" -eq 1 ] || of='half of a '
	for ((i = 0; i < 3; i++)); do
		read -r a b < <(perftest 64 500 "$peer" | awk '{ print $5, $6 }')
		typical+=("$a")
		average+=("$b")
		read -r a b < <(pings "$op")
		mine+=("$(ratio "$a" "$half")")
		mean+=("$(ratio "$b" "$half")")
	done
	a=$(printf '%s\n' "${mine[@]}" | median) &&
		b=$(printf '%s\n' "${typical[@]}" | median) || return
	figure "$peer, 64 B, typical" "$b" us
	figure "${of}ping $op, 64 B, median" "$a" us
	figure "ping $op / $peer, median over typical" "$(ratio "$a" "$b")" "" \
		"<= $target"
	a=$(printf '%s\n' "${mean[@]}" | median) &&
		b=$(printf '%s\n' "${average[@]}" | median) || return
	figure "ping $op / $peer, average over average" "$(ratio "$a" "$b")" \
		"" "<= $target"
}

# In ib_write_lat two processes poll memory and half a round trip is printed: no
# acknowledgment is measured. With one WRITE in flight at a time, ib_write_bw waits
# for the acknowledgment, as a ping does.
completion()
{
	local i theirs=() mine=() a b

	for ((i = 0; i < 3; i++)); do
		theirs+=("$(perftest 64 500 ib_write_bw -t 1 -Q 1 |
			awk '$5 > 0 { print 1 / $5 }')")
		read -r a b < <(pings write)
		mine+=("$b")
	done
	a=$(printf '%s\n' "${mine[@]}" | median) &&
		b=$(printf '%s\n' "${theirs[@]}" | median) || return
	figure "ib_write_bw, 64 B, one at a time, average" "$b" us
	figure "ping write / ib_write_bw, average, until it completes" \
		"$(ratio "$a" "$b")" "" "<= 1.5"
}

[ "$(nproc)" -ge 2 ] || skip_all "perftest needs two processors in one host"

plan 4
link_setup
holds "a link to this host itself comes up" link_self
measured "SEND was compared" compare send ib_send_lat 2 3
measured "WRITE was compared" compare write ib_write_lat 1 1.5
measured "WRITE and its acknowledgment were compared" completion
finish
