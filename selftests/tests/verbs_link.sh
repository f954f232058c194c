#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A process as an endpoint, over libibverbs: with a stock ibv_rc_pingpong, with another
# such process, and with the module in either role.
# hosts: 2
# kernels: 6.1-all 6.12 debug-all
# ib: no, libibverbs knows no simulated device
# timeout: 400
# The library sets the variables; eval expands the quoted code.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/link/verbs.sh"

ops=(send write read cas fadd)

same_gids()
{
	rclink dev "$device" -j | gojq -e '.[0].gids | length > 0' >/dev/null ||
		return
	diff <(rclink dev "$device" -j | gojq '.[] | .gids, .chosen_gid, .reason') \
		<(rclink dev "$device" --verbs -j |
			gojq '.[] | .gids, .chosen_gid, .reason')
}

# rxe checks accesses against the memory behind a window, not the window's length.
windows_hold()
{
	rclink --verbs window "$device" >"$out" || cat "$out"
	[ "$(grep -c '^ok' "$out")" -ge 5 ] &&
		! grep 'NOT SO' "$out" | grep -v 'one byte more'
}

stock_serves()
{
	local status

	on 2 stdbuf -oL ibv_rc_pingpong -d "$device" -g "$(verbs_gid 2)" -n 30 \
		-s 9000 >"$out" 2>&1 &
	other=$!
	until_true 20 grep -q 'local address' "$out"
	until_true 20 on 2 sh -c 'ss -Hltn | grep -q :18515'
	as_nobody "$tool" pingpong --stock "$RCL_PEER_IP" -n 30 -s 9000 "$@"
	status=$?
	far_end && [ "$status" -eq 0 ]
}

stock_calls()
{
	local status

	far listening "$tool" pingpong --stock -n 30 -s 9000 -c "$@" || return
	ibv_rc_pingpong -d "$device" -g "$(verbs_gid 1)" -n 30 -s 9000 -c \
		"$RCL_PEER_IP"
	status=$?
	far_end && [ "$status" -eq 0 ]
}

# verified CMD...: every operation, with checked data
verified()
{
	local op

	for op in "${ops[@]}"; do
		"$@" -o "$op" -c 2 -i 0 -q || return
	done
	"$@" -o send -s 1000 -c 2 -i 0 -q
}

user_user()
{
	install -o 65534 -m 600 "$key" "$key.nobody"
	verbs ping l -o write -s 65536 -c 2 -i 0 &&
		verbs ping l -o read -s 0 -c 2 -i 0 &&
		verbs ping l -o write -s 0 -c 2 -i 0 &&
		verbs bench l lat -o read -n 20 -s 64 &&
		as_nobody "$tool" --verbs pingpong l "$RCL_PEER_IP" \
			--key "$key.nobody" --pin "$pin2" -n 20 -s 5000 -c \
			--timeout $((30 * RCL_SLOW)) "${words[@]}"
}

# More silent connections than the listener has room for.
crowd()
(
	for ((i = 0; i < 20; i++)); do
		exec {fd}<>"/dev/tcp/$RCL_PEER_IP/7185" || exit
	done
	verbs ping l -c 1 -i 0
)

# A peer that goes before it has offered anything; then a caller with an unknown key
# that does the same.
gone()
{
	local name lines

	# What the listener said of earlier callers does not count.
	lines=$(wc -l <"$out")
	for name in "$key" "$key.other"; do
		[ -e "$name" ] || rclink genkey "$name" || return
		sleep 1 | openssl s_client -alpn rclink/1 \
			-connect "$RCL_PEER_IP:7185" -cert "$name" -key "$name" \
			>/dev/null 2>&1
	done
	until_true 10 says_behind "$lines" \
		'^given up, from .*the peer closed the connection' &&
		until_true 10 says_behind "$lines" '^refused .*the peer closed'
}

# says_behind LINE PATTERN: the listener said PATTERN after LINE
says_behind()
{
	tail -n +$(($1 + 1)) "$out" | grep "$2"
}

# Many silent connections of a peer with a known key, all for link l: on a slow kernel
# fewer, so that all have done the handshake before the first one goes.
offers()
{
	local i pids=() status

	for ((i = 0; i < (RCL_SLOW > 1 ? 4 : 20); i++)); do
		link_offer &
		pids+=($!)
	done
	until_true 60 grep -q 'refused .*too many exchanges for link l' "$out" &&
		verbs ping m -c 1 -i 0
	status=$?
	wait "${pids[@]}"
	tail -n 20 "$out"
	[ "$status" -eq 0 ] && until_true 20 grep -q '^l: not up, from' "$out"
}

# A peer that dials again has lost the link, whatever the listener believes.
replaced()
{
	keep qps 2 "${beat[@]}" || return
	verbs ping l -c 1 -i 0 || return
	! wait "$here" || return
	cat "$out.here" "$out"
	grep -q 'the link went down: ' "$out.here" &&
		grep -q 'l: down: the peer made a new epoch' "$out"
}

