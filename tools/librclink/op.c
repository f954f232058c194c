// SPDX-License-Identifier: GPL-2.0
/* Operations: into the submission ring, and out of the completion ring. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "chan.h"
#include "ring.h"

#define USER_FLAGS \
	(RCLINK_SQE_SIGNALED | RCLINK_SQE_FENCE | RCLINK_SQE_SOLICITED)

struct rclink_data rclink_none(void)
{
	return (struct rclink_data) { .num = 0 };
}

struct rclink_data rclink_bytes(const void *bytes, uint32_t len)
{
	return (struct rclink_data) { .inline_data = bytes, .num = len };
}

struct rclink_data rclink_piece(uint32_t region, uint64_t offset, uint32_t len)
{
	return (struct rclink_data) {
		.one = { .region = region, .offset = offset, .len = len },
		.num = len ? 1 : 0,
	};
}

struct rclink_data rclink_pieces(const struct rclink_dev_sge *sge, uint32_t num)
{
	return (struct rclink_data) { .sge = sge, .num = num };
}

static int fill(struct rclink_dev_sqe *sqe, const struct rclink_data *data)
{
	if (data->inline_data && data->num) {
		if (data->num > RCLINK_DEV_INLINE_MAX)
			return -EINVAL;
		sqe->flags |= RCLINK_SQE_INLINE;
		sqe->len = data->num;
		memcpy(sqe->inline_data, data->inline_data, data->num);
	} else if (data->sge) {
		if (data->num > RCLINK_DEV_SGE_MAX)
			return -EINVAL;
		sqe->num_sge = data->num;
		memcpy(sqe->sge, data->sge, data->num * sizeof(*data->sge));
	} else if (!data->inline_data && data->num) {
		if (data->num > 1)
			return -EINVAL;
		sqe->num_sge = 1;
		sqe->sge[0] = data->one;
	}
	return 0;
}

/* Puts entry, which lacks flags and data, into the ring together with these. */
static int queue(struct rclink_chan *chan, const struct rclink_dev_sqe *entry,
		 const struct rclink_data *data, unsigned int flags)
{
	struct rclink_dev_shared *s = chan->shared;
	uint32_t tail = ring_own(&s->sq.tail);
	struct rclink_dev_sqe *sqe;
	int used, ret;

	if (flags & ~USER_FLAGS)
		return -EINVAL;
	used = ring_used(ring_other(&s->sq.head), tail, RCLINK_DEV_DEPTH);
	if (used < 0)
		return used;
	if (used == RCLINK_DEV_DEPTH)
		return -EAGAIN;
	sqe = &s->sqe[ring_slot(tail, RCLINK_DEV_DEPTH)];
	*sqe = *entry;
	sqe->flags = flags;
	ret = fill(sqe, data);
	if (!ret)
		ring_move(&s->sq.tail, tail + 1);
	return ret;
}

int rclink_send(struct rclink_chan *chan, struct rclink_data data,
		unsigned int flags, uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_SEND, .user_data = user_data,
	};

	return queue(chan, &sqe, &data, flags);
}

int rclink_send_imm(struct rclink_chan *chan, struct rclink_data data,
		    uint32_t imm, unsigned int flags, uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_SEND_IMM, .imm = imm,
		.user_data = user_data,
	};

	return queue(chan, &sqe, &data, flags);
}

int rclink_send_inv(struct rclink_chan *chan, struct rclink_data data,
		    const struct rclink_remote *remote, unsigned int flags,
		    uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_SEND_INV,
		.user_data = user_data, .remote = remote->handle,
	};

	return queue(chan, &sqe, &data, flags);
}

int rclink_write(struct rclink_chan *chan, struct rclink_data data,
		 const struct rclink_remote *remote, uint64_t offset,
		 unsigned int flags, uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_WRITE, .user_data = user_data,
		.remote = remote->handle, .remote_offset = offset,
	};

	return queue(chan, &sqe, &data, flags);
}

int rclink_write_imm(struct rclink_chan *chan, struct rclink_data data,
		     const struct rclink_remote *remote, uint64_t offset,
		     uint32_t imm, unsigned int flags, uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_WRITE_IMM, .imm = imm,
		.user_data = user_data,
		.remote = remote->handle, .remote_offset = offset,
	};

	return queue(chan, &sqe, &data, flags);
}

/* For an operation that brings data here. */
static int queue_in(struct rclink_chan *chan, const struct rclink_dev_sqe *sqe,
		    const struct rclink_data *data, unsigned int flags)
{
	return data->inline_data ? -EINVAL : queue(chan, sqe, data, flags);
}

int rclink_read(struct rclink_chan *chan, struct rclink_data data,
		const struct rclink_remote *remote, uint64_t offset,
		unsigned int flags, uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_READ, .user_data = user_data,
		.remote = remote->handle, .remote_offset = offset,
	};

	return queue_in(chan, &sqe, &data, flags);
}

