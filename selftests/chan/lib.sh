# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Channels over a link between two hosts. Sourced after link/lib.sh.
# shellcheck disable=SC2034,SC2154

CHAN_SRC=$LIB_DIR/chan
CHAN=$LIB_DIR/../build/chan

# Normally it has been done before the guests were booted.
chan_build()
{
	make -s -C "$CHAN_SRC" || bail "the channel programs do not build"
}

# chan_setup: the link l is up
chan_setup()
{
	link_setup
	link_listen l
	link_pair l >"$said" 2>&1 || bail "no link: $(<"$said")"
	link_listen_end
}
