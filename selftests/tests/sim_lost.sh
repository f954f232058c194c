#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A simulated device keeps a dma-buf that is to be given back, and QPs that are to be
# destroyed. The module then stays loaded until the host is booted again, so this runs
# on host 2.
# hosts: 2
# kernels: 6.1 6.12-all debug-all
# ib: no, it has simulated devices of its own
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/link/lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/dmabuf/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

command -v lab_power >/dev/null || skip_all "needs a host whose power can be cut"

# users COUNT: at most so many users of the module are left on host 2
users()
{
	[ "$(on 2 cat /sys/module/rclink/refcnt)" -le "$1" ]
}

# stays_for_buffer: the module cannot be unloaded for the buffer, and nothing else
stays_for_buffer()
{
	until_true 5 users 1 && ! on 2 rmmod rclink 2>/dev/null
}

# stays: the module cannot be unloaded, as it may still be called, and has said so
stays()
{
	! users 1 && ! on 2 rmmod rclink 2>/dev/null &&
		on 2 dmesg | grep -q 'keeps a QP of a link: .* cannot be unloaded'
}

plan $(($(harness_points "$CHAN_SRC/"chan_lost{,_buf}.c) + 4))
chan_build
check "nothing was left on host 2 before" host_has_nothing 2
lab_module
trap 'lab_power 2 off; died 2>&1 | comment' EXIT
# As in chan_exporter.sh: the program's links are to find the simulated device.
on 2 lab_dev del 2>/dev/null
on 2 "$LIB_DIR/rdmasim/load" || bail "no simulated device"
on 2 insmod "$EXPORTER" || bail "no exporter of dma-bufs"
harness "$CHAN_SRC/chan_lost_buf.c" on 2 "$CHAN/chan_lost_buf"
check "the module cannot be unloaded, as the exporter may call it" stays_for_buffer
harness "$CHAN_SRC/chan_lost.c" on 2 "$CHAN/chan_lost"
on 2 rmmod rdmasim
check "the module cannot be unloaded" stays
check "host 2 has complained of nothing until then" complained_of_nothing 2
lab_power 2 off
lab_power 2 on
on 2 "$LIB_DIR/oracle" begin "$TEST_NAME"
finish
