#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The exchange with real OpenSSL on loopback, under the sanitizers.
# hosts: 0
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/harness.sh"

# Fuzz what a peer sends, starting from the golden messages.
fuzz()
{
	make -s -C "$LIB_DIR/../tools/fuzz" run SECONDS=10
}

# told PROGRAM STATUS: what it has said, and how it ended
told()
{
	cat "$1.said"
	return "$2"
}

cd "$LIB_DIR/unit" || exit 1
out=../../build/unit/exchange-san
sources=(exchange_{codec,path,ident,tls,date,old,cut,peer}.c)
# These wait most of the time, and do that beside the others.
waiting=(exchange_{dial,session,load}.c)
pids=()
plan $((1 + $(harness_points "${sources[@]}" "${waiting[@]}")))
make -s -f exchange.mk all || bail "the unit tests do not build"
for source in "${waiting[@]}"; do
	program=$out/${source%.c}
	"$program" >"$program.said" 2>&1 &
	pids+=($!)
done
for source in "${sources[@]}"; do
	harness "$source" "$out/${source%.c}"
done
for source in "${waiting[@]}"; do
	wait "${pids[0]}"
	harness "$source" told "$out/${source%.c}" $?
	pids=("${pids[@]:1}")
done
check "a fuzzed message is refused, or decoded and encoded alike" fuzz
finish
