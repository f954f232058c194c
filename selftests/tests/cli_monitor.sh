#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `rclink monitor` says of the whole life of two links of this host.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# lab: changes addresses
# timeout: 240
# ib: no, an event of it is of an IP address
# The library has the variables; what eval gets is expanded there.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

json=/tmp/rclink-test-monitor-json
text=/tmp/rclink-test-monitor-text
pids=()

# start NAME: both monitors run, and have listed the link NAME. The first one is not
# privileged, so net.core.rmem_max limits its room for events.
start()
{
	local room

	room=$(sysctl -n net.core.rmem_max)
	sysctl -qw net.core.rmem_max=32768 || return
	setpriv --reuid 65534 --regid 65534 --clear-groups "$tool" monitor -j \
		>$json &
	pids=($!)
	"$tool" monitor >$text &
	pids+=($!)
	until_true 10 grep -q "\"$1\"" $json &&
		until_true 10 grep -q " $1 " $text
	set -- $?
	sysctl -qw "net.core.rmem_max=$room"
	return "$1"
}

life()
{
	rclink add a loopback 1 && rclink add b loopback 1 &&
		rclink connect a 127.0.0.1 --key "$key" --pin "$pin1" \
			--peer-link b --timeout $((20 * RCL_SLOW)) && rclink disconnect a &&
		becomes 1 b .state down && rclink del a && rclink del b &&
		until_true 5 heard '.name == "b" and
			.kind == "deleted"'
}

# heard FILTER: it holds for at least one line
heard()
{
	gojq -se "any(.[]; $1)" $json
}

# lived NAME REASON: kind, state and epoch of each event, in this order
lived()
{
	[ "$(gojq -sr --arg name "$1" '.[] | select(.name == $name) |
		"\(.kind) \(.state) \(.reason) \(.epoch)"' $json)" = "\
created idle none 0
changed prepared none 1
changed connected none 1
changed up none 1
changed down $2 1
deleted down $2 1" ] || {
		cat $json
		return 1
	}
}

consecutive()
{
	gojq -se 'map(select(.kind != "present").event_seq) |
		length > 0 and . == [range(.[0]; .[0] + length)]' $json &&
		gojq -se '.[0].kind == "present" and
			.[1].event_seq == .[0].event_seq + 1' $json
}

