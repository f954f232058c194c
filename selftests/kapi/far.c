// SPDX-License-Identifier: GPL-2.0
/*
 * The far end: accepts channels and carries out the orders of the near end. A
 * callback does what is possible in softirq context; a work item does the rest.
 * Another work item polls a polled channel.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "kapi.h"

#define FAR_RECVS	8
#define FAR_SLOT	(sizeof(struct kapi_msg) + KAPI_DATA_MAX)
#define FAR_BACKLOG	8
#define FAR_TRIES	2000	/* milliseconds for the near end to be ready */

enum far_todo {
	FAR_WITHDRAW,
	FAR_GROW,
	FAR_JUDGE,
	FAR_CLOSE,
};

/**
 * struct far - an accepted channel
 * @node: in far_list
 * @chan: the channel
 * @todo: bits of enum far_todo
 * @work: carries out @todo
 * @polled: completions come from rclink_poll()
 * @poll: calls that, if @polled
 * @near: the near region
 * @fetch: the last KAPI_FETCH
 * @memory: exported, KAPI_SIZE bytes
 * @region: handle of @memory
 * @big: exported, KAPI_BIG_SIZE bytes, or NULL
 * @big_region: handle of @big
 * @seed: for FAR_JUDGE
 * @slots: room for FAR_RECVS received messages
 * @slots_region: handle of @slots
 */
struct far {
	struct list_head node;
	struct rclink_chan *chan;
	unsigned long todo;
	struct work_struct work;
	bool polled;
	struct delayed_work poll;
	struct rclink_remote near;
	struct kapi_msg fetch;
	u8 *memory;
	u32 region;
	u8 *big;
	u32 big_region;
	u32 seed;
	u8 *slots;
	u32 slots_region;
};

static DEFINE_MUTEX(far_lock);	/* protects the three below */
static LIST_HEAD(far_list);
static struct rclink_listener *far_listener;
static u32 far_flags;
static struct workqueue_struct *far_wq;

static int far_post_recv(struct far *far, u32 slot)
{
	struct rclink_dev_sqe sqe;
	unsigned int taken;

	rclink_prep_recv(&sqe, slot);
	rclink_prep_piece(&sqe, far->slots_region, slot * FAR_SLOT, FAR_SLOT);
	return rclink_post(far->chan, &sqe, 1, &taken);
}

static void far_say(struct far *far, const struct kapi_msg *msg)
{
	struct rclink_dev_sqe sqe;
	unsigned int taken;

	rclink_prep_send(&sqe, 0, 0);
	rclink_prep_inline(&sqe, msg, sizeof(*msg));
	/* Fails only when the channel has ended, and then nobody waits. */
	rclink_post(far->chan, &sqe, 1, &taken);
}

static void far_answer(struct far *far, u32 what, u32 seed)
{
	const struct kapi_msg msg = { .what = what, .seed = seed };

	far_say(far, &msg);
}

static void far_echo(struct far *far, const struct kapi_msg *msg, u32 imm)
{
	struct rclink_dev_sqe sqe;
	unsigned int taken;

	rclink_prep_send_imm(&sqe, imm, 0, 0);
	rclink_prep_inline(&sqe, msg, sizeof(*msg));
	rclink_post(far->chan, &sqe, 1, &taken);
}

/* Read what the near end has at the place of @msg to the same one here. */
static void far_fetch(struct far *far, const struct kapi_msg *msg)
{
	struct rclink_dev_sqe sqe;
	unsigned int taken;

	far->fetch = *msg;
	rclink_prep_read(&sqe, &far->near, msg->offset, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, far->region, msg->offset, msg->len);
	rclink_post(far->chan, &sqe, 1, &taken);
}

static void far_fetched(struct far *far, u32 status)
{
	const struct kapi_msg *fetch = &far->fetch;
	const struct kapi_msg msg = {
		.what = KAPI_FETCH,
		.seed = kapi_is(far->memory + fetch->offset, fetch->seed, 0,
				fetch->len),
		.len = status,
	};

	far_say(far, &msg);
}

