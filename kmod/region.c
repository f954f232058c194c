// SPDX-License-Identifier: GPL-2.0
/*
 * The registration, not its owner, decides what the device and the peer can
 * reach. It ends when the memory is withdrawn, or when the QPs of the lease are
 * gone; the memory is let go after that, with the channel's last reference if
 * nobody withdraws it.
 */
#include "region.h"

#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "chan.h"
#include "deputy.h"
#include "extent.h"
#include "life.h"
#include "mapping.h"

#define RCL_LEN_MAX	BIT(30)	/* bytes; IBA allows twice that */

/**
 * struct rcl_region - registered memory
 * @handle: slot and generation
 * @mapping: its memory, and how that is registered
 * @export: what the peer may do; @mapping uses its window, too
 * @exported: @export is in the table
 * @invalidated: the peer has ended the region, and the consumer was told; under
 *	the channel's lock
 */
struct rcl_region {
	u32 handle;
	struct rcl_mapping mapping;
	struct rcl_export export;
	bool exported;
	bool invalidated;
};

/* Nothing can access the pages any more. */
static int rcl_region_free(struct rcl_region *region)
{
	int ret = rcl_mapping_let_go(region->mapping.memory,
				     region->mapping.stuck);

	rcl_mapping_free(&region->mapping);
	kfree(region);
	return ret;
}

static int rcl_region_lay_out(struct rcl_chan *chan, struct rcl_region *region)
{
	u32 shift = rcl_mapping_shift(chan->pd->device);
	/* The peer learns no real address, and has one more thing to guess. */
	u64 addr = ((u64)get_random_u32() << shift) +
		   region->mapping.memory->first;
	const struct rcl_window *window = &region->export.window;
	int ret;

	/* It may be another device than at rcl_region_check(). */
	ret = rcl_mapping_lay_out(&region->mapping, addr, shift);
	if (!ret && window->rights & RCLINK_REGION_INVALIDATE &&
	    rcl_window_extents(window) > 1)
		ret = -EOPNOTSUPP;
	return ret;
}

/* Afterwards neither the device nor the peer reaches the pages. */
static void rcl_region_unmap(struct rcl_chan *chan, struct rcl_region *region)
{
	lockdep_assert_held(&chan->setup);
	if (region->exported)
		rcl_export_set_ready(&chan->link->exports, &region->export,
				     false);
	rcl_mapping_unmap(&region->mapping);
}

/* Frees the name for others. */
static void rcl_region_unexport(struct rcl_chan *chan,
				struct rcl_region *region)
{
	lockdep_assert_held(&chan->setup);
	if (region->exported)
		rcl_export_del(&chan->link->exports, &region->export);
	region->exported = false;
}

static int rcl_region_map(struct rcl_chan *chan, struct rcl_region *region)
{
	int ret;

	/* The link may be waiting for us to finish. */
	ret = rcl_mapping_map(&region->mapping, chan->pd, chan->reg,
			      &chan->attached);
	if (!ret)
		return 0;
	spin_lock_bh(&chan->lock);
	if (!chan->attached)
		ret = chan->why;
	else if (ret == -ENOTCONN)
		/* The epoch ends, and the channel is about to hear of it. */
		ret = chan->keep ? -EAGAIN : -EIO;
	else if (ret == -EAGAIN)
		/* From a driver; to the caller it would mean that. */
		ret = -EIO;
	spin_unlock_bh(&chan->lock);
	return ret;
}

/**
 * rcl_region_new_handle - a handle that was not used for a long time
 * @slot: of memory, local or the peer's
 *
 * Context: any.
 * Return: the handle, from which rcl_region_slot() gets @slot.
 */
u32 rcl_region_new_handle(u32 slot)
{
	static atomic_t generation;

	return (u32)atomic_inc_return(&generation) << RCL_HANDLE_BITS | slot;
}

static int rcl_region_publish(struct rcl_chan *chan, struct rcl_region *region)
{
	u32 i;

	for (i = 0; i < RCL_HANDLE_SLOTS && chan->slots[i]; i++)
		;
	if (i == RCL_HANDLE_SLOTS)
		return -ENOSPC;
	region->handle = rcl_region_new_handle(i);
	spin_lock_bh(&chan->lock);
	chan->slots[i] = region;
	spin_unlock_bh(&chan->lock);
	return 0;
}

