# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Programs of kselftest_harness.h as a part of a test file: each of their tests becomes
# a point of the file, which has the test's name.

# harness_points SOURCE...: how many points the programs will make
harness_points()
{
	local file points=0 tests variants name

	for file; do
		tests=$(grep -cE '^TEST(_SIGNAL)?\(' "$file")
		points=$((points + tests))
		# A fixture's tests run once for each of its variants; a header may
		# define the fixture.
		while read -r name; do
			tests=$(grep -cE "^TEST_F[A-Z_]*\($name," "$file")
			variants=$(grep -c "^FIXTURE_VARIANT_ADD($name," "$file")
			points=$((points + tests * (variants ? variants : 1)))
		done < <(sed -n 's/^TEST_F[A-Z_]*(\([^,]*\),.*/\1/p' "$file" |
			sort -u)
	done
	echo "$points"
}

# harness SOURCE PROGRAM [ARGS...]: each test of PROGRAM is a point; if PROGRAM fails,
# at least one point has failed
harness()
{
	local want line name status made=0 failed=$KTAP_CNT_FAIL
	local program

	program=$(basename "$1" .c)
	want=$(harness_points "$1")
	shift
	while IFS= read -r line; do
		name=${line#*ok * }
		name=${name%% # *}
		name=${name#*.}
		name=${name/./: }
		name=${name//_/ }
		case "$line" in
		"ok "*" # SKIP"*) skip "$name: ${line##*# SKIP }" ;;
		"ok "*) pass "$name" ;;
		"not ok "*) fail "$name" ;;
		*" RUN  "* | *"   OK  "* | "TAP version"* | 1..* | "# Totals"* | \
		"# Starting"* | "# PASSED"* | "# FAILED"*)
			continue
			;;
		*)
			echo "# ${line#\# }"
			continue
			;;
		esac
		made=$((made + 1))
	done < <("$@" 2>&1)
	wait "$!"
	status=$?
	while [ "$made" -lt "$want" ]; do
		made=$((made + 1))
		fail "$program ended before its test $made"
	done
	[ "$status" -eq 0 ] || [ "$KTAP_CNT_FAIL" -gt "$failed" ] ||
		fail "$program ended with status $status"
}
