#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Measure rclink and the tools that it is compared with in turn, several times, on one
# host alone. Prints "BENCH ROW WHO VALUE RUN" for each measurement; report.py makes
# the table.
#
# usage: guest.sh RUNS
# hosts: 1
# The library has the variables.
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/netlink/lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/kapi/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/figure.sh"

runs=$1
# The current run; 0 for values that are not paired by run.
run=0
server=''
# About a second of messages: a tenth of a second gives values that scatter by a half.
rate_iters=51200

say()
{
	echo "$1" >&2
}

value()
{
	if [ -z "$3" ]; then
		say "no value: $1 $2"
	else
		echo "BENCH $1 $2 $3 $run"
	fi
}

# mine TEST OP SIZE ITERS KEY [LINK]: KEY of the result of rclink bench. gojq starts
# after it, as it would take a processor.
mine()
{
	local json

	json=$(rclink bench "${6:-a}" "$1" -o "$2" -s "$3" -n "$4" -j)
	gojq -r ".$5" <<<"$json"
}

# lat ROW OP SIZE TOOL [OPTIONS]: average and median latency of TOOL and of rclink, in
# microseconds
lat()
{
	local row=$1 op=$2 size=$3 average='' typical=''

	shift 3
	read -r average typical < <(perftest "$size" 1000 "$@" |
		awk '{ print $6, $5 }')
	value "$row" peer "$average"
	value "$row-typical" peer "$typical"
	read -r average typical < <(mine lat "$op" "$size" 1000 \
		'| "\(.avg / 1000) \(.median / 1000)"')
	value "$row" rclink "$average"
	value "$row-typical" rclink "$typical"
}

# bw ROW OP SIZE ITERS TOOL: average bandwidth, in MB/s of 2^20 bytes
bw()
{
	value "$1" peer "$(perftest "$3" "$4" "$5" | awk '{ print $4 }')"
	value "$1" rclink "$(mine bw "$2" "$3" "$4" \
		'bytes_per_second / 1048576')"
}

# peer_rate ROW WHO TOOL [OPTIONS]: thousands of messages a second of TOOL, as WHO
peer_rate()
{
	local row=$1 who=$2

	shift 2
	value "$row" "$who" "$(perftest 64 "$rate_iters" "$@" |
		awk '{ print $5 * 1000 }')"
}

# rate ROW OP TOOL: thousands of messages a second; report.py takes the best of TOOL's
# modes
rate()
{
	peer_rate "$1" peer "$3"
	peer_rate "$1" peer-list "$3" -l 32
	peer_rate "$1" peer-inline "$3" -l 32 -I 64
	value "$1" rclink "$(mine rate "$2" 64 "$rate_iters" \
		'messages_per_second / 1000')"
}

# cm_connect: microseconds of one connection with rdma_cm
cm_connect()
{
	local cm

	timeout 60 cmtime -b "$RCL_IP" -c 1 >/dev/null 2>&1 &
	cm=$!
	until_true 10 rdma_listens
	timeout 60 cmtime -s "$RCL_IP" -c 1 2>/dev/null | awk -F: '
		/^(resolve addr|resolve route|create qp|connect) / {
			n = split($2, v, " ")
			sum += v[n]
		}
		END { if (sum) print sum }'
	kill "$cm" 2>/dev/null
	wait "$cm" 2>/dev/null
}

rdma_listens()
{
	rdma resource show cm_id 2>/dev/null | grep -q LISTEN
}

attach()
{
	value attach peer "$(cm_connect)"
	value attach rclink "$(mine attach write 8 20 'avg / 1000')"
}

# thousand N: N divided by 1000
thousand()
{
	awk -v n="$1" 'BEGIN { if (n) print n / 1000 }'
}

# kernel ROW: a WRITE through the interface for modules, and through the verbs alone; in
# microseconds
kernel()
{
	local one bare many bares

	read -r one bare _ many bares _ <<<"$(kapi_bench a)"
	value "$1" peer "$(thousand "$bare")"
	value "$1" rclink "$(thousand "$one")"
	value "$1-16" peer "$(thousand "$bares")"
	value "$1-16" rclink "$(thousand "$many")"
}

# As kernel(), on a simulated device, which does next to nothing itself. The links a and
# b are made anew on it.
simulated()
{
	rclink del a
	rclink del b
	sim_load "sim0 ib 1" >&2
	link_self device sim0 >&2 || return
	for ((run = 1; run <= runs; run++)); do
		kernel sim
	done
	rclink del a
	rclink del b
	sim_unload
}

write_lat()
{
	# So many that a wait for a tick, 4 ms, is less than a tenth of the total.
	mine lat write 64 10000 'avg / 1000'
}

# write_lats ROW WHO
write_lats()
{
	local i

	for ((i = 0; i < runs; i++)); do
		value "$1" "$2" "$(write_lat)"
	done
}

# idle PAIRS ROW: a link's latency among PAIRS pairs of idle links, and alone, before
# and after, as it takes minutes to make them
idle()
{
	write_lats "$2" peer
	hold up "$1" || say "no idle links"
	write_lats "$2" rclink
	drop
	forget
	write_lats "$2" peer
}

# The first link and channel are not counted: they may leave memory allocated.
memory()
{
	local i

	idle_link >/dev/null
	idle_channel 4 >/dev/null
	# Three values are enough: they hardly scatter.
	for ((i = 0; i < 3; i++)); do
		value memory-link rclink "$(idle_link)"
		value memory-channel rclink "$(idle_channel 4)"
	done
}

# A link from a to b, both on this host, and the server of benches on b.
begin()
{
	link_setup >&2
	modprobe -a rdma_ucm >&2
	kapi_load >&2
	link_self >&2 || exit 1
	kapi 1 "listen b" >&2 || exit 1
	rclink bench b --listen >&2 &
	server=$!
	until_true 10 rclink bench a lat -n 1 || exit 1
}

main()
{
	begin
	memory
	for ((run = 1; run <= runs; run++)); do
		say "run $run of $runs"
		lat send-lat send 64 ib_send_lat
		lat write-lat write 64 ib_write_lat
		lat read-lat read 64 ib_read_lat
		lat fadd-lat fadd 8 ib_atomic_lat -A FETCH_AND_ADD
		bw write-64k write 65536 1600 ib_write_bw
		bw read-64k read 65536 1600 ib_read_bw
		bw send-64k send 65536 1600 ib_send_bw
		bw write-1m write 1048576 100 ib_write_bw
		bw read-1m read 1048576 100 ib_read_bw
		bw send-1m send 1048576 100 ib_send_bw
		rate send-rate send ib_send_bw
		rate write-rate write ib_write_bw
		attach
		kernel kapi
	done
	run=0
	say "idle links"
	idle 1 idle-2
	idle 50 idle-100
	idle 250 idle-500
	kill "$server"
	wait "$server" 2>/dev/null
	say "a simulated device"
	simulated
}

main
trap - EXIT
