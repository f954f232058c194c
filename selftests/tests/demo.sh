#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo of the README, and what a user must see of it.
# hosts: 0
# kernels: host-all
# timeout: 900
. "$(dirname "$0")/../lib.sh"

# The most seconds that `make demo` may take. On a busy machine it took 21 (README.md).
most=90

seen=$(mktemp) || bail "no file"
trap 'rm -f "$seen"' EXIT

# shows HOST COMMAND: the output of the commands on HOST that begin with COMMAND
shows()
{
	awk -v line="host$1# $2" '
		/^host[12]# / { on = index($0, line) == 1; next }
		/^== / { on = 0 }
		on' "$seen"
}

# in_order HOST COMMAND REGEX...: that output has a line for each REGEX, in this order
in_order()
{
	local host=$1 command=$2 regex text

	shift 2
	text=$(shows "$host" "$command")
	for regex; do
		if ! grep -qE -e "$regex" <<<"$text"; then
			printf 'no "%s" in what is left:\n%s\n' "$regex" "$text"
			return 1
		fi
		text=$(sed -E "0,\\@$regex@d" <<<"$text")
	done
}

# in_turn: the commands of both hosts in their order; repeated ones count once
in_turn()
{
	diff - <(sed -n 's/^host\([12]\)# rclink \([a-z]*\).*/\1 \2/p' "$seen" |
		uniq) <<-END
		1 dev
		1 genkey
		2 genkey
		1 add
		2 add
		2 listen
		1 connect
		1 show
		2 show
		1 ping
		1 stats
		1 disconnect
		2 show
		1 del
		2 del
	END
}

# Sets took to the seconds of `make demo` when setting up and compiling have been done
# before.
demo()
{
	local status begun dir

	"$LIB_DIR/vm/module" "$kernel" >"$seen" 2>&1 &&
		dir=$("$LIB_DIR/vm/kernel" "$kernel" 2>>"$seen") &&
		"$LIB_DIR/vm/accel" "$dir" >>"$seen" 2>&1 || return
	begun=$SECONDS
	{
		"$LIB_DIR/vm/module" "$kernel" &&
			KERNEL=$kernel "$LIB_DIR/demo.sh"
	} >"$seen" 2>&1 </dev/null
	status=$?
	[ "$status" -ne 0 ] || took=$((SECONDS - begun))
	return "$status"
}

# pin HOST: the pin of the key that was made there
pin()
{
	shows "$1" 'rclink genkey' | grep -x 'sha256:[A-Za-z0-9+/]\{43\}='
}

two_pins()
{
	pin 1 && pin 2 && [ "$(pin 1)" != "$(pin 2)" ]
}

exchange()
{
	in_order 1 'rclink connect demo' 'ms  TCP ' 'ms  TLS .*1\.3' 'ms  PATHS ' \
		'ms  PREPARED .*RESET -> INIT' 'ms  OFFERED ' \
		'ms  CONNECTED .*INIT -> RTR' 'ms  CONFIRMED ' \
		'ms  ACTIVATED .*RTR -> RTS' 'ms  UP ' 'ms  DONE ' \
		'^demo: up, epoch 1, peer sha256:.*, [0-9]+ ms$'
}

# each_names_the_other: by its pin, in the output of both tools and in `show`
each_names_the_other()
{
	local pin1 pin2

	pin1=$(pin 1) && pin2=$(pin 2) || return
	shows 1 'rclink connect' | grep -qF "demo: up, epoch 1, peer $pin2," &&
		shows 2 '(what the listener said)' |
		grep -qF "demo: up, epoch 1, peer $pin1," &&
		shows 1 'rclink show demo' | grep -q "^  peer  *$pin2\$" &&
		shows 2 'rclink show demo' | grep -q "^  peer  *$pin1\$"
}

# end_of HOST local|remote: five lines of a QPN and a PSN, decimal
end_of()
{
	local qpn psn

	shows "$1" 'rclink show demo' | sed -n "/^  $2 end\$/,/^  [a-z]/p" |
		grep -E '^ +0x[0-9a-f]+ +0x[0-9a-f]+$' |
		while read -r qpn psn; do
			echo "$((qpn)) $((psn))"
		done | sort
}

