#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Devices as dev-get shows them.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file dev
