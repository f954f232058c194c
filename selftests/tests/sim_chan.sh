#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On simulated devices, every verbs call in the life of a channel fails once, and so
# does every work request, and every mapping of memory. A kernel module can use masked
# atomics there, if the devices of both ends have them.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, it has simulated devices of its own
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/kapi/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

# says FILE ROW TEXT: in the table FILE, the result in ROW is TEXT
says()
{
	grep -qx "$2	$3" "$1" || { cat "$1"; return 1; }
}

# unequal PEER MASKED PLAIN: links sim0, which has all atomics, to PEER, which lacks
# some; MASKED and PLAIN are what masked and plain atomics are to result in
unequal()
{
	local rows=/tmp/rclink-test-rows

	holds "a link to $1" link_across sim0 "$1"
	check "each operation to $1" eval "$CHAN/table a b >$rows"
	check "masked compare and swap to $1: $2" \
		says $rows "masked compare and swap" "$2"
	check "masked fetch and add to $1: $2" \
		says $rows "masked fetch and add" "$2"
	check "compare and swap to $1: $3" says $rows "compare and swap" "$3"
	check "fetch and add to $1: $3" says $rows "fetch and add" "$3"
	check "a READ to $1 works" says $rows READ works
	rm -f "$rows"
}

all_have_grh()
{
	cat "$SIM/sim0/qps"
	grep -q ' grh 1' "$SIM/sim0/qps" && ! grep -q ' grh 0' "$SIM/sim0/qps"
}

points=$(harness_points "$CHAN_SRC/chan_sim.c")
quirks=$(harness_points "$CHAN_SRC/chan_quirk.c")
plan $((points + quirks + 26))
chan_build
link_setup
sim_load
harness "$CHAN_SRC/chan_sim.c" "$CHAN/chan_sim"
harness "$CHAN_SRC/chan_quirk.c" "$CHAN/chan_quirk"
sim_load "sim0 ib 1"
kapi_load
holds "a link on a device with masked atomics" link_self device sim0
kapi 1 "listen b"
for how in events polled; do
	check "$how: masked atomics of a kernel module" kapi 1 "masked a $how"
done
kapi 1 unlisten
rclink del a
rclink del b
none="Operation not supported"
sim_load "sim0 ib 1" "sim1 ib 2 atomics=1" "sim2 ib 3 atomics=0"
unequal sim1 "$none" works
kapi 1 "listen b"
for how in events polled; do
	refuse 1 "$how: masked atomics that the peer's device has not" '-95' \
		kapi 1 "masked a $how"
	check "$how: the link and its channels go on" kapi 1 "data a $how 7"
done
# Each end has a device of its own, so the fault hits a registration of that end.
echo "dereg_mr 1 1 -5" >"$SIM/sim0/fault"
check "it hears that a registration did not end" kapi 1 "lost a"
check "a region for all links" eval 'kapi 1 "share buffer 1" &&
	kapi 1 "borrow a polled 1 2" && kapi 1 "shared 2"'
# After this, that end has no channel whose registration the next fault could hit.
kapi 1 "unlisten"
echo "dereg_mr 1 1 -5" >"$SIM/sim1/fault"
check "it hears that one of that did not end" kapi 1 unshare_lost
on_all rmmod rclink_test
rclink del a
rclink del b
unequal sim2 "$none" "$none"
rclink del a
rclink del b
# This port is like a virtual InfiniBand port.
sim_load "sim0 ib 1 grh=1"
holds "a link on a port that takes nothing without a GRH" \
	link_self device sim0
check "all its QPs have one" all_have_grh
rclink del a
rclink del b
sim_unload
finish
