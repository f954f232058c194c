#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation below each command, and of loading the module, fails once.
# hosts: 1
# kernels: none
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

export RCLINK_KO=$LIB_DIR/../build/$RCL_KVER/kmod/rclink.ko
nl_file fault