static void far_order(struct far *far, const struct kapi_msg *msg, u32 imm)
{
	u8 *p = far->memory + msg->offset;
	bool right = true;

	if (msg->offset > KAPI_SIZE || msg->len > KAPI_SIZE - msg->offset)
		return;
	switch (msg->what) {
	case KAPI_CHECK:
		right = kapi_is(p, msg->seed, 0, msg->len);
		break;
	case KAPI_FILL:
		kapi_fill(p, msg->seed, 0, msg->len);
		break;
	case KAPI_DATA:
		right = msg->len <= KAPI_DATA_MAX &&
			kapi_is((const u8 *)(msg + 1), msg->seed, 0, msg->len);
		break;
	case KAPI_ECHO:
		far_echo(far, msg, imm);
		return;
	case KAPI_FETCH:
		far_fetch(far, msg);
		return;
	case KAPI_WITHDRAW:
		set_bit(FAR_WITHDRAW, &far->todo);
		queue_work(far_wq, &far->work);
		return;
	case KAPI_GROW:
		set_bit(FAR_GROW, &far->todo);
		queue_work(far_wq, &far->work);
		return;
	case KAPI_JUDGE:
		far->seed = msg->seed;
		set_bit(FAR_JUDGE, &far->todo);
		queue_work(far_wq, &far->work);
		return;
	case KAPI_CLOSE:
		set_bit(FAR_CLOSE, &far->todo);
		queue_work(far_wq, &far->work);
		return;
	case KAPI_ENDED:
		/* The completion should have had RCLINK_CQE_INVALIDATED. */
		right = false;
		break;
	}
	far_answer(far, msg->what, right);
}

/* Tell the near end whether the @len bytes it wrote are those of seed @imm. */
static void far_written(struct far *far, u32 len, u32 imm)
{
	const struct kapi_msg msg = {
		.what = KAPI_CHECK,
		.seed = len <= KAPI_SIZE && kapi_is(far->memory, imm, 0, len),
		.len = len,
	};

	far_say(far, &msg);
}

static void far_completed(struct rclink_chan *chan, void *ctx,
			  const struct rclink_dev_cqe *cqe)
{
	struct far *far = ctx;

	/* rclink.h promises this context; a warning fails the test. */
	WARN_ON_ONCE(!!in_serving_softirq() == far->polled);
	if (cqe->op == RCLINK_OP_READ)
		far_fetched(far, cqe->status);
	/* After a failure, the channel ends once the near end has closed it. */
	if (cqe->status || cqe->op != RCLINK_OP_RECV)
		return;
	if (cqe->flags & RCLINK_CQE_INVALIDATED)
		far_answer(far, KAPI_ENDED, cqe->imm == far->region);
	else if (cqe->flags & RCLINK_CQE_WRITTEN)
		far_written(far, cqe->len, cqe->imm);
	else
		far_order(far, (struct kapi_msg *)(far->slots +
						   cqe->user_data * FAR_SLOT),
			  cqe->imm);
	/* Orders come one at a time, and the other receives are posted. */
	far_post_recv(far, cqe->user_data);
}

static void far_ended(struct rclink_chan *chan, void *ctx, int why)
{
	struct far *far = ctx;

	set_bit(FAR_CLOSE, &far->todo);
	queue_work(far_wq, &far->work);
}

static const struct rclink_chan_ops far_ops = {
	.completed = far_completed,
	.ended = far_ended,
};

static const struct rclink_chan_ops far_polled_ops = {
	.completed = far_completed,
};

/* The workqueue is ordered: neither work item runs while the other one does. */
static void far_poll(struct work_struct *work)
{
	struct far *far = container_of(to_delayed_work(work), struct far, poll);
	int ret = rclink_poll(far->chan, FAR_RECVS);

	if (ret < 0)
		far_ended(far->chan, far, ret);
	else
		queue_delayed_work(far_wq, &far->poll, ret ? 0 : 1);
}

static void far_free(struct far *far)
{
	cancel_delayed_work(&far->poll);
	rclink_close(far->chan);
	/* No callback runs any more; the last ones may have queued the work. */
	cancel_work(&far->work);
	vfree(far->memory);
	vfree(far->big);
	kfree(far->slots);
	kfree(far);
}

static bool far_grow(struct far *far)
{
	if (far->big)
		return false;
	far->big = vzalloc(KAPI_BIG_SIZE);
	return far->big &&
	       !rclink_register(far->chan, far->big, KAPI_BIG_SIZE, KAPI_BIG,
				RCLINK_REGION_WRITE | RCLINK_REGION_READ,
				&far->big_region);
}

static void far_work(struct work_struct *work)
{
	struct far *far = container_of(work, struct far, work);

	if (test_and_clear_bit(FAR_WITHDRAW, &far->todo))
		far_answer(far, KAPI_WITHDRAW,
			   !rclink_withdraw(far->chan, far->region));
	if (test_and_clear_bit(FAR_GROW, &far->todo))
		far_answer(far, KAPI_GROW, far_grow(far));
	if (test_and_clear_bit(FAR_JUDGE, &far->todo))
		far_answer(far, KAPI_JUDGE, far->big &&
			   kapi_is(far->big, far->seed, 0, KAPI_BIG_SIZE));
	if (!test_bit(FAR_CLOSE, &far->todo))
		return;
	mutex_lock(&far_lock);
	list_del(&far->node);
	mutex_unlock(&far_lock);
	far_free(far);
}