# All but the time is compared: the text has the time at which a line was printed.
text_is_the_same()
{
	local want

	want=$(gojq -r '"\(.name) \(.kind) \(.state) epoch \(.epoch)" +
		if .reason_text then ": " + .reason_text else "" end' $json)
	until_true 5 grep -q ' b deleted ' $text
	diff <(cut -d ' ' -f 2- $text) - <<<"$want" &&
		! grep -vqE '^[0-9-]+T[0-9:.]+Z ' $text
}

# All events of the link a but the last two are of the first one.
made_again()
{
	rclink add a && rclink del a && until_true 5 gojq -se \
		'map(select(.name == "a" and .kind == "deleted")) | length == 2' $json &&
		gojq -se 'map(select(.name == "a").id) | (.[:-2] | unique | length) == 1 and
			.[0] > 0 and .[-2] == .[-1] and .[0] != .[-1]' $json
}

# A new IP address is a new GID of the port.
device()
{
	ip address add 192.0.2.78/25 dev eth0 &&
		until_true 5 heard '.device == "rxe0" and .port == 1 and
			.kind == "changed"' &&
		until_true 5 grep -qE '^[0-9TZ:.-]+ device rxe0 port 1 changed$' $text
	set -- $?
	ip address delete 192.0.2.78/25 dev eth0
	return "$1"
}

# end SIGNAL PID
end()
{
	kill "-$1" "$2"
	wait "$2"
}

# overflow [NAME...]: the monitors are stopped while these links are deleted, and while
# there are more events than the first monitor has room for
overflow()
{
	local name i

	kill -STOP "${pids[@]}"
	for name; do
		rclink del "$name" || return
	done
	for ((i = 0; i < 60; i++)); do
		rclink add y && rclink del y || return
	done
	kill -CONT "${pids[@]}"
}

# Each event was printed, or counted as lost.
all_accounted()
{
	gojq -se '(map(select(.kind != "lost" and .kind != "present")) | length) +
		(map(.events // 0) | add) == .[-1].event_seq - .[0].event_seq' $json
}

# A monitor that does not read loses events. It then prints how many, and lists the
# links again; each event is accounted for.
loses()
{
	overflow && until_true 10 heard '.kind == "lost"' || return
	rclink add z
	until_true 5 heard '.name == "z" and .kind == "created"' ||
		return
	all_accounted && gojq -se '((map(.kind) | index("lost")) as $lost |
		any(.[$lost:][]; .kind == "present" and .name == "x"))' $json
}

# No link is left whose listing would tell how many events were lost.
loses_all()
{
	overflow x z &&
		until_true 10 heard '.kind == "lost" and .events == null' || return
	rclink add x
	until_true 5 eval \
		'gojq -se ".[-1].name == \"x\" and .[-1].kind == \"present\"" $json' &&
		all_accounted
}

# With CAP_NET_ADMIN, the second monitor has room for the events of both overflows.
loses_none()
{
	until_true 5 grep -q ' x created ' $text && ! grep ' lost ' $text &&
		[ "$(grep -c ' y created ' $text)" -eq 120 ]
}

# The monitor prints the last events, and says why it ends.
unloaded()
{
	local monitor status

	rclink add w
	"$tool" monitor >"$text" 2>"$said.monitor" &
	monitor=$!
	until_true 10 grep -q ' w present' "$text" && rmmod rclink ||
		return
	wait "$monitor"
	status=$?
	cat "$text" "$said.monitor"
	[ "$status" -eq 1 ] && grep -q ' w deleted ' "$text" &&
		grep -qx 'rclink: monitor: the rclink module was unloaded; run .modprobe rclink.' \
			"$said.monitor"
}

# stands_still CMD...: the monitor is stopped while CMD runs and the module is unloaded;
# it has to end with status 1 then
stands_still()
{
	local monitor=${pids[0]}

	kill -STOP "$monitor" && "$@" && rmmod rclink && kill -CONT "$monitor" &&
		until_true 10 eval '! kill -0 '"$monitor"
	set -- $?
	[ "$1" -eq 0 ] || kill -KILL "$monitor"
	wait "$monitor"
	[ $? -eq 1 ] && return "$1"
}

# Makes more events than the monitor has room for.
too_much()
{
	for ((i = 0; i < 60; i++)); do
		rclink add y && rclink del y || return
	done
}

loses_the_last()
{
	rclink add w && start w || return
	end TERM "${pids[1]}"
	stands_still too_much && heard '.kind == "lost"'
}

# Sets other: another module that has a generic netlink family.
find_other()
{
	for other in team macsec l2tp_netlink fou; do
		modprobe "$other" && modprobe -r "$other" && return
	done
}

others_come_and_go()
{
	for ((i = 0; i < 20; i++)); do
		modprobe "$other" && modprobe -r "$other" || return
	done
}

# The monitor has no room for the news that the module was unloaded, but, as root, for
# all events of links.
misses_the_news()
{
	local room status

	rclink add w
	room=$(sysctl -n net.core.rmem_max)
	sysctl -qw net.core.rmem_max=2304 || return
	"$tool" monitor >$text &
	pids=($!)
	until_true 10 grep -q ' w present' $text
	status=$?
	sysctl -qw "net.core.rmem_max=$room"
	[ "$status" -eq 0 ] && stands_still others_come_and_go &&
		grep -q ' w deleted ' $text
}

to_full_disk()
{
	timeout $((10 * RCL_SLOW)) "$tool" "$@" >/dev/full
}

without_stdout()
{
	timeout $((10 * RCL_SLOW)) "$tool" monitor >&-
}

plan 19
link_setup
rclink add x
"$tool" listen --key "$key" --peer "b=$pin1" >"$log" &
listener=$!
until_true 10 grep -q listening "$log" || bail "no listener"
holds "it begins with what there is" start x
holds "two links live and die" life
check "the events of the end that dials, in order" lived a disconnected
check "the events of the end that answers, in order" lived b peer-disconnected
check "their numbers are consecutive" consecutive
check "the text says the same" text_is_the_same
holds "a link that is made again has another id" made_again
holds "a port of a device that changes is told" device
holds "events that were lost are counted, the links listed again" loses
holds "so it is when no link is left" loses_all
check "with CAP_NET_ADMIN it has room for them" loses_none
holds "SIGTERM ends it with success" end TERM "${pids[1]}"
holds "SIGINT ends it with success" end INT "${pids[0]}"
link_listen_end
refuse 1 "it ends when it cannot write" '^rclink: cannot write' to_full_disk monitor
refuse 1 "and where there is nothing to write to" '^rclink: cannot write' \
	without_stdout
refuse 1 "and so does who listens" '^rclink: cannot write' to_full_disk listen \
	--port 7186 --key "$key" --peer "b=$pin1"
holds "the end of the module is its end, with a reason" unloaded
lab_module
holds "and if it has lost events before, that is told, too" loses_the_last
lab_module
if find_other; then
	holds "it ends, too, if it did not hear that the module went" misses_the_news
	lab_module
else
	skip "it ends, too, if it did not hear that the module went: no other has a family"
fi
finish
