#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rclinkd as a service: systemd on host 1 starts it from the installed unit, confined,
# loads the module for it, reloads it, starts it again when it was killed or hangs, and
# stops it. The links to the plain daemon of host 2 are not affected.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 300
# The libraries set or use the variables; eval expands the quoted text.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"
. "$LIB_DIR/daemon/systemd.sh"

# Where users have these files, and the unit can read them.
conf=/etc/rclink/rclink.conf
key=/etc/rclink/key.pem
gate=/etc/rclink/conf.d/gate.conf
metrics=/run/rclinkd/rclink.prom
collector=/var/lib/prometheus/node-exporter
modprobe_conf=/etc/modprobe.d/rclink-test.conf
net_admin=0000000000001000

# Host 1 dials l, and host 2 dials m. l has a host name and a Unix group, because
# looking them up takes more than the rest does.
conf_1()
{
	{
		link_section l "$pin2" peer host2 group daemon mode 0660
		link_section m "$pin2"
		"$@"
	} | configure 1 metrics "$metrics"
}

conf_2()
{
	{
		link_section l "$pin1"
		link_section m "$pin1" peer "$RCL_IP"
		"$@"
	} | configure 2
}

# shows TEXT...: the log of the service contains each TEXT
shows()
{
	local text

	journal >"${said_by}1"
	for text; do
		said 1 "$text" || return
	done
}

installs()
{
	make -s -C "$LIB_DIR/../tools" -o all install DESTDIR=/ &&
		systemd_start &&
		inside systemctl cat rclinkd | grep '^ExecStart=/usr/local/sbin'
}

in_state()
{
	[ "$(prop ActiveState) $(prop SubState)" = "$1 $2" ]
}

refuses()
{
	rmmod rclink && echo '[Link l' | configure 1 || return
	! inside systemctl start rclinkd && in_state failed failed &&
		until_true 10 eval 'inside systemctl status rclinkd |
			grep "/etc/rclink/rclink.conf:3: this is no"'
}

# The service waits for the module until modprobe finds the one of this tree.
waits()
{
	conf_1 true && conf_2 true && daemon_start 2 || return
	! inside systemctl start rclinkd && [ ! -e /sys/module/rclink ] &&
		until_true 10 shows 'cannot start: .*is not loaded' &&
		echo "install rclink $LIB_DIR/vm/lab_load" >$modprobe_conf &&
		until_true 30 in_state active running &&
		inside systemctl stop rclinkd
}

# The daemon is stopped while it reads its configuration: until it has done so, the
# service is not active.
starts()
{
	local starter

	mkdir -p "${gate%/*}" && long_conf >$gate || return
	rmmod rclink && inside systemctl enable --now rclinkd &
	starter=$!
	until_true 30 in_state activating start && stop_amid $gate &&
		in_state activating start && go_on $gate &&
		wait $starter && in_state active running
	set -- $?
	rm $gate
	return "$1"
}

has_links()
{
	both_up l m && until_true 10 eval \
		'[ "$(prop StatusText)" = "2 of 2 links up" ]' &&
		rclink ping l -c 2 -i 0 -q --op write
}

# status_of FIELD: that field of the daemon's /proc/PID/status
status_of()
{
	awk -v field="$1:" '$1 == field { print $2 }' \
		"/proc/$(pgrep -x rclinkd)/status"
}

may_little()
{
	local field

	for field in CapPrm CapEff CapBnd; do
		[ "$(status_of $field)" = $net_admin ] || return
	done
	[ "$(status_of NoNewPrivs)" = 1 ] && [ "$(status_of Seccomp)" = 2 ]
}

# sees CMD...: runs CMD in the daemon's mount namespace
sees()
{
	nsenter -t "$(pgrep -x rclinkd)" -m "$@"
}

# cannot TEXT CMD...: CMD fails with TEXT in the daemon's mount namespace
cannot()
{
	local text=$1 answer

	shift
	answer=$(sees "$@" 2>&1)
	grep -q -e "$text" <<<"$answer" || {
		echo "$*: $answer"
		return 1
	}
}

sees_little()
{
	local file

	for file in /root/rclink-test /tmp/rclink-test; do
		echo here >$file && cannot 'No such file' cat $file || return
	done
	for file in /dev/rclink /proc/sys; do
		[ -e $file ] && cannot 'No such file' ls $file || return
	done
	for file in /etc/rclink/new /usr/local/new /var/lib/new; do
		cannot 'Read-only' touch $file || return
	done
	sees touch /run/rclinkd/new && sees rm /run/rclinkd/new
}

# collected FILE: FILE has the metrics, and anybody may read it
collected()
{
	until_true 30 inside grep -q '^rclinkd_links_up 2' "$1" &&
		inside setpriv --reuid 65534 --regid 65534 --clear-groups \
			grep '^rclinkd_links_wanted 2' "$1"
}

