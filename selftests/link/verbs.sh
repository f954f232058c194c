# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034
# Endpoints of processes, rclink --verbs, on both hosts. Sourced after link/lib.sh,
# whose variables it uses.

out=/tmp/rclink-test-verbs
# As link_add() sets it for links of the module.
slow=(timeout 19)
calm=(heartbeat 5000)
words=("${slow[@]}" "${calm[@]}" qps 2)
# How soon a lost peer is noticed: an emulated host stands still for some seconds.
beat=(heartbeat 1500 misses 4)
other=''

# far WORD CMD...: starts CMD on host 2, and waits until it prints WORD
far()
{
	local word=$1

	shift
	on 2 "$@" >"$out" 2>&1 &
	other=$!
	until_true 20 grep -q "$word" "$out"
}

# far_end: waits until CMD of far ends, and returns its status
far_end()
{
	local status

	wait "$other"
	status=$?
	cat "$out"
	return "$status"
}

far_kill()
{
	on 2 pkill "-$1" -x rclink
	far_end
	return 0
}

# verbs_gid HOST: the index of the GID that libibverbs would have chosen
verbs_gid()
{
	on "$1" "$tool" dev "$device" --verbs -j | gojq '.[0].chosen_gid'
}

# verbs CMD NAME [OPTIONS]: this host dials host 2
verbs()
{
	local cmd=$1 name=$2

	shift 2
	timeout $((90 * RCL_SLOW)) "$tool" --verbs "$cmd" "$name" "$RCL_PEER_IP" \
		--key "$key" --pin "$pin2" --timeout $((30 * RCL_SLOW)) "$@" \
		"${words[@]}"
}

far_listens()
{
	far listening "$tool" --verbs listen --key "$key" --peer "l=$pin1" \
		--peer "m=$pin1" "$@" "${slow[@]}"
}

# keep [WORD VALUE]: a process of this host keeps the link l up
keep()
{
	"$tool" --verbs connect l "$RCL_PEER_IP" --key "$key" --pin "$pin2" \
		"$@" "${slow[@]}" >"$out.here" 2>&1 &
	here=$!
	until_true 30 grep -q ': up, epoch' "$out.here" && return
	cat "$out.here"
	return 1
}
