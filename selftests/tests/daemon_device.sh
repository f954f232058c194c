#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link moves to another device that is set for it: by hand, by a configuration that
# the daemon reads again, or by one that changed while no daemon ran. A device that is
# slow to answer does not hold up links on other devices.
# hosts: 1
# kernels: 6.12-all 6.1-all debug-all
# ib: no, it has devices of its own
# timeout: 240
# The libraries set the variables.
# shellcheck disable=SC2154

. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/daemon/lib.sh"

# on_device DEVICE: both links are up, a on DEVICE
on_device()
{
	is 1 a .state up && is 1 b .state up && is 1 a .device "$1" &&
		is 1 a .local.lid "${1#sim}"
}

becomes_on()
{
	until_true 30 on_device "$1" || {
		"$tool" show
		return 1
	}
}

by_hand()
{
	rclink add a device sim1 && rclink add b device sim9 && link_self_dial &&
		on_device sim1
}

# A link that is up stays on its device, and shows that one, until it goes down.
set_by_hand()
{
	rclink set a dev sim2 && on_device sim1 && rclink disconnect a &&
		link_self_dial && on_device sim2
}

# With auto, the link takes the first device that reaches the peer.
set_back()
{
	rclink set a port 1 && rclink set a dev auto port auto &&
		rclink disconnect a && link_self_dial && on_device sim1 &&
		rclink set a dev sim2 && rclink disconnect a &&
		link_self_dial && on_device sim2
}

# A port of a device that no link is on.
slow_port()
{
	echo "slow_port 1 1000 $((RCL_SLOW > 1 ? 60000 : 15000))" >"$SIM/sim1/fault"
}

not_held_up()
{
	local slow status

	rclink disconnect a && slow_port || return
	"$tool" dev sim1 >/dev/null &
	slow=$!
	link_self_dial && kill -0 "$slow"
	status=$?
	echo "slow_port 1 0" >"$SIM/sim1/fault"
	wait "$slow" && return "$status"
}

# conf [KEY VALUE]...: configures both links, a with these keys
conf()
{
	{
		link_section a "$pin1" peer 127.0.0.1 peer-link b "$@"
		link_section b "$pin1" device sim9
	} | configure 1
}

by_daemon()
{
	rclink del a && rclink del b && conf device sim1 && daemon_start 1 &&
		becomes_on sim1
}

read_again()
{
	conf device sim2 && reload 1 && becomes_on sim2
}

# A device that is set by hand is kept only until the configuration is read again.
put_right()
{
	local before

	before=$(epoch a)
	rclink set a dev sim1 && reload 1 && until_true 30 is_later 1 a "$before" &&
		becomes_on sim2
}

# The link stays on sim2 until sim5 is there; its mode changes at once.
waits_for_device()
{
	conf device sim5 mode 0640 && reload 1 && on_device sim2 &&
		is 1 a .mode 0640 && said 1 'Link a' && sim_new "sim5 ib 5" &&
		becomes_on sim5
}

changed_meanwhile()
{
	daemon_end 1 && conf device sim1 && daemon_start 1 && becomes_on sim1
}

# The link is no longer bound to a device: when sim1 is removed, it takes another one.
let_go_meanwhile()
{
	daemon_end 1 && conf && daemon_start 1 && becomes_on sim1 &&
		echo sim1 >"$SIM/del_device" && becomes_on sim2
}

plan 14
link_setup
sim_load "sim1 ib 1" "sim2 ib 2" "sim9 ib 9"
check "a link on one device comes up" by_hand
check "it comes up on another one, to which it was set" set_by_hand
refuse 1 "a port that the device has not is refused" "none of that number" \
	rclink set a port 2
check "it takes any again when it is set to auto" set_back
holds "a port that is slow to answer holds up no link on others" not_held_up
holds "the daemon brings it up" by_daemon
holds "a configuration that is read again moves it" read_again
holds "what somebody has set by hand is put right" put_right
holds "one that is not there yet moves it when it comes, and only rights change" \
	waits_for_device
holds "one that changed while no daemon ran moves it" changed_meanwhile
holds "and so does one that names no device any more" let_go_meanwhile
holds "the daemon ends" daemon_end 1
check "they are deleted" eval 'rclink del a && rclink del b && empty 1'
check "the simulated devices can be unloaded" sim_unload
finish