elsewhere()
{
	metrics=$collector/rclink.prom
	conf_1 true && inside systemctl reload rclinkd && collected $metrics &&
		! inside test -e /run/rclinkd/rclink.prom
}

adds()
{
	conf_1 link_section n "$pin2" peer "$RCL_PEER_IP" &&
		conf_2 link_section n "$pin1" && reload 2 &&
		inside systemctl reload rclinkd && both_up n &&
		conf_1 true && inside systemctl reload rclinkd &&
		until_true 10 eval '! rclink show n'
}

keeps()
{
	echo '[Link l' | configure 1 && inside systemctl reload rclinkd &&
		until_true 10 shows 'rclink.conf:3:.*KEY = VALUE' \
			'is refused, the old' &&
		in_state active running && conf_1 true &&
		inside systemctl reload rclinkd
}

# A file that root may read only by a privilege that the service does not have.
foreign()
{
	local file=${gate%/*}/foreign.conf

	install -m 600 -o daemon /dev/null "$file" &&
		"$daemon" --check --config $conf &&
		inside systemctl reload rclinkd &&
		until_true 10 shows "$file: cannot read it: Permission denied" &&
		rm "$file" && inside systemctl reload rclinkd
}

# another PID: the service runs, as a process other than PID
another()
{
	in_state active running && [ "$(prop MainPID)" != "$1" ] &&
		[ "$(prop StatusText)" = "2 of 2 links up" ]
}

# again CMD...: CMD makes systemd start the daemon again
again()
{
	local before

	before=$(prop MainPID)
	"$@" && until_true 30 another "$before"
}

watches()
{
	inside sh -c 'dir=/run/systemd/system/rclinkd.service.d
		mkdir -p $dir && printf "[Service]\nWatchdogSec=10\n" >$dir/test.conf &&
		systemctl daemon-reload && systemctl restart rclinkd' &&
		again daemon_signal 1 STOP && shows 'Watchdog timeout'
}

# aborts CMD...: runs CMD, in which systemd aborts the daemon. The kernel does not log
# the signal meanwhile, as the oracle would complain of it.
aborts()
{
	local file=/proc/sys/kernel/print-fatal-signals was status

	was=$(<$file)
	echo 0 >$file
	"$@"
	status=$?
	echo "$was" >$file
	return "$status"
}

stops()
{
	inside systemctl stop rclinkd && in_state inactive dead &&
		[ "$(prop Result) $(prop ExecMainStatus)" = "success 0" ] &&
		until_true 10 shows 'links that are up stay up' &&
		rclink ping l -c 2 -i 0 -q --op write
}

# The log has no line of the key file, and no word that a key, a PSN or an rkey would be
# logged with.
says_no_secret()
{
	shows listening || return
	! grep -F -f <(grep -v -e ----- $key) "${said_by}1" &&
		! grep -iE 'key=|psn|rkey' "${said_by}1"
}

[ -z "${RCLINK_DEV:-}" ] || skip_all "installs in /usr/local and /etc"
[ -e "$LIB_DIR/../Kbuild" ] || skip_all "installs from a tree"
trap 'systemd_end; on_all "$LIB_DIR/oracle" end "$TEST_NAME" 2>&1 | comment' EXIT
plan 19
on_all mkdir -p /etc/rclink
mkdir -p $collector
link_setup
holds "systemd runs, and finds the unit where it is installed" installs
holds "a bad configuration does not start, and is told with its line" refuses
holds "without the module it is tried again until that is there" waits
holds "it loads the module, and is active when it is ready, not before" starts
holds "its links come up and carry data, and systemd knows" has_links
check "it has CAP_NET_ADMIN and its system calls, and nothing else" may_little
check "it sees and writes what it needs, and nothing else" sees_little
if [ "$RCL_DEV" = sim0 ]; then
	skip "it reads what devices count, which this one does not"
else
	check "it reads what devices count" until_true 60 inside grep -q \
		"^rclinkd_port_unexpected_total{.*=\"$RCL_DEV\"" $metrics
fi
check "its metrics are in its directory, for everybody to read" \
	collected $metrics
holds "a reload has it apply what changed, and nothing else" unchanged adds
holds "a bad configuration is refused with its line" unchanged keeps
holds "a file that it may not read is refused" unchanged foreign
holds "metrics go to the node exporter's directory, too" unchanged elsewhere
holds "killed, it is started again, and takes its links over" \
	unchanged again daemon_signal 1 KILL
holds "so it is when it hangs" unchanged aborts watches
holds "so it is when somebody restarts it" \
	unchanged again inside systemctl restart rclinkd
holds "it stops in order, and its links stay up" unchanged stops
check "nothing secret was logged" says_no_secret
[ "$KTAP_CNT_FAIL" -eq 0 ] || journal | tail -n 100 | comment
systemd_end
holds "the other daemon ends" daemon_end 2
# Clean up for later test files.
make -s -C "$LIB_DIR/../tools" uninstall DESTDIR=/
rm -f $modprobe_conf
on_all rm -r /etc/rclink
finish
