#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Faults around two daemons, none of which may harm a link more than necessary: a peer
# address that nobody answers for, a peer whose QPs hear nothing, a flapping port,
# daemons killed in the middle of traffic, a full disk, a log that cannot be written,
# a changed listen address, events of another module, and the module loaded again.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# lab: takes ports away
# timeout: 400
# soak: 5400 FAULT_FLAPS=100
# The libraries set the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

# An address of host 2 that is a GID of its device, but that no neighbour can resolve.
# On InfiniBand a port of host 2 takes its place, to which no wire leads.
hole=192.0.2.77
holes=6
unanswered='does `ping` reach it'
! is_ib || unanswered='\(timed out\|out of time\)'
disk=/tmp/rclink-test-disk
metrics=$disk/rclink.prom
in=/tmp/rclink-test-in
pipe=/tmp/rclink-test-pipe
modprobe_conf=/etc/modprobe.d/rclink-test.conf
port=7185

# Host 1 dials l, and notices by heartbeats when host 2 has lost it; both hosts dial m.
beat=2000
conf_1()
{
	{
		link_section l "$pin2" heartbeat $beat misses 4 peer "$RCL_PEER_IP:$port"
		link_section m "$pin2" peer "$RCL_PEER_IP:$port"
		"$@"
	} | configure 1 metrics "$metrics"
}

conf_2()
{
	{
		link_section l "$pin1" heartbeat $beat misses 4
		link_section m "$pin1" peer "$RCL_IP"
		"$@"
	} | configure 2 listen "[::]:$port"
}

begin()
{
	mkdir -p $disk && mount -t tmpfs -o size=64k none $disk && conf_1 true &&
		conf_2 true && daemon_start 1 2 && both_up l m
}

# metric NAME{LABELS}
metric()
{
	awk -v name="$1" '$1 == name { print $2; ok = 1 } END { exit !ok }' \
		$metrics
}

collects()
{
	cat $metrics
	[ "$(stat -c %a $metrics)" = 644 ] &&
		[ "$(metric rclinkd_links_wanted)" = 2 ] &&
		[ "$(metric 'rclink_link_up{link="l"}')" ] &&
		[ "$(metric 'rclinkd_link_failures{link="l"}')" ]
}

counts_up()
{
	reload 1 && [ "$(metric rclinkd_links_up)" = 2 ] &&
		[ "$(metric 'rclinkd_exchanges_total{link="l",by="us",outcome="up"}')" = 1 ]
}

# shows METRIC: METRIC is more than 0 when the metrics are written again
shows()
{
	reload 1 && [[ $(metric "$1") =~ [1-9] ]]
}

# down_while METRIC: disconnect l, and wait until METRIC is more than 0
down_while()
{
	rclink disconnect l
	until_true 20 shows "$1" && return
	cat $metrics
	return 1
}

# While host 2's daemon is stopped, a dial is under way; while it does not run, the
# link waits for the next dial.
counts_now()
{
	local epoch status=0 waits='rclinkd_link_wait_seconds{link="l"}'

	[ "$(metric rclinkd_dials) $(metric rclinkd_answers)" = '0 0' ] &&
		[ "$(metric "$waits")" = 0.000 ] || return
	epoch=$(epoch l)
	daemon_signal 2 STOP
	down_while rclinkd_dials || status=1
	daemon_signal 2 CONT
	up_again l "$epoch" && epoch=$(epoch l) && daemon_end 2 || return
	down_while "$waits" || status=1
	daemon_start 2 && up_again l "$epoch" && return "$status"
}

disk_full()
{
	cp $metrics /tmp/metrics-before
	cat /dev/zero >$disk/full 2>/dev/null
	reload 1 && reload 1 && [ "$(times 1 'cannot write metrics')" -eq 1 ] &&
		cmp $metrics /tmp/metrics-before && [ ! -e $metrics.new ] || return
	rm $disk/full
	mount -o remount,ro $disk
	reload 1 && reload 1 && [ "$(times 1 'cannot write metrics')" -eq 2 ] &&
		said 1 'Read-only file system; rclinkd(8) says where' || return
	mount -o remount,rw $disk
	reload 1 && said 1 'are written to .* again' && is 1 l .state up
}

moves_metrics()
{
	metrics=$disk/other conf_1 true && reload 1 && [ -e $disk/other ] &&
		[ ! -e $metrics ] && on 1 sed -i '/^metrics/d' "$conf" &&
		reload 1 && [ ! -e $disk/other ] && conf_1 true && reload 1 &&
		[ -e $metrics ]
}

# Set ms: the time from a disconnect of l until it is up again at both ends
recovers()
{
	local before begin

	forgiven 1 l && before=$(epoch l) || return
	begin=${EPOCHREALTIME/./}
	rclink disconnect l
	up_again l "$before" || return
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
}

