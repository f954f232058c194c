// SPDX-License-Identifier: GPL-2.0
/*
 * The memory belongs to a file of a process, or to a module, not to a link:
 * links come and go, and those over which it is imported have registrations of
 * their own (offer.c).
 */
#include "share.h"

#include <linux/err.h>
#include <linux/memcontrol.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <uapi/linux/rclink_dev.h>

#include "access.h"
#include "export.h"
#include "mapping.h"
#include "memory.h"
#include "offer.h"
#include "pin.h"
#include "region.h"
#include "shm.h"
#include "user-memory.h"

/* Devices take less, which shows when the region is imported. */
#define RCL_SHARE_PAGES_MAX	((u64)RCL_EXTENTS_MAX * RCL_EXTENT_PAGES_MAX)

/**
 * struct rcl_shared - a region
 * @handle: slot and generation
 * @offer: what links know of it
 */
struct rcl_shared {
	u32 handle;
	struct rcl_offer offer;
};

/**
 * struct rcl_share - a file that exports memory to all links
 * @cred: of the opener; the file's
 * @memcg: the opener's, or NULL; is charged for what registering the regions
 *	takes; a reference is held
 * @lock: protects @slots
 * @slots: its regions by handle
 * @turn: held to add or withdraw, to have a deputy; taken before @lock, which
 *	mmap() takes, and which nobody holds meanwhile
 */
struct rcl_share {
	const struct cred *cred;
	struct mem_cgroup *memcg;
	struct mutex lock;	/* protects slots */
	struct rcl_shared *slots[RCL_HANDLE_SLOTS];
	struct mutex turn;	/* to have a deputy */
};

/* Looked at for a peer: the exporter itself asks for nothing. */
static bool rcl_share_may(const struct rcl_offer *offer, const char *link)
{
	return !rcl_access_check(link, offer->cred, false);
}

/**
 * rcl_share_check - can memory be exported to all links?
 * @name: to export it under
 * @rights: of the peers, and RCLINK_REGION_READ_ONLY; hostile
 * @npages: pages
 *
 * Return: 0, -EINVAL or -EMSGSIZE.
 */
int rcl_share_check(const char *name, u32 rights, u64 npages)
{
	int peers = rcl_region_rights(rights);

	/* A peer's SEND can only end what is registered for one channel. */
	if (!name[0] || peers <= 0 || peers & RCLINK_REGION_INVALIDATE)
		return -EINVAL;
	return npages > RCL_SHARE_PAGES_MAX ? -EMSGSIZE : 0;
}

/**
 * rcl_share_begin - export memory to all links
 * @offer: zeroed
 * @memory: stays the caller's after a failure
 * @name: to export it under; checked, and so are the rights
 * @rights: of the peers, and RCLINK_REGION_READ_ONLY
 * @cred: of the exporter, NULL for the kernel, which may use all links;
 *	outlives @offer
 *
 * Context: may sleep.
 * Return: as rcl_offer_add().
 */
int rcl_share_begin(struct rcl_offer *offer, struct rcl_memory *memory,
		    const char *name, u32 rights, const struct cred *cred)
{
	memory->read_only = rights & RCLINK_REGION_READ_ONLY;
	strscpy(offer->name, name, sizeof(offer->name));
	offer->rights = rights & RCLINK_REGION_RIGHTS;
	offer->memory = memory;
	offer->cred = cred;
	offer->may = rcl_share_may;
	return rcl_offer_add(offer);
}

/**
 * rcl_share_end - the mirror of rcl_share_begin(), then release the memory
 * @offer: the caller's again afterwards
 *
 * Context: may sleep.
 * Return: 0, or -EIO when a device did not end a registration: then the memory
 * is lost.
 */
int rcl_share_end(struct rcl_offer *offer)
{
	rcl_offer_del(offer);
	return rcl_mapping_let_go(offer->memory, offer->stuck);
}

/**
 * rcl_share_open - make a share without regions
 * @cred: of the consumer; outlives the share
 *
 * Context: may sleep.
 * Return: the share, to be closed, or NULL.
 */
struct rcl_share *rcl_share_open(const struct cred *cred)
{
	struct rcl_share *share;

	share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
	if (!share)
		return NULL;
	mutex_init(&share->lock);
	mutex_init(&share->turn);
	share->cred = cred;
	share->memcg = get_mem_cgroup_from_mm(current->mm);
	return share;
}

/* It is in no slot any more. */
static int rcl_shared_free(struct rcl_shared *shared)
{
	int ret = rcl_share_end(&shared->offer);

	kfree(shared);
	return ret;
}

/**
 * rcl_share_close - withdraw all regions
 * @share: nobody uses or maps it any more; freed
 *
 * Context: may sleep.
 */