int rclink_cas(struct rclink_chan *chan, struct rclink_data data,
	       const struct rclink_remote *remote, uint64_t offset,
	       uint64_t compare, uint64_t swap, unsigned int flags,
	       uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_CAS, .user_data = user_data,
		.remote = remote->handle, .remote_offset = offset,
		.compare_add = compare, .swap = swap,
	};

	return queue_in(chan, &sqe, &data, flags);
}

int rclink_fadd(struct rclink_chan *chan, struct rclink_data data,
		const struct rclink_remote *remote, uint64_t offset,
		uint64_t add, unsigned int flags, uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_FADD, .user_data = user_data,
		.remote = remote->handle, .remote_offset = offset,
		.compare_add = add,
	};

	return queue_in(chan, &sqe, &data, flags);
}

int rclink_mcas(struct rclink_chan *chan, struct rclink_data data,
		const struct rclink_remote *remote, uint64_t offset,
		uint64_t compare, uint64_t swap, uint64_t compare_mask,
		uint64_t swap_mask, unsigned int flags, uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_MCAS, .user_data = user_data,
		.remote = remote->handle, .remote_offset = offset,
		.compare_add = compare, .swap = swap,
		.compare_mask = compare_mask, .swap_mask = swap_mask,
	};

	return queue_in(chan, &sqe, &data, flags);
}

int rclink_mfadd(struct rclink_chan *chan, struct rclink_data data,
		 const struct rclink_remote *remote, uint64_t offset,
		 uint64_t add, uint64_t boundary, unsigned int flags,
		 uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_MFADD, .user_data = user_data,
		.remote = remote->handle, .remote_offset = offset,
		.compare_add = add, .compare_mask = boundary,
	};

	return queue_in(chan, &sqe, &data, flags);
}

int rclink_recv(struct rclink_chan *chan, struct rclink_data data,
		uint64_t user_data)
{
	struct rclink_dev_sqe sqe = {
		.op = RCLINK_OP_RECV, .user_data = user_data,
	};

	return queue_in(chan, &sqe, &data, 0);
}

/* Is there nothing wrong with the entry that the kernel stopped at? */
static bool is_kept(int err)
{
	return err == EAGAIN || err == EBUSY || err == EINTR || err == ETIME;
}

static int queued_in(const struct rclink_dev_shared *s)
{
	return ring_used(ring_other(&s->sq.head), ring_own(&s->sq.tail),
			 RCLINK_DEV_DEPTH);
}

/*
 * A call that took entries returns how many, and nothing about the one that it
 * stopped at: the next call begins there. What ends a wait is reported at once.
 */
int rclink_submit(struct rclink_chan *chan, unsigned int wait,
		  unsigned int timeout_ms)
{
	struct rclink_dev_shared *s = chan->shared;
	int err, queued = queued_in(s), left = queued;
	struct rclink_dev_submit submit;

	if (wait > RCLINK_DEV_CQ_DEPTH)
		return -EINVAL;
	if (queued < 0)
		return queued;
	do {
		submit = (struct rclink_dev_submit) {
			.count = left,
			.wait = wait,
			.timeout_ms = timeout_ms,
		};
		err = ioctl(chan->fd, RCLINK_IOC_SUBMIT, &submit) ? errno : 0;
		left = queued_in(s);
		if (left < 0)
			return left;
	} while (!err && left && submit.count);
	if (!err || (left && left < queued && err != EINTR && err != ETIME))
		return queued - left;
	/* Nothing behind that entry can be taken. */
	if (!is_kept(err))
		ring_move(&s->sq.tail, ring_other(&s->sq.head));
	return -err;
}

int rclink_reap(struct rclink_chan *chan, struct rclink_dev_cqe *cqes,
		unsigned int max)
{
	return rclink_reap_from(chan, cqes, NULL, max);
}

int rclink_reap_from(struct rclink_chan *chan, struct rclink_dev_cqe *cqes,
		     struct rclink_source *sources, unsigned int max)
{
	struct rclink_dev_shared *s = chan->shared;
	uint32_t head = ring_own(&s->cq.head);
	int used = ring_used(head, ring_other(&s->cq.tail),
			     RCLINK_DEV_CQ_DEPTH);
	uint32_t slot;
	int i;

	if (sources && !chan->group)
		return -EOPNOTSUPP;
	if (used <= 0)
		return used;
	if ((unsigned int)used > max)
		used = max;
	for (i = 0; i < used; i++) {
		slot = ring_slot(head + i, RCLINK_DEV_CQ_DEPTH);
		cqes[i] = s->cqe[slot];
		if (sources)
			memcpy(sources[i].gid, chan->group->source[slot],
			       sizeof(sources[i].gid));
	}
	ring_move(&s->cq.head, head + used);
	return used;
}