static void rcl_region_unpublish(struct rcl_chan *chan,
				 struct rcl_region *region)
{
	spin_lock_bh(&chan->lock);
	chan->slots[rcl_region_slot(region->handle)] = NULL;
	spin_unlock_bh(&chan->lock);
}

static int rcl_region_export(struct rcl_chan *chan, struct rcl_region *region)
{
	struct rcl_export *export = &region->export;
	int ret;

	if (!export->name[0])
		return 0;
	export->owner = &chan->lessee;
	ret = rcl_export_add(&chan->link->exports, export);
	region->exported = !ret;
	return ret;
}

static bool rcl_region_rights_fit(const struct rcl_chan *chan,
				  const struct rcl_region *region)
{
	return !(region->export.window.rights & RCLINK_REGION_ATOMIC) ||
	       chan->access & IB_ACCESS_REMOTE_ATOMIC;
}

static int rcl_region_begin(struct rcl_chan *chan, struct rcl_region *region,
			    u32 *handle)
{
	int ret;

	lockdep_assert_held(&chan->setup);
	if (!chan->pd)
		return chan->why;
	if (!rcl_region_rights_fit(chan, region))
		return -EOPNOTSUPP;
	ret = rcl_region_lay_out(chan, region);
	if (!ret)
		ret = rcl_region_map(chan, region);
	if (!ret)
		ret = rcl_region_publish(chan, region);
	if (ret)
		goto err_unmap;
	/* A completion may name it as soon as the peer knows of it. */
	*handle = region->handle;
	/* Last: the peer may end it at once, and it must be found then. */
	ret = rcl_region_export(chan, region);
	if (ret)
		goto err_unpublish;
	return 0;

err_unpublish:
	rcl_region_unpublish(chan, region);
err_unmap:
	rcl_region_unmap(chan, region);
	return ret;
}

/**
 * rcl_region_check - could such a region be registered?
 * @chan: any
 * @name: to export it under, or empty
 * @rights: of the peer, and RCLINK_REGION_READ_ONLY; hostile
 * @npages: pages
 *
 * Context: process context.
 * Return: 0, -EINVAL, -EMSGSIZE for more than RCL_EXTENTS_MAX registrations of
 * the device can hold, -EOPNOTSUPP for a region that the peer may end and that
 * exceeds one registration, or @chan->why when the channel is not open.
 */
int rcl_region_check(struct rcl_chan *chan, const char *name, u32 rights,
		     u64 npages)
{
	int peers = rcl_region_rights(rights);
	u64 extents;
	u32 order;
	int ret;

	if (peers < 0 || !name[0] != !peers ||
	    peers == RCLINK_REGION_INVALIDATE)
		return -EINVAL;
	spin_lock_bh(&chan->lock);
	ret = chan->attached ? 0 : chan->why;
	order = chan->shift - PAGE_SHIFT;
	spin_unlock_bh(&chan->lock);
	if (ret)
		return ret;
	extents = (npages + BIT_ULL(order) - 1) >> order;
	if (extents > RCL_EXTENTS_MAX)
		return -EMSGSIZE;
	/* A SEND names one key, and so ends one registration. */
	if (extents > 1 && rights & RCLINK_REGION_INVALIDATE)
		return -EOPNOTSUPP;
	return 0;
}

/**
 * struct rcl_region_job - what a deputy does
 * @chan: any
 * @region: what to register; or set to what @handle names
 * @told: where the handle goes when it is registered
 * @handle: what to withdraw
 * @ret: result
 */
struct rcl_region_job {
	struct rcl_chan *chan;
	struct rcl_region *region;
	u32 *told;
	u32 handle;
	int ret;
};

static void rcl_region_register_job(void *arg)
{
	struct rcl_region_job *job = arg;
	struct rcl_chan *chan = job->chan;

	mutex_lock(&chan->setup);
	job->ret = rcl_region_begin(chan, job->region, job->told);
	job->region->mapping.memory->owner = NULL;
	mutex_unlock(&chan->setup);
}

