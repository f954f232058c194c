#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Regions of dma-bufs (udmabuf, or an exporter like it for a kernel without; a heap),
# on a simulated device with DMA of its own, and the refusal on devices without.
# hosts: 1
# kernels: 6.1-all 6.12 debug-all
# ib: no, it has a simulated device of its own
# timeout: 120
. "$(dirname "$0")/../lib.sh"
. "$LIB_DIR/rdmasim/lib.sh"
. "$LIB_DIR/dmabuf/lib.sh"
. "$LIB_DIR/netlink/harness.sh"
. "$LIB_DIR/chan/lib.sh"

points=$(harness_points "$CHAN_SRC/chan_dmabuf.c")
nodma=$(harness_points "$CHAN_SRC/chan_nodma.c")
# The pages of udmabuf are pinned, and one of those is lost.
[ ! -e /dev/udmabuf ] || points=$((points + 1))
plan $((points + 2 * nodma))
chan_build
lab_module
[ -e /dev/udmabuf ] || exporter_load
# Links there name no device: they are to find the simulated one.
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
