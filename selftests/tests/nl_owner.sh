#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# To whom a link belongs while it comes up.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# timeout: 180
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file owner
