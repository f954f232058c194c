// SPDX-License-Identifier: GPL-2.0
/*
 * A region's pages are pinned for as long as the device may access them: until
 * its registration is gone, which is when it is withdrawn, or when the QPs of
 * the lease are. The registration, not the process, decides what the device
 * and the peer can reach, so munmap() and fork() change nothing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "region.h"

#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "chan.h"

#define RCL_HANDLE_BITS	8	/* for the slot; the rest counts up */

/**
 * struct rcl_region - registered memory
 * @handle: slot and generation
 * @len: bytes
 * @mm: whose pinned_vm counts the pages; a reference is held
 * @pages: pinned
 * @npages: entries of @pages
 * @sgt: those pages
 * @mr: NULL when it is not registered any more
 * @cqe: of the registration
 * @state: of the registration: 0 while it is under way, 1, or a negative errno
 * @export: what the peer may do
 * @exported: @export is in the table
 * @stuck: the device did not end the registration: the pages stay pinned
 */
struct rcl_region {
	u32 handle;
	u64 len;
	struct mm_struct *mm;
	struct page **pages;
	int npages;
	struct sg_table sgt;
	struct ib_mr *mr;
	struct ib_cqe cqe;
	int state;
	struct rcl_export export;
	bool exported;
	bool stuck;
};

/* The rule of ib_umem_get(). */
static int rcl_region_charge(struct rcl_region *region)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(region->npages, &region->mm->pinned_vm) >
	    limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(region->npages, &region->mm->pinned_vm);
		return -EDQUOT;
	}
	return 0;
}

static int rcl_region_pin(struct rcl_region *region, u64 addr)
{
	int done = 0;
	int ret;

	ret = rcl_region_charge(region);
	if (ret)
		return ret;
	while (done < region->npages) {
		ret = pin_user_pages_fast((addr & PAGE_MASK) + done * PAGE_SIZE,
					  region->npages - done,
					  FOLL_WRITE | FOLL_LONGTERM,
					  region->pages + done);
		if (ret <= 0)
			goto err_unpin;
		done += ret;
	}
	return 0;

err_unpin:
	unpin_user_pages(region->pages, done);
	atomic64_sub(region->npages, &region->mm->pinned_vm);
	return ret ? : -EFAULT;
}

static struct rcl_region *rcl_region_new(const struct rclink_dev_region *arg)
{
	u64 first = arg->addr >> PAGE_SHIFT;
	u64 last = (arg->addr + arg->len - 1) >> PAGE_SHIFT;
	struct rcl_region *region;
	int ret = -ENOMEM;

	if (last - first >= INT_MAX / sizeof(*region->pages))
		return ERR_PTR(-EMSGSIZE);
	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->len = arg->len;
	region->npages = last - first + 1;
	region->pages = kvmalloc_array(region->npages, sizeof(*region->pages),
				       GFP_KERNEL_ACCOUNT);
	if (!region->pages)
		goto err_free;
	region->mm = current->mm;
	ret = rcl_region_pin(region, arg->addr);
	if (ret)
		goto err_free_pages;
	ret = sg_alloc_table_from_pages(&region->sgt, region->pages,
					region->npages,
					offset_in_page(arg->addr), arg->len,
					GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_unpin;
	mmgrab(region->mm);
	return region;

err_unpin:
	unpin_user_pages(region->pages, region->npages);
	atomic64_sub(region->npages, &region->mm->pinned_vm);
err_free_pages:
	kvfree(region->pages);
err_free:
	kfree(region);
	return ERR_PTR(ret);
}

/* Nothing can access the pages any more. */
static void rcl_region_free(struct rcl_region *region)
{
	if (region->stuck) {
		pr_warn_ratelimited("a registration did not end: %d pages are lost\n",
				    region->npages);
		return;
	}
	sg_free_table(&region->sgt);
	unpin_user_pages_dirty_lock(region->pages, region->npages, true);
	atomic64_sub(region->npages, &region->mm->pinned_vm);
	mmdrop(region->mm);
	kvfree(region->pages);
	kfree(region);
}

static int rcl_region_map(struct rcl_chan *chan, struct rcl_region *region)
{
	struct ib_device *ib = chan->pd->device;
	int n, ret;

	n = ib_dma_map_sg(ib, region->sgt.sgl, region->sgt.orig_nents,
			  DMA_BIDIRECTIONAL);
	if (!n)
		return -EIO;
	region->mr = ib_alloc_mr(chan->pd, IB_MR_TYPE_MEM_REG, region->npages);
	if (IS_ERR(region->mr)) {
		ret = PTR_ERR(region->mr);
		goto err_unmap;
	}
	ret = ib_map_mr_sg(region->mr, region->sgt.sgl, n, NULL, PAGE_SIZE);
	if (ret != n) {
		ret = ret < 0 ? ret : -EINVAL;
		goto err_dereg;
	}
	/* The peer learns no address, and who guesses must guess that, too. */
	region->mr->iova = ((u64)get_random_u32() << PAGE_SHIFT) +
			   (region->mr->iova & ~PAGE_MASK);
	ib_update_fast_reg_key(region->mr, get_random_u32() & 0xff);
	return 0;

err_dereg:
	ib_dereg_mr(region->mr);
err_unmap:
	region->mr = NULL;
	ib_dma_unmap_sg(ib, region->sgt.sgl, region->sgt.orig_nents,
			DMA_BIDIRECTIONAL);
	return ret;
}

/* Afterwards neither the device nor the peer reaches the pages. */
static void rcl_region_unmap(struct rcl_chan *chan, struct rcl_region *region)
{
	struct ib_device *ib = chan->pd->device;

	lockdep_assert_held(&chan->setup);
	if (region->exported)
		rcl_export_del(chan->exports, &region->export);
	region->exported = false;
	region->stuck = ib_dereg_mr(region->mr);
	region->mr = NULL;
	if (!region->stuck)
		ib_dma_unmap_sg(ib, region->sgt.sgl, region->sgt.orig_nents,
				DMA_BIDIRECTIONAL);
}

static void rcl_region_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_region *region =
		container_of(wc->wr_cqe, struct rcl_region, cqe);

