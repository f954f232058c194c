#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Links can be deleted, and the module unloaded, in every state of a link within 5 s;
# nothing is left.
# hosts: 1
# kernels: 6.1 6.12-all debug-all
# timeout: 240
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

# unload SECONDS
unload()
{
	local start=$SECONDS

	timeout $((30 * RCL_SLOW)) rmmod rclink || return
	echo "took $((SECONDS - start)) s"
	[ $((SECONDS - start)) -le $(($1 * RCL_SLOW)) ] &&
		[ ! -e /sys/module/rclink ] && [ "$(objects)" -eq 0 ]
}

# delete SECONDS: deletes all links, each within that time
delete()
{
	local names name

	names=$(rclink show -j | gojq -r '.[].name') && [ -n "$names" ] || return
	for name in $names; do
		timeout $(($1 * RCL_SLOW)) rclink del "$name" || return
	done
	[ "$(objects)" -eq 0 ]
}

# Dumps links and devices again and again, whether the module is loaded or not.
dump_for_ever()
{
	while :; do
		rclink show
		rclink dev
	done >/dev/null 2>&1
}

# Netlink holds a reference to the module during a dump: rmmod then says "in use", and
# has to be repeated.
come_and_go()
{
	local i said

	for ((i = 0; i < 10; i++)); do
		"$LIB_DIR/vm/lab_load" || return
		until said=$(unload $limit 2>&1); do
			echo "$said"
			grep -q "Module rclink is in use" <<<"$said" || return
			[ $((++tries)) -lt 100 ] || return
		done
	done
}

tries=0
limit=5
plan 24
nl_build
lab_device
lab_module
for state in idle prepared connected up down "up 1 ping" "idle 25" \
	     "prepared 25" "up 25" "up 5 ping"; do
	# shellcheck disable=SC2086
	hold $state || bail "no links that are $state"
	check "the module goes while links are $state" unload $limit
	drop
	lab_module
	# shellcheck disable=SC2086
	hold $state || bail "no links that are $state"
	check "links can be deleted while they are $state" delete $limit
	drop
done
rmmod rclink
dump_for_ever &
pid=$!
check "the module comes and goes while others dump" come_and_go
kill "$pid"
wait "$pid" 2>/dev/null
lab_module
hold idle 100 dump || bail "no links"
refuse 1 "the module does not go in the midst of a dump" 'rclink is in use' \
	rmmod rclink
drop
# The process that drop has killed may not have closed its socket yet.
check "it goes when who reads it closes" until_true 5 unload $limit
lab_module
hold up || bail "no links"
drop
check "a link that nobody owns any more goes, too" unload $limit
finish
