#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Processes of three hosts send to a group and hear it: which messages come, from whom,
# and what is refused; loss, a group that is down, and the end of the group and of
# processes.
# hosts: 3
# kernels: 6.1-all 6.12 debug-all
# timeout: 700
# The library has the variables.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/group/lib.sh"

FLOW=$CHAN/group_flow
says=/tmp/rclink-test-flow
no_space='rclink: cannot write the output: No space left on device'
declare -A flows=()

links()
{
	link_pair l && link_add 1 m && link_add 3 m &&
		rclink connect m 192.0.2.3 --key "$key" --pin "$pin3" \
			--timeout $((30 * RCL_SLOW))
}

has_key_of_1()
{
	[ "$(group_of "$1" g .key_id)" = "$(group_of 1 g .key_id)" ]
}

members()
{
	on 2 "$tool" group add g "${group_at[@]}" from l &&
		on 3 "$tool" group add g "${group_at[@]}" from m &&
		until_true 20 has_key_of_1 2 && until_true 20 has_key_of_1 3
}

# start NAME HOST MODE GROUP [ARGS]: run the program flow, as NAME, until it listens
start()
{
	: >"$says-$1"
	on "$2" "$FLOW" "${@:3}" >"$says-$1" 2>&1 &
	flows[$1]=$!
	until_true 10 grep -q listening "$says-$1" || {
		cat "$says-$1"
		return 1
	}
}

# ended NAME: the program has ended by itself; returns its status
ended()
{
	local status

	until_true 60 gone "${flows[$1]}" || return
	wait "${flows[$1]}"
	status=$?
	cat "$says-$1"
	return "$status"
}

gone()
{
	! kill -0 "$1"
}

# heard NAME FILTER: it holds for what the program NAME has received
heard()
{
	tail -n 1 "$says-$1" | gojq -e "$2"
}

# talk HOST [GROUP:SERVICE] SIZE: send messages of SIZE to the group until hush
talk()
{
	local to=g

	[ $# -eq 2 ] || to=$2
	on "$1" "$FLOW" send "$to" "${!#}" 0 $((5 * RCL_SLOW)) >"$says-talk-$1" 2>&1 &
	flows[talk-$1]=$!
}

hush()
{
	kill "${flows[talk-$1]}"
	wait "${flows[talk-$1]}" 2>/dev/null
}

right='.twice == 0 and .wrong == 0 and .errno == 0'

# A text arrives whole, with what would harm a terminal escaped; host 3 prints a JSON
# object.
words()
{
	local host
	local -a options=(-n 1)

	for host in 2 3; do
		: >"$says-$host"
		[ "$host" -eq 2 ] || options+=(-j)
		on "$host" "$tool" group recv g "${options[@]}" \
			>"$says-$host" 2>&1 &
		flows[$host]=$!
		until_true 10 group_is "$host" g .consumers 1 || return
	done
	until_true 20 said_to_all || return
	for host in 2 3; do
		wait "${flows[$host]}" || return
		cat "$says-$host"
	done
	grep -qxF "0 $(gid_of 1) tea \x1b[1m \x5c" "$says-2" &&
		[ "$(wc -l <"$says-3")" -eq 1 ] &&
		gojq -e --arg gid "$(gid_of 1)" '. == {sender: 0, gid: $gid,
			bytes: 10, text: "tea \\x1b[1m \\x5c"}' "$says-3"
}

# Sent again until both have it: a channel may have no receive posted yet.
said_to_all()
{
	rclink group send g $'tea \e[1m \\' && [ -s "$says-2" ] && [ -s "$says-3" ]
}

