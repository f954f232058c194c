#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Figures, not a test: the kernel memory that an idle link and an idle channel take.
# Memory that is allocated once and kept for reuse is not counted: links and channels
# come and go before the first sample. Figures of the debug kernel would be meaningless.
# hosts: 1
# kernels: 6.12-all 6.1-all
# ib: no, its figures are of rxe
# timeout: 300
# The library sets the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/figure.sh"

samples=5
channels=32

# weigh NAME COMMAND...: report the median of the KiB that COMMAND prints
weigh()
{
	local name=$1 i all=()

	shift
	"$@" >/dev/null || return
	for ((i = 0; i < samples; i++)); do
		all+=("$("$@")") || return
	done
	comment <<<"$name: ${all[*]}"
	figure "$name" "$(printf '%s\n' "${all[@]}" | median)" KiB
}

plan 3
nl_build
chan_build
link_setup
measured "an idle link was weighed" \
	weigh "an idle link, 4 pooled QPs and 64 KiB of buffer" idle_link
holds "a link to this host itself comes up" link_self qps $((channels + 1))
measured "an idle channel was weighed" \
	weigh "an idle channel, at one end, without regions" \
	idle_channel "$channels"
finish
