#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Members of a group on three hosts: who gets the key over links, and who does not; lost
# messages, copies, and packets of a stranger; a new key; leaving.
# hosts: 3
# kernels: 6.1-all 6.12-all debug-all
# timeout: 460
# The libraries set the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/group/lib.sh"

# The links only bring the key: a host that stands still for a while must not end one.
patient=(heartbeat 2000 misses 4 timeout 19)
INJECT=$LIB_DIR/../build/link/group_inject
OFFER=$LIB_DIR/../build/chan/offer

links()
{
	link_pair l "${patient[@]}" && link_add 1 m "${patient[@]}" &&
		link_add 3 m "${patient[@]}" &&
		rclink connect m 192.0.2.3 --key "$key" --pin "$pin3" \
			--timeout $((30 * RCL_SLOW))
}

# grows HOST COUNTER BY: COUNTER grows by BY or more within 30 s
grows()
{
	local before

	before=$(group_of "$1" g ".stats.$2")
	until_true 30 grew "$1" "$2" $((before + $3))
}

grew()
{
	group_is "$1" g ".stats.$2 >= $3" true
}

# why HOST FILTER: FILTER is true of `group why g -j`
why()
{
	on "$1" "$tool" group why g -j | gojq -e "$2"
}

nothing_to_do()
{
	why 1 '.advice == [] and .members == 2 and .key_links[0].state == "up"' &&
		why 2 '.advice == [] and .members == 2' &&
		on 2 "$tool" group why g | grep -qx 'Nothing has to be done\.'
}

# Once host 2 has heard more messages, host 3 has had time to ask for the key.
stranger_gets_none()
{
	on 3 "$tool" group add g "${group_at[@]}" from m || return
	grows 2 rx_messages 4 && group_is 3 g '.key_id // "none"' none &&
		group_is 3 g .stats.tx_messages 0 &&
		group_is 3 g .stats.rx_messages 0 &&
		why 3 'any(.sentences[]; test("its peer has given no key yet"))' &&
		on 3 "$tool" group del g
}

# Host 3 makes a group with the same Q_Key, but a key of its own.
foreign_key()
{
	on 3 "$tool" group add g "${group_at[@]}" qkey "$(group_of 1 g .qkey)" ||
		return
	grows 3 rx_unknown_key 2 && grows 1 rx_unknown_key 2 &&
		grows 2 rx_unknown_key 2 && group_is 3 g .stats.rx_messages 0 &&
		group_is 2 g '.peers | length' 1 && on 3 "$tool" group del g
}

# injected HOW COUNTER: host 3 sends in the name of host 1, and host 2 counts all of it
injected()
{
	local before want

	before=$(group_of 2 g ".stats.$2")
	want=$((before + 5))
	on 3 "$INJECT" eth0 192.0.2.1 "$mgid4" 5 "$1" || return
	until_true 10 group_is 2 g ".stats.$2" "$want" ||
		group_is 2 g ".stats.$2" "$want"
}

# injects WHAT HOW COUNTER
injects()
{
	if is_ib; then
		skip "$1: it is made of RoCE"
	else
		check "$1" injected "$2" "$3"
	fi
}

unharmed()
{
	grows 2 rx_messages 2 && grows 1 rx_messages 2 &&
		group_is 2 g .stats.joins 1 && group_is 1 g .stats.joins 1 &&
		group_is 2 g .stats.rx_malformed 0 &&
		group_is 2 g '.peers | length' 1 &&
		{ is_ib || group_is 2 g .stats.rx_again 5; }
}

# Lose and copy what this host sends to groups, and nothing else.
spoil()
{
	tc qdisc add dev eth0 root handle 1: prio priomap 0 \
		0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
		tc qdisc add dev eth0 parent 1:3 netem loss 30% duplicate 30% &&
		tc filter add dev eth0 parent 1: \
			"${to_groups[@]}" flowid 1:3
}

lost_by_netem()
{
	tc -s -j qdisc show dev eth0 |
		gojq '[.[] | select(.kind == "netem").drops] | add'
}

# spoiled SENT AGAIN: host 1 has counted SENT messages sent, host 2 AGAIN copies
# refused, and some packets were lost
spoiled()
{
	grew 1 tx_messages "$1" && grew 2 rx_again "$2" &&
		[ "$(lost_by_netem)" -gt 0 ]
}

