// SPDX-License-Identifier: GPL-2.0
/* What a channel refuses, and when it may be tried again. */
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kapi.h"

#define LIMITS_WRITES	1000
#define LIMITS_SIZE	64
#define LIMITS_WAIT	(30 * HZ)

static void limits_completed(struct rclink_chan *chan, void *ctx,
			     const struct rclink_dev_cqe *cqe)
{
}

/* In softirq context, so nobody can look whether it is missing. */
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
 * limits_nonsense - what no call takes
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

/**
 * limits_lost - the device does not end what it has registered
 * @link: name; the next registration that is to end does not
 *
 * What it has is given up, as it must be.
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

/* Nothing but the news that there is room comes of these. */
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
 * limits_flood - more than can be in flight, and none but the last says so
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