/**
 * rcl_region_register - register memory
 * @chan: open
 * @memory: freed after a failure, when it is withdrawn, or with the channel
 * @name: to export it under, or empty; checked
 * @rights: of the peer, and RCLINK_REGION_READ_ONLY; checked
 * @handle: valid after success; set before the peer knows of it
 *
 * Context: may sleep.
 * Return: 0, -EEXIST for a name that the link has already, -ENOSPC, -ENOMEM,
 * -EOPNOTSUPP for a right or memory that the device cannot have, -EMSGSIZE for
 * more than it registers, @chan->why when the channel is not open, -EAGAIN when
 * it is suspended, or about to be, -EINTR for a fatal signal, -EIO or the errno
 * of a verbs call, or -ENOTRECOVERABLE when that failed half-way, and the
 * device did not end what it had: then the memory is lost.
 */
int rcl_region_register(struct rcl_chan *chan, struct rcl_memory *memory,
			const char *name, u32 rights, u32 *handle)
{
	struct rcl_region *region;
	struct rcl_region_job job;

	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region) {
		memory->free(memory);
		return -ENOMEM;
	}
	region->mapping.memory = memory;
	region->mapping.window = &region->export.window;
	strscpy(region->export.name, name, sizeof(region->export.name));
	region->export.window.rights = rights & RCLINK_REGION_RIGHTS;
	memory->read_only = rights & RCLINK_REGION_READ_ONLY;
	memory->owner = current;
	/* Charged to whoever has the channel. */
	memory->memcg = chan->memcg;
	job = (struct rcl_region_job){ chan, region, .told = handle };
	job.ret = mutex_lock_killable(&chan->turn);
	if (!job.ret) {
		rcl_deputy_run(rcl_region_register_job, &job);
		mutex_unlock(&chan->turn);
	}
	if (job.ret && rcl_region_free(region))
		return -ENOTRECOVERABLE;
	return job.ret;
}

static struct rcl_region *rcl_region_find(struct rcl_chan *chan, u32 handle)
{
	struct rcl_region *region = chan->slots[rcl_region_slot(handle)];

	lockdep_assert_held(&chan->lock);
	return region && region->handle == handle ? region : NULL;
}

/* Some devices let several messages end a region: the first one counts. */
static int rcl_region_end(struct rcl_chan *chan, u32 rkey, u32 *handle)
{
	u32 i;

	lockdep_assert_held(&chan->lock);
	if (!rkey)
		return -EPROTO;
	for (i = 0; i < RCL_HANDLE_SLOTS; i++) {
		struct rcl_region *region = chan->slots[i];
		struct rcl_window *window;

		if (!region)
			continue;
		window = &region->export.window;
		/* A region with this right has one extent. */
		if (!(window->rights & RCLINK_REGION_INVALIDATE) ||
		    window->rkeys[0] != rkey)
			continue;
		if (region->invalidated)
			return -EALREADY;
		region->invalidated = true;
		rcl_export_end(&region->export);
		*handle = region->handle;
		return 0;
	}
	/* Last: another region may have the key by now. */
	for (i = 0; i < RCL_HANDLE_SLOTS; i++)
		if (chan->ended[i] == rkey)
			return -EALREADY;
	return -EPROTO;
}

/**
 * rcl_region_invalidated - the peer has ended a registration
 * @chan: in a completion of its QP
 * @rkey: of the registration
 * @handle: set
 *
 * Return: 0, -EALREADY if that was known, -EPROTO if the peer may not end any
 * registration with that key.
 */
int rcl_region_invalidated(struct rcl_chan *chan, u32 rkey, u32 *handle)
{
	int ret;

	if (READ_ONCE(chan->qp))
		return rcl_region_end(chan, rkey, handle);
	/* Whoever drains has detached it, and does not hold the lock. */
	spin_lock_bh(&chan->lock);
	ret = rcl_region_end(chan, rkey, handle);
	spin_unlock_bh(&chan->lock);
	return ret;
}

/*
 * A message that ends it may still be on its way up. A region that the peer may
 * not end must not make the slot forget an earlier one.
 */
static void rcl_region_remember(struct rcl_chan *chan,
				const struct rcl_region *region)
{
	const struct rcl_window *window = &region->export.window;

	lockdep_assert_held(&chan->lock);
	if (window->rights & RCLINK_REGION_INVALIDATE)
		chan->ended[rcl_region_slot(region->handle)] = window->rkeys[0];
}

