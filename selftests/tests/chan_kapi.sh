#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The interface for kernel modules, used by a test module at both ends of a link.
# hosts: 2
# kernels: 6.1-all 6.12 mixed-all debug-all
# timeout: 300
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/kapi/lib.sh"

# unload_refused: rclink cannot be unloaded while the test module uses it
unload_refused()
{
	[ "$(</sys/module/rclink/refcnt)" -ge 1 ] && ! rmmod rclink 2>/dev/null
}

# has_heard UP DOWN DELETED LAST: the notifier of host 1 has counted that many
# events, and LAST is the latest
has_heard()
{
	grep -E "^up $1 down $2 deleted $3 last $4" "$KAPI_DIR/links"
}

# The notifier is called after the new state of a link can be seen.
heard()
{
	until_true 5 has_heard "$@" || {
		cat "$KAPI_DIR/links"
		return 1
	}
}

held_over()
{
	kapi 1 "over $1" && kapi 1 drop
}

# torn BY...: BY ends the link in the midst of operations; they succeed or fail, but end
torn()
{
	local i

	for ((i = 0; i < 4; i++)); do
		{ kapi 1 "data l events $i"; kapi 1 "data l polled $i"; } \
			>/dev/null 2>&1 &
		sleep "0.$((RANDOM % 10))"
		"$@" || return
		wait $!
		again || return
	done
}

# The device is removed, which ends the channel with -ENODEV, and made again for the
# next point.
device_goes()
{
	lab_dev del && held_over 19 && lab_dev
}

# rxe has no masked atomics, a simulated port has.
masked_atomics()
{
	if [ -n "${RCLINK_DEV:-}" ]; then
		skip "$how: masked atomics"
	elif is_ib; then
		check "$how: masked atomics" kapi 1 "masked l $how"
	else
		refuse 1 "$how: masked atomics, which the device has not" \
			'-95' kapi 1 "masked l $how"
	fi
}

# other_link NAME [WORDS]: another link between the two hosts, beside the one that is up
other_link()
{
	local status

	link_listen_again l "$1" && link_pair "$@"
	status=$?
	link_listen_end
	return "$status"
}

# accepted HOW REPLAY: data over channels that host 2 accepts that way, whatever host 1
# chose, until host 2 closes one
accepted()
{
	kapi 2 "listen_with l $1 $2" && kapi 1 "data l events $RANDOM" &&
		kapi 1 "big l polled $RANDOM" && kapi 1 "closed l events" &&
		kapi 2 unlisten && until_true 10 no_channels l
}

# no_channels LINK: neither end has one
no_channels()
{
	[ "$(of 1 "$1" .stats.channels)" = 0 ] &&
		[ "$(of 2 "$1" .stats.channels)" = 0 ]
}

only_queue_pair()
{
	kapi 2 "listen n" && kapi 1 "hold n events" && is 1 n .stats.channels 1 &&
		is 2 n .stats.channels 1
}

# The lease comes back a moment after the channel was closed.
given_back()
{
	kapi 1 drop && until_true 10 kapi 1 "at_once n 1" && kapi 2 unlisten
}

# used LINK HOW SEED NEXT: host 1 finds SEED in what host 2 exports to all links, and
# leaves NEXT there
used()
{
	kapi 2 "listen $1" && kapi 1 "borrow $1 $2 $3 $4" &&
		kapi 2 "shared $4" && kapi 2 unlisten
}

# over_both HOW: both links have registered the share when it is taken back
over_both()
{
	kapi 2 "share $1 1" && used l events 1 2 && used m polled 2 3 &&
		used l polled 3 4 && kapi 2 "unshare 5"
}

only_read()
{
	kapi 2 "share constant 1" && kapi 2 "listen l" &&
		kapi 1 "borrow l events 1 2" && kapi 2 "shared 1" &&
		kapi 2 unlisten && kapi 2 "unshare 2"
}

# Link l goes down and comes up while m stays up, and the share is there for both. Then
# a channel of the new epoch keeps an import.
still_there()
{
	kapi 2 "share list 1" && used l events 1 2 && used m polled 2 3 &&
		rclink disconnect l && again && used m events 3 4 &&
		kapi 2 "listen l" && kapi 1 "hold l events" &&
		kapi 1 "keep 4 5" && kapi 2 "shared 5"
}

# finds_users: host 1 imports the process's region, of one page, and not the module's
finds_users()
{
	! kapi 1 "borrow l events 1 2" >"$said" 2>&1 && grep -q '4096 bytes' "$said"
}

