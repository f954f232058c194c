# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For test files whose work is done by the programs of this directory.

. "$LIB_DIR/netlink/harness.sh"
NL_SRC=$LIB_DIR/netlink
NL=$LIB_DIR/../build/netlink
hold_pid=''

# Normally the programs have been built before the guests boot.
nl_build()
{
	programs netlink
}

# nl_file NAME: a whole test file, whose only program is nl_NAME
nl_file()
{
	plan "$(harness_points "$NL_SRC/nl_$1.c")"
	nl_build
	lab_device
	lab_module
	harness "$NL_SRC/nl_$1.c" "$NL/nl_$1"
	finish
}

# hold STATE [PAIRS] [ping | dump]: keeps pairs of links in STATE until `drop`. Not for
# `check`, which would wait until the program closes its stderr.
hold()
{
	local said

	exec 7< <(exec "$NL/hold" "$@")
	hold_pid=$!
	if ! read -r -t $((60 * RCL_SLOW)) said <&7 || [ "$said" != ready ]; then
		drop
		return 1
	fi
}

drop()
{
	[ -n "$hold_pid" ] || return
	kill "$hold_pid" 2>/dev/null
	exec 7<&-
	hold_pid=''
}

# objects: how many RDMA objects the module has on this host; fails where they cannot be
# listed
objects()
{
	local kind all=''

	for kind in pd cq qp mr; do
		all+=$(rdma resource show "$kind")$'\n' || return
	done
	grep -cF '[rclink]' <<<"$all" || true
}