static void rcl_region_retire(struct rcl_chan *chan, struct rcl_region *region)
{
	int n = 0;

	rcl_region_unexport(chan, region);
	if (region->mapping.n)
		rcl_region_unmap(chan, region);
	spin_lock_bh(&chan->lock);
	/* The peer may have ended it before: let that completion find it. */
	if (chan->qp)
		n = rcl_qp_poll(chan->qp, RCL_CHAN_SEND_SLOTS +
				RCL_CHAN_RECV_SLOTS);
	rcl_region_remember(chan, region);
	rcl_chan_unlock_polled(chan, n);
	rcl_region_unpublish(chan, region);
}

static void rcl_region_withdraw_job(void *arg)
{
	struct rcl_region_job *job = arg;
	struct rcl_chan *chan = job->chan;

	mutex_lock(&chan->setup);
	spin_lock_bh(&chan->lock);
	job->region = rcl_region_find(chan, job->handle);
	if (job->region)
		rcl_export_end(&job->region->export);
	spin_unlock_bh(&chan->lock);
	if (job->region)
		rcl_region_retire(chan, job->region);
	mutex_unlock(&chan->setup);
}

/**
 * rcl_region_withdraw - end a registration, then let the memory go
 * @chan: any
 * @handle: of the region
 *
 * What is in flight fails, here or at the peer.
 *
 * Context: may sleep.
 * Return: 0, -ESTALE, or -EIO when the device did not end it: then the memory
 * is lost.
 */
int rcl_region_withdraw(struct rcl_chan *chan, u32 handle)
{
	struct rcl_region_job job = { .chan = chan, .handle = handle };

	mutex_lock(&chan->turn);
	rcl_deputy_run(rcl_region_withdraw_job, &job);
	mutex_unlock(&chan->turn);
	return job.region ? rcl_region_free(job.region) : -ESTALE;
}

/*
 * A piece, from @to on: an entry for each extent that it touches, and none for
 * no bytes, see rcl_chan_inline(). Returns where the next piece goes.
 */
static struct ib_sge *rcl_region_piece(struct rcl_chan *chan,
				       const struct rclink_dev_sge *from,
				       bool writes, struct ib_sge *to,
				       const struct ib_sge *end)
{
	struct rcl_region *region = rcl_region_find(chan, from->region);
	const struct rcl_mapping *mapping;
	const struct rcl_window *window;
	u32 left = from->len;
	u64 addr;
	u32 i;

	if (!region || region->export.over)
		return ERR_PTR(-ESTALE);
	mapping = &region->mapping;
	if (writes && mapping->memory->read_only)
		return ERR_PTR(-EACCES);
	window = &region->export.window;
	if (from->offset > window->len || left > window->len - from->offset)
		return ERR_PTR(-EINVAL);
	addr = window->addr + from->offset;
	i = rcl_window_index(window, addr, mapping->n);
	for (; left; to++) {
		if (to == end)
			return ERR_PTR(-EMSGSIZE);
		to->addr = addr;
		to->length = min_t(u64, left, rcl_window_left(window, addr));
		to->lkey = mapping->extents[i].mr->lkey;
		addr += to->length;
		left -= to->length;
		i = array_index_nospec(i + 1, mapping->n);
	}
	return to;
}

/**
 * rcl_region_pieces - the pieces of an entry as the device addresses them
 * @chan: open, its lock held
 * @sqe: without inline data, hostile
 * @writes: the device is to write there
 * @sge: set
 * @len: set to their bytes
 *
 * Return: how many, -ESTALE, -EACCES for memory that is read-only, -EINVAL or
 * -EMSGSIZE.
 */
int rcl_region_pieces(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		      bool writes, struct ib_sge *sge, u32 *len)
{
	const struct ib_sge *end = sge + chan->max_sge;
	struct ib_sge *to = sge;
	u32 bytes = 0;
	u32 i;

	for (i = 0; i < sqe->num_sge; i++) {
		to = rcl_region_piece(chan, &sqe->sge[i], writes, to, end);
		if (IS_ERR(to))
			return PTR_ERR(to);
		if (sqe->sge[i].len > RCL_LEN_MAX - bytes)
			return -EMSGSIZE;
		bytes += sqe->sge[i].len;
	}
	*len = bytes;
	return to - sge;
}

