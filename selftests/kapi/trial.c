// SPDX-License-Identifier: GPL-2.0
/* Trials of the near end: it gives the far end orders, and checks the data. */
#include <linux/bits.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "kapi.h"

#define NEAR_ORDER	NEAR_RECVS	/* index of the order in near->msg */

static void near_fill(struct near *near, u32 seed, u32 len)
{
	u32 i;

	for (i = 0; i < len; i += PAGE_SIZE)
		kapi_fill(page_address(near->page[i / PAGE_SIZE]), seed, i,
			  min_t(u32, len - i, PAGE_SIZE));
}

static bool near_is(struct near *near, u32 seed, u32 len)
{
	bool is = true;
	u32 i;

	for (i = 0; i < len; i += PAGE_SIZE)
		is &= kapi_is(page_address(near->page[i / PAGE_SIZE]), seed, i,
			      min_t(u32, len - i, PAGE_SIZE));
	return is;
}

static int near_send(struct near *near, u32 seed, u32 len)
{
	struct rclink_dev_cqe cqe = {};
	struct rclink_dev_sqe sqe;
	bool sent = false, right = false;
	int ret, i;

	near_fill(near, seed, len);
	near->msg[NEAR_ORDER] = (struct kapi_msg) {
		.what = KAPI_DATA, .seed = seed, .len = len,
	};
	/* Gathered from two regions. */
	rclink_prep_send(&sqe, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, near->msg_region,
			  NEAR_ORDER * sizeof(*near->msg), sizeof(*near->msg));
	rclink_prep_piece(&sqe, near->region, 0, len);
	ret = near_post(near, &sqe);
	/* The completion of the send and the answer come in either order. */
	for (i = 0; !ret && i < 2; i++) {
		ret = near_take(near, &cqe);
		if (ret || cqe.status)
			break;
		if (cqe.op == RCLINK_OP_SEND)
			sent = true;
		if (cqe.op != RCLINK_OP_RECV)
			continue;
		right = near->msg[cqe.user_data].seed;
		ret = near_post_recv(near, cqe.user_data);
	}
	if (!ret && !(sent && right))
		ret = kapi_say(-EIO, "a send of %u bytes, operation %u: %s",
			       len, cqe.op, rclink_status_name(cqe.status));
	return ret;
}

static int near_send_imm(struct near *near, u32 imm)
{
	const struct kapi_msg order = { .what = KAPI_ECHO };
	struct rclink_dev_sqe sqe;
	struct rclink_dev_cqe cqe;
	struct kapi_msg msg;
	int ret;

	rclink_prep_send_imm(&sqe, imm, 0, 0);
	rclink_prep_inline(&sqe, &order, sizeof(order));
	ret = near_post(near, &sqe);
	if (!ret)
		ret = near_answer(near, KAPI_ECHO, &msg, &cqe);
	if (!ret && (cqe.flags != RCLINK_CQE_IMM || cqe.imm != imm))
		ret = kapi_say(-EIO, "immediate %x, not %x", cqe.imm, imm);
	return ret;
}

static int near_write(struct near *near, u32 seed, u32 offset, u32 len)
{
	struct rclink_dev_sqe sqe;

	near_fill(near, seed, len);
	rclink_prep_write(&sqe, &near->far, offset, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, near->region, 0, len);
	return near_do(near, &sqe) ? :
	       near_ask(near, KAPI_CHECK, seed, offset, len);
}

static int near_write_imm(struct near *near, u32 seed, u32 len)
{
	struct rclink_dev_sqe sqe;
	struct rclink_dev_cqe cqe;
	struct kapi_msg msg;
	int ret;

	near_fill(near, seed, len);
	rclink_prep_write_imm(&sqe, &near->far, 0, seed, 0, 0);
	rclink_prep_piece(&sqe, near->region, 0, len);
	ret = near_post(near, &sqe) ? :
	      near_answer(near, KAPI_CHECK, &msg, &cqe);
	if (!ret && (!msg.seed || msg.len != len))
		ret = kapi_say(-EIO, "of %u bytes %u were written, right: %u",
			       len, msg.len, msg.seed);
	return ret;
}

static int near_read(struct near *near, u32 seed, u32 offset, u32 len)
{
	struct rclink_dev_sqe sqe;
	int ret;

	ret = near_ask(near, KAPI_FILL, seed, offset, len);
	if (ret)
		return ret;
	near_fill(near, ~seed, len);
	rclink_prep_read(&sqe, &near->far, offset, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, near->region, 0, len);
	ret = near_do(near, &sqe);
	if (!ret && !near_is(near, seed, len))
		ret = kapi_say(-EIO, "%u bytes were read wrong", len);
	return ret;
}

