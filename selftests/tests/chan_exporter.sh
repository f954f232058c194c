#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Regions of dma-bufs whose exporter pins, moves, fails and keeps its users waiting, on
# a simulated device with DMA of its own.
# hosts: 1
# kernels: 6.1-all 6.12-all debug-all
# lab: needs links to find the simulated device
# ib: no, it has a simulated device of its own
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/dmabuf/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

plan $(($(harness_points "$CHAN_SRC/chan_exporter.c") + 1))
chan_build
lab_module
# The program's links name no device: without the lab's, they find the simulated one.
lab_dev del 2>/dev/null
sim_load
exporter_load
harness "$CHAN_SRC/chan_exporter.c" "$CHAN/chan_exporter"
check "nobody has a dma-buf of it any more" exporter_unload
sim_unload
finish
