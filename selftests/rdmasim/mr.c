// SPDX-License-Identifier: GPL-2.0
/*
 * Memory, accessed by key; dma.c knows what an address stands for. A key is
 * looked up anew for each piece, under sim_wire, so that no registration is
 * used after its end.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "sim.h"

static int sim_mr_init(struct sim_mr *mr, struct ib_pd *pd)
{
	struct sim_dev *dev = to_sim(pd->device);
	u32 index;
	int ret;

	mutex_lock(&sim_wire);
	ret = dev->nmrs < dev->limits.mrs ? 0 : -ENOMEM;
	if (!ret)
		ret = xa_alloc_cyclic(&dev->mrs, &index, mr,
				      XA_LIMIT(1, SIM_24BIT_MAX),
				      &dev->next_key, GFP_KERNEL);
	if (ret >= 0) {
		dev->nmrs++;
		mr->ib.lkey = index << 8;
		mr->ib.rkey = mr->ib.lkey;
		/* The core sets this later, but keys are checked against it. */
		mr->ib.pd = pd;
	}
	mutex_unlock(&sim_wire);
	return min(ret, 0);
}

struct ib_mr *sim_get_dma_mr(struct ib_pd *pd, int access)
{
	struct sim_dev *dev = to_sim(pd->device);
	int ret = sim_fault_verb(&dev->faults, SIM_F_GET_DMA_MR);
	struct sim_mr *mr;

	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = sim_mr_init(mr, pd);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	mutex_lock(&sim_wire);
	mr->key = mr->ib.lkey;
	mr->access = access;
	mr->valid = true;
	mutex_unlock(&sim_wire);
	return &mr->ib;
}

/* Without this verb the core would not offer the device to kernel users. */
struct ib_mr *sim_reg_user_mr(struct ib_pd *pd, u64 start, u64 len, u64 addr,
			      int access, struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

struct ib_mr *sim_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 n)
{
	struct sim_dev *dev = to_sim(pd->device);
	int ret = sim_fault_verb(&dev->faults, SIM_F_ALLOC_MR);
	struct sim_mr *mr;

	if (ret)
		return ERR_PTR(ret);
	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!n || n > dev->limits.pages)
		return ERR_PTR(-EINVAL);
	/* A driver may report more pages than it can allocate in one piece. */
	if (n > SIM_MR_PAGES)
		return ERR_PTR(-ENOMEM);
	sim_fault_wait(&dev->faults, SIM_F_SLOW_REG);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = -ENOMEM;
	mr->max_pages = n;
	mr->pages = kvcalloc(n, sizeof(*mr->pages), GFP_KERNEL);
	if (mr->pages)
		ret = sim_mr_init(mr, pd);
	if (!ret)
		return &mr->ib;
	kvfree(mr->pages);
	kfree(mr);
	return ERR_PTR(ret);
}

static int sim_set_page(struct ib_mr *ib, u64 addr)
{
	struct sim_mr *mr = to_sim_mr(ib);

	if (mr->npages == mr->max_pages)
		return -ENOMEM;
	if (!sim_dma_is_ram(to_sim(ib->device), addr, ib->page_size))
		return -EINVAL;
	mr->pages[mr->npages++] = addr;
	return 0;
}

int sim_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int n,
		  unsigned int *offset)
{
	struct sim_mr *mr = to_sim_mr(ib);
	int ret;

	ret = sim_fault_verb(&to_sim(ib->device)->faults, SIM_F_MAP_MR_SG);
	if (ret)
		return ret;
	mr->npages = 0;
	return ib_sg_to_pages(ib, sg, n, offset, sim_set_page);
}

static struct page *sim_mr_page(struct sim_dev *dev, struct sim_mr *mr, u32 i)
{
	return virt_to_page(sim_dma_at(dev, mr->pages[i]));
}

/* The device still uses the memory; hold it, to see later if its owner did. */
static void sim_mr_get_stuck(struct sim_dev *dev, struct sim_mr *mr)
{
	mutex_lock(&sim_wire);
	mr->stuck = true;
	while (mr->valid && mr->held < mr->npages)
		get_page(sim_mr_page(dev, mr, mr->held++));
	mutex_unlock(&sim_wire);
}

static void sim_mr_free(struct sim_dev *dev, struct sim_mr *mr)
{
	mutex_lock(&sim_wire);
	xa_erase(&dev->mrs, mr->ib.lkey >> 8);
	dev->nmrs--;
	mutex_unlock(&sim_wire);
	while (mr->held)
		put_page(sim_mr_page(dev, mr, --mr->held));
	kvfree(mr->pages);
	kfree(mr);
}

int sim_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_mr *mr = to_sim_mr(ib);
	int ret;

	sim_fault_wait(&dev->faults, SIM_F_SLOW_MR);
	/* The DMA MR of a PD ends with the PD, and cannot fail. */
	ret = mr->pages ? sim_fault_verb(&dev->faults, SIM_F_DEREG_MR) : 0;
	if (ret)
		sim_mr_get_stuck(dev, mr);
	else
		sim_mr_free(dev, mr);
	return ret;
}

/* A later PD may get the address of this one, but not what is stuck. */
void sim_mr_forget_pd(const struct ib_pd *pd)
{
	struct sim_dev *dev = to_sim(pd->device);
	struct sim_mr *mr;
	unsigned long key;

	mutex_lock(&sim_wire);
	xa_for_each(&dev->mrs, key, mr)
		if (mr->stuck && mr->ib.pd == pd)
			mr->ib.pd = NULL;
	mutex_unlock(&sim_wire);
}

