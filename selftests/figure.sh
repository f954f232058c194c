# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For files that print figures: their points only say that the figures were measured.

# median: of the numbers on stdin, one a line; fails if a line is no number
median()
{
	sort -g | awk '!/^-?[0-9.]+(e[-+]?[0-9]+)?$/ { bad = 1 }
		{ v[NR] = $1 } END { if (bad || !NR) exit 1
		print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# ms: the current time in milliseconds
ms()
{
	echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

# figure NAME VALUE UNIT [TARGET]; without a value, `measured` fails
figure()
{
	[ -n "$2" ] || missing=1
	echo "# FIGURE $(uname -r): $1: ${2:-none} $3${4:+ (target $4)}"
}

# ratio A B: A divided by B; fails if one of them was not measured
ratio()
{
	awk -v a="$1" -v b="$2" -v number='^-?[0-9.]+(e[-+]?[0-9]+)?$' 'BEGIN {
		if (a !~ number || b !~ number || b == 0)
			exit 1
		printf "%.2f", a / b }'
}

# measured WHAT CMD...: one point, that CMD succeeds and no figure is missing; CMD's
# output stays visible
measured()
{
	local what=$1 missing=''

	shift
	if "$@" && [ -z "$missing" ]; then
		pass "$what"
	else
		fail "$what"
	fi
}

# used: KiB of memory that the kernel itself uses: neither free, which includes each
# processor's lists of free pages, nor a process's, nor a file's
used()
{
	awk '/^MemTotal:/ { sum += $2 }
		/^(MemFree|Buffers|Cached|SwapCached|AnonPages|SReclaimable):/ {
			sum -= $2 }
		/^ +count: / { sum -= 4 * $2 }
		END { print sum }' /proc/meminfo /proc/zoneinfo
}

# forget: deletes the links that `hold` has left up
forget()
{
	local name

	for name in $(rclink show -j |
		gojq -r '.[].name | select(test("^p[0-9]"))'); do
		rclink del "$name"
	done
}

# idle_link: KiB that an idle link takes, by the difference of few and many
idle_link()
{
	local few many

	hold up 5 || return
	few=$(used)
	drop
	forget
	hold up 25 || return
	many=$(used)
	drop
	forget
	ratio $((many - few)) 40
}

# with_channels N: KiB in use with N channels from link a to link b of this host
with_channels()
{
	local idle said status

	exec 6< <(exec "$CHAN/idle" a b "$1" 2>&1)
	idle=$!
	read -r -t 60 said <&6
	[ "$said" = ready ]
	status=$?
	used
	kill "$idle"
	exec 6<&-
	# Wait until each QP has been replaced.
	sleep 2
	return "$status"
}

# idle_channel N: KiB that a channel takes at one end, by the difference of N channels
# and one; after chan_build
idle_channel()
{
	local few many

	few=$(with_channels 1) && many=$(with_channels "$1") || return
	ratio $((many - few)) $((2 * ($1 - 1)))
}

# ticks HOST: those in which HOST was busy, and all of them, since it booted
ticks()
{
	on "$1" awk '/^cpu / {
		n = $2 + $3 + $4 + $7 + $8
		print n, n + $5 + $6 }' /proc/stat
}

# busy_while WHAT CMD...: sets the array busy to the percentage of both hosts' time in
# which they were busy while CMD ran; prints it to descriptor 3
busy_while()
{
	local what=$1 host status
	local -a from=()

	shift
	for host in 1 2; do
		from[host]=$(ticks $host) || return
	done
	"$@"
	status=$?
	for host in 1 2; do
		busy[host]=$(printf '%s\n' "${from[host]}" "$(ticks $host)" |
			awk '{ n = $1 - n; all = $2 - all }
				END { if (NR != 2 || all <= 0) exit 1
				printf "%d", n * 100 / all }') || return
	done
	echo "# busy: ${busy[1]} and ${busy[2]} % of both hosts' time: $what" >&3
	return $status
}

perftest_listens()
{
	ss -Hltn 'sport = :18515' | grep -q .
}

# perftest SIZE ITERS BINARY [OPTIONS]: runs BINARY against itself on this host, with
# link a's device and GID; prints its line of figures
perftest()
{
	local size=$1 iters=$2 binary=$3 device gid server

	shift 3
	device=$(rclink show a -j | gojq -r '.[0].device')
	gid=$(rclink dev -j | gojq -r --arg d "$device" \
		'[.[] | select(.device == $d or .name == $d)][0].chosen_gid')
	set -- -d "$device" -x "$gid" -s "$size" -n "$iters" -F "$@"
	timeout 60 "$binary" "$@" >/dev/null 2>&1 &
	server=$!
	until_true 10 perftest_listens
	timeout 60 "$binary" "$@" "$RCL_IP" 2>&1 | awk -v size="$size" '$1 == size'
	wait "$server"
}
