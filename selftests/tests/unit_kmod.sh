#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The pure files of kmod/, compiled unchanged for userspace, with the sanitizers.
# hosts: 0
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"

cd "$LIB_DIR/unit" || exit 1
out=../../build/unit
plan $((1 + $(harness_points kmod_*.c)))
make -s -f kmod.mk all fuzz || bail "the unit tests do not build"
for source in kmod_*.c; do
	harness "$source" "$out/${source%.c}"
done
check "a fuzzed control message is decoded or refused" \
	"$out/fuzz_msg" -runs=500000 -max_len=500 -seed=1
finish
