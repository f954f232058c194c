#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The main job, to look at: two hosts make keys, exchange pins, bring a link up
# over mutual TLS, move and verify data, and take it down again.
#
# Boots two guests and runs there in host 1. With RDMA hardware it needs none: as
# root, with the tree at the same path and the module installed on both hosts:
#
#	RCLINK_PEER=root@HOST selftests/demo.sh
#
# where HOST is the other host's name or address, RCLINK_DEV the device to use
# (default: the first with an active port), on both.

set -u
tree=$(cd "$(dirname "$0")/.." && pwd)
rclink=$tree/tools/rclink/rclink
dir=$(mktemp -d) || exit 1
link=demo
device=${RCLINK_DEV:-}
listener=""
started=$SECONDS

if [ -n "${RCLINK_PEER:-}" ]; then
	address=${RCLINK_PEER#*@}
	on()
	{
		shift
		# The peer's shell must see the words as they are here.
		# shellcheck disable=SC2029
		ssh "$RCLINK_PEER" "cd ${tree@Q} && $(printf '%q ' "$@")"
	}
elif [ -n "${RCL_PEER_IP:-}" ]; then
	address=$RCL_PEER_IP
else
	echo "booting two virtual hosts, some 10 s ..."
	rmdir "$dir"
	cd "$tree" || exit 1
	exec selftests/vm/run --kernel "${KERNEL:-6.12}" --hosts 2 -- \
		selftests/demo.sh
fi

title()
{
	printf '\n== %s\n' "$*"
}

# shown HOST TEXT: a command line as if typed there
shown()
{
	printf 'host%d# %s\n' "$1" "$2"
}

die()
{
	echo "demo: $*" >&2
	exit 1
}

at()
{
	if [ "$1" -eq 1 ]; then
		"${@:2}"
	else
		on "$@"
	fi
}

# rcl HOST WORDS...: show the command, run it
rcl()
{
	shown "$1" "rclink ${*:2}"
	at "$1" "$rclink" "${@:2}" || die "rclink ${*:2} failed on host $1"
}

cleanup()
{
	for host in 1 2; do
		at "$host" "$rclink" del "$link" 2>/dev/null
		at "$host" rm -f "$dir/key.pem"
	done
	[ -z "$listener" ] || kill "$listener" 2>/dev/null
	rm -rf "$dir"
}

load()
{
	if [ -n "${RCLINK_PEER:-}" ]; then
		at "$1" modprobe rclink
	else
		at "$1" lab_rxe && at "$1" "$tree/selftests/vm/lab_load"
	fi || die "no device or module on host $1"
}

# What the kernel's RDMA core says of the QPs that belong to the module.
queue_pairs()
{
	shown "$1" "rdma resource show qp | grep rclink"
	at "$1" rdma resource show qp | grep rclink |
		sed 's/ path-mig-state [A-Z]*//; s/ pdn.*//'
}

ping()
{
	shown 1 "rclink ping $link $*"
	"$rclink" ping "$link" "$@" | tail -1
	[ "${PIPESTATUS[0]}" -eq 0 ] || die "ping $* failed"
}

trap cleanup EXIT
title "Two hosts, each with an RDMA device and the module"
load 1 &
load 2 || exit 1
wait $! || exit 1
at 2 mkdir -p "$dir" || die "host 2 is not there"
rcl 1 dev ${device:+"$device"}

title "Each host makes a key; the pins are exchanged by hand"
rcl 1 genkey "$dir/key.pem"
rcl 2 genkey "$dir/key.pem"
pin1=$("$rclink" pubkey "$dir/key.pem")
pin2=$(at 2 "$rclink" pubkey "$dir/key.pem")

title "A link on both, and the exchange over mutual TLS 1.3"
rcl 1 add "$link" ${device:+dev "$device"}
rcl 2 add "$link" ${device:+dev "$device"}
shown 2 "rclink listen --key $dir/key.pem --peer $link=$pin1 &"
at 2 "$rclink" listen --key "$dir/key.pem" --peer "$link=$pin1" --once 1 \
	>"$dir/listen" 2>&1 &
listener=$!
for ((i = 0; i < 100; i++)); do
	grep -q listening "$dir/listen" && break
	sleep 0.1
done
sed 1q "$dir/listen"
rcl 1 connect "$link" "$address" --key "$dir/key.pem" --pin "$pin2" -v
wait "$listener"
listener=""
shown 2 "(what the listener said)"
sed 1d "$dir/listen"

title "The link, seen from both hosts, and its QPs in the RDMA core"
rcl 1 show "$link"
rcl 2 show "$link"
queue_pairs 1

title "Data, verified at both ends: latency of each operation"
ping --op send -c 20 -i 0
ping --op write -c 20 -i 0
ping --op read -c 20 -i 0
ping --op write -s 65536 -c 5 -i 0
if at 1 "$rclink" show "$link" -j |
	grep -q '"atomics": "none"'; then
	echo "no atomics on this device"
else
	ping --op cas -c 20 -i 0
	ping --op fadd -c 20 -i 0
fi
rcl 1 stats "$link"

title "The end: the peer is told, nothing is left"
rcl 1 disconnect "$link"
rcl 2 show
rcl 1 del "$link"
rcl 2 del "$link"
shown 1 "rdma resource show qp | grep rclink"
rdma resource show qp | grep rclink || echo "(nothing)"
printf '\nDone in %d s.\n' $((SECONDS - started))