	WRITE_ONCE(region->state, wc->status ? -EIO : 1);
}

static int rcl_region_post(struct rcl_chan *chan, struct rcl_region *region)
{
	u32 rights = region->export.window.rights;
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &region->cqe,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = region->mr,
		.key = region->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
	int ret;

	if (rights & RCLINK_REGION_WRITE)
		wr.access |= IB_ACCESS_REMOTE_WRITE;
	if (rights & RCLINK_REGION_READ)
		wr.access |= IB_ACCESS_REMOTE_READ;
	if (rights & RCLINK_REGION_ATOMIC)
		wr.access |= IB_ACCESS_REMOTE_ATOMIC;
	region->cqe.done = rcl_region_done;
	spin_lock_bh(&chan->lock);
	ret = chan->qp ? rcl_qp_post_send(chan->qp, &wr.wr) : chan->why;
	spin_unlock_bh(&chan->lock);
	if (ret)
		region->state = ret;
	return ret;
}

/* A peer that stalls what was posted before can delay it for as long. */
static int rcl_region_wait(struct rcl_chan *chan, struct rcl_region *region)
{
	int state;

	while (!(state = READ_ONCE(region->state)) && READ_ONCE(chan->qp)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!rcl_chan_look(chan))
			usleep_range(10, 50);
	}
	if (!state)
		return -ECONNRESET;
	return min(state, 0);
}

static int rcl_region_publish(struct rcl_chan *chan, struct rcl_region *region)
{
	static atomic_t generation;
	u32 i;

	for (i = 0; i < RCL_CHAN_REGIONS && chan->slots[i]; i++)
		;
	if (i == RCL_CHAN_REGIONS)
		return -ENOSPC;
	region->handle = (u32)atomic_inc_return(&generation) <<
			 RCL_HANDLE_BITS | i;
	spin_lock_bh(&chan->lock);
	chan->slots[i] = region;
	spin_unlock_bh(&chan->lock);
	return 0;
}

static int rcl_region_export(struct rcl_chan *chan, struct rcl_region *region)
{
	struct rcl_export *export = &region->export;
	int ret;

	if (!export->name[0])
		return 0;
	export->window.addr = region->mr->iova;
	export->window.len = region->len;
	export->window.rkey = region->mr->rkey;
	ret = rcl_export_add(chan->exports, export);
	region->exported = !ret;
	return ret;
}

static int rcl_region_begin(struct rcl_chan *chan, struct rcl_region *region)
{
	int ret;

	lockdep_assert_held(&chan->setup);
	if (!chan->pd)
		return chan->why;
	if (chan->pending)
		return -ECONNRESET;
	if (region->export.window.rights & RCLINK_REGION_ATOMIC &&
	    !(chan->access & IB_ACCESS_REMOTE_ATOMIC))
		return -EOPNOTSUPP;
	ret = rcl_region_map(chan, region);
	if (ret)
		return ret;
	ret = rcl_region_post(chan, region);
	if (!ret)
		ret = rcl_region_wait(chan, region);
	if (!ret)
		ret = rcl_region_export(chan, region);
	if (!ret)
		ret = rcl_region_publish(chan, region);
	/* A work request that is under way points to the registration. */
	if (ret && !READ_ONCE(region->state))
		chan->pending = region;
	else if (ret)
		rcl_region_unmap(chan, region);
	return ret;
}

static int rcl_region_check(const struct rclink_dev_region *arg)
{
	if (!arg->len || arg->addr + arg->len < arg->addr ||
	    arg->rights & ~RCLINK_REGION_RIGHTS ||
	    !memchr(arg->name, 0, sizeof(arg->name)) ||
	    !arg->name[0] != !arg->rights)
		return -EINVAL;
	return 0;
}