/* Post the atomic in @sqe; it must return @was, the value before it. */
static int near_atomic(struct near *near, struct rclink_dev_sqe *sqe, u64 was)
{
	u64 *old = page_address(near->page[0]);
	int ret;

	rclink_prep_piece(sqe, near->region, 0, sizeof(*old));
	ret = near_do(near, sqe);
	if (!ret && *old != was)
		ret = kapi_say(-EIO, "operation %u: %llx, not %llx", sqe->op,
			       *old, was);
	return ret;
}

/* Write @value to the word that an atomic changes next. */
static int near_put(struct near *near, u64 value)
{
	struct rclink_dev_sqe sqe;

	rclink_prep_write(&sqe, &near->far, 8, 0, 0);
	rclink_prep_inline(&sqe, &value, sizeof(value));
	return near_post(near, &sqe);
}

static int near_cas(struct near *near, u64 value)
{
	const u8 flags = RCLINK_SQE_SIGNALED;
	struct rclink_dev_sqe sqe;
	int ret;

	ret = near_put(near, value);
	if (ret)
		return ret;
	rclink_prep_cas(&sqe, &near->far, 8, value, 7, flags, 0);
	ret = near_atomic(near, &sqe, value);
	if (ret)
		return ret;
	rclink_prep_cas(&sqe, &near->far, 8, value, 9, flags, 0);
	return near_atomic(near, &sqe, 7);
}

static int near_fadd(struct near *near, u64 value)
{
	const u8 flags = RCLINK_SQE_SIGNALED;
	struct rclink_dev_sqe sqe;
	int ret;

	ret = near_put(near, 7);
	if (ret)
		return ret;
	rclink_prep_fadd(&sqe, &near->far, 8, value, flags, 0);
	ret = near_atomic(near, &sqe, 7);
	if (ret)
		return ret;
	rclink_prep_fadd(&sqe, &near->far, 8, 1, flags, 0);
	return near_atomic(near, &sqe, 7 + value);
}

/* Wrong requests are refused at once, and the channel goes on. */
static int near_refused(struct near *near)
{
	struct rclink_remote nosuch = { .handle = 1000 };
	struct rclink_dev_sqe sqe;
	unsigned int taken;

	rclink_prep_write(&sqe, &near->far, KAPI_SIZE - 7, 0, 0);
	rclink_prep_piece(&sqe, near->region, 0, 8);
	if (rclink_post(near->chan, &sqe, 1, &taken) != -EINVAL || taken)
		return kapi_say(-EIO, "a write beyond the region");
	rclink_prep_read(&sqe, &nosuch, 0, 0, 0);
	rclink_prep_piece(&sqe, near->region, 0, 8);
	if (rclink_post(near->chan, &sqe, 1, &taken) != -ESTALE || taken)
		return kapi_say(-EIO, "a read from nowhere");
	rclink_prep_send(&sqe, 0, 0);
	rclink_prep_piece(&sqe, near->region ^ BIT(31), 0, 8);
	if (rclink_post(near->chan, &sqe, 1, &taken) != -ESTALE || taken)
		return kapi_say(-EIO, "a send from nowhere");
	if (rclink_import(near->chan, "nosuch", &nosuch) != -ENOENT)
		return kapi_say(-EIO, "a region that is not there");
	return 0;
}

/* A READ outlives the release of its import; a new import has a new handle. */
static int near_released(struct near *near)
{
	struct rclink_remote old = near->far;
	struct rclink_dev_sqe sqe;
	struct rclink_dev_cqe cqe;
	unsigned int taken;
	int ret;

	rclink_prep_read(&sqe, &old, 0, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, near->region, 0, KAPI_SIZE);
	ret = near_post(near, &sqe);
	if (!ret)
		ret = rclink_release(near->chan, &old);
	if (!ret)
		ret = near_expect(near, sqe.op, 0, &cqe);
	if (!ret)
		ret = rclink_import(near->chan, near->far_name, &near->far);
	if (ret)
		return kapi_say(ret, "an import is not given back: %d", ret);
	if (rclink_post(near->chan, &sqe, 1, &taken) != -ESTALE || taken ||
	    rclink_release(near->chan, &old) != -ESTALE)
		return kapi_say(-EIO, "an import that was given back");
	return 0;
}

/**
 * near_data - every operation, with data that both ends check
 * @link: name
 * @polled: by rclink_poll()
 * @seed: of the data
 *
 * Return: 0, or a negative errno.
 */