/**
 * rcl_region_file - the file to map in order to see a region
 * @chan: any
 * @slot: of the region, hostile
 * @len: set to the bytes of the region
 *
 * Context: process context.
 * Return: the file with a reference, or NULL if the region has none, or if
 * there is no such region.
 */
struct file *rcl_region_file(struct rcl_chan *chan, u32 slot, u64 *len)
{
	struct rcl_region *region = NULL;
	struct file *file = NULL;

	spin_lock_bh(&chan->lock);
	if (slot < RCL_HANDLE_SLOTS)
		region = chan->slots[array_index_nospec(slot,
							RCL_HANDLE_SLOTS)];
	if (region)
		file = rcl_memory_file(region->mapping.memory, len);
	spin_unlock_bh(&chan->lock);
	return file;
}

static int rcl_region_map_again(struct rcl_chan *chan,
				struct rcl_region *region)
{
	int ret;

	/* Maybe it was registered after the channel had rejoined. */
	if (region->mapping.n || READ_ONCE(region->export.over))
		return 0;
	if (region->mapping.stuck)
		return -EIO;
	if (region->export.window.shift > rcl_mapping_shift(chan->pd->device))
		return -EMSGSIZE;
	if (!rcl_region_rights_fit(chan, region))
		return -EOPNOTSUPP;
	ret = rcl_region_map(chan, region);
	if (!ret && region->exported)
		rcl_export_set_ready(&chan->link->exports, &region->export,
				     true);
	return ret;
}

/**
 * rcl_region_map_all - register all memory again, with other keys
 * @chan: rejoined
 *
 * Handles, and addresses for the peer, stay.
 *
 * Context: may sleep.
 * Return: 0, or as rcl_region_register(): then the channel cannot go on.
 */
int rcl_region_map_all(struct rcl_chan *chan)
{
	int ret = 0;
	u32 i;

	mutex_lock(&chan->setup);
	for (i = 0; i < RCL_HANDLE_SLOTS && !ret; i++)
		if (chan->slots[i])
			ret = rcl_region_map_again(chan, chan->slots[i]);
	mutex_unlock(&chan->setup);
	return ret;
}

/**
 * rcl_region_unmap_all - end all registrations
 * @chan: detached or suspended; its setup mutex is held, its PD still exists
 *
 * Context: may sleep.
 */
void rcl_region_unmap_all(struct rcl_chan *chan)
{
	u32 i;

	/* In the next epoch all keys are different. */
	for (i = 0; i < RCL_HANDLE_SLOTS; i++) {
		struct rcl_region *region = chan->slots[i];

		chan->ended[i] = 0;
		if (!region)
			continue;
		rcl_region_unmap(chan, region);
		region->export.window.rkeys[0] = 0;
	}
}

/**
 * rcl_region_unexport_all - let no region of a channel be imported ever again
 * @chan: has ended
 *
 * Context: may sleep.
 */
void rcl_region_unexport_all(struct rcl_chan *chan)
{
	u32 i;

	mutex_lock(&chan->setup);
	for (i = 0; i < RCL_HANDLE_SLOTS; i++)
		if (chan->slots[i])
			rcl_region_unexport(chan, chan->slots[i]);
	mutex_unlock(&chan->setup);
}

/**
 * rcl_region_is_lost - did the device fail to end a registration?
 * @chan: over
 *
 * Context: may sleep.
 * Return: true if so: then it may still access that memory.
 */
bool rcl_region_is_lost(struct rcl_chan *chan)
{
	bool lost = false;
	u32 i;

	mutex_lock(&chan->setup);
	for (i = 0; i < RCL_HANDLE_SLOTS; i++)
		lost |= chan->slots[i] && chan->slots[i]->mapping.stuck;
	mutex_unlock(&chan->setup);
	return lost;
}

/**
 * rcl_region_free_all - let all memory go
 * @chan: nobody knows it any more
 *
 * Context: may sleep.
 */
void rcl_region_free_all(struct rcl_chan *chan)
{
	u32 i;

	for (i = 0; i < RCL_HANDLE_SLOTS; i++)
		if (chan->slots[i])
			rcl_region_free(chan->slots[i]);
}
