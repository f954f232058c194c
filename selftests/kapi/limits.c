// SPDX-License-Identifier: GPL-2.0
/* What a channel refuses, and when a refused post may be tried again. */
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kapi.h"

#define LIMITS_WRITES	1000
#define LIMITS_SIZE	64
#define LIMITS_WAIT	(30 * HZ)
#define LIMITS_NAME	"kapi.limits"

static void limits_completed(struct rclink_chan *chan, void *ctx,
			     const struct rclink_dev_cqe *cqe)
{
}

/* Without .ended, which a channel needs unless it is polled. */
static const struct rclink_chan_ops limits_lame = {
	.completed = limits_completed,
};

static int limits_sg(struct near *near, struct scatterlist *sg, u32 n)
{
	u32 handle;
	int ret;

	ret = rclink_register_sg(near->chan, sg, n, NULL, 0, &handle);
	if (ret == -EINVAL)
		return 0;
	return kapi_say(-EIO, "%u pieces, the last of no bytes: %d", n, ret);
}

static int limits_pieces(struct near *near)
{
	struct scatterlist sg[2];

	sg_init_table(sg, 2);
	sg_set_page(&sg[0], near->page[0], PAGE_SIZE, 0);
	sg_set_page(&sg[1], near->page[1], 0, 0);
	return limits_sg(near, sg, 2) ? : limits_sg(near, &sg[1], 1);
}

/**
 * limits_nonsense - pass arguments that no call takes
 * @link: name
 *
 * Return: 0, or a negative errno.
 */
int limits_nonsense(const char *link)
{
	struct near *near = near_open(link, false);
	struct rclink_chan *chan;
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	chan = rclink_connect(link, KAPI_SERVICE, 0, &limits_lame, NULL);
	if (chan == ERR_PTR(-EINVAL))
		ret = limits_pieces(near);
	else
		ret = kapi_say(-EIO, "a channel whose end nobody hears of");
	near_close(near);
	return ret;
}

/* 0 if @share is the error @want, or if it is valid and @want is 0. */
static int limits_share(struct rclink_share *share, int want, const char *what)
{
	int ret = PTR_ERR_OR_ZERO(share);

	if (!ret)
		rclink_unshare(share);
	if (ret == want)
		return 0;
	return kapi_say(-EIO, "exported to all links, %s: %d", what, ret);
}

static int limits_share_words(void *buf)
{
	static const struct {
		const char *what;
		const char *name;
		size_t len;
		u32 rights;
		int why;
	} bad[] = {
		{ "no name", NULL, 1, RCLINK_REGION_READ, -EINVAL },
		{ "an empty name", "", 1, RCLINK_REGION_READ, -EINVAL },
		{ "a long name", "a name of more than thirty-one characters", 1,
		  RCLINK_REGION_READ, -EINVAL },
		{ "no right", LIMITS_NAME, 1, 0, -EINVAL },
		{ "no right of a peer", LIMITS_NAME, 1, RCLINK_REGION_READ_ONLY,
		  -EINVAL },
		{ "an end by the peer", LIMITS_NAME, 1, RCLINK_REGION_READ |
		  RCLINK_REGION_INVALIDATE, -EINVAL },
		{ "only read, and written", LIMITS_NAME, 1,
		  RCLINK_REGION_WRITE | RCLINK_REGION_READ_ONLY, -EINVAL },
		{ "any right", LIMITS_NAME, 1, ~0, -EINVAL },
		{ "no bytes", LIMITS_NAME, 0, RCLINK_REGION_READ, -EINVAL },
		{ "2 GiB", LIMITS_NAME, (size_t)INT_MAX + 1, RCLINK_REGION_READ,
		  -EMSGSIZE },
	};
	int ret = 0;
	int i;

	for (i = 0; !ret && i < ARRAY_SIZE(bad); i++)
		ret = limits_share(rclink_share(buf, bad[i].len, bad[i].name,
						bad[i].rights),
				   bad[i].why, bad[i].what);
	return ret;
}

