// SPDX-License-Identifier: GPL-2.0
/*
 * The addresses that the device gets. By default the core gives it kernel
 * addresses (virtual DMA). A device with dma=1 has a parent for which the DMA
 * API maps memory, as an HCA has. In a machine without an IOMMU nothing is
 * translated, so the device gets physical addresses. It reaches all RAM, and
 * nothing else. With dma=2 the parent has operations of its own for that, as an
 * IOMMU has: the addresses are the same, but mapping can fail, and what is
 * mapped is counted.
 */
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>

#include "compat.h"
#include "sim.h"

static bool sim_dma_fails(struct sim_dev *dev)
{
	return sim_fault_verb(&dev->faults, SIM_F_DMA_MAP);
}

static dma_addr_t sim_dma_map_page(struct device *parent, struct page *page,
				   unsigned long offset, size_t size,
				   enum dma_data_direction dir,
				   unsigned long attrs)
{
	struct sim_dev *dev = dev_get_drvdata(parent);

	if (sim_dma_fails(dev))
		return DMA_MAPPING_ERROR;
	atomic_inc(&dev->mapped);
	return page_to_phys(page) + offset;
}

static void sim_dma_unmap_page(struct device *parent, dma_addr_t addr,
			       size_t size, enum dma_data_direction dir,
			       unsigned long attrs)
{
	struct sim_dev *dev = dev_get_drvdata(parent);

	atomic_dec(&dev->mapped);
}

static int sim_dma_map_sg(struct device *parent, struct scatterlist *first,
			  int n, enum dma_data_direction dir,
			  unsigned long attrs)
{
	struct sim_dev *dev = dev_get_drvdata(parent);
	struct scatterlist *sg;
	int i;

	/* The DMA API knows few errnos here, and warns of others. */
	if (sim_dma_fails(dev))
		return -ENOMEM;
	for_each_sg(first, sg, n, i) {
		sg_dma_address(sg) = sg_phys(sg);
		sg_dma_len(sg) = sg->length;
	}
	atomic_inc(&dev->mapped);
	return n;
}

static void sim_dma_unmap_sg(struct device *parent, struct scatterlist *first,
			     int n, enum dma_data_direction dir,
			     unsigned long attrs)
{
	struct sim_dev *dev = dev_get_drvdata(parent);

	atomic_dec(&dev->mapped);
}

static const struct dma_map_ops sim_dma_ops = {
	.map_page = sim_dma_map_page,
	.unmap_page = sim_dma_unmap_page,
	.map_sg = sim_dma_map_sg,
	.unmap_sg = sim_dma_unmap_sg,
};

/* A kernel without CONFIG_(ARCH_HAS_)DMA_OPS does not let a device have any. */
static int sim_dma_set_ops(struct sim_dev *dev, struct device *parent)
{
	dev_set_drvdata(parent, dev);
	set_dma_ops(parent, &sim_dma_ops);
	return get_dma_ops(parent) == &sim_dma_ops ? 0 : -EOPNOTSUPP;
}

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
	if (!ret && dev->limits.dma > 1)
		ret = sim_dma_set_ops(dev, &parent->dev);
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