# flows_of SIZE: two processes on host 2 and one on host 3 hear 40 messages of that size
flows_of()
{
	local name status=0

	start a 2 recv g 40 && start b 2 recv g 40 && start c 3 recv g 40 ||
		return
	talk 1 "$1"
	for name in a b c; do
		ended "$name" || status=1
		heard "$name" "$right and .got >= 40 and
			.from == {\"0\": \"$(gid_of 1)\"}" || status=1
	done
	hush 1
	return "$status"
}

# more_come NUMBER: so many messages have come to host 2, for any service
more_come()
{
	[ "$(group_of 2 g .stats.rx_messages)" -ge "$1" ]
}

# Two services share the group on the same hosts: neither gets the other's messages, nor
# are these counted as missed.
services_apart()
{
	local missed come status=0

	start a 2 recv g:a 40 && start b 2 recv g:b 0 && start c 3 recv g:b 0 &&
		start d 2 idle g:c && start e 3 recv g:a 40 || return
	talk 1 g:a 64
	ended a && heard a "$right and .got >= 40" || status=1
	ended e && heard e "$right and .got >= 40" || status=1
	# Service a itself may have missed messages until here, if its host stood still.
	missed=$(group_of 2 g .stats.rx_missed)
	come=$(group_of 2 g .stats.rx_messages)
	until_true 20 more_come $((come + 40)) || status=1
	hush 1
	until_true 20 end_of g:b b c || status=1
	ended b && heard b '.got == 0 and .errno == 0' || status=1
	ended c && heard c '.got == 0 and .errno == 0' || status=1
	kill "${flows[d]}"
	wait "${flows[d]}" 2>/dev/null
	group_is 2 g .stats.rx_missed "$missed" && group_becomes 2 g .consumers 0 &&
		group_is 2 g .stats.rx_malformed 0 && return "$status"
}

# Also where one service's name begins with the other's.
service_of_words()
{
	: >"$says-2"
	on 2 "$tool" group recv g:news -n 2 >"$says-2" 2>&1 &
	flows[2]=$!
	until_true 10 group_is 2 g .consumers 1 &&
		rclink group send g:new no && rclink group send g:newsy no &&
		rclink group send g no && until_true 20 news || return
	wait "${flows[2]}" || return
	cat "$says-2"
	[ "$(cut -d' ' -f3 "$says-2" | sort -u)" = yes ]
}

# Sent again until the receiver ends: its channel may have no receive posted yet.
news()
{
	rclink group send g:news yes && gone "${flows[2]}"
}

# The receiver ends at the first message that it cannot write.
full_disk()
{
	local status

	# shellcheck disable=SC2016
	on 2 sh -c 'exec "$0" group recv g:full >/dev/full' "$tool" 2>"$says-2" &
	flows[2]=$!
	until_true 10 group_is 2 g .consumers 1 && until_true 20 said_in_vain ||
		return
	wait "${flows[2]}"
	status=$?
	cat "$says-2"
	[ "$status" -eq 1 ] && [ "$(<"$says-2")" = "$no_space" ]
}

said_in_vain()
{
	rclink group send g:full x && gone "${flows[2]}"
}

# Hosts 1 and 2 talk: host 1 hears host 2 alone, and host 3 hears both. Both talkers
# have their channels before anybody counts.
not_itself()
{
	talk 1 64
	talk 2 900
	group_becomes 1 g .consumers 1 && group_becomes 2 g .consumers 1 &&
		start a 1 recv g 40 && start b 3 recv g 80 2 &&
		ended a && heard a "$right and (.from | keys) == [\"1\"]" &&
		ended b && heard b "$right and (.from | keys) == [\"0\", \"1\"]"
	set -- $?
	hush 1
	hush 2
	return "$1"
}

# receives MODE: the program flow checks its receives itself
receives()
{
	start a 2 "$1" g || return
	talk 1 100
	ended a
	set -- $?
	hush 1
	return "$1"
}

# rx_missed counts each message that a process has no receive for any more.
missed()
{
	local before

	before=$(group_of 2 g .stats.rx_missed)
	start a 2 idle g && start b 2 recv g 20 || return
	group_is 2 g .consumers 2 || return
	talk 1 8
	ended b && heard b "$right" &&
		group_is 2 g ".stats.rx_missed >= $((before + 20))" true
	set -- $?
	hush 1
	kill "${flows[a]}"
	wait "${flows[a]}" 2>/dev/null
	until_true 10 group_is 2 g .consumers 0 || return
	return "$1"
}

spoil()
{
	tc qdisc add dev eth0 root handle 1: prio priomap 0 \
		0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
		tc qdisc add dev eth0 parent 1:3 netem loss 20% duplicate 30% \
			delay 5ms 4ms &&
		tc filter add dev eth0 parent 1: \
			"${to_groups[@]}" flowid 1:3
}

with_loss()
{
	local again

	again=$(group_of 2 g .stats.rx_again)
	start a 2 recv g 0 && start b 3 recv g 0 && spoil || return
	"$FLOW" send g 500 400 2
	set -- $?
	tc qdisc del dev eth0 root
	until_true 20 end_of g a b || return
	[ "$1" -eq 0 ] && ended a && ended b || return
	echo "again: $(($(group_of 2 g .stats.rx_again) - again))"
	heard a "$right and .got > 50 and .got < 400" &&
		heard b "$right and .got > 50 and .got < 400" &&
		[ "$(group_of 2 g .stats.rx_again)" -gt "$again" ]
}

# end_of GROUP[:SERVICE] NAME...: tell all receivers to end; succeeds when these have
end_of()
{
	local name

	"$FLOW" end "$1"
	for name in "${@:2}"; do
		gone "${flows[$name]}" || return
	done
}

# Two hostile processes on host 1 and one on host 2 make random calls.
hostile()
{
	local seed=${FUZZ_SEED:-1} rounds=${FUZZ_ROUNDS:-30} pids=() pid status=0

	"$CHAN/fuzz" g "$seed" "$rounds" join &
	pids+=($!)
	"$CHAN/fuzz" g "$((seed + 1))" "$rounds" join &
	pids+=($!)
	on 2 "$CHAN/fuzz" g "$((seed + 2))" "$rounds" join &
	pids+=($!)
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	group_becomes 1 g .consumers 0 && group_becomes 2 g .consumers 0 &&
		group_is 1 g .stats.joins 1 && return "$status"
	rclink group why g
	return 1
}

# The network device goes down and comes back; posted receives stay.
down()
{
	start a 3 recv g 10 || return
	on 3 ip link set eth0 down && group_becomes 3 g .state down || return
	! on 3 "$FLOW" send g 10 1 0 2>"$says-down" &&
		grep -q 'flushed' "$says-down" &&
		! on 3 "$tool" group send g x 2>"$says-down" &&
		grep -q 'is down, .*; see .rclink group why' "$says-down"
	set -- $?
	on 3 lab_dev
	group_becomes 3 g .state joined || return
	talk 1 300
	ended a && heard a "$right and .got >= 10 and .flushed == 0"
	set -- $(($1 + $?))
	hush 1
	return "$1"
}

# The receives are flushed, and the errno is ESHUTDOWN.
group_gone()
{
	start a 3 recv g 0 && start b 3 idle g || return
	on 3 "$tool" group del g || return
	ended a && heard a '.got == 0 and .flushed == 30 and .errno == 108' ||
		return
	on 3 rdma resource show qp -j | gojq -e '[.[] |
		select(.comm == "rclink" and .type == "UD")] == []'
	set -- $?
	kill "${flows[b]}"
	wait "${flows[b]}" 2>/dev/null
	return "$1"
}

