// SPDX-License-Identifier: GPL-2.0
/* What calls refuse, a part of a batch too, and when to post that again. */
#include <linux/bits.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kapi.h"

#define LIMITS_WRITES	1000
#define LIMITS_SIZE	64
#define LIMITS_WAIT	(30 * HZ)
#define LIMITS_NAME	"kapi.limits"
#define LIMITS_LONG	"a-name-of-thirty-two-characters-"	/* 1 too many */
#define LIMITS_LONGEST	(&LIMITS_LONG[1])

#define LIMITS_BATCH	3
#define LIMITS_PLACE	1024	/* for each write of a batch, at either end */
#define LIMITS_LEN	1000
#define LIMITS_BYTE	0x5a

static void limits_completed(struct rclink_chan *chan, void *ctx,
			     const struct rclink_dev_cqe *cqe)
{
}

static void limits_ended(struct rclink_chan *chan, void *ctx, int why)
{
}

static const struct rclink_chan_ops limits_ops = {
	.completed = limits_completed,
	.ended = limits_ended,
};

/* Without .ended, which a channel needs unless it is polled. */
static const struct rclink_chan_ops limits_lame = {
	.completed = limits_completed,
};

static const struct rclink_chan_ops limits_mute = {
	.ended = limits_ended,
};

static void limits_waiting(void *ctx)
{
}

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

/* An entry has no room for so much, and says so when it is posted. */
static int limits_entry(struct near *near)
{
	static const u8 data[RCLINK_DEV_INLINE_MAX + 1];
	struct {
		struct rclink_dev_sqe sqe;
		u8 behind[2 * sizeof(struct rclink_dev_sge)];
	} all;
	unsigned int taken;
	int ret[2];
	int i;

	memset(&all, LIMITS_BYTE, sizeof(all));
	rclink_prep_write(&all.sqe, &near->far, 0, 0, 0);
	for (i = 0; i < RCLINK_DEV_SGE_MAX + 2; i++)
		rclink_prep_piece(&all.sqe, near->region, 0, 1);
	ret[0] = rclink_post(near->chan, &all.sqe, 1, &taken);
	rclink_prep_write(&all.sqe, &near->far, 0, 0, 0);
	rclink_prep_inline(&all.sqe, data, sizeof(data));
	ret[1] = rclink_post(near->chan, &all.sqe, 1, &taken);
	if (ret[0] == -EINVAL && ret[1] == -EINVAL &&
	    !memchr_inv(all.behind, LIMITS_BYTE, sizeof(all.behind)))
		return 0;
	return kapi_say(-EIO, "too much for an entry: %d, %d", ret[0], ret[1]);
}

/* 0 if @chan is the error @want. */
static int limits_no_chan(struct rclink_chan *chan, int want, const char *what)
{
	int ret = PTR_ERR_OR_ZERO(chan);

	if (!ret)
		rclink_close(chan);
	if (ret && ret == want)
		return 0;
	return kapi_say(-EIO, "a channel, %s: %d", what, ret);
}

static int limits_connect(const char *link)
{
	const struct {
		const char *what;
		const char *link;
		const char *service;
		u32 flags;
		const struct rclink_chan_ops *ops;
		int why;
	} bad[] = {
		{ "a link without a name", "", KAPI_SERVICE, 0, &limits_ops,
		  -EINVAL },
		{ "a link with a long name", LIMITS_LONG, KAPI_SERVICE, 0,
		  &limits_ops, -EINVAL },
		{ "a link that is not there", LIMITS_LONGEST, KAPI_SERVICE, 0,
		  &limits_ops, -ENODEV },
		{ "a service without a name", link, "", 0, &limits_ops,
		  -EINVAL },
		{ "a service with a long name", link, LIMITS_LONG, 0,
		  &limits_ops, -EINVAL },
		{ "a service that is not there", link, LIMITS_LONGEST, 0,
		  &limits_ops, -ECONNREFUSED },
		{ "a flag that is none", link, KAPI_SERVICE,
		  RCLINK_CHAN_REPLAY << 1, &limits_ops, -EINVAL },
		{ "any flag", link, KAPI_SERVICE, ~0, &limits_ops, -EINVAL },
		{ "an end that nobody hears of", link, KAPI_SERVICE, 0,
		  &limits_lame, -EINVAL },
		{ "completions for nobody", link, KAPI_SERVICE, 0, &limits_mute,
		  -EINVAL },
	};
	int ret = 0;
	u32 i;

	BUILD_BUG_ON(sizeof(LIMITS_LONG) != RCLINK_DEV_LINK_LEN + 1);
	BUILD_BUG_ON(sizeof(LIMITS_LONG) != RCLINK_DEV_SERVICE_LEN + 1);
	for (i = 0; !ret && i < ARRAY_SIZE(bad); i++)
		ret = limits_no_chan(rclink_connect(bad[i].link, bad[i].service,
						    bad[i].flags, bad[i].ops,
						    NULL),
				     bad[i].why, bad[i].what);
	return ret;
}

/* 0 if @listener is the error @want, or if it is valid and @want is 0. */
static int limits_listener(struct rclink_listener *listener, int want,
			   const char *what)
{
	int ret = PTR_ERR_OR_ZERO(listener);

	if (!ret)
		rclink_unlisten(listener);
	if (ret == want)
		return 0;
	return kapi_say(-EIO, "a listener, %s: %d", what, ret);
}

