#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two daemons keep links up: at the start, after a disconnect, after a kill, and with a
# changed configuration. They refuse a peer with a key other than the expected one.
# hosts: 2
# kernels: 6.12 6.1-all mixed-all debug-all
# timeout: 400
# The libraries set the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/link/core.sh"
. "$LIB_DIR/daemon/lib.sh"

# Host 1 dials l, and notices by heartbeats where a goodbye was lost; both hosts dial
# m; host 2 dials n, whose channels go on in the next epoch.
beat=2000
conf_1()
{
	link_section l "$pin2" heartbeat $beat misses 4 peer "$RCL_PEER_IP"
	link_section m "$pin2" peer "$RCL_PEER_IP"
	link_section n "$pin2" recover resume
}

conf_2()
{
	link_section l "$pin1" heartbeat $beat misses 4
	link_section m "$pin1" peer "$RCL_IP"
	link_section n "$pin1" recover resume peer "$RCL_IP"
}

begin()
{
	conf_1 | configure 1 && conf_2 | configure 2 && daemon_start 1 2 &&
		both_up l m n
}

one_of_each()
{
	local host

	for host in 1 2; do
		[ "$(qps $host RTS)" -eq 15 ] || return
	done
	[ "$(epoch m)" = "$(of 2 m .epoch)" ]
}

carries()
{
	rclink ping "$1" -c 2 -i 0 -q --op write
}