killed()
{
	start a 2 recv g 0 && start b 2 recv g 20 || return
	on 2 kill -KILL "$(awk '/^listening/ { print $2 }' "$says-a")"
	wait "${flows[a]}" 2>/dev/null
	until_true 10 group_is 2 g .consumers 1 || return
	talk 1 900
	ended b && heard b "$right"
	set -- $?
	hush 1
	until_true 10 group_is 2 g .consumers 0 && return "$1"
}

module_stays()
{
	local status=0

	start a 2 idle g || return
	! on 2 rmmod rclink 2>"$says-rmmod" &&
		grep -q 'in use' "$says-rmmod" || status=1
	kill "${flows[a]}"
	wait "${flows[a]}" 2>/dev/null
	until_true 10 group_is 2 g .consumers 0 || return
	[ "$status" -eq 0 ] && on 2 rmmod rclink
}

# as ID: send a message to the group with that user and group ID
as()
{
	setpriv --reuid "$1" --regid "$1" --clear-groups "$tool" group send g x
}

rights_set()
{
	local id

	id=$(group_of 1 g .key_id)
	chmod 0666 /dev/rclink && as 1000 && ! as 3000 2>"$says-as" &&
		grep -q 'no right' "$says-as" &&
		rclink group set g owner 3000 mode 0600 &&
		as 3000 && ! as 1000 2>"$says-as" &&
		group_is 1 g '[.owner, .group, .mode] | tojson' \
			'[3000,2000,"0600"]' && group_is 1 g .key_id "$id" &&
		chmod 0600 /dev/rclink
}

# The rights can also be set on a host that gets the key from another one.
rights_of_member()
{
	on 2 "$tool" group set g mode 0666 && group_is 2 g .mode 0666 &&
		on 2 "$tool" group set g mode 0600 && group_is 2 g .mode 0600
}

if [ "$RCL_HOSTS" -lt 3 ]; then
	skip_all "needs three hosts"
fi
plan $((24 + $(harness_points "$LIB_DIR/group/ops.c")))
chan_build
link_setup
pin3=$(on 3 "$tool" genkey "$key") || bail "no key on host 3"
link_listen l
listen3 --once 1
links || bail "no links"
rclink group add g "${group_at[@]}" link l link m owner 1000 group 2000 mode 0640 ||
	bail "no group"
members || bail "no members"
harness "$LIB_DIR/group/ops.c" "$CHAN/group_ops"
refuse 1 "the right to use a group is no right to run it" 'only r and w' \
	rclink group add h "${group_at[@]}" mode 0755
check "another one may use it when that is set" rights_set
check "also on a host that gets the key" rights_of_member
refuse 1 "and is refused as when it was made" 'only r and w' \
	rclink group set g owner 1 mode 0755
check "words get to both other hosts" words
check "and small messages, to all processes" flows_of 8
check "and those that are as long as may be" flows_of 0
check "nobody hears himself" not_itself
check "each service hears its own messages" services_apart
check "one that is called almost as another, too" service_of_words
check "who cannot write what comes ends with that" full_disk
check "memory that was withdrawn fails its receive alone" receives withdrawn
check "a receive that is too short loses its message" receives short
check "who has no receive misses messages, and they are counted" missed
check "with loss and copies each comes once at most" with_loss
refuse 1 "a text that is too long is refused" 'longer than [0-9]* bytes' \
	rclink group send g "$(head -c 4060 /dev/zero | tr '\0' x)"
refuse 2 "and a name of a service that is none" 'no NAME' \
	rclink group send g: x
refuse 1 "and a group that there is not" 'no such group' \
	rclink group recv nobody
check "hostile processes harm nobody else" hostile
check "and the others go on" flows_of 200
check "while it is down, sends fail and receives stay" down
check "deleted, it ends its channels" group_gone
check "a process that is killed leaves nothing" killed
check "the module stays as long as it is used, and no longer" module_stays
link_listen_end
finish
