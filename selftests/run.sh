#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run test files one after the other, as kselftest's runner does.
#
# usage: run.sh FILE...
#
# A file's header may say `# timeout: SECONDS`, 120 if not; the debug kernel
# gives it three times as long.

set -u
cd "$(dirname "$0")" || exit 1

factor=1
[ ! -e /sys/kernel/debug/kmemleak ] || factor=3
n=0
failed=0

limit_of()
{
	local seconds

	seconds=$(sed -n 's/^# timeout: *//p' "$1")
	echo $((${seconds:-120} * factor))
}

echo "TAP version 13"
echo "1..$#"
for file in "$@"; do
	name=$(basename "$file" .sh)
	limit=$(limit_of "tests/$name.sh")
	n=$((n + 1))
	start=$SECONDS
	echo "# selftests: rclink: $name"
	timeout -k 20 "$limit" "tests/$name.sh" 2>&1 | sed -u 's/^/# /'
	status=${PIPESTATUS[0]}
	took=$((SECONDS - start))
	case "$status" in
	0) echo "ok $n selftests: rclink: $name # $took s" ;;
	4) echo "ok $n selftests: rclink: $name # SKIP" ;;
	124 | 137)
		echo "not ok $n selftests: rclink: $name # no end in $limit s"
		failed=1
		;;
	*)
		echo "not ok $n selftests: rclink: $name # exit=$status, $took s"
		failed=1
		;;
	esac
done
exit "$failed"
