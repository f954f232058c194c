#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tries which operation works on which device, between which ends. The result has to be
# what Documentation/operations.rst says.
# hosts: 2
# kernels: 6.1-all 6.12-all debug-all
# lab: has simulated ports on the lab's network
# ib: no, its table is of libibverbs, too, which knows no simulated device
# timeout: 240
# The libraries set or use the variables.
# shellcheck disable=SC2034,SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"
. "$LIB_DIR/group/lib.sh"
. "$LIB_DIR/kapi/lib.sh"

document=$LIB_DIR/../Documentation/operations.rst
made=/tmp/rclink-test-operations
device=$RCL_DEV
ops=(send write read cas fadd)
# As table.c calls them.
declare -A op_names=(
	[send]=SEND [send-imm]='SEND with immediate'
	[send-inv]='SEND with invalidate' [write]=WRITE
	[write-imm]='WRITE with immediate' [read]=READ
	[cas]='compare and swap' [fadd]='fetch and add'
	[mcas]='masked compare and swap' [mfadd]='masked fetch and add'
)

# pings FILE CMD...: CMD makes a checked round trip of each operation
pings()
{
	local file=$1 op said

	shift
	for op in "${ops[@]}"; do
		said=$("$@" -c 1 -i 0 -q -o "$op" 2>&1 >/dev/null)
		printf '%s\t%s\n' "$op" "${said:-works}"
	done >"$made.$file"
}

# tries FILE NEAR [FAR]: channels and pings of this host with itself, from device NEAR
# to device FAR
tries()
{
	local status

	link_across "$2" "${3:-$2}" &&
		"$CHAN/table" a b >"$made.chan.$1" &&
		kapi 1 "listen b" && kapi 1 "table a" >"$made.kapi.$1" &&
		kapi 1 unlisten && pings "ping.$1" rclink ping a
	status=$?
	# The debug kernel prints no names of errors (CONFIG_SYMBOLIC_ERRNAME).
	sed -i 's/\t-95$/\t-EOPNOTSUPP/' "$made.kapi.$1"
	rclink del a
	rclink del b
	return "$status"
}

# groups FILE DEVICE WORDS...: a group of both hosts, and what this host sends to it
groups()
{
	local file=$1 device=$2 status

	shift 2
	link_listen l && link_pair l device "$device" timeout 19 &&
		rclink group add g dev "$device" "$@" link l &&
		on 2 "$tool" group add g dev "$device" "$@" from l &&
		until_true 20 has_key 2 "$(key_id 1)" &&
		heard '\x88wfUD3"\x11' "$CHAN/table" g \
			>"$made.group.$file" && kapi 1 "group_join g" &&
		heard tea kapi 1 "group_say tea" &&
		printf 'SEND\tworks\n' >"$made.module.$file"
	status=$?
	kapi 1 group_leave
	on_all "$tool" group del g
	link_listen_end
	on_all "$tool" del l
	return "$status"
}

# echoes FILE CMD...: CMD, a process over libibverbs, tries each operation over a
# channel
echoes()
{
	local file=$1 op said

	shift
	for op in send send-imm send-inv write write-imm read cas fadd mcas mfadd; do
		said=$("$@" -o "$op" 2>&1 >/dev/null)
		printf '%s\t%s\n' "${op_names[$op]}" "${said:-works}"
	done >"$made.$file"
}

# heard TEXT CMD...: host 2 hears TEXT, and nothing else, when CMD sends it
heard()
{
	local text=$1 process

	shift
	on 2 "$tool" group recv g -n 1 >"$made.heard" &
	process=$!
	until_true 20 said "$@" && wait "$process" &&
		[ "$(cut -d ' ' -f 3- "$made.heard")" = "$text" ] &&
		cat "$made.says"
}

# One attempt, which fails as long as host 2 has heard nothing.
said()
{
	"$@" >"$made.says" && [ -s "$made.heard" ]
}

# verbs CMD [OPTIONS]: host 2 is the end that listens
verbs()
{
	local cmd=$1

	shift
	"$tool" --verbs "$cmd" l "$RCL_PEER_IP" --key "$key" --pin "$pin2" \
		--timeout $((30 * RCL_SLOW)) "$@" timeout 19 heartbeat 5000
}

process_to_module()
{
	local status=0

	link_add 2 l && link_listen l && chan_far mirror l || return
	pings verbs.kernel verbs ping && echoes echo.verbs.kernel verbs echo ||
		status=1
	chan_far_end "$far"
	link_listen_end
	on 2 "$tool" del l && return $status
}

