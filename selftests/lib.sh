# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For every test file: KTAP from the kernel's own helpers, the hosts, and the
# oracle that closes each file on every host. See testing.rst for the whole.
#
#	. "$(dirname "$0")/../lib.sh"
#	plan 2			# points of this file; the oracle adds one
#	check "what holds" CMD...	# CMD succeeds; shown if it does not
#	refuse 1 "what is refused" 'text' CMD...	# status and stderr
#	finish

set -u
LIB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TEST_NAME=$(basename "$0" .sh)
export RCL_HOST=${RCL_HOST:-1} RCL_HOSTS=${RCL_HOSTS:-1}
# shellcheck source=selftests/slow.sh
. "$LIB_DIR/slow.sh"
# A file for no host runs where the project is built, and loads nothing there.
ORACLE=1
! grep -qx '# hosts: 0' "$0" || ORACLE=0

# The helpers are installed beside the tests, in the kernel's tree, or unpacked from its
# package.
find_ktap()
{
	local dir file=kselftest/ktap_helpers.sh

	for dir in "$LIB_DIR/../.." "${KSRC:-}/tools/testing/selftests"; do
		if [ -e "$dir/$file" ]; then
			echo "$dir/$file"
			return
		fi
	done
	echo "$("$LIB_DIR/vm/source")/tools/testing/selftests/$file"
}

# shellcheck source=/dev/null
. "$(find_ktap)" || exit 1

