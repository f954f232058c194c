// SPDX-License-Identifier: GPL-2.0
/*
 * A channel of the near end that outlives the epoch: what each call returns
 * while the channel is suspended, how its owner learns that it goes on, and
 * what becomes of operations in flight. The test makes the link fail meanwhile.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "kapi.h"

#define RESUME_LEN	4096
#define RESUME_WAIT	(30 * HZ)
#define RESUME_OLD	0x1357	/* seed of the data from before */
#define RESUME_NEW	0x2468	/* of the data that is written */

/* Places in the memory of either end, in units of RESUME_LEN. */
enum resume_slot {
	RESUME_READ,
	RESUME_WRITTEN,
	RESUME_WORD,	/* of the atomic; 0 at the far end */
};

/* Posted in this order: either all, which get lost, or the last one alone. */
static const struct resume_step {
	u8 op;
	u32 plain;
	u32 replay;
} resume_step[] = {
	{ RCLINK_OP_WRITE, RCLINK_STATUS_UNKNOWN, 0 },
	{ RCLINK_OP_READ, NEAR_FLUSHED, 0 },
	{ RCLINK_OP_FADD, RCLINK_STATUS_UNKNOWN, RCLINK_STATUS_UNKNOWN },
	{ RCLINK_OP_SEND, 0, 0 },
};

#define RESUME_STEPS	ARRAY_SIZE(resume_step)

/* The first step that is posted; RESUME_STEPS: none is. */
static int resume_first(const char *what, u32 *first)
{
	if (!strcmp(what, "lost"))
		*first = 0;
	else if (!strcmp(what, "answered"))
		*first = RESUME_STEPS - 1;
	else if (!strcmp(what, "idle"))
		*first = RESUME_STEPS;
	else
		return -EINVAL;
	return 0;
}

static bool resume_has(const struct near *near, const struct resume_step *step)
{
	return step->op != RCLINK_OP_FADD ||
	       near->far.rights & RCLINK_REGION_ATOMIC;
}

static u8 *resume_own(struct near *near, enum resume_slot slot)
{
	u32 at = slot * RESUME_LEN;

	return (u8 *)page_address(near->page[at / PAGE_SIZE]) + at % PAGE_SIZE;
}

static void resume_piece(struct near *near, struct rclink_dev_sqe *sqe,
			 enum resume_slot slot, u32 len)
{
	rclink_prep_piece(sqe, near->region, slot * RESUME_LEN, len);
}

static int resume_fill(struct near *near, enum resume_slot slot)
{
	return near_ask(near, KAPI_FILL, RESUME_OLD, slot * RESUME_LEN,
			RESUME_LEN);
}

/**
 * resume_open - open a channel, and fill the far end's memory with known data
 * @link: name of a link whose channels go on in its next epoch
 * @flags: RCLINK_CHAN_*
 *
 * Return: the channel, or an ERR_PTR.
 */
struct near *resume_open(const char *link, u32 flags)
{
	struct near *near = near_open_with(link, RCLINK_CONNECT_WAIT | flags);
	int ret;

	if (IS_ERR(near))
		return near;
	ret = resume_fill(near, RESUME_READ) ? :
	      resume_fill(near, RESUME_WRITTEN);
	if (!ret)
		return near;
	near_close(near);
	return ERR_PTR(ret);
}

static void resume_prep(struct near *near, u8 op, struct rclink_dev_sqe *sqe)
{
	const struct kapi_msg order = {
		.what = KAPI_CHECK, .seed = RESUME_OLD, .len = RESUME_LEN,
	};
	const u8 flags = RCLINK_SQE_SIGNALED;

	switch (op) {
	case RCLINK_OP_WRITE:
		rclink_prep_write(sqe, &near->far, RESUME_WRITTEN * RESUME_LEN,
				  flags, 0);
		resume_piece(near, sqe, RESUME_WRITTEN, RESUME_LEN);
		break;
	case RCLINK_OP_READ:
		rclink_prep_read(sqe, &near->far, RESUME_READ * RESUME_LEN,
				 flags, 0);
		resume_piece(near, sqe, RESUME_READ, RESUME_LEN);
		break;
	case RCLINK_OP_FADD:
		rclink_prep_fadd(sqe, &near->far, RESUME_WORD * RESUME_LEN, 1,
				 flags, 0);
		resume_piece(near, sqe, RESUME_WORD, sizeof(u64));
		break;
	default:
		rclink_prep_send(sqe, flags, 0);
		rclink_prep_inline(sqe, &order, sizeof(order));
		break;
	}
}

