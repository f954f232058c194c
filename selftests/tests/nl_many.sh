#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A dump that takes many messages.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 240
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file many
