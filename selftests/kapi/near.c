// SPDX-License-Identifier: GPL-2.0
/*
 * A channel of the near end. Its callback passes completions to the process
 * that runs the test; on a polled channel, that process polls for them.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kapi.h"

#define NEAR_WAIT	(30 * HZ)

static void near_completed(struct rclink_chan *chan, void *ctx,
			   const struct rclink_dev_cqe *cqe)
{
	struct near *near = ctx;

	if (near->counting) {
		near->counted++;
		return;
	}
	/* rclink.h promises this context; a warning fails the test. */
	WARN_ON_ONCE(!!in_serving_softirq() == near->polled);
	kfifo_put(&near->done, *cqe);
	wake_up(&near->wait);
}

static void near_ended(struct rclink_chan *chan, void *ctx, int why)
{
	struct near *near = ctx;

	near->why = why;
	/* A reader that sees @ended also sees @why. */
	smp_store_release(&near->ended, true);
	wake_up(&near->wait);
}

static void near_resumed(struct rclink_chan *chan, void *ctx)
{
	struct near *near = ctx;

	WRITE_ONCE(near->resumes, near->resumes + 1);
	WRITE_ONCE(near->room, true);
	wake_up(&near->wait);
}

static const struct rclink_chan_ops near_ops = {
	.completed = near_completed,
	.ended = near_ended,
	.resumed = near_resumed,
};

static const struct rclink_chan_ops near_polled_ops = {
	.completed = near_completed,
};

/**
 * near_is_over - was the end of the channel reported?
 * @near: from near_open()
 *
 * Return: true if so; then @near->why is valid.
 */
bool near_is_over(const struct near *near)
{
	/* Pairs with the release in near_ended(). */
	return smp_load_acquire(&near->ended);
}

/**
 * near_wait - wait for a completion, or for the end of the channel
 * @near: from near_open()
 *
 * Return: 0, the reason for the end, or -ETIME.
 */
int near_wait(struct near *near)
{
	unsigned long end = jiffies + NEAR_WAIT;
	int ret;

	if (!near->polled) {
		wait_event_timeout(near->wait, !kfifo_is_empty(&near->done) ||
				   near_is_over(near), NEAR_WAIT);
	} else {
		while (kfifo_is_empty(&near->done) && !near->ended &&
		       time_before(jiffies, end)) {
			ret = rclink_poll(near->chan, 8);
			if (ret < 0)
				near_ended(near->chan, near, ret);
			cond_resched();
		}
	}
	if (!kfifo_is_empty(&near->done))
		return 0;
	return near->ended ? near->why : -ETIME;
}

/**
 * near_take - wait for the next completion
 * @near: from near_open()
 * @cqe: set
 *
 * Return: 0, or as near_wait().
 */
int near_take(struct near *near, struct rclink_dev_cqe *cqe)
{
	int ret = near_wait(near);

	if (ret)
		return kapi_say(ret, "no completion: %d", ret);
	return kfifo_get(&near->done, cqe) ? 0 : -EIO;
}

/**
 * near_expect - wait for the next completion, which must be of @op
 * @near: from near_open()
 * @op: enum rclink_dev_op
 * @status: that the completion must have
 * @cqe: set
 *
 * Return: 0, -EIO for any other completion, or as near_wait().
 */
int near_expect(struct near *near, u8 op, u32 status,
		struct rclink_dev_cqe *cqe)
{
	int ret = near_take(near, cqe);

	if (!ret && (cqe->op != op || cqe->status != status))
		ret = kapi_say(-EIO, "operation %u: %s, not %u: %s", cqe->op,
			       rclink_status_name(cqe->status), op,
			       rclink_status_name(status));
	return ret;
}

/**
 * near_post - start an operation
 * @near: from near_open()
 * @sqe: the operation
 *
 * Return: as rclink_post().
 */
int near_post(struct near *near, const struct rclink_dev_sqe *sqe)
{
	unsigned int taken;
	int ret;

	ret = rclink_post(near->chan, sqe, 1, &taken);
	if (ret)
		return kapi_say(ret, "operation %u is not posted: %d", sqe->op,
				ret);
	return 0;
}

