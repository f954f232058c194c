#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Exchanges that are stopped, one link at each message: which states the QPs are
# in then, and that each way to end there leaves nothing half-made at both ends.
# hosts: 2
# kernels: 6.1-all 6.12-all
# timeout: 300
# The library has the variables; what eval gets is expanded there.
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

# stop_all HOW [DIAL OPTIONS]: one exchange for each step, through a relay that
# cuts there
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
		# Not by a function: the process must be the tool itself.
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

# all_relays WORD: all of them have said it
all_relays()
{
	local i

	for ((i = 0; i < num; i++)); do
		grep -q "$1" "$relay_log$i" || return
	done
}

# What has ended by itself is fine, too.
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

# failed STEP...: the tool said that it failed
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

# states HOST: of the QPs, as the kernel's own tool has them, each link once
# with its name for each state in it
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

# step_is HOST STEP STATE: in what states() found
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

# stays_up NAME: at both ends, with data; then ended from here
stays_up()
{
	becomes 1 "$1" .state up && becomes 2 "$1" .state up &&
		rclink ping "$1" -c 2 -i 0 -q &&
		on 2 "$tool" ping "$1" -c 2 -i 0 -q && rclink disconnect "$1"
}

# The ends of an end. A link that is up needs neither tool nor connection; but
# a tool that has not heard of the peer's DONE does not leave half a link: then
# both ends are down.
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
	# The peer has no DONE for s7, and takes that link down.
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

# Nobody says anything any more, and nobody is told so: 10 s for each message.
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

# through_relay [bytes]: an exchange that nothing stops; the relay then says
# how many records it had, as "up N down N"
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

# look: all steps at once, before anything ends. Neither tool counts its seconds
# meanwhile, however long it takes on a busy machine.
look()
{
	local status

	# One of them is done already: it has heard of the peer's DONE.
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
# Normally it has been built before the guests were booted.
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