int near_data(const char *link, bool polled, u32 seed)
{
	static const u32 sizes[] = { 0, 1, 64, 1025, 4096, KAPI_SIZE };
	struct near *near = near_open(link, polled);
	int ret = 0;
	u32 i;

	if (IS_ERR(near))
		return PTR_ERR(near);
	for (i = 0; !ret && i < ARRAY_SIZE(sizes); i++) {
		u32 len = sizes[i], offset = len < KAPI_SIZE ? 33 : 0;

		seed = seed * 5 + 1;
		ret = near_send(near, seed, min_t(u32, len, KAPI_DATA_MAX)) ? :
		      near_send_imm(near, seed) ? :
		      near_write(near, seed + 1, offset, len) ? :
		      near_write_imm(near, seed + 2, len) ? :
		      near_read(near, seed + 3, offset, len) ? :
		      near_cas(near, (u64)seed << 20) ? :
		      near_fadd(near, (u64)seed << 20) ? :
		      near_refused(near) ? :
		      near_released(near);
	}
	if (!ret)
		ret = rclink_withdraw(near->chan, near->region);
	if (!ret && rclink_withdraw(near->chan, near->region) != -ESTALE)
		ret = kapi_say(-EIO, "a region is withdrawn twice");
	near_close(near);
	return ret;
}

/**
 * near_withdrawn - a READ of a region that the far end has withdrawn fails
 * @link: name
 * @polled: by rclink_poll()
 *
 * Return: 0, or a negative errno.
 */
int near_withdrawn(const char *link, bool polled)
{
	struct near *near = near_open(link, polled);
	struct rclink_dev_sqe sqe;
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = near_ask(near, KAPI_WITHDRAW, 0, 0, 0);
	rclink_prep_read(&sqe, &near->far, 0, 0, 0);
	rclink_prep_piece(&sqe, near->region, 0, 64);
	if (!ret)
		ret = near_fails(near, &sqe);
	near_close(near);
	return ret;
}

/**
 * near_closed - the far end closes the channel
 * @link: name
 * @polled: by rclink_poll()
 *
 * Return: 0, or a negative errno.
 */
int near_closed(const char *link, bool polled)
{
	struct near *near = near_open(link, polled);
	struct rclink_dev_cqe cqe;
	int recvs = 0;
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = near_order(near, KAPI_CLOSE, 0, 0, 0);
	/* All posted receives are flushed before the end is reported. */
	while (!ret) {
		ret = near_wait(near);
		if (!ret && kfifo_get(&near->done, &cqe))
			recvs += cqe.op == RCLINK_OP_RECV &&
				 cqe.status == NEAR_FLUSHED;
	}
	if (ret == -ECONNRESET && recvs == NEAR_RECVS)
		ret = 0;
	else
		kapi_say(ret, "the end is %d, after %d receives", ret, recvs);
	near_close(near);
	return ret;
}

static int near_move_big(struct near *near, u8 *buf, u32 region, u32 seed)
{
	struct rclink_remote big;
	struct rclink_dev_sqe sqe;
	int ret;

	ret = near_ask(near, KAPI_GROW, 0, 0, 0) ? :
	      rclink_import(near->chan, KAPI_BIG, &big);
	if (ret)
		return ret;
	kapi_fill(buf, seed, 0, KAPI_BIG_SIZE);
	rclink_prep_write(&sqe, &big, 0, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, region, 0, KAPI_BIG_SIZE);
	ret = near_do(near, &sqe) ? : near_ask(near, KAPI_JUDGE, seed, 0, 0);
	if (ret)
		return ret;
	memset(buf, 0, KAPI_BIG_SIZE);
	rclink_prep_read(&sqe, &big, 0, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, region, 0, KAPI_BIG_SIZE);
	ret = near_do(near, &sqe);
	return ret || kapi_is(buf, seed, 0, KAPI_BIG_SIZE) ? ret : -EIO;
}

/**
 * near_big - regions of several extents, with other boundaries at each end
 * @link: name
 * @polled: by rclink_poll()
 * @seed: of the data
 *
 * Return: 0, or a negative errno.
 */
int near_big(const char *link, bool polled, u32 seed)
{
	struct near *near = near_open(link, polled);
	u32 region;
	u8 *buf;
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	buf = vzalloc(KAPI_BIG_AT + KAPI_BIG_SIZE);
	ret = buf ? rclink_register(near->chan, buf + KAPI_BIG_AT,
				    KAPI_BIG_SIZE, NULL, 0, &region) : -ENOMEM;
	if (!ret)
		ret = near_move_big(near, buf + KAPI_BIG_AT, region, seed);
	if (!ret)
		ret = rclink_withdraw(near->chan, region);
	if (ret)
		kapi_say(ret, "a region of several extents: %d", ret);
	near_close(near);
	vfree(buf);
	return ret;
}

