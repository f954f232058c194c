#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the files before this one still hold of the RDMA device, its GIDs and its
# network device: that shows when they go. run.sh runs it at the end, and not
# after each of them.
# hosts: 2
# kernels: none
. "$(dirname "$0")/../lib.sh"

[ -n "${RCL_CONTROL:-}" ] || skip_all "only the lab's devices may go"
plan 1
check "devices and their driver go in 10 s on every host" on_all lab_gone
finish
