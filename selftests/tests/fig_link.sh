#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures, not tests: the points say only that they were measured. A figure of the
# debug kernel would say nothing.
#  - bring-up of a link over a bare TLS 1.3 handshake with the same keys' kind
# hosts: 2
# kernels: 6.1 6.12
# timeout: 400
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/figure.sh"

bench=$LIB_DIR/../build/unit/bench_exchange
rounds=5

bring_up()
{
	local i bare whole bares=() wholes=()

	for ((i = 0; i < rounds; i++)); do
		bares+=("$("$bench" --handshake 5 | awk '{ print $1 / 1000 }')")
		rclink disconnect l 2>/dev/null
		until_true 20 is 2 l .state down
		wholes+=("$(link_dial l | sed -n 's/.*, \([0-9]*\) ms$/\1/p')")
	done
	bare=$(printf '%s\n' "${bares[@]}" | median) &&
		whole=$(printf '%s\n' "${wholes[@]}" | median) || return
	figure "bare TLS 1.3 handshake, both ends here" "$bare" ms
	figure "bring-up, two hosts" "$whole" ms
	figure "bring-up / handshake" "$(ratio "$whole" "$bare")" "" "<= 3"
}

plan 1
link_setup
rclink add l
on 2 "$tool" add l
link_listen l
link_dial l >/dev/null
measured "bring-up was measured" bring_up
link_listen_end
finish
