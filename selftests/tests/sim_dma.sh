#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All of sim_ib on devices for which the DMA API maps memory, so that addresses are not
# pointers. Not for the debug kernel: chan_ops registers a page twice, which is allowed,
# but which the debugging of the DMA API takes for a mistake (EEXIST).
# hosts: 1
# kernels: 6.1-all 6.12-all
# ib: no, it has simulated devices of its own
# timeout: 240
export SIM_WORDS=dma=1
. "$(dirname "$0")/sim_ib.sh"
