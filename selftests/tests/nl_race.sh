#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Many threads at once, on the same links.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# cpus: 2
# timeout: 180
# soak: 1200 RACE_SECONDS=300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

nl_file race
