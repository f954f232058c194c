# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# rclinkd on both hosts. Sourced after link/lib.sh, whose variables it uses.
# shellcheck disable=SC2154

daemon=$LIB_DIR/../tools/rclinkd/rclinkd
conf=/tmp/rclinkd-test.conf
said_by=/tmp/rclinkd-test-log	# and the host's number
running=()

# configure HOST [KEY VALUE]...: stdin, below a [Host] with that and, if it has
# no other, the test's key
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
	# As for link_add().
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

# times HOST TEXT: in how many lines the daemon said that
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

# daemon_end HOST...: it ends by itself, and well
daemon_end()
{
	local host

	for host; do
		daemon_signal "$host" TERM
		wait "${running[host]}" || return
	done
}

# reload HOST: it has read its configuration again, or refused it
reload()
{
	local host=$1 before

	before=$(times "$host" 'configuration was read\|is refused, the old')
	daemon_signal "$host" HUP || return
	until_true 20 eval "[ \$(times $host 'configuration was read\|is refused, the old') -gt $before ]"
}

# forgiven HOST LINK: however often it fell, the daemon there dials it the next time as
# after one failure, since its configuration changes, by a word that leaves it up
forgiven()
{
	# shellcheck disable=SC2016
	on "$1" sh -c 'if grep -q "^mode" "$0"; then sed -i "/^mode/d" "$0"
		else sed -i "s/^\[Link $1\]\$/&\nmode = 0600/" "$0"; fi' \
		$conf "$2" && reload "$1"
}

# A file that takes longer to read than to catch a daemon at it.
long_conf()
{
	yes '#' | head -c 64M
}

is_reading()
{
	readlink "/proc/$(pgrep -x rclinkd)/fd/"* | grep -q "/${1##*/}$"
}

# stop_amid FILE: stop the daemon of host 1 while it reads that; go_on FILE has it
# read no more of it
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

# is_later HOST NAME EPOCH: it is up with a later one
is_later()
{
	[ "$(of "$1" "$2" .epoch)" -gt "$3" ] && is "$1" "$2" .state up
}

# up_again NAME EPOCH: with a later epoch at both ends
up_again()
{
	# A link that fell often is dialled after half a minute at most.
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

# unchanged CMD...: the epochs of l and m are what they were
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
