#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which operation works on which device between which ends, tried out: what
# Documentation/operations.rst says is what comes out here.
# hosts: 2
# kernels: 6.12-all
# ib: no, its table is of libibverbs, too, which knows no simulated device
# timeout: 240
# The library has the variables.
# shellcheck disable=SC2034,SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/chan/lib.sh"

document=$LIB_DIR/../Documentation/operations.rst
made=/tmp/rclink-test-operations
device=$RCL_DEV
ops=(send write read cas fadd)

# pings FILE CMD...: a checked round trip of each operation
pings()
{
	local file=$1 op said

	shift
	for op in "${ops[@]}"; do
		said=$("$@" -c 1 -i 0 -q -o "$op" 2>&1 >/dev/null)
		printf '%s\t%s\n' "$op" "${said:-works}"
	done >"$made.$file"
}

# tries FILE NEAR [FAR]: channels, and pings, of this host with itself, from one
# device to the other
tries()
{
	local status

	link_across "$2" "${3:-$2}" && "$CHAN/table" a b >"$made.chan.$1" &&
		pings "ping.$1" rclink ping a
	status=$?
	rclink del a
	rclink del b
	return "$status"
}

# verbs LINK WORD: host 2 is the end that listens
verbs_ping()
{
	"$tool" --verbs ping l "$RCL_PEER_IP" --key "$key" --pin "$pin2" \
		--timeout $((30 * RCL_SLOW)) "$@" timeout 19 heartbeat 5000
}

process_to_module()
{
	link_add 2 l && link_listen l && pings verbs.kernel verbs_ping &&
		link_listen_end && on 2 "$tool" del l
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
		rclink del m
}

# section TITLE COLUMN=FILE...: a table, and the sentences in it
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

makes()
{
	{
		sed '/^Channels$/,$d' "$document"
		section Channels "RoCE=chan.roce" "InfiniBand=chan.all" \
			"no masked atomics=chan.some" "no atomics=chan.none" \
			"to no masked=chan.to_some" "to no atomics=chan.to_none" |
			tail -n +2
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

plan 10
chan_build
link_setup
sim_load "sim0 ib 1" "sim1 ib 2 atomics=1" "sim2 ib 3 atomics=0"
check "RoCE is tried" tries roce "$device"
check "InfiniBand is tried" tries all sim0
check "a device without masked atomics is tried" tries some sim1
check "a device without atomics is tried" tries none sim2
check "a peer without masked atomics is tried" tries to_some sim0 sim1
check "a peer without atomics is tried" tries to_none sim0 sim2
holds "a process tries with the module of its peer" process_to_module
holds "the module tries with a process of its peer" eval \
	'process_listens && module_to_process'
check "a process tries with a process" pings verbs.verbs verbs_ping
link_listen_end
check "the document says what came out" makes
sim_unload
rm -f "$made"*
finish
