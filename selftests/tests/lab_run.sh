#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm/run as its callers see it: what it returns, and that no guest is left, however it
# ends.
# hosts: 0
# kernels: host-all
# timeout: 900
. "$(dirname "$0")/../lib.sh"

dir=$(mktemp -d) || bail "no directory"
: >"$dir/session"
# vm/run has a session of its own, which does not end with this script.
trap 'kill "$(<"$dir/session")" 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 143' INT TERM

# Starts vm/run; sets session, by which its guests are found.
begin()
{
	setsid "$LIB_DIR/vm/run" --kernel 6.12 --hosts 2 "$@" >"$dir/out" \
		2>"$dir/err" </dev/null &
	session=$!
	echo "$session" >"$dir/session"
}

no_guest()
{
	! pgrep -s "$session"
}

# has_ended STATUS
has_ended()
{
	local status

	wait "$session"
	status=$?
	: >"$dir/session"
	tail -n 5 "$dir/err"
	echo "status $status"
	[ "$status" -eq "$1" ] && until_true 10 no_guest
}

# ends STATUS WORDS...
ends()
{
	begin "${@:2}"
	has_ended "$1"
}

returns()
{
	ends 37 -- sh -c 'echo said; echo wrong >&2; exit 37' &&
		grep -qx said "$dir/out" && grep -qx wrong "$dir/err"
}

is_killed()
{
	begin -- sh -c 'echo ready; sleep 1000'
	until_true 200 grep -qx ready "$dir/out"
	kill -TERM "$session"
	has_ended 143
}

# What `make shell HOSTS=2` runs, on a terminal; each step has 20 s times RCL_SLOW. `on`
# reads /dev/null, as it would pass what is typed meanwhile to host 2.
shell()
{
	RCL_SLOW=10 "$LIB_DIR/link/screen.py" 'see=This is host 1 of 2' \
		'key=on 2 hostname </dev/null\n' 'see=^[0-9]+ host2 ' \
		'key=exit 37\n' -- \
		"$LIB_DIR/vm/run" --shell --kernel 6.12 --hosts 2 -- \
		env RCL_TTY="24 110" bash --rcfile "$LIB_DIR/vm/shellrc" -i
	[ $? -eq 37 ]
}

plan 5
check "what a command says, and its exit status, come back" returns
check "when the time is over it ends, with all guests" \
	ends 124 --timeout 60 -- sleep 1000
check "so it does when a guest crashes" ends 125 -- \
	sh -c 'echo c >/proc/sysrq-trigger; sleep 100'
check "and when it is killed" is_killed
check "a developer has a shell there, and what it returns comes back" shell
finish
