# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The exporter of dma-bufs, on this host. Sourced after lib.sh, before plan.

EXPORTER=$LIB_DIR/../build/$(uname -r)/selftests/dmabuf/rclink_exporter.ko

# A test that was ended may have left the module loaded.
exporter_load()
{
	[ ! -e /sys/module/rclink_exporter ] || exporter_unload
	insmod "$EXPORTER" || bail "no exporter of dma-bufs"
}

# Fails as long as a dma-buf of the exporter is in use.
exporter_unload()
{
	rmmod rclink_exporter
}