/**
 * near_do - post an operation and wait until it succeeds
 * @near: from near_open()
 * @sqe: signaled
 *
 * Return: 0, or what was wrong.
 */
int near_do(struct near *near, const struct rclink_dev_sqe *sqe)
{
	struct rclink_dev_cqe cqe;

	return near_post(near, sqe) ? :
	       near_expect(near, sqe->op, 0, &cqe);
}

/**
 * near_fails - post an operation that the far end's device refuses
 * @near: from near_open(); the refusal ends its channel
 * @sqe: the operation
 *
 * Return: 0, or what was wrong.
 */
int near_fails(struct near *near, const struct rclink_dev_sqe *sqe)
{
	struct rclink_dev_cqe cqe;
	int ret, i;

	ret = near_post(near, sqe) ? :
	      near_expect(near, sqe->op, NEAR_ACCESS, &cqe);
	for (i = 0; !ret && i < NEAR_RECVS; i++)
		ret = near_expect(near, RCLINK_OP_RECV, NEAR_FLUSHED, &cqe);
	return ret;
}

/**
 * near_post_recv - post a receive for an answer
 * @near: from near_open()
 * @slot: index into @near->msg
 *
 * Return: as near_post().
 */
int near_post_recv(struct near *near, u32 slot)
{
	struct rclink_dev_sqe sqe;

	rclink_prep_recv(&sqe, slot);
	rclink_prep_piece(&sqe, near->msg_region, slot * sizeof(*near->msg),
			  sizeof(*near->msg));
	return near_post(near, &sqe);
}

/**
 * near_answer - wait for the answer to an order
 * @near: from near_open()
 * @what: enum kapi_what
 * @msg: set to the answer
 * @cqe: set to its completion
 *
 * Return: 0, or what was wrong.
 */
int near_answer(struct near *near, u32 what, struct kapi_msg *msg,
		struct rclink_dev_cqe *cqe)
{
	int ret;

	ret = near_expect(near, RCLINK_OP_RECV, 0, cqe);
	if (ret)
		return ret;
	*msg = near->msg[cqe->user_data];
	if (msg->what != what)
		return kapi_say(-EIO, "answer %u, not %u", msg->what, what);
	return near_post_recv(near, cqe->user_data);
}

/**
 * near_right - wait for an answer, which must be positive
 * @near: from near_open()
 * @what: enum kapi_what
 *
 * Return: 0, or what was wrong.
 */
int near_right(struct near *near, u32 what)
{
	struct rclink_dev_cqe cqe;
	struct kapi_msg msg;
	int ret;

	ret = near_answer(near, what, &msg, &cqe);
	if (!ret && !msg.seed)
		ret = kapi_say(-EIO, "order %u: the far end says no", what);
	return ret;
}

/**
 * near_order - give an order
 * @near: from near_open()
 * @what: enum kapi_what
 * @seed: as in struct kapi_msg, and the next two
 * @offset: likewise
 * @len: likewise
 *
 * Return: as near_post().
 */
int near_order(struct near *near, u32 what, u32 seed, u32 offset, u32 len)
{
	struct kapi_msg msg = {
		.what = what, .seed = seed, .offset = offset, .len = len,
	};
	struct rclink_dev_sqe sqe;

	rclink_prep_send(&sqe, 0, 0);
	rclink_prep_inline(&sqe, &msg, sizeof(msg));
	return near_post(near, &sqe);
}

/**
 * near_ask - give an order, and wait for a positive answer
 * @near: from near_open()
 * @what: enum kapi_what
 * @seed: as in struct kapi_msg, and the next two
 * @offset: likewise
 * @len: likewise
 *
 * Return: 0, or what was wrong.
 */
int near_ask(struct near *near, u32 what, u32 seed, u32 offset, u32 len)
{
	return near_order(near, what, seed, offset, len) ? :
	       near_right(near, what);
}