# Host 2 takes no more messages than host 1 has sent, although some come twice.
with_loss()
{
	local sent got lost again

	spoil || return
	sent=$(group_of 1 g .stats.tx_messages)
	got=$(group_of 2 g .stats.rx_messages)
	again=$(group_of 2 g .stats.rx_again)
	# A copy may be lost, just as the message: of seven messages one comes twice.
	until_true 150 spoiled $((sent + 20)) $((again + 1))
	lost=$(lost_by_netem)
	tc qdisc del dev eth0 root
	grows 2 rx_messages 1 || return
	got=$(($(group_of 2 g .stats.rx_messages) - got))
	sent=$(($(group_of 1 g .stats.tx_messages) - sent))
	again=$(($(group_of 2 g .stats.rx_again) - again))
	echo "$got of $sent messages; $again again, $lost packets lost"
	[ "$got" -gt 0 ] && [ "$got" -le "$((sent + 1))" ] && [ "$again" -gt 0 ] &&
		[ "$lost" -gt 0 ]
}

# A member that asks again gets another sender number, and soon the former number no
# longer counts as a member.
member_again()
{
	on 2 "$tool" group del g && [ "$(objects_of_groups 2)" -eq 0 ] || return
	on 2 "$tool" group add g "${group_at[@]}" from l || return
	hear 1 0 2 2 && group_is 1 g .stats.keys 1 &&
		group_becomes 1 g .members 2
}

objects_of_groups()
{
	on "$1" rdma resource show qp -j |
		gojq '[.[] | select(.comm == "rclink" and .type == "UD")] | length'
}

without_link()
{
	rclink disconnect l && becomes 2 l .state down && grows 2 rx_messages 3 &&
		grows 1 rx_messages 3 &&
		why 1 'any(.advice[]; test("rclink why l"))' &&
		why 2 'any(.advice[]; test("rclink why l"))' && link_dial l
}

# Host 1 makes the group anew, so host 2 meets a key that it does not know.
another_key()
{
	local id

	id=$(group_of 1 g .key_id)
	rclink group del g && rclink group add g "${group_at[@]}" \
		qkey "$(group_of 2 g .qkey)" link l link m || return
	hear 1 0 2 1 && [ "$(group_of 2 g .key_id)" != "$id" ] &&
		group_is 2 g .stats.keys 2
}

third_member()
{
	on 3 "$tool" group add g "${group_at[@]}" from m || return
	hear 1 0 3 2 && until_true 20 hears 2 2 3 && until_true 20 hears 3 1 2 &&
		group_is 3 g .members 3
}

# The members that are left go on with another key; host 3 neither hears them nor is
# heard by them.
taken_off()
{
	local old heard

	old=$(key_id 1)
	rclink group set g no-link m || return
	has_key 1 "$old" && return 1
	group_is 1 g '.links | join(" ")' l &&
		until_true 20 has_key 2 "$(key_id 1)" && has_key 3 "$old" ||
		return
	heard=$(group_of 3 g .stats.rx_messages)
	grows 1 rx_unknown_key 2 && grows 3 rx_unknown_key 4 &&
		grows 2 rx_messages 2 && grows 1 rx_messages 2 &&
		has_key 3 "$old" && group_is 3 g .stats.rx_messages "$heard" &&
		group_is 1 g '.peers | length' 1 &&
		until_true 20 why 3 'any(.advice[]; test("was taken off"))'
}

put_on_again()
{
	local keys

	keys=$(group_of 1 g .stats.keys)
	# When links are taken off the list, those behind them move up.
	rclink group set g link m && rclink group set g link a link b &&
		rclink group set g link c no-link a &&
		group_is 1 g '.links | join(" ")' 'l m b c' &&
		rclink group set g no-link b no-link c || return
	keys=$((keys + 2))
	until_true 20 has_key 3 "$(key_id 1)" &&
		grows 3 rx_messages 4 && until_true 20 group_is 1 g \
		'.peers | length' 2 && group_is 1 g .stats.keys "$keys" &&
		group_is 1 g '.links | join(" ")' 'l m'
}

another_key_when_told()
{
	local old

	old=$(key_id 1)
	rclink group set g rekey && ! has_key 1 "$old" &&
		until_true 20 has_key 2 "$(key_id 1)" &&
		until_true 20 has_key 3 "$(key_id 1)" && grows 1 rx_messages 4
}

