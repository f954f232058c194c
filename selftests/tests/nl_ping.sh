#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Round trips of all kinds and sizes.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# timeout: 180
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file ping