/* Stuck MRs end with the device. Did their owners keep the memory until now? */
void sim_mr_end_stuck(struct sim_dev *dev)
{
	struct sim_mr *mr;
	unsigned long key;
	bool gone = false;
	u32 i;

	xa_for_each(&dev->mrs, key, mr) {
		if (!mr->stuck)
			continue;
		for (i = 0; i < mr->held; i++)
			gone |= page_count(sim_mr_page(dev, mr, i)) == 1;
		sim_mr_free(dev, mr);
	}
	WARN(gone, "memory was freed that a registration reaches\n");
}

/* REG_MR. A valid MR must be invalidated first. */
bool sim_mr_register(struct sim_qp *qp, const struct ib_reg_wr *wr)
{
	struct sim_dev *dev = to_sim(qp->ib.device);
	struct sim_mr *mr = xa_load(&dev->mrs, wr->key >> 8);

	if (!mr || &mr->ib != wr->mr || !mr->pages || mr->valid ||
	    mr->ib.pd != qp->ib.pd ||
	    mr->ib.length > (u64)mr->npages * mr->ib.page_size)
		return false;
	mr->key = wr->key;
	mr->access = wr->access;
	mr->start = mr->ib.iova;
	mr->len = mr->ib.length;
	mr->first = mr->ib.iova & (mr->ib.page_size - 1);
	mr->valid = true;
	return true;
}

static struct sim_mr *sim_mr_find(struct sim_dev *dev, u32 key)
{
	struct sim_mr *mr = xa_load(&dev->mrs, key >> 8);

	return mr && mr->valid && mr->key == key ? mr : NULL;
}

/* LOCAL_INV, and SEND with invalidate of the peer */
bool sim_mr_invalidate(struct sim_qp *qp, u32 key)
{
	struct sim_mr *mr = sim_mr_find(to_sim(qp->ib.device), key);

	if (!mr || !mr->pages || mr->ib.pd != qp->ib.pd)
		return false;
	mr->valid = false;
	return true;
}

/* May @qp access @sge with the rights @access? */
bool sim_mr_allows(struct sim_qp *qp, const struct ib_sge *sge, int access)
{
	struct sim_dev *dev = to_sim(qp->ib.device);
	struct sim_mr *mr = sim_mr_find(dev, sge->lkey);

	if (!mr || mr->ib.pd != qp->ib.pd || (mr->access & access) != access)
		return false;
	if (!mr->pages)
		return sim_dma_is_ram(dev, sge->addr, sge->length);
	return sge->addr >= mr->start && sge->length <= mr->len &&
	       sge->addr - mr->start <= mr->len - sge->length;
}

bool sim_span_check(struct sim_qp *qp, const struct ib_sge *sge, int n,
		    int access)
{
	int i;

	for (i = 0; i < n; i++)
		if (sge[i].length && !sim_mr_allows(qp, &sge[i], access))
			return false;
	return true;
}

/* Where a checked span is, and how many bytes lie there in one piece. */
static void *sim_span_at(const struct sim_span *span, u64 *len)
{
	u64 at = span->sge->addr + span->offset;
	struct sim_mr *mr;
	u32 in_page;

	*len = span->sge->length - span->offset;
	if (!span->dev)
		return (void *)(uintptr_t)at;
	mr = sim_mr_find(span->dev, span->sge->lkey);
	if (!mr->pages)
		return sim_dma_at(span->dev, at);
	at = at - mr->start + mr->first;
	in_page = at & (mr->ib.page_size - 1);
	*len = min_t(u64, *len, mr->ib.page_size - in_page);
	return sim_dma_at(span->dev,
			  mr->pages[at / mr->ib.page_size] + in_page);
}

/* Go to the next byte, past used-up and empty pieces. */
static void sim_span_settle(struct sim_span *span)
{
	while (span->offset == span->sge->length) {
		span->sge++;
		span->offset = 0;
	}
}

/* Both spans were checked and have @len bytes; @corrupt flips a bit. */
void sim_copy(struct sim_span *to, struct sim_span *from, u64 len, bool corrupt)
{
	void *source, *target;
	u64 n, m;

	while (len) {
		sim_span_settle(to);
		sim_span_settle(from);
		target = sim_span_at(to, &n);
		source = sim_span_at(from, &m);
		n = min3(n, m, len);
		/* Spans that overlap are the fault of whoever posted them. */
		memmove(target, source, n);
		if (corrupt)
			*(u8 *)target ^= 1;
		corrupt = false;
		to->offset += n;
		from->offset += n;
		len -= n;
	}
}

void sim_span_skip(struct sim_span *span, u64 len)
{
	u32 n;

	while (len) {
		sim_span_settle(span);
		n = min_t(u64, len, span->sge->length - span->offset);
		span->offset += n;
		len -= n;
	}
}

/* Write bytes that come from no span, as a header does. */
void sim_span_write(struct sim_span *to, const void *from, u32 len)
{
	void *target;
	u64 n;

	while (len) {
		sim_span_settle(to);
		target = sim_span_at(to, &n);
		n = min_t(u64, n, len);
		memcpy(target, from, n);
		to->offset += n;
		from += n;
		len -= n;
	}
}

/* Read bytes that go to no span. */
void sim_span_read(void *to, struct sim_span *from, u32 len)
{
	void *source;
	u64 n;

	while (len) {
		sim_span_settle(from);
		source = sim_span_at(from, &n);
		n = min_t(u64, n, len);
		memcpy(to, source, n);
		from->offset += n;
		to += n;
		len -= n;
	}
}

/* The 8 bytes of a checked piece, which lie in one page. */
u64 *sim_mr_word(struct sim_qp *qp, const struct ib_sge *sge)
{
	struct sim_span span = { .dev = to_sim(qp->ib.device), .sge = sge };
	u64 len;

	return sim_span_at(&span, &len);
}