gid_index()
{
	on 2 "$tool" dev -j | gojq -er --arg gid "::ffff:$hole" \
		'[.[].gids[] | select(.gid == $gid and .type == "roce-v2")][0].index'
}

hole_sections()
{
	local i host=$1 where=(device sim1)

	is_ib || where=(gid-index "$(gid_index)")
	for ((i = 1; i <= holes; i++)); do
		if [ "$host" -eq 1 ]; then
			link_section "h$i" "$pin2" qps 1 \
				peer "$RCL_PEER_IP:$port"
		else
			link_section "h$i" "$pin1" qps 1 "${where[@]}"
		fi
	done
}

dig()
{
	! is_ib || {
		on 2 sh -c "echo sim1 ib 77 >/sys/kernel/debug/rdmasim/new_device"
		return
	}
	on 2 sh -c "ip address add $hole/25 dev eth0 && tc qdisc add dev eth0 clsact &&
		tc filter add dev eth0 egress protocol arp flower arp_sip $hole action drop" &&
		until_true 10 gid_index
}

fill()
{
	! is_ib || {
		on 2 sh -c "echo sim1 >/sys/kernel/debug/rdmasim/del_device"
		return
	}
	on 2 sh -c "tc qdisc del dev eth0 clsact; ip address del $hole/25 dev eth0"
}

# Each attempt to connect a link to the hole takes the module 2 s, or, on InfiniBand,
# the device as long as it tries.
black_hole()
{
	local normal

	recovers || return
	normal=$ms
	if ! { dig && conf_2 hole_sections 2 && conf_1 hole_sections 1 &&
		reload 2 && reload 1 &&
		until_true 30 said 1 ">h.: not up: .*$unanswered" &&
		recovers; }; then
		show_daemons
		fill
		conf_1 true
		conf_2 true
		return 1
	fi
	echo "# normally $normal ms, beside $holes holes $ms ms;" \
		"$(times 1 '>h.: not up') tries of them failed" >&3
	fill
	conf_1 true && conf_2 true && reload 1 && reload 2 || return
	[ "$ms" -gt $((2 * normal + 1500 * RCL_SLOW)) ] || return 0
	show_daemons
	return 1
}

# Wait until l is connected at both ends; set begin (us) to a time shortly before, when
# it was not yet
connects()
{
	local now=${EPOCHREALTIME/./} end=$((SECONDS + 40 * RCL_SLOW))

	begin=$now
	until is 1 l .state connected && is 2 l .state connected; do
		[ "$SECONDS" -lt "$end" ] || return
		begin=$now
		sleep 0.1
		now=${EPOCHREALTIME/./}
	done
}

# made HOST: print the numbers of the QPs that HOST has for l
made()
{
	of "$1" l '.local.queue_pairs | map(.qpn) | select(length == 5) | tojson'
}

# left HOST QPNS: print how many of QPNS HOST still has
# shellcheck disable=SC2016
left()
{
	on "$1" rdma resource show qp -j | gojq --argjson qps "$2" '
		[.[] | select(.comm == "rclink").lqpn] as $all |
		$qps - ($qps - $all) | length'
}

none_left()
{
	[ "$(left 1 "$qps1")" -eq 0 ] && [ "$(left 2 "$qps2")" -eq 0 ]
}

# A path has 10 s at most. The exchange may then try another path, with QPs of its own,
# so the QPs of the first path are looked for by number.
given_up()
{
	local begin qps1 qps2 ms

	connects && qps1=$(made 1) && qps2=$(made 2) &&
		[ "$(left 1 "$qps1")" -eq 5 ] &&
		[ "$(left 2 "$qps2")" -eq 5 ] || return
	until_true 15 none_left
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	none_left || return
	echo "# who hears nothing is given up at both ends after $ms ms" >&3
	[ "$ms" -le $((10000 + 5000 * RCL_SLOW)) ]
}

fails_again()
{
	[ "$(times 1 "$1")" -gt "$2" ]
}

no_more()
{
	[ "$(objects 1)" -le "$1" ] && [ "$(objects 2)" -le "$2" ]
}

# Host 2's QPs hear nothing, though its daemon says all that an exchange needs.
deaf()
{
	local before failed objects1 objects2 status=0
	local text='>l: not up: .*\(timed out\|out of time\)'

	both_up l m || return
	before=$(epoch l)
	failed=$(times 1 "$text")
	objects1=$(objects 1)
	objects2=$(objects 2)
	rdma_deaf 2 || return
	rclink disconnect l
	if ! given_up || ! until_true 60 fails_again "$text" "$failed"; then
		show_daemons
		status=1
	fi
	rdma_hears 2
	up_again l "$before" && both_up l m || return
	until_true 10 no_more "$objects1" "$objects2" && return "$status"
	echo "$objects1 and $objects2 objects, then $(objects 1) and $(objects 2)"
	return 1
}

