#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Regions of dma-bufs on a simulated device with DMA of its own, and their refusal on
# devices without. The dma-bufs come from udmabuf (on a kernel without it, from a test
# exporter like it) and from a heap.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# lab: needs links to find the simulated device
# ib: no, it has a simulated device of its own
# timeout: 120
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/dmabuf/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

points=$(harness_points "$CHAN_SRC/chan_dmabuf.c")
nodma=$(harness_points "$CHAN_SRC/chan_nodma.c")
# udmabuf pins its pages: one more point counts those that the device has kept.
[ ! -e /dev/udmabuf ] || points=$((points + 1))
plan $((points + 2 * nodma))
chan_build
lab_module
[ -e /dev/udmabuf ] || exporter_load
# The links of these programs name no device and must pick the simulated one.
lab_dev del 2>/dev/null
sim_load
harness "$CHAN_SRC/chan_dmabuf.c" "$CHAN/chan_dmabuf"
sim_load "sim0 ib 1"
harness "$CHAN_SRC/chan_nodma.c" "$CHAN/chan_nodma"
sim_unload
lab_device
harness "$CHAN_SRC/chan_nodma.c" "$CHAN/chan_nodma"
if [ -e /dev/udmabuf ]; then
	some_is_lost
else
	exporter_unload
fi
finish
