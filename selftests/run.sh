#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run test files one after the other, as kselftest's runner does.
#
# usage: run.sh NAME...
#
# A file's header may say `# timeout: SECONDS`, 120 if not; on a slow kernel, the limit
# is RCL_SLOW times as long. With RCL_SOAK set, `# soak: SECONDS VARIABLE=NUMBER...`
# replaces it. At the end, dev_gone.sh runs in guests, and kmemleak.sh on the debug
# kernel.

set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=selftests/slow.sh
. ./slow.sh

# Once here, not in each file: lib.sh needs kselftest's helpers.
[ -e ../../kselftest/ktap_helpers.sh ] || export KSRC="${KSRC:-$(vm/source)}"
[ -z "${RCL_CONTROL:-}" ] || set -- "$@" dev_gone
[ ! -e /sys/kernel/debug/kmemleak ] || set -- "$@" kmemleak
n=0
failed=0

echo "TAP version 13"
echo "1..$#"
for name in "$@"; do
	file=tests/$name.sh
	limit=$(sed -n 's/^# timeout: *//p' "$file")
	soak=$(sed -n 's/^# soak: *//p' "$file")
	read -ra numbers <<<"${RCL_SOAK:+$soak}"
	limit=${numbers[0]:-$limit}
	limit=$((${limit:-120} * RCL_SLOW))
	n=$((n + 1))
	start=$SECONDS
	echo "# selftests: rclink: $name"
	timeout -k $((20 * RCL_SLOW)) "$limit" env "${numbers[@]:1}" "$file" 2>&1 | sed -u 's/^/# /'
	status=${PIPESTATUS[0]}
	took="$((SECONDS - start)) s"
	name="$n selftests: rclink: $name"
	case "$status" in
	0) echo "ok $name # $took" ;;
	4) echo "ok $name # SKIP" ;;
	124 | 137)
		echo "not ok $name # no end in $limit s"
		failed=1
		;;
	*)
		echo "not ok $name # exit=$status, $took"
		failed=1
		;;
	esac
done
exit "$failed"