/**
 * resume_post - post what is to be in flight when the link fails
 * @near: from resume_open()
 * @what: "lost": all operations, none of which arrives; "answered": a message,
 *	which arrives, but its answer does not; "idle": nothing
 *
 * Return: as near_post().
 */
int resume_post(struct near *near, const char *what)
{
	struct rclink_dev_sqe sqe;
	u32 i;
	int ret;

	ret = resume_first(what, &i);
	kapi_fill(resume_own(near, RESUME_WRITTEN), RESUME_NEW, 0, RESUME_LEN);
	kapi_fill(resume_own(near, RESUME_READ), ~RESUME_OLD, 0, RESUME_LEN);
	for (; !ret && i < RESUME_STEPS; i++) {
		if (!resume_has(near, &resume_step[i]))
			continue;
		resume_prep(near, resume_step[i].op, &sqe);
		ret = near_post(near, &sqe);
	}
	return ret;
}

static int resume_try(struct near *near)
{
	struct rclink_dev_sqe sqe;
	unsigned int taken;
	int ret;

	resume_prep(near, RCLINK_OP_SEND, &sqe);
	sqe.flags &= ~RCLINK_SQE_SIGNALED;
	ret = rclink_post(near->chan, &sqe, 1, &taken);
	return taken == !ret ? ret : -EPROTO;
}

/**
 * resume_waits - check that the channel is suspended, and reports nothing yet
 * @near: a channel whose link is down
 *
 * Return: 0, or what was wrong.
 */
int resume_waits(struct near *near)
{
	struct rclink_remote remote;
	struct rclink_dev_sqe sqe;
	unsigned int taken;
	u32 handle;
	int ret;

	ret = resume_try(near);
	if (ret != -EAGAIN)
		return kapi_say(-EIO, "a message is posted: %d", ret);
	rclink_prep_recv(&sqe, 0);
	ret = rclink_post(near->chan, &sqe, 1, &taken);
	if (ret != -EAGAIN || taken)
		return kapi_say(-EIO, "a receive is posted: %d", ret);
	ret = rclink_register(near->chan, near->msg, 1, NULL, 0, &handle);
	if (ret != -EAGAIN)
		return kapi_say(-EIO, "memory is registered: %d", ret);
	ret = rclink_import(near->chan, near->far_name, &remote);
	if (ret != -EAGAIN)
		return kapi_say(-EIO, "a region is imported: %d", ret);
	ret = near->polled ? rclink_poll(near->chan, 8) : 0;
	if (ret || !kfifo_is_empty(&near->done) || near_is_over(near))
		return kapi_say(-EIO, "something completed: %d", ret);
	if (READ_ONCE(near->resumes))
		return kapi_say(-EIO, "it goes on, and nobody else");
	return 0;
}

/* A polled channel has to try until it can post; any other one is notified. */
static int resume_again(struct near *near)
{
	unsigned long end = jiffies + RESUME_WAIT;
	int ret;

	if (!near->polled)
		wait_event_timeout(near->wait, READ_ONCE(near->resumes) ||
				   near_is_over(near), RESUME_WAIT);
	ret = resume_try(near);
	while (near->polled && ret == -EAGAIN && time_before(jiffies, end)) {
		usleep_range(1000, 2000);
		ret = resume_try(near);
	}
	if (ret)
		return kapi_say(ret, "after %u resumptions: %d", near->resumes,
				ret);
	return 0;
}

/* Take the next completion; if it is an answer, check and count it. */
static int resume_take(struct near *near, struct rclink_dev_cqe *cqe,
		       u32 *answers)
{
	const struct kapi_msg *msg;
	int ret = near_take(near, cqe);

	if (ret || cqe->op != RCLINK_OP_RECV)
		return ret;
	msg = &near->msg[cqe->user_data];
	if (cqe->status || msg->what != KAPI_CHECK || !msg->seed)
		return kapi_say(-EIO, "answer %u: %s, %u", msg->what,
				rclink_status_name(cqe->status), msg->seed);
	++*answers;
	return near_post_recv(near, cqe->user_data);
}

/* An answer may come before the completion of the message it is for. */
static int resume_expect(struct near *near, u8 op, u32 status, u32 *answers)
{
	struct rclink_dev_cqe cqe;
	int ret;

	do
		ret = resume_take(near, &cqe, answers);
	while (!ret && cqe.op == RCLINK_OP_RECV);
	if (!ret && (cqe.op != op || cqe.status != status))
		ret = kapi_say(-EIO, "operation %u: %s, not %u: %s", cqe.op,
			       rclink_status_name(cqe.status), op,
			       rclink_status_name(status));
	return ret;
}