ends_agree()
{
	local host

	for host in 1 2; do
		[ "$(end_of $host local | wc -l)" -eq 5 ] &&
			[ "$(end_of $host local)" = \
				"$(end_of $((3 - host)) remote)" ] || return
	done
}

# The RDMA core shows the pool's QPs, which have sent nothing, with the QPNs and PSNs
# that the link shows.
core_agrees()
{
	local host rts

	for host in 1 2; do
		rts=$(shows "$host" 'rdma resource show qp | grep rclink' |
			sed -n 's/.* lqpn \([0-9]*\) .* state RTS .* sq-psn \([0-9]*\) .*/\1 \2/p')
		[ "$(wc -l <<<"$rts")" -eq 5 ] &&
			[ "$(end_of "$host" local | comm -12 - <(sort <<<"$rts") |
				wc -l)" -ge 4 ] || return
	done
}

# pinged N WORDS
pinged()
{
	in_order 1 "rclink ping demo $2 " "^--- demo: $1 ok, 0 failed, min [0-9]"
}

pings()
{
	local op

	for op in send write read cas fadd; do
		pinged 20 "--op $op" || return
	done
	pinged 5 "--op write -s 65536"
}

told_and_gone()
{
	in_order 2 'rclink show demo' 'state +down$' \
		'reason +disconnected by the peer$' &&
		in_order 1 'rdma resource show qp | grep rclink' \
			'^\(nothing\)$' '^Done in [0-9]+ s\.$'
}

in_time()
{
	[ -n "$took" ] && [ "$took" -le "$most" ]
}

# On a terminal, the demo prints dots until there is something to read. Each step may
# take 20 s times RCL_SLOW.
progress()
{
	KERNEL=6.12 RCL_SLOW=10 "$LIB_DIR/link/screen.py" \
		'see=some 10 s \.' 'see=== Two hosts' 'see=Done in ' -- \
		"$LIB_DIR/demo.sh"
}

plan 33
for kernel in 6.1 6.12; do
	took=''
	# Not by check, which would lose took. The other checks look at the output.
	if demo; then
		pass "$kernel: the demo ends well"
	else
		comment <"$seen"
		fail "$kernel: the demo ends well"
	fi
	comment <<<"$kernel: ${took:-no} s (at most $most)"
	check "$kernel: in $most s, when all is compiled" in_time
	check "$kernel: it says what it boots" \
		grep -qF "booting two virtual hosts, Linux $kernel," "$seen"
	check "$kernel: one step comes after the other" in_turn
	check "$kernel: a table of devices has the one of the link" in_order 1 'rclink dev' \
		'^DEVICE +PORT +LAYER' '^rxe0 +1 +roce +active'
	check "$kernel: and of its GIDs, with the one that is chosen" in_order 1 'rclink dev' \
		'^rxe0 port 1:' '^\* +[0-9]+ +roce-v2 +::ffff:192\.0\.2\.1 '
	check "$kernel: each host makes a key, whose pins differ" two_pins
	check "$kernel: the exchange is shown step by step, with the states of the QPs" exchange
	check "$kernel: each end names the other by its pin" each_names_the_other
	check "$kernel: the link is up on host 1" in_order 1 'rclink show demo' 'state +up$'
	check "$kernel: and on host 2" in_order 2 'rclink show demo' 'state +up$'
	check "$kernel: both ends show the same QPNs and PSNs" ends_agree
	check "$kernel: so does the RDMA core, in RTS" core_agrees
	check "$kernel: SEND, WRITE, READ and atomics are measured, and none failed" pings
	check "$kernel: the counters say so, too" in_order 1 'rclink stats demo' \
		'not authentic +0$' 'completion errors +0$' 'pings +105$' \
		'pings failed +0$' 'times down +0$'
	check "$kernel: the peer is told of the end, and nothing is left" told_and_gone
done
check "a person who waits sees that it goes on" progress
rm -f "$seen"
finish