static int limits_listen(const char *link)
{
	const u32 most = RCLINK_DEV_BACKLOG_MAX;
	const struct {
		const char *what;
		const char *link;
		const char *service;
		u32 backlog;
		u32 flags;
		void (*waiting)(void *ctx);
		int why;
	} bad[] = {
		{ "a link without a name", "", LIMITS_NAME, 1, 0,
		  limits_waiting, -EINVAL },
		{ "a link with a long name", LIMITS_LONG, LIMITS_NAME, 1, 0,
		  limits_waiting, -EINVAL },
		{ "a service without a name", link, "", 1, 0, limits_waiting,
		  -EINVAL },
		{ "a service with a long name", link, LIMITS_LONG, 1, 0,
		  limits_waiting, -EINVAL },
		{ "no backlog", link, LIMITS_NAME, 0, 0, limits_waiting,
		  -EINVAL },
		{ "a long backlog", link, LIMITS_NAME, most + 1, 0,
		  limits_waiting, -EINVAL },
		{ "a flag of who connects", link, LIMITS_NAME, 1,
		  RCLINK_CONNECT_WAIT, limits_waiting, -EINVAL },
		{ "a flag that is none", link, LIMITS_NAME, 1,
		  RCLINK_CHAN_REPLAY << 1, limits_waiting, -EINVAL },
		{ "whom nobody calls", link, LIMITS_NAME, 1, 0, NULL,
		  -EINVAL },
		{ "as much as is possible", LIMITS_LONGEST, LIMITS_LONGEST,
		  most, RCLINK_CHAN_FLAGS, limits_waiting, 0 },
	};
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < ARRAY_SIZE(bad); i++)
		ret = limits_listener(rclink_listen(bad[i].link, bad[i].service,
						    bad[i].backlog,
						    bad[i].flags,
						    bad[i].waiting, NULL),
				      bad[i].why, bad[i].what);
	return ret;
}

/* Only a polled channel is accepted without .ended; none waits here. */
static int limits_accept(const char *link, u32 flags, int want)
{
	struct rclink_listener *listener;
	int ret;

	listener = rclink_listen(link, LIMITS_NAME, 1, flags, limits_waiting,
				 NULL);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	ret = limits_no_chan(rclink_accept(listener, &limits_lame, NULL), want,
			     "accepted");
	if (!ret)
		ret = limits_listener(rclink_listen(link, LIMITS_NAME, 1, 0,
						    limits_waiting, NULL),
				      -EADDRINUSE, "another one");
	rclink_unlisten(listener);
	return ret;
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
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = limits_pieces(near) ? : limits_entry(near) ? :
	      limits_connect(link) ? :
	      limits_listen(link) ? :
	      limits_accept(link, 0, -EINVAL) ? :
	      limits_accept(link, RCLINK_CHAN_POLLED, -EAGAIN);
	near_close(near);
	return ret;
}

/*
 * Post writes in one go, of which the one with index @wrong is from nowhere.
 * No byte of them is what was there before, because of the even difference.
 */
static int limits_batch_post(struct near *near, u32 seed, u32 wrong)
{
	u8 *from = page_address(near->page[0]);
	struct rclink_dev_sqe sqe[LIMITS_BATCH];
	unsigned int taken = ~0;
	int ret;
	u32 i;

	for (i = 0; i < LIMITS_BATCH; i++) {
		kapi_fill(from + i * LIMITS_PLACE, seed + 2 * i, 0, LIMITS_LEN);
		rclink_prep_write(&sqe[i], &near->far, i * LIMITS_PLACE,
				  RCLINK_SQE_SIGNALED, i);
		rclink_prep_piece(&sqe[i], i == wrong ?
				  near->region ^ BIT(31) : near->region,
				  i * LIMITS_PLACE, LIMITS_LEN);
	}
	ret = rclink_post(near->chan, sqe, LIMITS_BATCH, &taken);
	if (ret == (wrong < LIMITS_BATCH ? -ESTALE : 0) && taken == wrong)
		return 0;
	return kapi_say(-EIO, "%u of a batch, of which %u is wrong: %d", taken,
			wrong, ret);
}

/* Those before @wrong complete, in order, and nothing else gets there. */
static int limits_batch_try(struct near *near, u32 seed, u32 wrong)
{
	struct rclink_dev_cqe cqe;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < LIMITS_BATCH; i++)
		ret = near_ask(near, KAPI_FILL, ~seed, i * LIMITS_PLACE,
			       LIMITS_LEN);
	if (!ret)
		ret = limits_batch_post(near, seed, wrong);
	for (i = 0; !ret && i < wrong; i++) {
		ret = near_expect(near, RCLINK_OP_WRITE, 0, &cqe);
		if (!ret && cqe.user_data != i)
			ret = kapi_say(-EIO, "write %llu, not %u",
				       cqe.user_data, i);
	}
	for (i = 0; !ret && i < LIMITS_BATCH; i++)
		ret = near_ask(near, KAPI_CHECK,
			       i < wrong ? seed + 2 * i : ~seed,
			       i * LIMITS_PLACE, LIMITS_LEN);
	return ret;
}

/**
 * limits_batch - post several entries at once, each in turn wrong, then none
 * @link: name
 * @polled: by rclink_poll()
 * @seed: of the data
 *
 * Return: 0, or a negative errno.
 */
int limits_batch(const char *link, bool polled, u32 seed)
{
	struct near *near = near_open(link, polled);
	int ret = 0;
	u32 wrong;

	if (IS_ERR(near))
		return PTR_ERR(near);
	for (wrong = 0; !ret && wrong <= LIMITS_BATCH; wrong++)
		ret = limits_batch_try(near, seed + wrong * LIMITS_BATCH,
				       wrong);
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