# shares HOST FROM: HOST has heard of the memory that FROM exports
shares()
{
	on "$1" "$tool" region list --group g -j | gojq -e "any(.[];
		.name == \"shared\" and .bytes > 0 and
		.gid == \"$(gid_of "$2")\" and
		(.rights | index(\"read\") != null))"
}

shares_none()
{
	on "$1" "$tool" region list --group g -j | gojq -e '. == []'
}

# Both ends of a channel export a region. When it has ended, host 3 knows of none.
regions()
{
	local far near status=0

	on 2 "$tool" bench --listen l:shared >/dev/null 2>&1 &
	far=$!
	until_true 10 listens 2 || status=1
	rclink bench l:shared lat --iters 10000000 >/dev/null 2>&1 &
	near=$!
	until_true 30 shares 1 2 && until_true 30 shares 2 1 &&
		until_true 30 shares 3 1 && until_true 30 shares 3 2 || status=1
	kill "$near" "$far"
	wait "$near" "$far"
	[ "$status" -eq 0 ] && until_true 30 shares_none 3
}

# tells_once HOST: HOST has heard once of host 1's region for all links, not per link
tells_once()
{
	on "$1" "$tool" region list --group g -j | gojq -e '[.[] |
		select(.name == "everyone" and .bytes == 4096 and
		.gid == "'"$(gid_of 1)"'")] | length == 1'
}

for_all_links()
{
	local owner status=0

	"$OFFER" everyone &
	owner=$!
	until_true 30 tells_once 2 && until_true 30 tells_once 3 || status=1
	kill "$owner"
	wait "$owner"
	[ "$status" -eq 0 ] && until_true 30 shares_none 3
}

# knows HOST COUNT: HOST knows COUNT regions of host 1, each with its name and length
knows()
{
	on "$1" "$tool" region list --group g -j | gojq -e "
		[.[] | select(.gid == \"$(gid_of 1)\")] |
		length == $2 and (map(.name) | unique | length) == $2 and
		all(.[]; .name == \"r\" + (999 + .bytes | tostring)[1:])"
}

# knows_all_along HOST COUNT: as knows, for longer than a round of announcements takes
knows_all_along()
{
	local end

	end=$(($(group_of "$1" g .stats.rx_messages) + 24))
	until group_of "$1" g ".stats.rx_messages >= $end"; do
		knows "$1" "$2" || return
	done
}

# More regions than one message has room for; then one is withdrawn, and no other goes.
many_regions()
{
	local far near status=0

	on 2 "$CHAN/group_share" listen l 0 >"$said-far" 2>&1 &
	far=$!
	until_true 10 grep -q listening "$said-far" || status=1
	"$CHAN/group_share" connect l 60 >"$said-near" 2>&1 &
	near=$!
	until_true 30 grep -q ready "$said-near" &&
		until_true 30 knows 2 60 && until_true 30 knows 3 60 &&
		knows_all_along 3 60 && kill -USR1 "$near" &&
		until_true 30 knows 2 59 && until_true 30 knows 3 59 &&
		knows_all_along 2 59 || status=1
	cat "$said-far" "$said-near"
	kill "$near" "$far"
	wait "$near" "$far"
	[ "$status" -eq 0 ] && until_true 30 shares_none 2 &&
		until_true 30 shares_none 3
}

module_goes()
{
	on 3 rmmod rclink && [ "$(objects_of_groups 3)" -eq 0 ] &&
		{ is_ib || ! on 3 ip maddr show dev eth0 |
			grep -qw -e "$mgid4"; } &&
		grows 1 rx_messages 2 && grows 2 rx_messages 2
}

if [ "$RCL_HOSTS" -lt 3 ]; then
	skip_all "needs three hosts"
fi
plan 28
chan_build
link_setup
pin3=$(on 3 "$tool" genkey "$key") || bail "no key on host 3"
link_listen l
listen3
links || bail "no links"
refuse 1 "who gets a key does not give it" 'does not give it' \
	rclink group add g "${group_at[@]}" from l link m
check "a group whose key this host keeps" \
	rclink group add g "${group_at[@]}" link l
check "the peer of its link is a member" \
	on 2 "$tool" group add g "${group_at[@]}" from l
check "both hear each other under one key" hear 1 0 2 1
check "neither has anything to do" nothing_to_do
check "the peer of another link gets no key" stranger_gets_none
check "messages under a foreign key are refused" foreign_key
injects "a message that is sent again is refused" again rx_again
injects "one that was changed is refused" forge rx_forged
injects "one under a key that nobody has is refused" key rx_unknown_key
injects "a packet that is too short is refused" short rx_short
injects "one that no port can send is refused" long rx_forged
check "what a host has sent itself comes back, and is refused" grows 2 rx_own 3
check "and the group goes on" unharmed
check "with loss and copies each message comes once at most" with_loss
check "a member that comes again has another number" member_again
check "and needs no link meanwhile" without_link
check "a new key gets to the members" another_key
check "a third member hears both, and they it" third_member
check "members hear what memory the others export" regions
check "and of what is for all links once" for_all_links
check "also where it is more than one message tells of" many_regions
refuse 1 "who was not on the list is not taken off it" 'not for that link' \
	rclink group set g no-link nobody
refuse 1 "a member has no list" 'comes from another host' \
	on 2 "$tool" group set g rekey
check "who is taken off hears nobody, and nobody hears it" taken_off
check "put on again it is a member" put_on_again
check "there is another key when told so" another_key_when_told
check "the module of one goes, and the others go on" module_goes
[ -z "$listener3" ] || kill "$listener3" 2>/dev/null
wait "$listener3" 2>/dev/null
link_listen_end
finish
