#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Links on a device that is slow with each QP are no longer configured: while the daemon
# deletes them, it dials another link, and makes one of the deleted links again. So does
# the tool.
# hosts: 1
# kernels: 6.12-all 6.1-all
# ib: no, it has simulated devices of its own
# timeout: 400
# The libraries set the variables; eval expands its argument.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

links=20
crowd=34	# more than the daemon ends at once
qps=15		# and the control QP
step_ms=300	# for each of these
self=''

# conf_with N: configure the link a to b of this host, and N links from the slow device
conf_with()
{
	local i n=$1

	{
		link_section a "$pin1" loopback 1 dev "$RCL_DEV" \
			peer 127.0.0.1:7186 peer-link b
		for ((i = 1; i <= n; i++)); do
			link_section "s$i" "$pin1" loopback 1 dev sim0 \
				qps "$qps" peer 127.0.0.1:7186 peer-link "t$i"
		done
	} | configure 1
}

up()
{
	[ "$(rclink show -j | gojq '[.[] | select(.state == "up")] | length')" \
		-eq "$1" ]
}

begin()
{
	local i peers=(--peer "b=$pin1")

	rclink add b loopback 1 dev "$RCL_DEV" &&
		rclink add d loopback 1 device sim1 qps "$qps" || return
	peers+=(--peer "d=$pin1")
	for ((i = 1; i <= crowd; i++)); do
		rclink add "t$i" loopback 1 device sim1 qps "$qps" || return
		peers+=(--peer "t$i=$pin1")
	done
	: >"$log"
	"$tool" listen --port 7186 --key "$key" "${peers[@]}" >"$log" 2>&1 &
	self=$!
	until_true 10 grep -q listening "$log" && conf_with "$links" &&
		daemon_start 1 && until_true 90 up $((2 * links + 2)) && return
	tail -n 30 "${said_by}1"
	return 1
}

# QPs of the slow device that are not gone yet
slow_ones()
{
	local all

	all=$(rdma resource show qp) || return
	grep -c '^link sim0/.*\[rclink\]' <<<"$all"
}

dials_meanwhile()
{
	local epoch

	epoch=$(epoch a)
	echo "slow_qp 1 100000 1000" >"$SIM/sim0/fault" && conf_with 0 &&
		daemon_signal 1 HUP && until_true 20 said 1 's1: no longer' &&
		rclink disconnect a && until_true 20 is_later 1 a "$epoch" &&
		comment <<<"QPs that are not gone yet: $(slow_ones)" >&3 &&
		[ "$(slow_ones)" -gt 0 ]
}

# One of the links is configured again while QPs of the old links are not gone yet.
back()
{
	conf_with 1 && reload 1 && [ "$(slow_ones)" -gt 0 ] &&
		echo "slow_qp 1 0" >"$SIM/sim0/fault" &&
		until_true 60 is 1 s1 .state up
}

# The daemon does not take the end of the old link s1 for that of the new one.
others_gone()
{
	until_true 60 eval '[ "$(slow_ones)" -le $((qps + 2)) ]' &&
		! said 1 's1: down' &&
		! rclink show s2 && [ "$(rclink show -j | gojq length)" \
			-eq $((crowd + 4)) ]
}

# dial_c QPS: make and dial the link c, which no daemon knows
dial_c()
{
	rclink add c loopback 1 dev sim0 qps "$1" &&
		rclink connect c 127.0.0.1:7186 --key "$key" --pin "$pin1" \
			--peer-link d --timeout 60
}

dialled_again()
{
	local pid status

	dial_c "$qps" && echo "slow_qp 1 100000 $step_ms" >"$SIM/sim0/fault" ||
		return
	rclink del c &
	pid=$!
	until_true 5 eval '! rclink show c 2>&1' &&
		[ "$(slow_ones)" -gt 0 ] && rclink set d qps 2 && dial_c 2
	status=$?
	echo "slow_qp 1 0" >"$SIM/sim0/fault"
	wait "$pid" && [ "$status" -eq 0 ] && is 1 c .state up &&
		rclink del c
}

# The daemon hears of the end of s1 only when s1 is there again, made by hand, and then
# makes it as configured.
made_again()
{
	local pid status

	echo "slow_qp 1 100000 $step_ms" >"$SIM/sim0/fault" || return
	rclink del s1 &
	pid=$!
	until_true 5 eval '! rclink show s1 2>&1' &&
		[ "$(slow_ones)" -gt 0 ] && rclink add s1 loopback 1
	status=$?
	echo "slow_qp 1 0" >"$SIM/sim0/fault"
	wait "$pid" && [ "$status" -eq 0 ] &&
		until_true 30 is 1 s1 .state up && is 1 s1 .device sim0
}

parted()
{
	[ "$(times 1 's1: no longer')" -gt "$1" ]
}

# A daemon that ends completes the deletions that it has begun. That includes s1, which
# was configured again before its turn to be deleted, made anew, and then removed from
# the configuration once more.
at_the_end()
{
	local before

	conf_with "$crowd" && reload 1 &&
		until_true 90 up $((2 * crowd + 2)) || return
	echo "slow_qp 1 100000 $step_ms" >"$SIM/sim0/fault" &&
		conf_with 0 && reload 1 && rclink show s1 &&
		conf_with 1 && reload 1 &&
		until_true 20 eval '! rclink show s1 2>&1' &&
		[ "$(slow_ones)" -gt 0 ] || return
	before=$(times 1 's1: no longer')
	conf_with 0 && daemon_signal 1 HUP && until_true 5 parted "$before" &&
		[ "$(slow_ones)" -gt 0 ] && daemon_signal 1 TERM &&
		wait "${running[1]}" && ! rclink show s1 &&
		[ "$(slow_ones)" -eq 0 ]
}

exec 3>&1
plan 7
link_setup
sim_load "sim0 ib 1" "sim1 ib 2"
holds "links of a slow device are up, and another one" begin
holds "while those are deleted, the other one is dialled" dials_meanwhile
holds "and one of them is configured again, and comes up" back
check "the others are gone" others_gone
holds "a link made again while the one before ends is dialled by hand" dialled_again
holds "and by the daemon, as it is configured" made_again
holds "a daemon that ends has deleted what it was to delete" at_the_end
echo "slow_qp 1 0" >"$SIM/sim0/fault"
kill "$self"
wait "$self"
rclink del a
rclink del b
rclink del d
for ((i = 1; i <= crowd; i++)); do
	rclink del "t$i"
done
sim_unload
finish
