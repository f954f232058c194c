# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# systemd on this host, as process 1 of PID and mount namespaces of its own. It has only
# those of the distribution's units that a service needs, and those below /usr/local.
# The network, and so the links, are this host's.

systemd=''	# its process, as this host sees it
systemd_outer=''
systemd_units=/tmp/rclink-test-units

# The units needed beside rclinkd's, out of the many that a distribution has.
systemd_pick_units()
{
	local from=/lib/systemd/system

	rm -rf $systemd_units
	mkdir -p $systemd_units/sysinit.target.wants || return
	cp $from/{sysinit,basic,multi-user,shutdown,network-online}.target \
		$from/systemd-journald.{service,socket} $from/modprobe@.service \
		$systemd_units || return
	ln -s ../systemd-journald.service $systemd_units/sysinit.target.wants/
}

# This starts process 1. A container's systemd leaves the kernel's settings alone, and
# one with a machine ID does not enable all units. Empty file systems hide this host's
# other configuration, logs and /run.
# shellcheck disable=SC2016
systemd_first='
	mount --bind "$0" /lib/systemd/system &&
	mount -t tmpfs tmpfs /etc/systemd/system &&
	mount -t tmpfs tmpfs /var/log &&
	mount -t tmpfs -o mode=755 tmpfs /run &&
	{ [ -e /sys/fs/cgroup/cgroup.procs ] ||
		mount -t cgroup2 cgroup2 /sys/fs/cgroup; } &&
	tr -d - </proc/sys/kernel/random/boot_id >/etc/machine-id &&
	mkdir -p /run/systemd/journald.conf.d &&
	printf "[Journal]\nReadKMsg=no\nAudit=no\n" \
		>/run/systemd/journald.conf.d/test.conf &&
	exec env -i PATH="$PATH" container=rclink-test \
		SYSTEMD_GENERATOR_PATH=/nowhere \
		/lib/systemd/systemd --system --unit=multi-user.target \
		--log-target=journal --show-status=no'

# Whatever ends unshare also ends systemd.
systemd_start()
{
	systemd_pick_units || return
	unshare --fork --kill-child --pid --mount --uts --mount-proc \
		sh -c "$systemd_first" $systemd_units &
	systemd_outer=$!
	until_true 10 pgrep -P $systemd_outer || return
	systemd=$(pgrep -P $systemd_outer)
	until_true 60 inside systemctl is-active --quiet multi-user.target
}

systemd_end()
{
	[ -n "$systemd" ] || return 0
	kill -KILL "$systemd"
	wait "$systemd_outer" 2>/dev/null
	systemd=''
}

# inside CMD...: runs CMD in systemd's namespaces
inside()
{
	nsenter -t "$systemd" -p -m -u "$@"
}

# prop NAME: the property NAME of rclinkd.service
prop()
{
	inside systemctl show -P "$1" rclinkd
}

# Log messages of rclinkd.service, and of systemd about it.
journal()
{
	inside journalctl --no-pager -o cat -u rclinkd
}