# On hardware, ssh reaches the other host; in the lab, `on` is a program.
if [ -n "${RCLINK_PEER:-}" ]; then
	RCL_HOSTS=2
	export RCL_PEER_IP=${RCL_PEER_IP:-${RCLINK_PEER#*@}}
	RCL_KVER=$(uname -r)
	export RCL_KVER
	on()
	{
		local host=$1

		shift
		if [ "$host" -eq 1 ]; then
			"$@"
			return
		fi
		# Quoted, so that the peer's shell sees the words as they are here.
		# shellcheck disable=SC2029
		ssh "$RCLINK_PEER" "cd ${LIB_DIR@Q}/.. && . selftests/slow.sh && exec $(printf '%q ' "$@")"
	}
fi

# on_all CMD...: on every host at once; fails if it fails on any
on_all()
{
	local host status=0
	local -a pids=()

	for ((host = 2; host <= RCL_HOSTS; host++)); do
		on "$host" "$@" &
		pids+=($!)
	done
	"$@" || status=1
	for host in "${pids[@]}"; do
		wait "$host" || status=1
	done
	return "$status"
}

# The RDMA device under test, on every host: in the lab, lab_dev makes it; on hardware,
# it exists. Exported, as programs read its name, too.
export RCL_DEV=${RCLINK_DEV:-${RCL_DEV:-rxe0}}
lab_device()
{
	if [ -z "${RCLINK_DEV:-}" ]; then
		on_all lab_dev || bail "no device $RCL_DEV"
	fi
}

# Is the device an InfiniBand port? In the lab, it may not exist yet.
is_ib()
{
	[ "$RCL_DEV" = sim0 ] || grep -qsx InfiniBand \
		"/sys/class/infiniband/$RCL_DEV/ports/1/link_layer"
}

# devinfo KEY: the first word of KEY's value in ibv_devinfo
devinfo()
{
	ibv_devinfo -v -d "$RCL_DEV" | sed -n "s/^[[:space:]]*$1:[[:space:]]*//p" |
		head -n 1 | cut -d ' ' -f 1
}

# Load the module on every host; see vm/lab_load.
lab_module()
{
	on_all "$LIB_DIR/vm/lab_load" || bail "rclink.ko does not load"
}

# programs DIR: builds the programs of selftests/DIR. A package contains them built, and
# lacks the sources of some.
programs()
{
	[ ! -e "$LIB_DIR/../Kbuild" ] || make -s -C "$LIB_DIR/$1" ||
		bail "the programs of selftests/$1 do not build"
}

plan()
{
	ktap_set_plan $(($1 + ORACLE))
}

bail()
{
	ktap_exit_fail_msg "$*"
}

# skip_all REASON: this file cannot run here
skip_all()
{
	ktap_skip_all "$*"
	trap - EXIT
	exit "$KSFT_SKIP"
}

# Two hosts with hardware have other ports, and are reached over them.
lab_only=$(sed -n 's/^# lab: *//p' "$0")
[ -z "${RCLINK_DEV:-}" ] || [ -z "$lab_only" ] || skip_all "only in the lab: it $lab_only"

pass()
{
	ktap_test_pass "$1"
}

fail()
{
	ktap_test_fail "$1"
}

skip()
{
	ktap_test_skip "$1"
}

comment()
{
	sed 's/^/# /'
}

check()
{
	local what=$1 output

	shift
	if output=$("$@" 2>&1); then
		pass "$what"
	else
		printf '%s\nstatus %d of: %s\n' "$output" "$?" "$*" | comment
		fail "$what"
	fi
}

# refuse STATUS WHAT TEXT CMD...: CMD ends with STATUS, and prints one line on stderr,
# which matches TEXT (a grep pattern)
refuse()
{
	local want=$1 what=$2 text=$3 said status

	shift 3
	said=$("$@" 2>&1 >/dev/null)
	status=$?
	if [ "$status" -eq "$want" ] && grep -q -e "$text" <<<"$said" &&
	   [ "$(wc -l <<<"$said")" -eq 1 ]; then
		pass "$what"
	else
		printf '%s\nstatus %d, not %d with "%s", of: %s\n' "$said" \
			"$status" "$want" "$text" "$*" | comment
		fail "$what"
	fi
}

# never: a descriptor that nothing can be read from, to wait without a process
exec {never}<> <(:)

# until_true SECONDS CMD...: polls until CMD succeeds, as the kernel does much of its
# work later; on a slow kernel, for RCL_SLOW times as long. Between two looks it waits
# for as long as the last one took, so that others get half of the processor, but
# for at least 0.1 and at most 1 s. The last look begins when the time is over: the host
# may have stood still during the one before.
until_true()
{
	local end=$((SECONDS + $1 * RCL_SLOW)) began start pause

	shift
	while began=$SECONDS start=${EPOCHREALTIME/[.,]/}; ! "$@" >/dev/null 2>&1; do
		[ "$began" -lt "$end" ] || return 1
		pause=$((${EPOCHREALTIME/[.,]/} - start))
		[ "$pause" -gt 100000 ] || pause=100000
		[ "$pause" -lt 999999 ] || pause=999999
		printf -v pause '0.%06d' "$pause"
		read -r -t "$pause" -u "$never"
	done
	return 0
}

lost_pages()
{
	local pages

	pages=$("$LIB_DIR/oracle" lost) || return
	echo "$pages pages are lost"
	[ "$pages" -gt 0 ] && [ "$pages" -lt 64 ]
}

# One point, for a test that made a device of this host keep what it had registered.
some_is_lost()
{
	check "pages that a device kept stay pinned, and others do not" lost_pages
}

finish()
{
	trap - EXIT
	[ "$ORACLE" -eq 0 ] || check "nothing is left on any host" \
		on_all "$LIB_DIR/oracle" end "$TEST_NAME"
	# ktap_finished() only looks at how many points passed: one too many would hide
	# one that failed.
	if [ "$KTAP_CNT_FAIL" -gt 0 ]; then
		ktap_print_totals
		exit "$KSFT_FAIL"
	fi
	ktap_finished
}

# A file that died half-way may have left a host of the lab without power, or paused.
hosts_answer()
{
	local host

	command -v lab_power >/dev/null || return
	for ((host = 2; host <= RCL_HOSTS; host++)); do
		timeout $((10 * RCL_SLOW)) on "$host" true && continue
		echo "host $host does not answer, and is booted again"
		lab_power "$host" off
		lab_power "$host" on
	done
}

# died: the hosts are left fit for the next file
died()
{
	hosts_answer
	on_all "$LIB_DIR/oracle" end "$TEST_NAME"
}

ktap_print_header
if [ "$ORACLE" -eq 1 ]; then
	hosts_answer 2>&1 | comment
	on_all "$LIB_DIR/oracle" begin "$TEST_NAME" || bail "no oracle"
	trap 'died 2>&1 | comment' EXIT
	trap 'exit 143' INT TERM
fi
