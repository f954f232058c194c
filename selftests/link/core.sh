# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Who has keys in memory leaves none of it in a file. Sourced after link/lib.sh.
# What sh gets is expanded there.
# shellcheck disable=SC2016

# cores_on HOST: from now on whoever is killed for an error leaves a file; a
# process that hides nothing does
cores_on()
{
	on "$1" sh -c 'cat /proc/sys/kernel/core_pattern >/tmp/core_pattern
		# So that the oracle is not told who was killed for it.
		cat /proc/sys/kernel/print-fatal-signals >/tmp/fatal
		echo 0 >/proc/sys/kernel/print-fatal-signals
		echo /tmp/core.%e >/proc/sys/kernel/core_pattern
		ulimit -c unlimited
		rm -f /tmp/core.*
		sh -c "kill -ABRT \$\$"
		[ -e /tmp/core.sh ]'
}

# no_core HOST PROGRAM: it left none
no_core()
{
	on "$1" sh -c 'cat /tmp/core_pattern >/proc/sys/kernel/core_pattern
		cat /tmp/fatal >/proc/sys/kernel/print-fatal-signals
		[ ! -e "/tmp/core.$1" ]' - "$2"
}
