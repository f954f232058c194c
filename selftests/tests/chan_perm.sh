#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who may open channels, by the device's udev rule and the link's owner, group and mode;
# and what happens to a channel's file that is passed on, inherited or kept open.
# hosts: 2
# kernels: 6.1 6.12-all mixed-all debug-all
# timeout: 300
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

rules=/run/udev/rules.d
rule=60-rclink.rules
far_says=/tmp/rclink-test-far
user_log=/tmp/rclink-test-user
root_log=/tmp/rclink-test-root
early_log=/tmp/rclink-test-early
# The programs are copied here, where every user may run them.
bin=/tmp/rclink-test-bin
user=1000
# To be followed by GROUP CMD...: runs CMD as a user in that group.
as=(setpriv --reuid "$user" --regid "$user" --groups)
taker=''
takers=()
verbs='' verbs_was=''

is_root_only()
{
	[ "$(stat -c %U:%G:%a /dev/rclink)" = root:root:600 ]
}

# by_rule SYSFS NODE USER:GROUP:MODE: udevadm applies $rules/$rule to SYSFS, as udev
# does not run in the lab; NODE then has these, and no other message names the rule
by_rule()
{
	local said

	said=$(udevadm test --action=add "$1" 2>&1)
	rm -f "$rules/$rule"
	! grep "$rule:" <<<"$said" | grep -vE ' (GROUP|MODE) [0-9]+$' &&
		[ "$(stat -c %U:%G:%a "$2")" = "$3" ]
}

device_by_rule()
{
	mkdir -p "$rules" && cp "$LIB_DIR/../tools/udev/$rule" "$rules" &&
		by_rule /sys/class/misc/rclink /dev/rclink root:rdma:660
}

# The rule for the verbs device is the one in security.rst.
verbs_by_rule()
{
	local name

	modprobe ib_uverbs
	for name in /sys/class/infiniband_verbs/uverbs*; do
		name=${name##*/}
	done
	verbs=/dev/infiniband/$name
	verbs_was=$(stat -c '%u:%g %a' "$verbs") || return
	cp "$LIB_DIR/../tools/udev/61-rclink-uverbs.rules" "$rules/$rule" || return
	"${as[@]}" "$user" sh -c ": <>$verbs" &&
		by_rule "/sys/class/infiniband_verbs/$name" "$verbs" root:root:600
}

shows()
{
	is 1 l .owner "$1" && is 1 l .group "$2" && is 1 l .mode "$3" &&
		"$tool" show l | grep -E \
			"^ +channels +0 open, 0 of them suspended; recover reset; $4$"
}

set_by_name()
{
	rclink set l owner nobody group rdma mode 664 &&
		shows "$(id -u nobody)" "$(stat -c %g /dev/rclink)" 0664 \
			"owner nobody, group rdma, mode 0664"
}

set_by_number()
{
	rclink set l owner 4294967294 group 4000000000 &&
		shows 4294967294 4000000000 0664 \
			"owner 4294967294, group 4000000000, mode 0664"
}

# sends_alone AS...: connect by AS while nobody listens; if that is the only error, the
# right is there
sends_alone()
{
	"$@" "$bin/rclink" send l </dev/null
}

# take LOG LINK CMD...: the program take, run by CMD, listens on service s of LINK, and
# writes LOG
take()
{
	"${@:3}" "$bin/take" "$2" s >"$1" 2>&1 &
	taker=$!
	takers+=($!)
	until_true 10 grep -q listening "$1" || {
		cat "$1"
		return 1
	}
}

takes()
{
	[ "$(grep -c took "$1")" -eq "$2" ]
}

# gets LOG N LINK: host 2 connects, and the listener of LOG takes its Nth channel
gets()
{
	on 2 "$tool" send "$3:s" </dev/null
	until_true 10 takes "$1" "$2" || {
		cat "$1"
		return 1
	}
}

user_takes()
{
	rclink set l owner "$user" && take "$user_log" l "${as[@]}" rdma &&
		gets "$user_log" 1 l
}

connects_from_2()
{
	on 2 "$tool" send "$1:s" </dev/null
}

root_takes_instead()
{
	take "$root_log" l && gets "$root_log" 1 l && takes "$user_log" 1
}

# The oldest listener that has the right gets the channel.
user_takes_again()
{
	rclink set l mode 0600 && gets "$user_log" 2 l && takes "$root_log" 1
}

link_comes()
{
	take "$early_log" m "${as[@]}" rdma && link_listen m && link_pair m
	link_listen_end
	becomes 2 m .state up
}

early_takes()
{
	rclink set m group "$user" mode 060 && gets "$early_log" 1 m
}

plan $((20 + $(harness_points "$CHAN_SRC/chan_perm.c")))
chan_build
chan_setup
mkdir -p "$bin"
cp "$tool" "$CHAN/asks" "$CHAN/guest" "$CHAN/take" "$bin"
chmod -R a+rX "$bin"
chmod u+s "$bin/asks"

if [ -n "${RCLINK_DEV:-}" ]; then
	skip "the device is root's alone, until udev has given it away"
else
	check "the device is root's alone" is_root_only
fi
check "the udev rule gives it to group rdma" device_by_rule
holds "that for verbs, which were everybody's, leaves them to root" verbs_by_rule
refuse 2 "who is in group rdma has none then" 'Permission denied' \
	"${as[@]}" rdma sh -c ": <>$verbs"
chown "${verbs_was% *}" "$verbs"
chmod "${verbs_was#* }" "$verbs"
check "a new link is root's alone" shows 0 0 0600 \
	'owner root, group root, mode 0600'
refuse 1 "who cannot open the device is told so" \
	'no right to open /dev/rclink' sends_alone "${as[@]}" "$user"
refuse 1 "who has no right on the link is told so" \
	'no right on this link.*rclink set' sends_alone "${as[@]}" rdma
refuse 1 "nor may he listen" 'no right on this link' \
	"${as[@]}" rdma "$bin/rclink" recv l
check "owner, group and mode by name" set_by_name
check "and by number" set_by_number
refuse 1 "no bits but r and w" 'mode must be' rclink set l mode 0700
refuse 1 "no user of number -1" 'owner must be' rclink set l owner 4294967295
rclink set l owner "$user" mode 0600
refuse 1 "the owner may connect" 'nobody listens' sends_alone "${as[@]}" rdma

on 2 "$CHAN/far" l >"$far_says" 2>&1 &
takers+=($!)
until_true 10 grep -q listening "$far_says" ||
	bail "the far end does not listen"
RCL_TOOL=$bin/rclink RCL_GUEST=$bin/guest RCL_ASKS=$bin/asks \
	harness "$CHAN_SRC/chan_perm.c" "$CHAN/chan_perm"
comment <"$far_says"

rclink set l mode 0600
holds "who has the right gets what the peer opens" user_takes
rclink set l mode 0
refuse 1 "without it, nobody is there for the peer" 'nobody listens' \
	connects_from_2 l
holds "and another one can listen there" root_takes_instead
kill "$taker"
wait "$taker" 2>/dev/null
holds "with it again, he is back" user_takes_again
holds "one may listen before the link is there" link_comes
refuse 1 "but gets nothing of it without a right" 'nobody listens' \
	connects_from_2 m
check "and something with it" early_takes

for taker in "${takers[@]}"; do
	kill "$taker"
	wait "$taker"
done 2>/dev/null
for link in l m; do
	on_all "$tool" del "$link"
done
rm -r "$bin"
finish
