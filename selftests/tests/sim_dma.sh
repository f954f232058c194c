#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All of sim_ib on devices that the DMA API maps for: their addresses are no
# pointers. Not for the debug kernel: chan_ops registers a page twice, which is
# allowed, and of which the DMA API's debugging thinks ill (EEXIST).
# hosts: 1
# kernels: 6.1-all 6.12-all
# ib: no, it has simulated devices of its own
# timeout: 240
export SIM_WORDS=dma=1
. "$(dirname "$0")/sim_ib.sh"