/* Export @memory with all rights that the device supports. */
static int far_export(struct far *far, u32 n)
{
	struct kapi_msg hello = {
		.what = KAPI_HELLO, .seed = n, .len = RCLINK_REGION_RIGHTS,
	};
	char name[RCLINK_DEV_REGION_LEN];
	int ret;

	snprintf(name, sizeof(name), KAPI_FAR, n);
	ret = rclink_register(far->chan, far->memory, KAPI_SIZE, name,
			      hello.len, &far->region);
	if (ret == -EOPNOTSUPP) {
		hello.len &= ~RCLINK_REGION_ATOMIC;
		ret = rclink_register(far->chan, far->memory, KAPI_SIZE, name,
				      hello.len, &far->region);
	}
	if (!ret)
		far_say(far, &hello);
	return ret;
}

/*
 * The near end posts its receives before it exports its region. Once ours are
 * posted, too, our first message tells the near end that it may send.
 */
static int far_begin(struct far *far)
{
	static atomic_t number;
	int ret, i;

	ret = rclink_register(far->chan, far->slots, FAR_RECVS * FAR_SLOT, NULL,
			      0, &far->slots_region);
	for (i = 0; !ret && i < FAR_RECVS; i++)
		ret = far_post_recv(far, i);
	for (i = 0; !ret && i < FAR_TRIES; i++) {
		ret = rclink_import(far->chan, KAPI_NEAR, &far->near);
		if (ret != -ENOENT)
			break;
		ret = 0;
		usleep_range(1000, 2000);
	}
	return ret ? : far_export(far, atomic_inc_return(&number));
}

static void far_accept(struct work_struct *work)
{
	struct far *far;
	int ret;

	for (;;) {
		far = kzalloc(sizeof(*far), GFP_KERNEL);
		if (!far)
			return;
		INIT_WORK(&far->work, far_work);
		INIT_DELAYED_WORK(&far->poll, far_poll);
		/* vmalloc and kmalloc memory: both can be registered. */
		far->memory = vzalloc(KAPI_SIZE);
		far->slots = kzalloc(FAR_RECVS * FAR_SLOT, GFP_KERNEL);
		/* On the list before a callback can queue the work. */
		mutex_lock(&far_lock);
		list_add(&far->node, &far_list);
		far->polled = far_flags & RCLINK_CHAN_POLLED;
		far->chan = far->memory && far->slots && far_listener ?
			    rclink_accept(far_listener, far->polled ?
					  &far_polled_ops : &far_ops, far) :
			    ERR_PTR(-EAGAIN);
		if (IS_ERR(far->chan))
			list_del(&far->node);
		mutex_unlock(&far_lock);
		if (IS_ERR(far->chan))
			break;
		ret = far_begin(far);
		if (ret) {
			pr_info("rclink_test: a channel failed: %d\n", ret);
			far_ended(far->chan, far, ret);
		} else if (far->polled) {
			queue_delayed_work(far_wq, &far->poll, 0);
		}
	}
	vfree(far->memory);
	kfree(far->slots);
	kfree(far);
}

static DECLARE_WORK(far_accept_work, far_accept);

/* Called from the link's work item, which must not wait for us. */
static void far_waiting(void *ctx)
{
	queue_work(far_wq, &far_accept_work);
}

/**
 * far_start - listen
 * @link: name
 * @flags: RCLINK_CHAN_*, of the channels that are accepted
 *
 * Return: 0, or a negative errno.
 */
int far_start(const char *link, u32 flags)
{
	struct rclink_listener *listener;

	if (far_wq)
		return -EBUSY;
	far_wq = alloc_ordered_workqueue("rclink_test", 0);
	if (!far_wq)
		return -ENOMEM;
	/* A channel may be waiting before far_listener is set. */
	mutex_lock(&far_lock);
	far_flags = flags;
	listener = rclink_listen(link, KAPI_SERVICE, FAR_BACKLOG, flags,
				 far_waiting, NULL);
	if (!IS_ERR(listener))
		far_listener = listener;
	mutex_unlock(&far_lock);
	if (!IS_ERR(listener))
		return 0;
	destroy_workqueue(far_wq);
	far_wq = NULL;
	return PTR_ERR(listener);
}

/**
 * far_stop - stop listening, and close the accepted channels
 */
void far_stop(void)
{
	struct rclink_listener *listener;
	struct far *far;

	if (!far_wq)
		return;
	mutex_lock(&far_lock);
	listener = far_listener;
	far_listener = NULL;
	mutex_unlock(&far_lock);
	rclink_unlisten(listener);
	cancel_work_sync(&far_accept_work);
	mutex_lock(&far_lock);
	list_for_each_entry(far, &far_list, node)
		far_ended(far->chan, far, 0);
	mutex_unlock(&far_lock);
	/* A workqueue that is being destroyed takes no work from a callback. */
	flush_workqueue(far_wq);
	destroy_workqueue(far_wq);
	far_wq = NULL;
}