/* The lists lead beyond @buf, but are refused before that is touched. */
static int limits_share_pieces(void *buf)
{
	const u32 rights = RCLINK_REGION_READ;
	struct scatterlist sg[3];
	u32 i;

	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(sg); i++)
		sg_set_page(&sg[i], virt_to_page(buf), (u32)PAGE_MASK, 0);
	return limits_share(rclink_share_sg(sg, 0, LIMITS_NAME, rights),
			    -EINVAL, "no pieces") ? :
	       limits_share(rclink_share_sg(sg, 3, LIMITS_NAME, rights),
			    -EMSGSIZE, "12 GiB");
}

static int limits_share_twice(void *buf)
{
	const u32 rights = RCLINK_REGION_READ;
	struct rclink_share *share;
	int ret;

	share = rclink_share(buf, PAGE_SIZE, LIMITS_NAME, rights);
	if (IS_ERR(share))
		return PTR_ERR(share);
	ret = limits_share(rclink_share(buf, 1, LIMITS_NAME, rights), -EEXIST,
			   "a name that is there");
	if (!ret)
		ret = limits_share(rclink_share(buf, 1, "another", rights), 0,
				   "another name");
	return rclink_unshare(share) ? :
	       ret ? :
	       limits_share(rclink_share(buf, 1, LIMITS_NAME, rights), 0,
			    "a name that is free again");
}

/**
 * limits_shares - check which shares are refused
 *
 * Return: 0, or a negative errno.
 */
int limits_shares(void)
{
	void *buf = (void *)__get_free_page(GFP_KERNEL);
	int ret;

	if (!buf)
		return -ENOMEM;
	ret = limits_share_words(buf) ? :
	      limits_share_pieces(buf) ? :
	      limits_share_twice(buf);
	free_page((unsigned long)buf);
	return ret;
}

/**
 * limits_lost - close a channel whose memory the device cannot deregister
 * @link: name; the next deregistration fails
 *
 * The device may still access the memory, so it is leaked.
 *
 * Return: 0, or a negative errno.
 */
int limits_lost(const char *link)
{
	struct near *near = near_open(link, false);
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = rclink_close(near->chan);
	if (ret != -EIO) {
		near_free(near);
		return kapi_say(-EINVAL, "closed: %d", ret);
	}
	kmemleak_not_leak(near->msg);
	kfree(near);
	return 0;
}

/* Only the last is signaled: the others just lead to .resumed. */
static int limits_write(struct near *near, u32 i)
{
	bool last = i == LIMITS_WRITES - 1;
	struct rclink_dev_sqe sqe;
	unsigned int taken;
	int ret;

	rclink_prep_write(&sqe, &near->far, i % 8 * LIMITS_SIZE,
			  last ? RCLINK_SQE_SIGNALED : 0, 0);
	rclink_prep_piece(&sqe, near->region, 0, LIMITS_SIZE);
	for (;;) {
		WRITE_ONCE(near->room, false);
		ret = rclink_post(near->chan, &sqe, 1, &taken);
		if (ret != -EBUSY)
			return ret;
		near->busy++;
		if (!wait_event_timeout(near->wait, READ_ONCE(near->room),
					LIMITS_WAIT))
			return kapi_say(-ETIME, "%u: no news of room", i);
	}
}

/**
 * limits_flood - post more writes than fit in flight, the last one signaled
 * @link: name
 *
 * Return: 0, or a negative errno.
 */
int limits_flood(const char *link)
{
	struct near *near = near_open(link, false);
	struct rclink_dev_cqe cqe;
	int ret = 0;
	u32 i;

	if (IS_ERR(near))
		return PTR_ERR(near);
	for (i = 0; !ret && i < LIMITS_WRITES; i++)
		ret = limits_write(near, i);
	if (!ret)
		ret = near_expect(near, RCLINK_OP_WRITE, 0, &cqe);
	if (!ret && !near->busy)
		ret = kapi_say(-EIO, "there was always room");
	near_close(near);
	return ret;
}
