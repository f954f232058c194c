#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Values that no verbs call must ever see.
# hosts: 1
# kernels: 6.1 6.12 6.1-ib 6.12-ib debug-all
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file values
