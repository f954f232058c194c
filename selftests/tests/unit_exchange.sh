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

cd "$LIB_DIR/unit" || exit 1
out=../../build/unit/exchange-san
sources=(exchange_{codec,path,ident,dial,tls,date,old,session,load,cut,peer}.c)
plan $((1 + $(harness_points "${sources[@]}")))
make -s -f exchange.mk all || bail "the unit tests do not build"
for source in "${sources[@]}"; do
	harness "$source" "$out/${source%.c}"
done
check "a fuzzed message is refused, or decoded and encoded alike" fuzz
finish
