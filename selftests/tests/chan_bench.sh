#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rclink bench between two hosts: each test and each operation completes with
# plausible figures, and the server outlives the clients that measure.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# timeout: 240
# The library has the variables; what gojq gets is expanded there.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

serves=/tmp/rclink-test-serves
shows=/tmp/rclink-test-shows
server=''

serve()
{
	on 2 "$tool" bench -l l >"$serves" 2>&1 &
	server=$!
	until_true 10 listens 2
}

# times TEST OP SIZE ITERS: the times of the report are in order
times()
{
	local doc

	doc=$(rclink bench l "$1" -o "$2" -s "$3" -n "$4" -j) || return
	echo "$doc"
	gojq -e --arg test "$1" --arg op "$2" --argjson size "$3" \
		--argjson iters "$4" '.test == $test and .op == $op and
		.size == $size and .iters == $iters and .min > 0 and
		.half_round_trip == ($test == "lat" and
			($op == "send" or $op == "write")) and
		.min <= .median and .median <= .p99 and .p99 <= .p999 and
		.p999 <= .max and .min <= .avg and .avg <= .max' <<<"$doc"
}

# stream TEST OP SIZE ITERS: the rate is the number of bytes over the duration
stream()
{
	local doc

	doc=$(rclink bench l "$1" -o "$2" -s "$3" -n "$4" -j) || return
	echo "$doc"
	gojq -e --arg test "$1" --arg op "$2" --argjson size "$3" \
		--argjson iters "$4" '.test == $test and .op == $op and
		.size == $size and .iters == $iters and .duration > 0 and
		(.bytes_per_second * .duration / 1e9 / $size / $iters |
		. > 0.99 and . < 1.01)' <<<"$doc"
}

# The output is the head of a table and one line of figures.
reads_like()
{
	local head=$1

	shift
	rclink bench l "$@" >"$shows" || return
	cat "$shows"
	[ "$(wc -l <"$shows")" -eq 2 ] && head -n 1 "$shows" | grep -q "$head" &&
		tail -n 1 "$shows" | grep -qE '^[0-9]+ +[0-9]+( +[0-9.]+)+$'
}

# Who comes while another one attaches again and again waits for the end of that.
comes_meanwhile()
{
	local first

	rclink bench l attach -n 20 >"$shows" 2>&1 &
	first=$!
	until_true 10 eval '[ "$(of 1 l .stats.channels)" -gt 0 ]'
	times lat send 64 20
	set -- $?
	wait "$first" && [ "$1" -eq 0 ] && return
	cat "$shows"
	return 1
}

# A client may be killed at any moment; the server then serves the next one.
killed()
{
	"$tool" bench l rate -n 10000000 &
	sleep 1
	kill -KILL $!
	wait $! 2>/dev/null
	times lat send 64 20
}

gone()
{
	"$tool" bench l rate -n 10000000 >"$shows" 2>&1 &
	sleep 1
	on 2 pkill -KILL -x rclink
	wait $!
	[ $? -eq 1 ] && cat "$shows" && [ "$(wc -l <"$shows")" -eq 1 ]
}

# Host 2 listens with `rclink recv`, which is no bench server.
no_bench()
{
	local receiver status

	on 2 "$tool" recv l:pipe >/dev/null 2>&1 &
	receiver=$!
	until_true 10 listens 2
	rclink bench l:pipe lat
	status=$?
	wait "$receiver" 2>/dev/null
	return "$status"
}

# With qps 1 the channel of the bench leases the only queue pair.
one_alone()
{
	rclink disconnect l && on_all "$tool" set l qps 1 && link_listen l &&
		link_dial l && link_listen_end && serve
}

plan 39
chan_setup
refuse 2 "a test that is none is refused" 'not lat, bw, rate' \
	rclink bench l fast
refuse 2 "a bandwidth of atomics is refused" 'no bw of cas' \
	rclink bench l bw -o cas
refuse 2 "an atomic of 64 bytes is refused" 'size is 8' \
	rclink bench l lat -o fadd -s 64
refuse 1 "without a server it says so" 'nobody listens' rclink bench l lat
refuse 1 "nor does it take something else for one" \
	'cannot import: the peer has no region of this name' no_bench
holds "host 2 serves" serve
for op in send write read; do
	for size in 1 64 5000; do
		holds "latency of $op, $size bytes" times lat $op $size 50
	done
done
holds "latency of cas" times lat cas 8 50
holds "latency of fadd" times lat fadd 8 50
for op in send write read; do
	holds "bandwidth of $op" stream bw $op 65536 64
done
for op in send write read; do
	holds "rate of $op" stream rate "$op" 64 1000
done
# The first messages may arrive before or after the receiver looks for them.
for ((i = 0; i < 8; i++)); do
	holds "rate of a few sends" stream rate send 64 80
done
holds "attach" times attach write 8 8
holds "another one may come meanwhile" comes_meanwhile
holds "latency reads like perftest's" reads_like \
	't_min.usec.*t_typical.usec.*t_avg.usec.*99.9%' lat -n 20
holds "bandwidth reads like perftest's" reads_like \
	'BW average.MB/sec.*MsgRate.Mpps' bw -n 20
holds "after one that was killed the next is served" killed
holds "a server that is killed ends who measures" gone
wait "$server" 2>/dev/null
holds "a link has one queue pair" one_alone
refuse 1 "to attach again and again takes one more" 'no queue pair is free' \
	timeout 60 "$tool" bench l attach
kill "$server" 2>/dev/null || on 2 pkill -x rclink
wait "$server" 2>/dev/null
sed 's/^/# host 2: /' "$serves"
finish