# A process that may use the link exports the same name first. The module's share takes
# precedence while there is one.
user_first()
{
	local offer=/tmp/rclink-test-offer status=1 process

	on 2 install -m 755 "$CHAN/offer" $offer && on 2 chmod 666 /dev/rclink &&
		on 2 "$tool" set l mode 0666 && kapi 2 "listen l" || return
	on 2 setpriv --reuid 1000 --regid 1000 --clear-groups $offer kapi.share &
	process=$!
	until_true 10 finds_users && kapi 2 "share buffer 1" &&
		kapi 1 "borrow l events 1 2" && kapi 2 "shared 2" &&
		kapi 2 "unshare 3" && until_true 10 finds_users && status=0
	cat "$said"
	on 2 pkill -x -f "$offer kapi.share"
	wait $process
	kapi 2 unlisten && on 2 "$tool" set l mode 0600 &&
		on 2 chmod 600 /dev/rclink && on 2 rm $offer && return $status
}

# The memory would show a write that arrives after the share is taken back.
taken_back()
{
	kapi 2 "unshare 6" && kapi 1 taken && kapi 1 drop && kapi 2 "shared 6"
}

# The links' own buffers are all that host 2 has registered.
nothing_registered()
{
	[ "$(on 2 rdma resource show mr | grep -cF '[rclink]')" -eq 2 ]
}

plan 68
lab_device
lab_module
kapi_load
chan_setup
check "its notifier hears that the link is up" heard 1 0 0 'l state 4 epoch 1'
check "rclink is not unloaded under it" unload_refused
check "host 2 listens" kapi 2 "listen l"
refuse 1 "no process does on the same service" "listens" on 2 "$tool" recv l:kapi
refuse 1 "a link that is not there" '-19' \
	kapi 1 "data nosuch events 1"
check "what no call takes is refused" kapi 1 "nonsense l"
check "it hears when there is room again, without a completion" kapi 1 "flood l"
for how in events polled; do
	check "$how: every operation moves right data" kapi 1 "data l $how $RANDOM"
	check "$how: of a batch, only what is before a wrong entry is carried out" \
		kapi 1 "batch l $how $RANDOM"
	check "$how: regions of several extents" kapi 1 "big l $how $RANDOM"
	check "$how: a region that is only read" kapi 1 "constant l $how $RANDOM"
	check "$how: a withdrawn region cannot be read" kapi 1 "withdrawn l $how"
	check "$how: a message ends a region" kapi 1 "invalidated l $how"
	masked_atomics
	check "$how: the peer closes" kapi 1 "closed l $how"
	check "$how: and the next channel is whole" kapi 1 "data l $how $RANDOM"

	check "$how: a channel is held" kapi 1 "hold l $how"
	check "$how: its link goes down" rclink disconnect l
	check "$how: then it is over, with -ECONNRESET" held_over 104
	holds "$how: the link comes up again" again
done
check "the notifier heard of all" heard 3 2 0 'l state 4 epoch 3'
check "a channel is held" kapi 1 "hold l events"
check "its link is deleted" rclink del l
check "then it is over" held_over 104
check "the notifier heard of that" heard 3 3 1 'l state 5 epoch 3'
check "a link again" link_add 1 l
holds "which comes up" again
holds "it goes down in the midst of operations" torn rclink disconnect l
holds "it is torn by the peer there" torn on 2 "$tool" disconnect l
check "a channel is held" kapi 1 "hold l polled"
if [ -n "${RCLINK_DEV:-}" ]; then
	skip "its device goes"
else
	check "its device goes" device_goes
fi
holds "the link comes up on a device" again
check "what no call exports to all links is refused" kapi 2 shares
check "host 2 listens no more" kapi 2 unlisten
for how in "events replay" "polled plain" "polled replay"; do
	# shellcheck disable=SC2086
	check "accepted as $how, a channel moves right data" accepted $how
done
holds "there is a link with one queue pair" other_link n qps 1
check "a channel has leased it" only_queue_pair
refuse 1 "then who does not wait is refused" 'connect: -11$' kapi 1 "at_once n 2"
check "once it is back, nobody need wait" given_back
check "that link is deleted" on_all "$tool" del n
holds "there is a second link" other_link m
for how in buffer list; do
	check "a $how for all links, by channels over both" over_both "$how"
done
check "one that is only read" only_read
check "no user takes its name" user_first
holds "one that is there for the next epoch, too" still_there
check "taken back, it is out of reach of who has imported it" taken_back
refuse 1 "and not found any more" 'import: -2' kapi 1 "borrow l events 6 7"
check "nothing of it is registered" until_true 10 nothing_registered
check "the second link is deleted" on_all "$tool" del m
check "with a channel that stays open" kapi 1 "hold l events"
check "the module unloads at both ends with it" on_all rmmod rclink_test
check "the link is still up" is 1 l .state up
rclink disconnect l
link_listen_end
finish
