#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The RDMA device and its network device are removed, which shows whether a file before
# this one has left a reference to them or to a GID. run.sh runs this file once, at the
# end.
# hosts: 2
# kernels: none
. "$(dirname "$0")/../lib.sh"

[ -n "${RCL_CONTROL:-}" ] || skip_all "only the lab's devices may go"
plan 1
check "devices and their driver go in 10 s on every host" on_all lab_gone
finish
