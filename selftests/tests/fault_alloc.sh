#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation below each command of the family, and of loading the module, fails
# once.
# hosts: 1
# kernels: debug-all
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/netlink/lib.sh"

export RCLINK_KO=$LIB_DIR/../build/$RCL_KVER/kmod/rclink.ko
nl_file fault