tries()
{
	times 1 ">$1: up\|>$1: not up"
}

# flap: take the port of host 2 down, and its links with it, then up again, and wait
# until the links are up. Host 1 notices after 8 s; as the links have failed before, it
# then waits for up to 30 s before it dials.
flap()
{
	local name
	local -A was=()

	for name in l m; do
		was[$name]=$(epoch $name)
	done
	on 2 ip link set eth0 down
	for name in l m; do
		becomes 2 $name .state down || break
	done
	set -- $?
	sleep 1
	on 2 ip link set eth0 up
	[ "$1" -eq 0 ] || return
	for name in l m; do
		until_true 45 is_later 1 $name "${was[$name]}"
		up_again $name "${was[$name]}" || return
	done
}

# flaps TIMES
flaps()
{
	local i begin=$SECONDS l m objects1 objects2

	l=$(tries l)
	m=$(tries m)
	objects1=$(objects 1)
	objects2=$(objects 2)
	for ((i = 0; i < $1; i++)); do
		flap || {
			echo "flap $i"
			return 1
		}
	done
	until_true 10 objects_are "$objects1" "$objects2" || {
		echo "$objects1 and $objects2 objects, then $(objects 1) and $(objects 2)"
		return 1
	}
	l=$(($(tries l) - l))
	m=$(($(tries m) - m))
	echo "# $1 flaps in $((SECONDS - begin)) s: $l and $m exchanges" >&3
	# Both ends dial m, and log the exchanges that they answer, too. Where both
	# dial at once, an exchange may fail at this end.
	[ "$l" -le $((SECONDS - begin + 1)) ] &&
		[ "$m" -le $((SECONDS - begin + 4)) ] && both_up l m
}

# Both daemons are killed while data is piped through l.
kill_in_traffic()
{
	local reader writer before

	before=$(epoch l)
	head -c 2000000 /dev/urandom >$in
	on 2 "$tool" recv l >$in.got &
	reader=$!
	until_true 10 on 2 sh -c 'ls -l /proc/[0-9]*/fd 2>/dev/null |
		grep -q /dev/rclink'
	{
		head -c 1000000
		until_true 20 test -e $in.go
		cat
	} <$in | rclink send l &
	writer=$!
	until_true 20 test -s $in.got || return
	daemon_signal 1 KILL
	daemon_signal 2 KILL
	wait "${running[1]}" "${running[2]}"
	: >$in.go
	wait $writer && wait $reader && cmp $in $in.got && daemon_start 1 2 &&
		until_true 10 said 1 '>l: is up' && [ "$(epoch l)" = "$before" ]
}

# Host 1's daemon logs to fd 8, where no write succeeds. It still brings a link up,
# reads its configuration again and ends.
works_unheard()
{
	local before

	# Make sure that a write to fd 8 fails, with an error or by SIGPIPE.
	! (echo >&8) 2>/dev/null || return
	before=$(epoch l)
	daemon_end 1 && rclink disconnect l || return
	env --default-signal=PIPE "$daemon" --config "$conf" 2>&8 8>&- &
	running[1]=$!
	up_again l "$before" && conf_1 link_section n "$pin2" &&
		daemon_signal 1 HUP && until_true 20 rclink show n &&
		conf_1 true && daemon_signal 1 HUP &&
		until_true 20 eval '! rclink show n' && daemon_end 1 &&
		daemon_start 1 && both_up l m
}

log_full()
{
	works_unheard 8>/dev/full
}

# While fd 9 has both ends of the pipe open, opening fd 8 for writing does not block.
# Closing fd 9 then leaves no reader.
log_unread()
{
	local status

	rm -f "$pipe"
	mkfifo "$pipe" && exec 9<>"$pipe" && exec 8>"$pipe" && exec 9<&- || return
	works_unheard
	status=$?
	exec 8>&-
	return "$status"
}

# A connection accepted at the old port is kept, even from a silent caller.
listens_elsewhere()
{
	local before

	before=$(epoch l)
	port=7186
	conf_2 true && exec 9<>"/dev/tcp/$RCL_PEER_IP/7185" || return
	reload 2 && said 2 'listening on .*7186' &&
		[ "$(on 2 ss -Htn state established '( sport = :7185 )' | wc -l)" -eq 1 ] ||
		return
	exec 9>&-
	conf_1 true && reload 1 && [ "$(epoch l)" = "$before" ] &&
		rclink disconnect l && up_again l "$before"
}

# listens_at [ADDRESS]:PORT [HOST]
listens_at()
{
	on "${2:-2}" ss -Htln | grep -q "$1 "
}

