# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A process that holds keys leaves no core dump. Sourced after link/lib.sh.
# The shell that `on` starts expands the commands.
# shellcheck disable=SC2016

# cores_on HOST: from now on, a process that dies of an error leaves a core dump; fails
# unless a process that hides nothing does
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

# no_core HOST PROGRAM: restores the settings; PROGRAM has left no core dump
no_core()
{
	on "$1" sh -c 'cat /tmp/core_pattern >/proc/sys/kernel/core_pattern
		cat /tmp/fatal >/proc/sys/kernel/print-fatal-signals
		[ ! -e "/tmp/core.$1" ]' - "$2"
}
