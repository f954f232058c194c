#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a listener hears: each change once, in order, with the next number.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 120
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file events
