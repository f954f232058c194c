// SPDX-License-Identifier: GPL-2.0
/*
 * The addresses that the device gets. By default the core gives it kernel
 * addresses (virtual DMA). A device with dma=1 has a parent for which the DMA
 * API maps memory, as an HCA has. In a machine without an IOMMU nothing is
 * translated, so the device gets physical addresses. It reaches all RAM, and
 * nothing else.
 */
#include <linux/dma-mapping.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/platform_device.h>

#include "compat.h"
#include "sim.h"

int sim_dma_add(struct sim_dev *dev)
{
	struct platform_device *parent;
	int ret;

	if (!dev->limits.dma)
		return 0;
	parent = platform_device_register_simple("rdmasim", PLATFORM_DEVID_AUTO,
						 NULL, 0);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	ret = dma_coerce_mask_and_coherent(&parent->dev, DMA_BIT_MASK(64));
	if (!ret && device_iommu_mapped(&parent->dev))
		ret = -EOPNOTSUPP;
	if (ret)
		platform_device_unregister(parent);
	else
		dev->parent = parent;
	return ret;
}

void sim_dma_del(struct sim_dev *dev)
{
	if (dev->parent)
		platform_device_unregister(dev->parent);
	dev->parent = NULL;
}

/* May the device access this memory? Kernel addresses are not checked. */
bool sim_dma_is_ram(struct sim_dev *dev, u64 addr, u64 len)
{
	u64 pfn = PHYS_PFN(addr);

	if (ib_uses_virt_dma(&dev->ib))
		return true;
	if (!len || addr + len < addr)
		return false;
	for (; pfn <= PHYS_PFN(addr + len - 1); pfn++)
		if (!page_is_ram(pfn))
			return false;
	return true;
}

/* The kernel address of memory that was checked, as far as it is contiguous. */
void *sim_dma_at(struct sim_dev *dev, u64 addr)
{
	return ib_uses_virt_dma(&dev->ib) ? (void *)(uintptr_t)addr :
					    phys_to_virt(addr);
}