# Neither daemon's log may contain rkeys, addresses or PSNs of l, or a private key. A
# number of few digits is not looked for: it may stand for something else.
nothing_secret_said()
{
	local all secret

	said 1 "l: up" && said 2 "l: up" ||
		return
	all=$(secrets_of 1 14 '.local, .remote | .rkey, .addr,
		.queue_pairs[].psn') || return
	for secret in $all; do
		[ ${#secret} -gt 4 ] || continue
		! grep -wiE -e "$(written "$secret")" \
			"${said_by}1" "${said_by}2" || return
	done
	! grep -hF -e "$(sed -n 2p "$key")" -e "$(on 2 sed -n 2p "$key")" \
		"${said_by}1" "${said_by}2"
}

comes_back()
{
	local epoch

	epoch=$(epoch "$1")
	on "$2" "$tool" disconnect "$1" && up_again "$1" "$epoch"
}

adds()
{
	{ conf_1; link_section o "$pin2" peer "$RCL_PEER_IP"; } | configure 1 &&
		{ conf_2; link_section o "$pin1"; } | configure 2 &&
		reload 2 && reload 1 && both_up o
}

changes()
{
	local epoch

	epoch=$(epoch n)
	{ conf_1 | sed '/^.Link n/,$s/^timeout.*/timeout = 18/'; } | configure 1 &&
		reload 1 && up_again n "$epoch" && is 1 n .timeout 18
}

# By hand the link is set for its next epoch, then its file says the same.
follows()
{
	local epoch

	epoch=$(epoch n)
	rclink set n timeout 17 && [ "$(epoch n)" = "$epoch" ] &&
		{ conf_1 | sed '/^.Link n/,$s/^timeout.*/timeout = 17/'; } | configure 1 &&
		reload 1 && up_again n "$epoch" && is 1 n .timeout 17
}

# goes_on CMD...: CMD runs between the two halves of what a channel of n carries
goes_on()
{
	local status=0 server

	head -c 200000 /dev/urandom >/tmp/pipe-in
	on 2 "$tool" recv n >/tmp/pipe-out &
	server=$!
	until_true 10 on 2 sh -c 'ls -l /proc/[0-9]*/fd | grep -q /dev/rclink' ||
		return
	{
		head -c 100000 /tmp/pipe-in && "$@" >&2 &&
			tail -c +100001 /tmp/pipe-in
	} | rclink send n || status=1
	wait "$server" || status=1
	cmp /tmp/pipe-in /tmp/pipe-out && [ "$(of 1 n .stats.chan_resumes)" -gt 0 ] &&
		return "$status"
}

removes()
{
	conf_1 | configure 1 && reload 1 &&
		until_true 10 eval '! rclink show o'
}

keeps()
{
	echo '[Link l' | configure 1 && reload 1 &&
		said 1 'conf:3:.*KEY = VALUE' && said 1 'is refused, the old' &&
		conf_1 | configure 1 && reload 1
}

# killed SIGNAL
killed()
{
	daemon_signal 1 "$1"
	wait "${running[1]}"
	is 1 l .state up && carries l && daemon_start 1 &&
		until_true 10 said 1 'l: is up'
}

# SIGABRT makes the kernel write the memory of other processes to a core file.
crashed()
{
	cores_on 1 && prlimit --core=unlimited --pid "$(pgrep -x rclinkd)" &&
		killed ABRT && no_core 1 rclinkd
}

# More events than the daemon's socket has room for; the first says that l went down.
unheard()
{
	local epoch

	epoch=$(epoch l)
	daemon_signal 1 STOP
	rclink disconnect l
	"$LIB_DIR/../build/netlink/storm" 3000 || return
	daemon_signal 1 CONT
	up_again l "$epoch" && said 1 'events were lost'
}

# A rotation is requested while the daemon reads its configuration: the daemon lists
# the links before it hears of the request.
rotates_amid()
{
	local dir=${conf%/*}/conf.d heard=/tmp/rclink-test-heard monitor rotation status

	"$tool" monitor -j >$heard &
	monitor=$!
	mkdir -p "$dir" && { link_section z "$pin2"; long_conf; } >"$dir/z.conf" &&
		daemon_signal 1 HUP && stop_amid "$dir/z.conf" && {
		rclink rotate l -t $((10 * RCL_SLOW)) &
		rotation=$!
		until_true 5 grep -q '"rotate"' $heard
		go_on "$dir/z.conf"
		wait $rotation
	}
	status=$?
	kill $monitor
	wait $monitor
	rm -r "$dir" && reload 1 && return $status
}

# A link whose pin does not match the peer's key, beside good ones.
stranger()
{
	local wrong

	wrong=$("$tool" genkey /tmp/other.pem) || return
	{
		conf_1
		link_section s "$wrong" peer "$RCL_PEER_IP"
	} | configure 1 && reload 1 &&
		until_true 20 said 1 's: not up: .*not the pinned one' &&
		[ "$(of 1 s .state)" != up ]
}

# Host 1 has another key now, which host 2 does not know.
new_key()
{
	mv /tmp/other.pem "$key" || return
	rclink disconnect l
	until_true 20 said 2 'refused .*not among the peers' &&
		! is 1 l .state up
}

known_again()
{
	pin1=$("$tool" pubkey "$key")
	conf_2 | configure 2 && reload 2 && both_up l
}

deleted()
{
	rclink del l && both_up l
}

# What systemd would hear: links that are up at the start are reported at once, not one
# by one.
notifies()
{
	local socat

	socat -u UNIX-RECV:/tmp/notify CREATE:/tmp/notified &
	socat=$!
	until_true 10 test -S /tmp/notify || return
	NOTIFY_SOCKET=/tmp/notify WATCHDOG_USEC=1000000 "$daemon" \
		--config "$conf" >"${said_by}1" 2>&1 &
	running[1]=$!
	until_true 20 grep -a 'READY=1' /tmp/notified &&
		until_true 20 grep -a 'WATCHDOG=1' /tmp/notified &&
		grep -a 'STATUS=3 of . links up' /tmp/notified &&
		! grep -a 'STATUS=[12] of' /tmp/notified &&
		reload 1 && until_true 10 grep -a RELOADING /tmp/notified &&
		daemon_end 1 &&
		until_true 10 grep -a STOPPING /tmp/notified
	set -- $?
	kill "$socat"
	wait "$socat"
	return "$1"
}

plan 22
link_setup
programs netlink
holds "links come up by themselves" begin
check "both dial at once: one link, no QP too many" one_of_each
check "they carry data" eval 'carries l && carries m && carries n'
check "neither daemon says a secret" nothing_secret_said
check "disconnected by who dials it comes back" comes_back l 1
check "disconnected by the other end it comes back" comes_back l 2
check "dialled by both it comes back" comes_back m 2
holds "a link is added, and no other touched" unchanged adds
holds "a link is changed, its channel goes on, and no other is touched" \
	unchanged goes_on changes
holds "one is in its file as it was set by hand: it goes on with that" \
	unchanged follows
holds "a link is removed, and no other touched" unchanged removes
holds "a bad configuration is refused with its line" unchanged keeps
holds "killed, it leaves links up, and takes them over again" unchanged killed KILL
holds "crashed too, and leaves no core, which would have its keys" unchanged crashed
holds "what it could not hear it finds out" unheard
holds "another epoch, wanted amid a reload, comes" rotates_amid
holds "a peer with another key is refused, and no other link touched" \
	unchanged stranger
holds "a host with a new key uses it at once, and is refused" new_key
holds "and is known again by its new pin" known_again
check "a link that somebody deletes is made again" deleted
holds "ended, it leaves links up" eval \
	'daemon_end 1 2 && carries l && carries n'
holds "it tells the service manager" notifies
finish