static int near_export(struct near *near)
{
	struct scatterlist sg[NEAR_PAGES];
	u32 i;

	sg_init_table(sg, NEAR_PAGES);
	for (i = 0; i < NEAR_PAGES; i++)
		sg_set_page(&sg[i], near->page[i], PAGE_SIZE, 0);
	return rclink_register_sg(near->chan, sg, NEAR_PAGES, KAPI_NEAR,
				  RCLINK_REGION_READ, &near->region);
}

static int near_begin(struct near *near)
{
	char *name = near->far_name;
	struct rclink_dev_cqe cqe;
	struct kapi_msg msg;
	int ret;
	u32 i;

	ret = rclink_register(near->chan, near->msg,
			      (NEAR_RECVS + 1) * sizeof(*near->msg), NULL, 0,
			      &near->msg_region);
	for (i = 0; !ret && i < NEAR_RECVS; i++)
		ret = near_post_recv(near, i);
	if (!ret)
		ret = near_export(near);
	if (!ret)
		ret = near_answer(near, KAPI_HELLO, &msg, &cqe);
	if (ret)
		return kapi_say(ret, "the channel does not begin: %d", ret);
	snprintf(name, sizeof(near->far_name), KAPI_FAR, msg.seed);
	ret = rclink_import(near->chan, name, &near->far);
	if (ret)
		return kapi_say(ret, "%s is not there: %d", name, ret);
	if (near->far.len != KAPI_SIZE || near->far.rights != msg.len)
		return kapi_say(-EIO, "%s has %llu bytes, rights %u", name,
				near->far.len, near->far.rights);
	return 0;
}

/**
 * near_free - free everything
 * @near: its channel is closed, or was never opened
 */
void near_free(struct near *near)
{
	u32 i;

	for (i = 0; i < NEAR_PAGES; i++)
		if (near->page[i])
			__free_page(near->page[i]);
	kfree(near->msg);
	kfree(near);
}

static struct near *near_new(u32 flags)
{
	struct near *near;
	u32 i;

	near = kzalloc(sizeof(*near), GFP_KERNEL);
	if (!near)
		return NULL;
	near->polled = flags & RCLINK_CHAN_POLLED;
	INIT_KFIFO(near->done);
	init_waitqueue_head(&near->wait);
	near->msg = kcalloc(NEAR_RECVS + 1, sizeof(*near->msg), GFP_KERNEL);
	if (!near->msg)
		goto err;
	for (i = 0; i < NEAR_PAGES; i++) {
		near->page[i] = alloc_page(GFP_KERNEL);
		if (!near->page[i])
			goto err;
	}
	return near;

err:
	near_free(near);
	return NULL;
}

/**
 * near_open_with - connect to the far end
 * @link: name
 * @flags: as for rclink_connect()
 *
 * Return: the channel, or an ERR_PTR.
 */
struct near *near_open_with(const char *link, u32 flags)
{
	struct near *near = near_new(flags);
	int ret;

	if (!near)
		return ERR_PTR(-ENOMEM);
	near->chan = rclink_connect(link, KAPI_SERVICE, flags, near->polled ?
				    &near_polled_ops : &near_ops, near);
	if (IS_ERR(near->chan)) {
		ret = kapi_say(PTR_ERR(near->chan), "connect: %ld",
			       PTR_ERR(near->chan));
		near_free(near);
		return ERR_PTR(ret);
	}
	ret = near_begin(near);
	if (!ret)
		return near;
	near_close(near);
	return ERR_PTR(ret);
}

/**
 * near_open - connect to the far end, once a queue pair is free
 * @link: name
 * @polled: completions come from rclink_poll()
 *
 * Return: as near_open_with().
 */
struct near *near_open(const char *link, bool polled)
{
	return near_open_with(link, RCLINK_CONNECT_WAIT |
			      (polled ? RCLINK_CHAN_POLLED : 0));
}

/**
 * near_close - close the channel, and free everything
 * @near: from near_open()
 */
void near_close(struct near *near)
{
	rclink_close(near->chan);
	near_free(near);
}