void rcl_share_close(struct rcl_share *share)
{
	u32 i;

	for (i = 0; i < RCL_HANDLE_SLOTS; i++)
		if (share->slots[i])
			rcl_shared_free(share->slots[i]);
	mem_cgroup_put(share->memcg);
	kfree(share);
}

/* As long as it is our turn, others only empty slots. */
static u32 rcl_share_free_slot(struct rcl_share *share)
{
	u32 i;

	lockdep_assert_held(&share->turn);
	mutex_lock(&share->lock);
	for (i = 0; i < RCL_HANDLE_SLOTS && share->slots[i]; i++)
		;
	mutex_unlock(&share->lock);
	return i;
}

static int rcl_share_publish(struct rcl_share *share,
			     struct rcl_shared *shared,
			     struct rcl_memory *memory,
			     struct rclink_dev_region *arg)
{
	u32 slot = rcl_share_free_slot(share);
	int ret;

	if (slot == RCL_HANDLE_SLOTS)
		return -ENOSPC;
	memory->memcg = share->memcg;
	ret = rcl_share_begin(&shared->offer, memory, arg->name, arg->rights,
			      share->cred);
	if (ret)
		return ret;
	shared->handle = rcl_region_new_handle(slot);
	/* Before another call can withdraw it. */
	arg->handle = shared->handle;
	mutex_lock(&share->lock);
	share->slots[slot] = shared;
	mutex_unlock(&share->lock);
	return 0;
}

static int rcl_share_add(struct rcl_share *share, struct rcl_memory *memory,
			 struct rclink_dev_region *arg)
{
	struct rcl_shared *shared;
	int ret = -EINTR;

	shared = kzalloc(sizeof(*shared), GFP_KERNEL_ACCOUNT);
	if (!shared)
		return -ENOMEM;
	if (!mutex_lock_killable(&share->turn)) {
		ret = rcl_share_publish(share, shared, memory, arg);
		mutex_unlock(&share->turn);
	}
	if (ret)
		kfree(shared);
	return ret;
}

/**
 * rcl_share_region - export memory of the calling process to all links
 * @share: any
 * @arg: what to export, hostile; @arg->handle is set
 * @allocate: as for RCLINK_IOC_MEMORY
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, -EMSGSIZE, -EEXIST when the same user exports another
 * region of that name to all links, -ENOSPC, -EFAULT, -EDQUOT beyond
 * RLIMIT_MEMLOCK, -ENOMEM, or -EINTR for a fatal signal.
 */
int rcl_share_region(struct rcl_share *share, struct rclink_dev_region *arg,
		     bool allocate)
{
	struct rcl_memory *memory;
	int ret;

	if (!rcl_pin_is_sane(arg, allocate))
		return -EINVAL;
	ret = rcl_share_check(arg->name, arg->rights,
			      rcl_memory_npages(arg->addr, arg->len));
	if (ret)
		return ret;
	memory = rcl_memory_take(arg, allocate);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	ret = rcl_share_add(share, memory, arg);
	if (ret)
		memory->free(memory);
	return ret;
}

static struct rcl_shared *rcl_share_at(struct rcl_share *share, u32 slot)
{
	lockdep_assert_held(&share->lock);
	if (slot >= RCL_HANDLE_SLOTS)
		return NULL;
	return share->slots[array_index_nospec(slot, RCL_HANDLE_SLOTS)];
}

/**
 * rcl_share_withdraw - withdraw a region, then release its memory
 * @share: any
 * @handle: of the region, hostile
 *
 * Context: may sleep.
 * Return: 0, -ESTALE, or -EIO when a device did not end a registration: then
 * the memory is lost.
 */
int rcl_share_withdraw(struct rcl_share *share, u32 handle)
{
	struct rcl_shared *shared;
	int ret;

	mutex_lock(&share->lock);
	shared = rcl_share_at(share, rcl_region_slot(handle));
	if (shared && shared->handle == handle)
		share->slots[rcl_region_slot(handle)] = NULL;
	else
		shared = NULL;
	mutex_unlock(&share->lock);
	if (!shared)
		return -ESTALE;
	mutex_lock(&share->turn);
	ret = rcl_shared_free(shared);
	mutex_unlock(&share->turn);
	return ret;
}

/**
 * rcl_share_mmap - map memory that was allocated
 * @share: any
 * @vma: shared; its offset is at or after that of rcl_shm_offset()
 *
 * Context: the mmap lock is held.
 * Return: 0, -EINVAL for no such memory, or what tmpfs says.
 */
int rcl_share_mmap(struct rcl_share *share, struct vm_area_struct *vma)
{
	struct rcl_shared *shared;
	struct file *file = NULL;
	u64 len = 0;

	mutex_lock(&share->lock);
	shared = rcl_share_at(share, rcl_shm_slot(vma));
	if (shared)
		file = rcl_memory_file(shared->offer.memory, &len);
	mutex_unlock(&share->lock);
	return rcl_shm_map(file, len, vma);
}