/* A SEND with invalidate ends the far region; its handle is stale then. */
static int near_inv(struct near *near)
{
	const struct kapi_msg order = { .what = KAPI_ENDED };
	struct rclink_dev_sqe sqe;
	unsigned int taken;
	int ret;

	rclink_prep_send_inv(&sqe, &near->far, RCLINK_SQE_SOLICITED, 0);
	rclink_prep_inline(&sqe, &order, sizeof(order));
	ret = near_post(near, &sqe) ? : near_right(near, KAPI_ENDED);
	if (ret)
		return ret;
	rclink_prep_write(&sqe, &near->far, 0, 0, 0);
	rclink_prep_piece(&sqe, near->region, 0, 8);
	if (rclink_post(near->chan, &sqe, 1, &taken) != -ESTALE || taken)
		return kapi_say(-EIO, "a write to what was ended");
	return 0;
}

/**
 * near_invalidated - end the far region with a SEND
 * @link: name
 * @polled: by rclink_poll()
 *
 * Return: 0, or a negative errno.
 */
int near_invalidated(const char *link, bool polled)
{
	struct near *near = near_open(link, polled);
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = near_inv(near);
	near_close(near);
	return ret;
}

/* Data go out of a read-only region; a READ or receive into it is refused. */
static int near_only_out(struct near *near, u32 region, u32 seed)
{
	struct rclink_dev_sqe sqe;
	unsigned int taken;
	int ret;

	rclink_prep_write(&sqe, &near->far, 0, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, region, 0, PAGE_SIZE);
	ret = near_do(near, &sqe) ? :
	      near_ask(near, KAPI_CHECK, seed, 0, PAGE_SIZE);
	if (ret)
		return ret;
	rclink_prep_read(&sqe, &near->far, 0, 0, 0);
	rclink_prep_piece(&sqe, region, 0, 8);
	ret = rclink_post(near->chan, &sqe, 1, &taken);
	if (ret != -EACCES || taken)
		return kapi_say(-EIO, "a read into it: %d", ret);
	rclink_prep_recv(&sqe, 0);
	rclink_prep_piece(&sqe, region, 0, 8);
	ret = rclink_post(near->chan, &sqe, 1, &taken);
	if (ret != -EACCES || taken)
		return kapi_say(-EIO, "a receive into it: %d", ret);
	return 0;
}

/**
 * near_constant - a read-only region, which must not change
 * @link: name
 * @polled: by rclink_poll()
 * @seed: of the data
 *
 * Return: 0, or a negative errno.
 */
int near_constant(const char *link, bool polled, u32 seed)
{
	struct near *near = near_open(link, polled);
	u32 region;
	u8 *buf;
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	ret = buf ? rclink_register(near->chan, buf, PAGE_SIZE, "constant",
				    RCLINK_REGION_WRITE |
				    RCLINK_REGION_READ_ONLY, &region) : -ENOMEM;
	if (ret != -EINVAL) {
		ret = kapi_say(-EIO, "only read, and written: %d", ret);
		goto out;
	}
	kapi_fill(buf, seed, 0, PAGE_SIZE);
	ret = rclink_register(near->chan, buf, PAGE_SIZE, NULL,
			      RCLINK_REGION_READ_ONLY, &region);
	if (!ret)
		ret = near_only_out(near, region, seed);
	if (!ret)
		ret = rclink_withdraw(near->chan, region);
	if (!ret && !kapi_is(buf, seed, 0, PAGE_SIZE))
		ret = kapi_say(-EIO, "it has changed");
out:
	near_close(near);
	kfree(buf);
	return ret;
}

#define NEAR_WORD	0x1122334455667788ULL
#define NEAR_SWAPPED	0xaa22334455667788ULL	/* with another first byte */

static int near_mcas(struct near *near)
{
	const u8 flags = RCLINK_SQE_SIGNALED | RCLINK_SQE_FENCE;
	struct rclink_dev_sqe sqe;
	int ret;

	ret = near_put(near, NEAR_WORD);
	if (ret)
		return ret;
	/* The last byte compares equal, so the first one is swapped. */
	rclink_prep_mcas(&sqe, &near->far, 8, 0x88, 0xaaULL << 56, 0xff,
			 0xffULL << 56, flags, 0);
	ret = near_atomic(near, &sqe, NEAR_WORD);
	if (ret)
		return ret;
	rclink_prep_mcas(&sqe, &near->far, 8, 0, 0, 0, 0, flags, 0);
	return near_atomic(near, &sqe, NEAR_SWAPPED);
}