/* Operations complete in order, across the gap; then only answers come. */
static int resume_complete(struct near *near, u32 first, bool replay)
{
	/* For the message of resume_post(), if any, and of resume_try(). */
	u32 want = 1 + (first < RESUME_STEPS), answers = 0;
	const struct resume_step *step;
	struct rclink_dev_cqe cqe;
	int ret = 0;

	for (step = resume_step + first;
	     !ret && step < resume_step + RESUME_STEPS; step++)
		if (resume_has(near, step))
			ret = resume_expect(near, step->op, replay ?
					    step->replay : step->plain,
					    &answers);
	while (!ret && answers < want) {
		ret = resume_take(near, &cqe, &answers);
		if (!ret && cqe.op != RCLINK_OP_RECV)
			ret = kapi_say(-EIO, "operation %u, too", cqe.op);
	}
	return ret;
}

/* Check at both ends what became of the operations that were lost. */
static int resume_judge(struct near *near, bool replay)
{
	u64 *word = (u64 *)resume_own(near, RESUME_WORD);
	struct rclink_dev_sqe sqe;
	int ret;

	if (!kapi_is(resume_own(near, RESUME_READ),
		     replay ? RESUME_OLD : ~RESUME_OLD, 0, RESUME_LEN))
		return kapi_say(-EIO, "what was read is wrong");
	ret = near_ask(near, KAPI_CHECK, replay ? RESUME_NEW : RESUME_OLD,
		       RESUME_WRITTEN * RESUME_LEN, RESUME_LEN);
	if (ret)
		return ret;
	rclink_prep_read(&sqe, &near->far, RESUME_WORD * RESUME_LEN,
			 RCLINK_SQE_SIGNALED, 0);
	resume_piece(near, &sqe, RESUME_WORD, sizeof(*word));
	*word = 1;
	ret = near_do(near, &sqe);
	if (!ret && *word)
		ret = kapi_say(-EIO, "an atomic was carried out again");
	return ret;
}

/**
 * resume_goes_on - check that the channel goes on, and how operations completed
 * @near: a channel whose link is coming up
 * @what: as for resume_post()
 * @replay: the channel was opened with RCLINK_CHAN_REPLAY
 *
 * Return: 0, or what was wrong.
 */
int resume_goes_on(struct near *near, const char *what, bool replay)
{
	u32 first;
	int ret;

	ret = resume_first(what, &first) ? :
	      resume_again(near) ? :
	      resume_complete(near, first, replay);
	if (!ret && !first)
		ret = resume_judge(near, replay);
	/* If an answer came twice, near_moves() would find it here. */
	if (!ret)
		ret = near_moves(near, RESUME_NEW);
	if (!ret && READ_ONCE(near->resumes) != !near->polled)
		ret = kapi_say(-EIO, "it was told %u times", near->resumes);
	return ret;
}

/**
 * resume_fetch - let the far end post a READ, whose request gets lost
 * @near: from resume_open()
 *
 * Return: as near_post().
 */
int resume_fetch(struct near *near)
{
	kapi_fill(resume_own(near, RESUME_WRITTEN), RESUME_NEW, 0, RESUME_LEN);
	return near_order(near, KAPI_FETCH, RESUME_NEW,
			  RESUME_WRITTEN * RESUME_LEN, RESUME_LEN);
}

/**
 * resume_fetched - check what became of the READ of the far end
 * @near: given to resume_fetch(); its link is coming up
 * @replay: the far end listened with RCLINK_CHAN_REPLAY
 *
 * Return: 0, or what was wrong.
 */
int resume_fetched(struct near *near, bool replay)
{
	u32 status = replay ? 0 : NEAR_FLUSHED;
	struct rclink_dev_cqe cqe;
	struct kapi_msg msg;
	int ret;

	ret = near_answer(near, KAPI_FETCH, &msg, &cqe);
	if (ret)
		return ret;
	if (msg.len != status || msg.seed != replay)
		return kapi_say(-EIO, "the far end's read: %s, right: %u",
				rclink_status_name(msg.len), msg.seed);
	return near_ask(near, KAPI_CHECK, replay ? RESUME_NEW : RESUME_OLD,
			RESUME_WRITTEN * RESUME_LEN, RESUME_LEN) ? :
	       near_moves(near, RESUME_NEW);
}
