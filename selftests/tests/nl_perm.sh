#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who may ask for what, and who gets to see secrets.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file perm
