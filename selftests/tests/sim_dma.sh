#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All of sim_ib on devices that the DMA API maps for: their addresses are no
# pointers, and the debug kernel watches each mapping.
# hosts: 1
# kernels: 6.1 6.12-all debug-all
# timeout: 240
export SIM_WORDS=dma=1
. "$(dirname "$0")/sim_ib.sh"
