#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Exchanges are stopped, one link at each message: the QPs are in the expected states
# then, and each way to end there leaves nothing half-made at either end.
# hosts: 2
# kernels: 6.1-all 6.12-all
# timeout: 300
# The libraries define the variables; eval expands its arguments.
# shellcheck disable=SC2154,SC2016,SC2034

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"

# What is held back: message, direction, records from the end of that direction
# (the last one is TLS's close_notify), state of the QPs at hosts 1 and 2.
steps=(
	'WELCOME	down 5 - -'
	'OFFER		up   4 - -'
	'ANSWER		down 4 - INIT'
	'ENDPOINT	up   3 RTR INIT'
	'ENDPOINT	down 3 INIT RTR'
	'CONFIRM	up   2 RTS RTR'
	'CONFIRM	down 2 RTR RTS'
	'DONE		up   1 RTS RTS'
	'DONE		down 1 RTS RTS'
)
relay=$LIB_DIR/../build/link/relay
relay_log=/tmp/rclink-test-relay
relay_port=7300
num=${#steps[@]}
links=()
for ((i = 0; i < num; i++)); do
	links+=("s$i")
done
dials=()
relays=()

# stop_all HOW [DIAL OPTIONS]: begins one exchange for each step, through a relay that
# stops it there; HOW is fin, reset or hold
stop_all()
{
	local how=$1 i way back

	shift
	dials=()
	relays=()
	for ((i = 0; i < num; i++)); do
		read -r _ way back _ <<<"${steps[i]}"
		"$relay" $((relay_port + i)) "$RCL_PEER_IP" 7185 "$way" \
			$((records[$way] - back - 1)) "$how" >"$relay_log$i" &
		relays+=($!)
	done
	until_true 5 all_relays ready || return
	for ((i = 0; i < num; i++)); do
		# Not by rclink(): the process of $! must be the tool itself.
		"$tool" connect "s$i" "127.0.0.1:$((relay_port + i))" \
			--key "$key" --pin "$pin2" --timeout $((60 * RCL_SLOW)) \
			"$@" >"$said$i" 2>&1 &
		dials+=($!)
	done
	until_true 30 all_relays cut || {
		grep . "$relay_log"? "$said"?
		return 1
	}
}

# all_relays WORD: each relay has printed WORD
all_relays()
{
	local i

	for ((i = 0; i < num; i++)); do
		grep -q "$1" "$relay_log$i" || return
	done
}

# A process that has ended by itself is fine, too.
end_all()
{
	kill "$@"
	wait "$@"
} 2>/dev/null

end_relays()
{
	[ ${#relays[@]} -eq 0 ] || end_all "${relays[@]}"
	relays=()
}

kill_dials()
{
	kill -KILL "${dials[@]}"
	wait "${dials[@]}"
} 2>/dev/null

# failed STEP...: the tools that dialled the links of these steps reported failure
failed()
{
	local i

	for i; do
		wait "${dials[i]}"
		[ $? -eq 1 ] && grep -q '^rclink: connect' "$said$i" && continue
		echo "s$i:"
		cat "$said$i"
		return 1
	done
}

succeeded()
{
	wait "${dials[$1]}" || {
		cat "$said$1"
		return 1
	}
}

# states HOST: for each link, how many of its QPs are in which state, as `rdma` on HOST
# shows them
states()
{
	gojq -nc --argjson links "$(on "$1" "$tool" show -j)" \
		--argjson qps "$(on "$1" rdma resource show qp -j)" '
		($qps | map(select(.comm == "rclink") |
			{ (.lqpn | tostring): .state }) | add) as $states |
		$links | map({ (.name): (if .local and $states then
			[.local.queue_pairs[].qpn | tostring | $states[.]] |
			map(select(.)) | group_by(.) |
			map("\(length) \(.[0])") | join(" ") else "" end) }) |
		add'
}

# step_is HOST STEP STATE: all QPs of that step's link are in STATE, as states() found
step_is()
{
	local want="5 $3"

	[ "$3" != - ] || want=''
	gojq -e --arg name "s$2" --arg want "$want" '.[$name] == $want' \
		<<<"${found[$1]}" >/dev/null
}

all_steps_are()
{
	local host i one two want

	for host in 1 2; do
		found[host]=$(states $host)
		for ((i = 0; i < num; i++)); do
			read -r _ _ _ one two <<<"${steps[i]}"
			want=$one
			[ $host -eq 1 ] || want=$two
			step_is $host $i "$want" || return
		done
	done
}

both_empty()
{
	empty 1 && empty 2
}

# stays_up NAME: the link is up and answers at both ends; then host 1 disconnects it
stays_up()
{
	becomes 1 "$1" .state up && becomes 2 "$1" .state up &&
		rclink ping "$1" -c 2 -i 0 -q &&
		on 2 "$tool" ping "$1" -c 2 -i 0 -q && rclink disconnect "$1"
}

# The ways to end an exchange. A link that is up needs neither tool nor connection; but
# a tool that has not received the peer's DONE does not leave a link up at one end only:
# then both ends go down.
way_fin()
{
	stop_all fin && failed 0 1 2 3 4 5 6 8
}

way_reset()
{
	stop_all reset && failed 0 1 2 3 4 5 6 8
}

way_kill_tool()
{
	stop_all hold || return
	kill_dials
	end_relays
	# The peer has received no DONE for s7, and takes that link down.
	stays_up s8
}

way_kill_listener()
{
	stop_all hold && on 2 pkill -KILL -x rclink || return
	end_relays
	succeeded 7 && failed 0 1 2 3 4 5 6 8 && stays_up s7 &&
		link_listen_again "${links[@]}"
}

way_delete()
{
	local name

	stop_all hold || return
	for name in "${links[@]}"; do
		rclink del "$name" || return
	done
	empty 1 || return
	end_relays
	failed 0 1 2 3 4 5 6 8 && add_links 1
}

way_delete_there()
{
	stop_all hold && on 2 sh -c 'for name; do '"$tool"' del $name ||
		exit; done' - "${links[@]}" && empty 2 || return
	end_relays
	failed 0 1 2 3 4 5 6 8 && add_links 2
}

way_unload()
{
	stop_all hold && rmmod rclink || return
	end_relays
	failed 0 1 2 3 4 5 6 8 && "$LIB_DIR/vm/lab_load" && add_links 1
}

# The peer says nothing more, and no end is told so: each waits 10 s for a message.
way_silence()
{
	stop_all hold && failed 0 1 2 3 4 5 6 8 && until_true 20 both_empty
}

ends()
{
	local status

	"way_$1" && both_empty
	status=$?
	end_relays
	if [ $status -ne 0 ]; then
		rclink show
		on 2 "$tool" show
		kill_dials
		drop_links
	fi
	return $status
}

add_links()
{
	on "$1" sh -c 'for name; do '"$tool"' add $name || exit; done' - \
		"${links[@]}"
}

drop_links()
{
	on_all sh -c 'for name; do '"$tool"' disconnect $name; done' - \
		"${links[@]}" 2>/dev/null
	both_empty
}

# through_relay [bytes]: an exchange that nothing stops; the relay then prints
# how many records it saw, as "up N down N"
through_relay()
{
	local pid status

	"$relay" $relay_port "$RCL_PEER_IP" 7185 "$@" >"$relay_log" &
	pid=$!
	until_true 5 grep -q ready "$relay_log" &&
		rclink connect s0 127.0.0.1:$relay_port --key "$key" \
			--pin "$pin2" --timeout $((20 * RCL_SLOW)) &&
		wait $pid &&
		rclink disconnect s0 && becomes 2 s0 .state down
	status=$?
	kill $pid 2>/dev/null
	return $status
}

# look: checks all steps at once, before anything ends. The tools of both hosts are
# stopped meanwhile, so none times out, however long that takes on a busy machine.
look()
{
	local status

	# One of the tools has ended already, because it has received the peer's DONE.
	stop_all hold && sleep 1 && kill -STOP "${dials[@]}" 2>/dev/null &&
		on 2 pkill -STOP -x rclink && all_steps_are
	status=$?
	on 2 pkill -CONT -x rclink
	kill_dials
	end_relays
	drop_links
	return $status
}

plan $((2 + num + 8 + 1))
# Normally the relay has been built before the guests were booted.
programs link
link_setup
{ add_links 1 && add_links 2; } || bail "no links"
link_listen "${links[@]}"
declare -A records
declare -a found
holds "an exchange through a relay brings the link up" through_relay
read -r _ up _ down <<<"$(tail -1 "$relay_log")"
records=([up]=$up [down]=$down)
holds "so does one in segments of one byte" through_relay bytes
look || look || look
for ((i = 0; i < num; i++)); do
	read -r message way _ one two <<<"${steps[i]}"
	holds "without $message $way: ${one/-/no QP} here, ${two/-/no QP} there" \
		eval "step_is 1 $i $one && step_is 2 $i $two"
done
comment <<<"${found[1]} ${found[2]}"
for way in fin reset kill_tool kill_listener delete delete_there unload \
	silence; do
	holds "nothing half-made at both ends: ${way//_/ }" ends $way
done
holds "the link comes up after all that" link_dial s0
link_listen_end
finish
