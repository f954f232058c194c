#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A demonstration: two hosts make keys, exchange pins, bring a link up over mutual TLS,
# move and verify data, and take the link down again.
#
# Boots two guests and runs in host 1. With RDMA hardware it needs no guests: as root,
# after `make install` on both hosts, which need not have the tree:
#
#	RCLINK_PEER=root@HOST selftests/demo.sh
#
# where HOST is the other host's name or address, RCLINK_DEV the device to use
# (default: the first with an active port), on both.

set -u -o pipefail
tree=$(cd "$(dirname "$0")/.." && pwd)
kernel=${KERNEL:-6.12}
link=demo
device=${RCLINK_DEV:-}
started=$SECONDS
dir=''
added=()
listener=''

die()
{
	echo "demo: $*" >&2
	exit 1
}

# Print dots on a terminal until there is a line to read, then all that there is.
patiently()
{
	local ticker='' line

	if [ -t 1 ]; then
		while sleep 1; do
			printf .
		done &
		ticker=$!
	fi
	IFS= read -r line
	[ -z "$ticker" ] || kill "$ticker"
	printf '\n%s\n' "$line"
	cat
}

in_guests()
{
	local dir

	cd "$tree" || exit
	# vm/kernel and vm/accel report what takes longer than a boot.
	dir=$(selftests/vm/kernel "$kernel") || exit
	selftests/vm/accel "$dir" >/dev/null
	printf 'booting two virtual hosts, Linux %s, some 10 s ' "$kernel"
	selftests/vm/run --kernel "$kernel" --hosts 2 -- selftests/demo.sh |
		patiently
	exit
}

if [ -n "${RCLINK_PEER:-}" ]; then
	address=${RCLINK_PEER#*@}
	on()
	{
		shift
		# Quoted, so that the peer's shell sees the words as they are here.
		# shellcheck disable=SC2029
		ssh "$RCLINK_PEER" "exec $(printf '%q ' "$@")"
	}
elif [ -n "${RCL_PEER_IP:-}" ]; then
	address=$RCL_PEER_IP
else
	in_guests
fi

title()
{
	printf '\n== %s\n' "$*"
}

# shown HOST TEXT: prints TEXT as a command line typed on HOST
shown()
{
	printf 'host%d# %s\n' "$1" "$2"
}

# at HOST CMD...
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
	at "$1" rclink "${@:2}" || die "rclink ${*:2} failed on host $1"
}

add()
{
	rcl "$1" add "$link" ${device:+dev "$device"}
	added+=("$1")
}

# Delete only links that this script added: one of that name may have existed before.
cleanup()
{
	local host

	# The end of ssh does not end the command that it started.
	[ -z "$listener" ] || at 2 pkill -f "^rclink listen --key $dir/"
	for host in ${added[@]+"${added[@]}"}; do
		at "$host" rclink del "$link" 2>/dev/null
	done
	[ -z "$dir" ] || at 2 rm -rf "$dir"
	[ -z "$dir" ] || rm -rf "$dir"
}

load()
{
	if [ -n "${RCLINK_PEER:-}" ]; then
		shown "$1" "modprobe rclink"
		at "$1" modprobe rclink
	else
		shown "$1" "rdma link add rxe0 type rxe netdev eth0"
		at "$1" lab_dev || return
		shown "$1" "insmod rclink.ko"
		at "$1" "$tree/selftests/vm/lab_load"
	fi || die "no device or module on host $1"
}

# The module's QPs, as the kernel's RDMA core lists them.
queue_pairs()
{
	shown "$1" "rdma resource show qp | grep rclink"
	at "$1" rdma resource show qp | grep -F '[rclink]' |
		sed 's/ path-mig-state [A-Z]*//; s/ pdn.*//'
}

listen()
{
	shown 2 "rclink listen --key $dir/key.pem --peer $link=$1 --once 1 &"
	at 2 rclink listen --key "$dir/key.pem" --peer "$link=$1" --once 1 \
		>"$dir/listen" 2>&1 &
	listener=$!
	until grep -q listening "$dir/listen"; do
		kill -0 "$listener" 2>/dev/null || die "$(<"$dir/listen")"
		sleep 0.1
	done
	cat "$dir/listen"
}

# ping WORDS...: only the summary
ping()
{
	shown 1 "rclink ping $link $* -q"
	rclink ping "$link" "$@" -q || die "ping $* failed"
}

trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
dir=$(mktemp -d) || exit
at 2 mkdir -p -m 700 "$dir" || die "host 2 is not there"

title "Two hosts, each with an RDMA device and the module"
load 1 &
load 2 || exit
wait $! || exit
rcl 1 dev ${device:+"$device"}

title "Each host makes a key; the pins are exchanged by hand"
rcl 1 genkey "$dir/key.pem"
rcl 2 genkey "$dir/key.pem"
pin1=$(rclink pubkey "$dir/key.pem")
pin2=$(at 2 rclink pubkey "$dir/key.pem")

title "A link on both, and the exchange over mutual TLS 1.3"
add 1
add 2
listen "$pin1"
rcl 1 connect "$link" "$address" --key "$dir/key.pem" --pin "$pin2" -v
wait "$listener" || die "$(<"$dir/listen")"
listener=''
shown 2 "(what the listener said)"
sed 1d "$dir/listen"

title "The link, seen from both hosts, and its QPs in the RDMA core"
rcl 1 show "$link"
rcl 2 show "$link"
queue_pairs 1
queue_pairs 2

title "Data, verified at both ends: latency of each operation"
ping --op send -c 20 -i 0
ping --op write -c 20 -i 0
ping --op read -c 20 -i 0
ping --op write -s 65536 -c 5 -i 0
if rclink show "$link" -j | grep -q '"atomics": "none"'; then
	echo "no atomics on this device"
else
	ping --op cas -c 20 -i 0
	ping --op fadd -c 20 -i 0
fi
rcl 1 stats "$link"

title "The end: the peer is told, nothing is left"
rcl 1 disconnect "$link"
rcl 2 show "$link" | grep -E '^host|state|reason'
rcl 1 del "$link"
rcl 2 del "$link"
added=()
shown 1 "rdma resource show qp | grep rclink"
rdma resource show qp | grep -F '[rclink]' || echo "(nothing)"
printf '\nDone in %d s.\n' $((SECONDS - started))