/**
 * rcl_region_register - pin and register memory of the calling process
 * @chan: open
 * @arg: what; @arg->handle is set
 *
 * Who is killed meanwhile leaves the pages pinned until the channel is gone,
 * and no more can be registered.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, -EFAULT, -EMSGSIZE for more than one registration of the
 * device takes, -EDQUOT beyond RLIMIT_MEMLOCK, -EEXIST for a name that the link
 * has already, -ENOSPC, -ENOMEM, @chan->why when the channel is not open, or
 * the errno of a verbs call.
 */
int rcl_region_register(struct rcl_chan *chan, struct rclink_dev_region *arg)
{
	struct rcl_region *region;
	bool pending;
	int ret;

	ret = rcl_region_check(arg);
	if (ret)
		return ret;
	mutex_lock(&chan->setup);
	ret = chan->pd ? 0 : chan->why;
	if (!ret && arg->len > (u64)(chan->pd->device->attrs
				     .max_fast_reg_page_list_len - 1) <<
			       PAGE_SHIFT)
		ret = -EMSGSIZE;
	mutex_unlock(&chan->setup);
	if (ret)
		return ret;

	/* Without the lock: faults may take as long as somebody likes. */
	region = rcl_region_new(arg);
	if (IS_ERR(region))
		return PTR_ERR(region);
	strscpy(region->export.name, arg->name, sizeof(region->export.name));
	region->export.window.rights = arg->rights;
	mutex_lock(&chan->setup);
	ret = rcl_region_begin(chan, region);
	pending = chan->pending == region;
	mutex_unlock(&chan->setup);
	if (!ret) {
		arg->handle = region->handle;
		return 0;
	}
	if (!pending)
		rcl_region_free(region);
	return ret;
}

static struct rcl_region *rcl_region_find(struct rcl_chan *chan, u32 handle)
{
	struct rcl_region *region = NULL;
	u32 slot = handle & (BIT(RCL_HANDLE_BITS) - 1);

	lockdep_assert_held(&chan->lock);
	if (slot < RCL_CHAN_REGIONS)
		region = chan->slots[array_index_nospec(slot,
							RCL_CHAN_REGIONS)];
	return region && region->handle == handle ? region : NULL;
}

/**
 * rcl_region_withdraw - end a registration, then unpin
 * @chan: any
 * @handle: of the region
 *
 * What is in flight fails, here or at the peer.
 *
 * Context: may sleep.
 * Return: 0 or -ESTALE.
 */
int rcl_region_withdraw(struct rcl_chan *chan, u32 handle)
{
	struct rcl_region *region;

	mutex_lock(&chan->setup);
	spin_lock_bh(&chan->lock);
	region = rcl_region_find(chan, handle);
	if (region)
		chan->slots[handle & (BIT(RCL_HANDLE_BITS) - 1)] = NULL;
	spin_unlock_bh(&chan->lock);
	if (region && region->mr)
		rcl_region_unmap(chan, region);
	mutex_unlock(&chan->setup);
	if (!region)
		return -ESTALE;
	rcl_region_free(region);
	return 0;
}

/**
 * rcl_region_sge - a piece of a region as the device addresses it
 * @chan: open, its lock held
 * @from: hostile
 * @sge: set
 *
 * Return: 0, -ESTALE or -EINVAL.
 */
int rcl_region_sge(struct rcl_chan *chan, const struct rclink_dev_sge *from,
		   struct ib_sge *sge)
{
	struct rcl_region *region = rcl_region_find(chan, from->region);

	if (!region)
		return -ESTALE;
	if (from->offset > region->len ||
	    from->len > region->len - from->offset)
		return -EINVAL;
	sge->addr = region->mr->iova + from->offset;
	sge->length = from->len;
	sge->lkey = region->mr->lkey;
	return 0;
}

/**
 * rcl_region_unmap_all - end all registrations
 * @chan: detached; its setup mutex held, its PD still there
 *
 * Context: may sleep.
 */
void rcl_region_unmap_all(struct rcl_chan *chan)
{
	u32 i;

	if (chan->pending)
		rcl_region_unmap(chan, chan->pending);
	for (i = 0; i < RCL_CHAN_REGIONS; i++)
		if (chan->slots[i])
			rcl_region_unmap(chan, chan->slots[i]);
}

/**
 * rcl_region_free_all - unpin everything
 * @chan: that nobody knows any more
 *
 * Context: may sleep.
 */
void rcl_region_free_all(struct rcl_chan *chan)
{
	u32 i;

	if (chan->pending)
		rcl_region_free(chan->pending);
	for (i = 0; i < RCL_CHAN_REGIONS; i++)
		if (chan->slots[i])
			rcl_region_free(chan->slots[i]);
}