# More channels, one after the other, than the pool has QPs, so QPs are made anew.
kernel_connects()
{
	local i

	for i in 1 2 3; do
		rclink pingpong m -n 10 -s $((i * 700)) -c "$@" || return
	done
}

# The process on host 2 may not listen yet when the first exchange is done.
try_pingpong()
{
	verbs pingpong l -n 10 -s 100000 -c "$@" >>"$out.tries" 2>&1
}

user_connects()
{
	on 2 "$tool" pingpong -l l -c >"$out" 2>&1 &
	other=$!
	: >"$out.tries"
	if until_true 30 try_pingpong "$@"; then
		far_end
		return
	fi
	cat "$out.tries" "$out"
	on 2 pgrep -ax rclink
	kill "$other"
	wait "$other"
	return 1
}

large='packets of 1024 bytes do not come through: lower mtu'

# fails CMD...: CMD fails within its time, and tells why
fails()
{
	local said status

	said=$("$@" 2>&1)
	status=$?
	echo "$said"
	[ "$status" -eq 1 ] && grep -q "$large" <<<"$said"
}

# large_lost HOST: HOST receives no large packets
large_lost()
{
	local -a slow=(timeout 17) words=(timeout 17 "${calm[@]}" qps 2)
	local status

	far_listens qps 2 && no_large "$1" || return
	fails verbs ping l -c 1 -i 0 && words+=(mtu 512) &&
		verbs ping l -c 1 -i 0
	status=$?
	rdma_hears "$1"
	far_kill INT
	[ "$status" -eq 0 ] && grep -q "$large" "$out"
}

# Large packets get lost while the link is up: then nothing that follows is accepted.
large_lost_later()
{
	local status

	keep qps 2 "${beat[@]}" && no_large 2 || return
	! wait "$here"
	status=$?
	rdma_hears 2
	cat "$out.here"
	[ "$status" -eq 0 ] && grep -q 'the link went down: ' "$out.here"
}

kernel_is_told()
{
	local -a words=(timeout 17 "${calm[@]}")
	local status

	no_large 2 || return
	fails verbs ping l -c 1 -i 0
	status=$?
	rdma_hears 2
	[ "$status" -eq 0 ] && becomes 2 l .state down
}

user_lost()
{
	keep qps 2 "${beat[@]}" || return
	far_kill KILL
	! wait "$here" || return
	cat "$out.here"
	grep -q 'the link went down: ' "$out.here"
}

kernel_lost()
{
	keep "${calm[@]}" || return
	kill -KILL "$here"
	wait "$here"
	until_true 20 is 2 l .state down
}

goodbye()
{
	kill -INT "$here" && wait "$here" && becomes 2 l .reason peer-disconnected
}

# On both hosts the kernel holds no QP of an rclink process.
no_objects()
{
	local all

	all=$(on_all rdma resource show qp) && ! grep -w 'comm rclink' <<<"$all"
}

device=$RCL_DEV
plan 29
link_setup
check "the device and its GIDs are those that the module sees" same_gids
refuse 1 "a device that is not there is named" 'no device' \
	rclink --verbs window nosuch
check "memory windows are bound, used, refused and invalidated" windows_hold
check "a stock server, polled, by a user without rights" stock_serves
check "a stock client, with events and checked data" stock_calls -e
refuse 1 "a stock peer that is not there is named" 'start ibv_rc_pingpong' \
	rclink pingpong --stock "$RCL_PEER_IP"

holds "a process listens" far_listens "${beat[@]}" qps 2
check "process and process: ping, bench, a channel without rights" user_user
check "connections that say nothing keep nobody out" crowd
check "a peer that goes is not refused, but for one that is not known" gone
check "a peer that begins many exchanges keeps no other link down" offers
holds "a newer epoch ends the older one" replaced
holds "a kernel dials a process" eval \
	'link_add 1 m qps 2 "${beat[@]}" && link_dial m'
check "it sees all operations answered, with checked data" \
	verified rclink ping m
refuse 1 "a channel is refused" 'nobody listens' rclink send m:x
check "channels that a kernel opens, one after the other" kernel_connects
check "a goodbye of the kernel is heard" eval \
	'rclink disconnect m && until_true 10 grep -q "m: down: disconnected by" $out'
holds "large packets that get lost while it is up are noticed" large_lost_later
holds "a process notices that its peer was killed" user_lost
holds "large packets that do not reach host 2: both say so" large_lost 2
holds "large packets that do not reach host 1: both say so" large_lost 1

words=("${slow[@]}" "${calm[@]}")
link_add 2 l "${beat[@]}"
link_listen l
check "large packets that do not reach it are told to a process" kernel_is_told
holds "a process dials a kernel" keep "${calm[@]}"
check "the kernel sees all operations answered" \
	verified on 2 "$tool" ping l
holds "a goodbye of the process is heard" goodbye
check "a process sees the kernel answer a READ and an atomic" eval \
	'verbs ping l -o read -c 2 -i 0 -q && verbs ping l -o fadd -c 2 -i 0 -q'
holds "a channel that a process opens" user_connects
holds "a kernel notices that a process was killed" kernel_lost
link_listen_end
check "no process has left anything" no_objects
finish