process_listens()
{
	on 2 "$tool" --verbs listen --key "$key" --peer "l=$pin1" \
		--peer "m=$pin1" timeout 19 heartbeat 5000 >"$log" 2>&1 &
	listener=$!
	until_true 20 grep -q listening "$log"
}

module_to_process()
{
	link_add 1 m && link_dial m && pings kernel.verbs rclink ping m &&
		"$CHAN/table" --echo m >"$made.echo.kernel.verbs" &&
		rclink del m
}

# section TITLE COLUMN=FILE...: a table, and the notes that it refers to
section()
{
	local title=$1 column

	shift
	printf '\n%s\n%s\n\n' "$title" "${title//?/=}"
	for column; do
		sed "s/^/${column%=*}\t/" "$made.${column##*=}"
	done | awk -F '\t' '
	function line(text) { gsub(/ +$/, "", text); print text }
	function rule(  text, i) {
		text = "======================="
		for (i = 1; i <= columns; i++)
			text = text "  " substr("=======================", 1, wide[i])
		print text
	}
	$1 != title[columns] {
		title[++columns] = $1
		wide[columns] = length($1) < 6 ? 6 : length($1)
	}
	!($2 in row) { row[$2] = ++rows; name[rows] = $2 }
	$3 == "works" { cell[row[$2], columns] = $3 }
	$3 != "works" {
		if (!($3 in note)) { note[$3] = ++notes; text[notes] = $3 }
		cell[row[$2], columns] = "no (" note[$3] ")"
	}
	END {
		name[0] = "operation"
		rule()
		for (r = 0; r <= rows; r++) {
			out = sprintf("%-23s", name[r])
			for (i = 1; i <= columns; i++)
				out = out sprintf("  %-" wide[i] "s",
						  r ? cell[r, i] : title[i])
			line(out)
			if (!r)
				rule()
		}
		rule()
		for (i = 1; i <= notes; i++)
			printf "\n%d. ``%s``\n", i, text[i]
	}'
}

# channels TITLE FILE
channels()
{
	section "$1" "RoCE=$2.roce" "InfiniBand=$2.all" \
		"no masked atomics=$2.some" "no atomics=$2.none" \
		"to no masked=$2.to_some" "to no atomics=$2.to_none"
}

makes()
{
	{
		sed '/^Channels of processes$/,$d' "$document"
		channels "Channels of processes" chan | tail -n +2
		channels "Channels of kernel modules" kapi
		section "Channels of processes over libibverbs" \
			"from librclink=echo.kernel.verbs" \
			"to librclink=echo.verbs.kernel" \
			"both ends=echo.verbs.verbs"
		section Groups "RoCE=group.roce" "InfiniBand=group.ib" \
			"module, RoCE=module.roce" \
			"module, InfiniBand=module.ib"
		section "Checked round trips" "RoCE=ping.roce" \
			"InfiniBand=ping.all" "no atomics=ping.none" \
			"to no atomics=ping.to_none" \
			"from process=verbs.kernel" \
			"to process=kernel.verbs" \
			"among processes=verbs.verbs"
	} >"$made"
	diff "$document" "$made" && return
	sed 's/^/document| /' "$made"
	return 1
}

plan 12
chan_build
link_setup
kapi_load
sim_load "sim0 ib 1 wire=eth0" "sim1 ib 2 atomics=1" "sim2 ib 3 atomics=0"
on 2 "$LIB_DIR/rdmasim/load" "sim0 ib 4 wire=eth0" || bail "none on host 2"
check "RoCE is tried" tries roce "$device"
check "InfiniBand is tried" tries all sim0
check "a device without masked atomics is tried" tries some sim1
check "a device without atomics is tried" tries none sim2
check "a peer without masked atomics is tried" tries to_some sim0 sim1
check "a peer without atomics is tried" tries to_none sim0 sim2
holds "a group on RoCE is tried" groups roce "$device" mgid "$mgid4"
holds "a group on InfiniBand is tried" groups ib sim0 mgid "$mgid6" mlid 0xc001
holds "a process tries with the module of its peer" process_to_module
holds "the module tries with a process of its peer" eval \
	'process_listens && module_to_process'
check "a process tries with a process" eval \
	'pings verbs.verbs verbs ping && echoes echo.verbs.verbs verbs echo'
link_listen_end
check "the document says what came out" makes
on_all rmmod rclink_test
on_all rmmod rdmasim
rm -f "$made"*
finish
