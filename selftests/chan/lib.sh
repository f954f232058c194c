# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Channels over a link between two hosts. Sourced after link/lib.sh.
# shellcheck disable=SC2034,SC2154

CHAN_SRC=$LIB_DIR/chan
CHAN=$LIB_DIR/../build/chan

# Normally the programs have been built before the guests boot.
chan_build()
{
	programs chan
}

# chan_setup [WORDS]: brings the link l up
chan_setup()
{
	link_setup
	link_listen l
	link_pair l "$@" >"$said" 2>&1 || bail "no link: $(<"$said")"
	link_listen_end
}

# chan_far PROGRAM WORDS...: starts PROGRAM on host 2, waits until it listens; sets far
chan_far()
{
	local says=/tmp/rclink-test-far-$1

	: >"$says"
	on 2 "$CHAN/$1" "${@:2}" >"$says" 2>&1 &
	far=$!
	until_true 10 grep -q listening "$says"
}

# cgroup_made DIR: makes the memory cgroup DIR
cgroup_made()
{
	local top=/sys/fs/cgroup

	[ -e $top/cgroup.procs ] || mount -t cgroup2 none $top || return
	echo +memory >$top/cgroup.subtree_control && mkdir -p "$1"
}

chan_far_end()
{
	kill "$@" 2>/dev/null
	wait "$@" 2>/dev/null
}
