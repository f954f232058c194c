#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Devices as libibverbs shows them, and what verbs_link does not use: the options of
# bench and pingpong, with a process, a kernel and a stock peer at the other end.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# ib: no, libibverbs knows no simulated device
# timeout: 400
# The libraries define the variables; gojq expands those in its filters.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/link/verbs.sh"

# max_mr_size: the limit of the device, null if there is none
max_mr_size()
{
	printf '%u\n' "$(devinfo max_mr_size)" | sed 's/^18446744073709551615$/null/'
}

# The values that ibv_devinfo prints, in the form in which rclink prints them.
as_devinfo_says()
{
	local speed

	speed=$(devinfo active_speed)
	printf '%u\n' "$(devinfo hw_ver)"
	max_mr_size
	printf '%u\n' "$(devinfo max_mw)" "$(devinfo port_lmc)"
	devinfo active_width | tr -d X
	echo "${speed%.*}${speed#*.}00"
	devinfo node_guid
	devinfo phys_state | tr 'A-Z_' 'a-z-'
}

same_device()
{
	diff <(as_devinfo_says) <(rclink dev "$device" --verbs -j | gojq -r '.[] |
		.hw_ver, .max_mr_size, .max_mw, .lmc, .active_width,
		.active_speed, .node_guid, .phys_state')
}

same_pkeys()
{
	diff <(cat "/sys/class/infiniband/$device/ports/1/pkeys/0") \
		<(rclink dev "$device" --verbs -j |
			gojq '.[].pkey_table[] | select(.index == 0).pkey' |
			xargs printf '0x%04x\n')
}

dev_is_narrow()
{
	rclink dev "$device" --verbs | tee "$said.dev" && ! grep '.\{81\}' "$said.dev" &&
		grep -q '^DEVICE  PORT  PHYSICAL' "$said.dev"
}

# How many RoCE packets this host has sent and received, as a sum.
packets()
{
	cat "/sys/class/infiniband/$device/ports/1/hw_counters/"{sent,rcvd}_pkts |
		paste -sd +
}

# moves NUM FILTER CMD...: CMD's JSON fulfils FILTER, and at least NUM packets were sent
# or received meanwhile
moves()
{
	local num=$1 filter=$2 before

	shift 2
	before=$(($(packets)))
	"$@" >"$out.json" || return
	cat "$out.json"
	gojq -e "$filter" <"$out.json" >/dev/null &&
		[ $(($(packets) - before)) -ge "$num" ]
}

bench_bw()
{
	moves 640 '.op == "write" and .size == 16384 and .iters == 40 and
		.depth == 7 and .bytes == 655360 and .duration > 0' \
		verbs bench l bw -s 16384 -n 40 -r 7 -j &&
		moves 640 '.op == "read" and .bytes == 655360' \
			verbs bench l bw -o read -s 16384 -n 40 -j &&
		moves 200 '.op == "fadd" and .bytes == 1600' \
			verbs bench l bw -o fadd -n 200 -j
}

bench_ops()
{
	local op

	for op in write read cas fadd; do
		moves 50 ".op == \"$op\" and .ok == 50 and .size == 8 and .min > 0" \
			verbs bench l lat -o "$op" -n 50 -j || return
	done
}

pingpong_events()
{
	moves 160 '.size == 3000 and .iters == 20 and .bytes == 120000' \
		verbs pingpong l -e -s 3000 -n 20 -c -j
}

too_much()
{
	local said status

	said=$(verbs bench l bw -s 1000000000 2>&1)
	status=$?
	echo "$said"
	[ "$status" -eq 1 ] && grep -q '^rclink: bench l: ' <<<"$said"
}

# refused FIELD VALUE TEXT: a link with FIELD set to VALUE is refused with TEXT, before
# the peer is called
refused()
{
	local -a words=("$1" "$2")

	refuse 1 "$1 $2: $3" "$3" verbs ping l -c 1
}

# split OPTIONS -- FILTER ...: sets theirs and filter, variables of the caller
split()
{
	while [ "$1" != -- ]; do
		theirs+=("$1")
		shift
	done
	filter=$2
}

# stock_serves OPTIONS -- FILTER OUR-OPTIONS: a stock server on host 2, with OPTIONS
stock_serves()
{
	local theirs=() filter status

	split "$@"
	shift $((${#theirs[@]} + 2))
	on 2 stdbuf -oL ibv_rc_pingpong -d "$device" -n 40 "${theirs[@]}" \
		>"$out" 2>&1 &
	other=$!
	until_true 20 on 2 sh -c 'ss -Hltn | grep -q ":18[56]"'
	moves 80 "$filter" timeout $((60 * RCL_SLOW)) "$tool" pingpong --stock \
		"$RCL_PEER_IP" -n 40 -j "$@"
	status=$?
	far_end && [ "$status" -eq 0 ]
}

# stock_calls OPTIONS -- FILTER OUR-OPTIONS: a stock client here, with OPTIONS, calls
# our server on host 2
stock_calls()
{
	local theirs=() filter status

	split "$@"
	shift $((${#theirs[@]} + 2))
	on 2 "$tool" pingpong --stock -n 40 -j "$@" >"$out.json" 2>"$out" &
	other=$!
	until_true 20 on 2 sh -c 'ss -Hltn | grep -q ":18[56]"'
	timeout $((60 * RCL_SLOW)) ibv_rc_pingpong -d "$device" -n 40 \
		"${theirs[@]}" "$RCL_PEER_IP"
	status=$?
	far_end && cat "$out.json" &&
		gojq -e "$filter" <"$out.json" >/dev/null && [ "$status" -eq 0 ]
}

v6()
{
	gid_index "$1" "2001:db8::$1"
}

device=$RCL_DEV
plan 23
link_setup
check "a device is as ibv_devinfo has it" same_device
check "its first partition key is that of sysfs" same_pkeys
check "all of it is in 80 columns" dev_is_narrow

holds "a process listens" far_listens qps 2
check "bench bw moves what was asked for" bench_bw
check "bench lat has every operation" bench_ops
check "pingpong sleeps until there is a completion" pingpong_events
check "more than the peer's buffer is refused" too_much
refused mtu 4096 "mtu is larger than the port's active one"
refused rd-atomic 255 'rd-atomic is more than the device has'
refused pkey-index 65535 "pkey-index is beyond the port's"
refused hop-limit 7 "hop-limit is the route's"
refused gid-index 255 'no entry at that gid-index: see `rclink dev --verbs`'
far_kill INT >"$said"

link_add 2 l qps 2 "${calm[@]}"
link_listen l
check "bench bw with a kernel at the other end" bench_bw
check "bench lat with a kernel at the other end" bench_ops
link_listen_end

check "a stock server, by events at both ends" stock_serves -e -g "$(verbs_gid 2)" \
	-- '.bytes == 327680 and .extended_cq == false and .device_duration == null' \
	-e -c
check "a stock server with a small MTU, few receives, and IPv6" stock_serves \
	-g "$(v6 2)" -m 512 -s 3000 -r 2 -p 18600 \
	-- '.bytes == 240000 and .mtu == 512 and .gid == "2001:db8::1"' \
	-g "$(v6 1)" -m 512 -s 3000 -r 2 -p 18600 -d "$device" -i 1 --sl 0
refuse 1 "a larger MTU than the port has" "mtu 4096 is larger than the port's active" \
	rclink pingpong --stock "$RCL_PEER_IP" -m 4096
check "an extended CQ, polled" stock_serves -g "$(verbs_gid 2)" \
	-- '.bytes == 327680 and .extended_cq and .device_duration == null' -t
check "an extended CQ, by events" stock_serves -g "$(verbs_gid 2)" -e -s 100 -r 3 \
	-- '.bytes == 8000 and .extended_cq' -t -e -s 100 -r 3
check "a stock client, by events" stock_calls -g "$(verbs_gid 1)" -e \
	-- '.bytes == 327680 and .peer_gid == "::ffff:192.0.2.1"'
check "a stock client, with an extended CQ and checked data" stock_calls \
	-g "$(verbs_gid 1)" -c -s 9000 -- '.bytes == 720000 and .extended_cq' \
	-t -c -s 9000 -r 4
check "a stock client on another TCP port, with IPv6" stock_calls \
	-g "$(v6 1)" -p 18601 -m 256 -- '.mtu == 256 and .peer_gid == "2001:db8::1"' \
	-g "$(v6 2)" -p 18601 -m 256 -e
finish