listens_nowhere()
{
	on 2 sed -i "s/^listen.*/listen = 203.0.113.1/" "$conf"
	reload 2 && said 2 'conf:1: cannot listen on port [0-9]*: .*choose another' &&
		said 2 'is refused, the old' &&
		listens_at :7186
}

listen_2()
{
	on 2 sed -i "s/^listen.*/listen = $1/" "$conf" && reload 2
}

# The daemon can listen neither at the new address nor at the old one, which has gone,
# too. It listens at the old one as soon as that is back, and goes on when the
# configuration names that one again.
listens_again()
{
	local address=198.51.100.1 status

	on 2 ip address add $address dev lo && listen_2 $address:7186 &&
		listens_at $address:7186 &&
		on 2 ip address del $address dev lo && listen_2 203.0.113.1 &&
		said 2 'nobody is answered until this works' &&
		on 2 ip address add $address dev lo &&
		until_true 5 listens_at $address:7186 &&
		listen_2 $address:7186 && listens_at $address:7186
	status=$?
	on 2 ip address del $address dev lo
	conf_2 true && reload 2 && return "$status"
}

# Any user may have taken the port before the daemon starts.
port_is_taken()
{
	local holder status

	daemon_end 1 && rclink disconnect l || return
	socat -u TCP6-LISTEN:7185,reuseaddr,ipv6only=0 /dev/null &
	holder=$!
	until_true 10 listens_at :7185 1 && : >"${said_by}1" || return
	"$daemon" --config "$conf" >"${said_by}1" 2>&1 &
	running[1]=$!
	until_true 10 said 1 'nobody is answered until this works' &&
		both_up l m && conf_1 true && reload 1 &&
		! said 1 'is refused, the old'
	status=$?
	kill "$holder"
	wait "$holder"
	until_true 10 said 1 'listening on' && return "$status"
}

# More events than the daemon's socket has room for, all about another module.
news_of_others()
{
	local i room status=0

	room=$(sysctl -n net.core.rmem_max)
	daemon_end 1 && sysctl -qw net.core.rmem_max=4096 || return
	daemon_start 1 || status=1
	sysctl -qw "net.core.rmem_max=$room"
	both_up l m && daemon_signal 1 STOP || return
	for ((i = 0; i < 10; i++)); do
		modprobe macsec && rmmod macsec || status=1
	done
	daemon_signal 1 CONT
	# Once it has read its configuration, the daemon has handled these events.
	reload 1 && ! said 1 'unloaded, and the links with it' && return $status
}

# While it is unloaded, the daemon does not look for it, for which the kernel would load
# it: not even to delete a link.
loaded_again()
{
	conf_1 link_section n "$pin2" && reload 1 && until_true 10 rclink show n &&
		cat >$modprobe_conf <<-END || return
			alias net-pf-16-proto-16-family-rclink rclink
			install rclink $LIB_DIR/vm/lab_load
		END
	rmmod rclink && until_true 10 said 1 'module was unloaded' && conf_1 true &&
		reload 1 && said 1 '>n: no longer configured' &&
		[ ! -e /sys/module/rclink ] || return
	"$LIB_DIR/vm/lab_load" && both_up l m && is 1 l .timeout 19 &&
		[ "$(times 1 'unloaded, and the links with it')" -eq 1 ] &&
		[ "$(times 1 'being unloaded')" -eq 0 ]
}

plan 19
exec 3>&1
link_setup
holds "links come up" begin
holds "metrics are written, for everybody to read" collects
holds "they count how exchanges end" counts_up
holds "they tell what is under way, and how long a link waits" counts_now
holds "a full disk is said once, and harms nothing else" disk_full
holds "metrics that are written elsewhere, or no more, leave no old ones" \
	moves_metrics
holds "a peer that nobody answers for keeps no other link waiting" black_hole
holds "a peer whose QPs hear nothing is given up, and nothing is left" deaf
holds "a port that flaps brings no storm" flaps "${FAULT_FLAPS:-3}"
holds "daemons that are killed cost traffic nothing" kill_in_traffic
holds "a log on a disk that is full harms nothing" log_full
holds "nor does one that nobody reads any more" log_unread
holds "listen changes, and who is there stays" listens_elsewhere
holds "where nobody can listen is refused" listens_nowhere
holds "where it listened it does again, when it can" listens_again
holds "a port that somebody else has keeps no link down" port_is_taken
if modprobe -qn macsec; then
	holds "news of other modules are no news of this one" news_of_others
else
	skip "news of other modules are no news of this one: needs one of them"
fi
holds "a module that is loaded again gets its links back" loaded_again
holds "the daemons end" daemon_end 1 2
umount $disk
rm -f $modprobe_conf
finish
