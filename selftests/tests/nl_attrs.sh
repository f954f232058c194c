#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every attribute of every command, wrong in every way.
# hosts: 1
# kernels: 6.1-all 6.12 debug
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file attrs
