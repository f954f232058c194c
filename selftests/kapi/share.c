// SPDX-License-Identifier: GPL-2.0
/*
 * A share: one host exports a region to all links, and the other host uses it
 * through channels to the far end, over any link.
 */
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "kapi.h"

#define SHARE_NAME	"kapi.share"
#define SHARE_SIZE	(2 * 1024 * 1024 + 3333)	/* several extents */
#define SHARE_AT	1235	/* offset in the first page */
#define SHARE_PAGES	DIV_ROUND_UP(SHARE_AT + SHARE_SIZE, PAGE_SIZE)
#define SHARE_PEERS	(RCLINK_REGION_WRITE | RCLINK_REGION_READ)

static struct rclink_share *share;
static u8 *share_memory;	/* outlives @share, for share_is() */

static struct rclink_share *share_list(u8 *buf)
{
	struct rclink_share *made = ERR_PTR(-ENOMEM);
	struct page **pages;
	struct sg_table sgt;
	u32 i;

	pages = kvmalloc_array(SHARE_PAGES, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return made;
	for (i = 0; i < SHARE_PAGES; i++)
		pages[i] = vmalloc_to_page(buf + i * PAGE_SIZE);
	if (!sg_alloc_table_from_pages(&sgt, pages, SHARE_PAGES, SHARE_AT,
				       SHARE_SIZE, GFP_KERNEL)) {
		made = rclink_share_sg(sgt.sgl, sgt.orig_nents, SHARE_NAME,
				       SHARE_PEERS);
		sg_free_table(&sgt);
	}
	kvfree(pages);
	return made;
}

/**
 * share_begin - export memory to all links
 * @how: "buffer", "list", or "constant" for a buffer that is only read
 * @seed: of the data in the memory
 *
 * Return: 0, or a negative errno.
 */
int share_begin(const char *how, u32 seed)
{
	struct rclink_share *made;
	u32 rights = SHARE_PEERS;

	if (share)
		return -EBUSY;
	vfree(share_memory);
	share_memory = vmalloc(SHARE_PAGES * PAGE_SIZE);
	if (!share_memory)
		return -ENOMEM;
	kapi_fill(share_memory + SHARE_AT, seed, 0, SHARE_SIZE);
	if (!strcmp(how, "constant"))
		rights = RCLINK_REGION_READ | RCLINK_REGION_READ_ONLY;
	if (!strcmp(how, "list"))
		made = share_list(share_memory);
	else
		made = rclink_share(share_memory + SHARE_AT, SHARE_SIZE,
				    SHARE_NAME, rights);
	if (IS_ERR(made))
		return kapi_say(PTR_ERR(made), "share: %ld", PTR_ERR(made));
	share = made;
	return 0;
}

/**
 * share_is - check the memory, even after its export has ended
 * @seed: of the data that it must have
 *
 * Return: 0, or -EIO.
 */
int share_is(u32 seed)
{
	if (share_memory &&
	    kapi_is(share_memory + SHARE_AT, seed, 0, SHARE_SIZE))
		return 0;
	return kapi_say(-EIO, "the memory is not %u", seed);
}

/**
 * share_end - end the export
 * @seed: of the data written to the memory afterwards
 *
 * Return: 0, or as rclink_unshare().
 */
int share_end(u32 seed)
{
	int ret;

	if (!share)
		return -EINVAL;
	ret = rclink_unshare(share);
	share = NULL;
	if (ret)
		return kapi_say(ret, "unshare: %d", ret);
	kapi_fill(share_memory + SHARE_AT, seed, 0, SHARE_SIZE);
	return 0;
}

/**
 * share_lose - end the export while the device cannot deregister the memory
 *
 * The device may still access the memory, so it is leaked.
 *
 * Return: 0, or -EINVAL.
 */
int share_lose(void)
{
	int ret = share_end(0);

	if (ret != -EIO)
		return kapi_say(-EINVAL, "unshare: %d", ret);
	kmemleak_not_leak(share_memory);
	share_memory = NULL;
	return 0;
}

/**
 * share_stop - export nothing, and free the memory
 */
void share_stop(void)
{
	if (share && rclink_unshare(share))
		return;
	vfree(share_memory);
}

static int share_move(struct near *near, u8 *buf, u32 region, u32 seed,
		      u32 next)
{
	const struct rclink_remote *from = &near->share;
	struct rclink_dev_sqe sqe;
	unsigned int taken;
	int ret;

	rclink_prep_read(&sqe, from, 0, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, region, 0, SHARE_SIZE);
	ret = near_do(near, &sqe);
	if (ret)
		return ret;
	if (!kapi_is(buf, seed, 0, SHARE_SIZE))
		return kapi_say(-EIO, "what is read is not %u", seed);
	kapi_fill(buf, next, 0, SHARE_SIZE);
	rclink_prep_write(&sqe, from, 0, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, region, 0, SHARE_SIZE);
	if (from->rights & RCLINK_REGION_WRITE)
		return near_do(near, &sqe);
	ret = rclink_post(near->chan, &sqe, 1, &taken);
	if (ret != -EACCES)
		return kapi_say(-EIO, "a write without the right: %d", ret);
	return 0;
}

/**
 * share_use - import the share of the far end, read and write it
 * @near: from near_open(); @near->share is set
 * @seed: of the data that it must have
 * @next: of the data to write, if the share may be written
 *
 * Return: 0, or a negative errno.
 */
int share_use(struct near *near, u32 seed, u32 next)
{
	u32 region;
	u8 *buf;
	int ret;

	ret = rclink_import(near->chan, SHARE_NAME, &near->share);
	if (ret)
		return kapi_say(ret, "import: %d", ret);
	if (near->share.len != SHARE_SIZE)
		return kapi_say(-EIO, "%llu bytes", near->share.len);
	buf = vzalloc(SHARE_SIZE);
	if (!buf)
		return -ENOMEM;
	ret = rclink_register(near->chan, buf, SHARE_SIZE, NULL, 0, &region);
	if (!ret) {
		ret = share_move(near, buf, region, seed, next);
		if (rclink_withdraw(near->chan, region))
			return kapi_say(-EIO, "a buffer is lost");
	}
	vfree(buf);
	return ret;
}

/**
 * share_taken - write to a share that the far end no longer exports
 * @near: with an import of share_use(); the refusal ends its channel
 *
 * Return: 0, or a negative errno.
 */
int share_taken(struct near *near)
{
	struct rclink_dev_sqe sqe;

	rclink_prep_write(&sqe, &near->share, 0, 0, 0);
	rclink_prep_piece(&sqe, near->region, 0, 64);
	return near_fails(near, &sqe);
}
