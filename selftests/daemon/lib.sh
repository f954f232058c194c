# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# rclinkd on both hosts. Sourced after link/lib.sh, whose variables it uses.
# shellcheck disable=SC2154

daemon=$LIB_DIR/../tools/rclinkd/rclinkd
conf=/tmp/rclinkd-test.conf
said_by=/tmp/rclinkd-test-log	# and the host's number
running=()

# configure HOST [KEY VALUE]...: configures the daemon of HOST: a [Host] section with
# each KEY and, unless the first KEY is `key`, the test's key; then stdin
configure()
{
	local host=$1

	shift
	{
		printf '[Host]\n'
		[ "${1-}" = key ] || printf 'key = %s\n' "$key"
		[ $# -lt 2 ] || printf '%s = %s\n' "$@"
		cat
	} | on "$host" sh -c "cat >$conf.new && mv $conf.new $conf"
}

# link_section NAME PIN|dns:PEER [KEY VALUE]...
link_section()
{
	local timeout=19

	printf '[Link %s]\n' "$1"
	case $2 in
	dns:*) printf 'name = %s\n' "${2#dns:}" ;;
	*) printf 'pin = %s\n' "$2" ;;
	esac
	shift 2
	# See link_add().
	printf 'timeout = %s\n' "$timeout"
	while [ $# -ge 2 ]; do
		printf '%s = %s\n' "$1" "$2"
		shift 2
	done
}

# group_section NAME [KEY VALUE]...
group_section()
{
	printf '[Group %s]\n' "$1"
	shift
	printf '%s = %s\n' "$@"
}

said()
{
	grep -q -e "$2" "$said_by$1"
}

# times HOST TEXT: how many lines of the daemon's log contain TEXT
times()
{
	touch "$said_by$1"
	grep -c -e "$2" "$said_by$1"
}

daemon_start()
{
	local host

	for host; do
		: >"$said_by$host"
		on "$host" "$daemon" --config $conf >"$said_by$host" 2>&1 &
		running[host]=$!
	done
	for host; do
		until_true 20 said "$host" listening || {
			cat "$said_by$host"
			return 1
		}
	done
}

# daemon_signal HOST SIGNAL
daemon_signal()
{
	on "$1" pkill "-$2" -x rclinkd
}

# daemon_end HOST...: ends each daemon by SIGTERM; fails if one ends with an error
daemon_end()
{
	local host

	for host; do
		daemon_signal "$host" TERM
		wait "${running[host]}" || return
	done
}

# reload HOST: waits until the daemon has read its configuration again, or refused it
reload()
{
	local host=$1 before

	before=$(times "$host" 'configuration was read\|is refused, the old')
	daemon_signal "$host" HUP || return
	until_true 20 eval "[ \$(times $host 'configuration was read\|is refused, the old') -gt $before ]"
}

# forgiven HOST LINK: the daemon on HOST dials LINK the next time as after one failure,
# however often LINK failed: a word of its configuration changes that leaves it up
forgiven()
{
	# shellcheck disable=SC2016
	on "$1" sh -c 'if grep -q "^mode" "$0"; then sed -i "/^mode/d" "$0"
		else sed -i "s/^\[Link $1\]\$/&\nmode = 0600/" "$0"; fi' \
		$conf "$2" && reload "$1"
}

# Print a file that takes long enough to read for the daemon to be stopped meanwhile.
long_conf()
{
	yes '#' | head -c 64M
}

is_reading()
{
	readlink "/proc/$(pgrep -x rclinkd)/fd/"* | grep -q "/${1##*/}$"
}

# stop_amid FILE: stops the daemon of host 1 while it reads FILE; go_on FILE continues
# it, and it reads no more of FILE
stop_amid()
{
	until_true 10 is_reading "$1" || return
	daemon_signal 1 STOP && is_reading "$1" && return
	daemon_signal 1 CONT
	return 1
}

go_on()
{
	truncate -s 0 "$1"
	daemon_signal 1 CONT
}

# is_later HOST NAME EPOCH: on HOST, NAME is up in a later epoch than EPOCH
is_later()
{
	[ "$(of "$1" "$2" .epoch)" -gt "$3" ] && is "$1" "$2" .state up
}

# up_again NAME EPOCH: both ends of NAME come up in a later epoch than EPOCH
up_again()
{
	# A daemon dials a link that failed often after half a minute at most.
	if until_true 45 is_later 1 "$1" "$2" &&
	   until_true 30 is_later 2 "$1" "$2"; then
		return
	fi
	show_daemons
	return 1
}

both_up()
{
	local name

	for name; do
		up_again "$name" 0 || return
	done
}

epoch()
{
	of 1 "$1" .epoch
}

# unchanged CMD...: CMD succeeds, and l and m are up in the same epochs as before
unchanged()
{
	local before

	before="$(epoch l) $(epoch m)"
	"$@" || return
	[ "$(epoch l) $(epoch m)" = "$before" ] &&
		is 1 l .state up && is 1 m .state up
}

show_daemons()
{
	local host

	for host in 1 2; do
		tail -n 30 "$said_by$host" | sed "s/^/host $host: /"
	done
}