static int near_mfadd(struct near *near)
{
	const u8 flags = RCLINK_SQE_SIGNALED | RCLINK_SQE_FENCE;
	struct rclink_dev_sqe sqe;
	int ret;

	ret = near_put(near, NEAR_SWAPPED);
	if (ret)
		return ret;
	/* Two 32-bit fields: no carry from the lower into the upper one. */
	rclink_prep_mfadd(&sqe, &near->far, 8, 0x00000001ffffffffULL,
			  0x8000000080000000ULL, flags, 0);
	ret = near_atomic(near, &sqe, NEAR_SWAPPED);
	if (ret)
		return ret;
	rclink_prep_mfadd(&sqe, &near->far, 8, 0, 0, flags, 0);
	return near_atomic(near, &sqe, 0xaa22334555667787ULL);
}

/**
 * near_masked - masked atomics
 * @link: name
 * @polled: by rclink_poll()
 *
 * Return: 0, -EOPNOTSUPP if the device has none, or another errno.
 */
int near_masked(const char *link, bool polled)
{
	struct near *near = near_open(link, polled);
	int ret;

	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = near_mcas(near) ? : near_mfadd(near);
	near_close(near);
	return ret;
}

/**
 * near_moves - data both ways
 * @near: from near_open()
 * @seed: of the data
 *
 * Return: 0, or what was wrong.
 */
int near_moves(struct near *near, u32 seed)
{
	const u32 len = 1025, offset = 33;

	return near_send_imm(near, seed) ? :
	       near_send(near, seed + 1, len) ? :
	       near_write(near, seed + 2, offset, len) ? :
	       near_read(near, seed + 3, offset, len);
}

static int near_try(struct near *near, u8 op)
{
	const u32 len = 64, offset = 16;

	switch (op) {
	case RCLINK_OP_SEND:
		return near_send(near, op, len);
	case RCLINK_OP_SEND_IMM:
		return near_send_imm(near, op);
	case RCLINK_OP_SEND_INV:
		return near_inv(near);
	case RCLINK_OP_WRITE:
		return near_write(near, op, offset, len);
	case RCLINK_OP_WRITE_IMM:
		return near_write_imm(near, op, len);
	case RCLINK_OP_READ:
		return near_read(near, op, offset, len);
	case RCLINK_OP_CAS:
		return near_cas(near, NEAR_WORD);
	case RCLINK_OP_FADD:
		return near_fadd(near, NEAR_WORD);
	case RCLINK_OP_MCAS:
		return near_mcas(near);
	case RCLINK_OP_MFADD:
		return near_mfadd(near);
	}
	return -EINVAL;
}

/**
 * near_table - each operation by itself
 * @link: name
 *
 * Says a line for each operation: its name, a tab, and "works" or the error.
 *
 * Return: 0, or a negative errno when there is no channel.
 */
int near_table(const char *link)
{
	static const struct {
		u8 op;
		const char *name;
	} ops[] = {
		{ RCLINK_OP_SEND, "SEND" },
		{ RCLINK_OP_SEND_IMM, "SEND with immediate" },
		{ RCLINK_OP_WRITE, "WRITE" },
		{ RCLINK_OP_WRITE_IMM, "WRITE with immediate" },
		{ RCLINK_OP_READ, "READ" },
		{ RCLINK_OP_CAS, "compare and swap" },
		{ RCLINK_OP_FADD, "fetch and add" },
		{ RCLINK_OP_MCAS, "masked compare and swap" },
		{ RCLINK_OP_MFADD, "masked fetch and add" },
		/* Last, because it ends the region that the others use. */
		{ RCLINK_OP_SEND_INV, "SEND with invalidate" },
	};
	struct near *near = near_open(link, false);
	char said[KAPI_SAID];
	size_t len = 0, room;
	int ret, i;

	if (IS_ERR(near))
		return PTR_ERR(near);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		ret = near_try(near, ops[i].op);
		room = sizeof(said) - len;
		if (ret)
			len += scnprintf(said + len, room, "%s\t%pe\n",
					 ops[i].name, ERR_PTR(ret));
		else
			len += scnprintf(said + len, room, "%s\tworks\n",
					 ops[i].name);
	}
	near_close(near);
	return kapi_say(0, "%s", said);
}
