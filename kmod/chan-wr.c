// SPDX-License-Identifier: GPL-2.0
/*
 * An entry is checked against what the consumer registered and imported, and
 * becomes a work request.
 */
#include "chan-wr.h"

#include <linux/nospec.h>

#include "chan.h"
#include "fate.h"
#include "qp.h"
#include "region.h"
#include "remote.h"

#define RCL_LEN_MAX	BIT(30)	/* bytes; IBA allows twice that */

/* Does the device write the result to local memory? */
static bool rcl_chan_writes(u8 op)
{
	return !rcl_fate_counts(op) && op != RCLINK_OP_WRITE;
}

/**
 * rcl_chan_sge - the pieces of an entry as the device addresses them
 * @chan: open, its lock held
 * @sqe: without inline data, hostile
 * @sge: set
 * @len: set to their bytes
 *
 * Return: how many, -ESTALE, -EACCES for memory that is read-only, -EINVAL or
 * -EMSGSIZE.
 */
int rcl_chan_sge(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		 struct ib_sge *sge, u32 *len)
{
	bool writes = rcl_chan_writes(sqe->op);
	u32 n = 0;
	u32 i;

	*len = 0;
	for (i = 0; i < sqe->num_sge; i++) {
		const struct rclink_dev_sge *from = &sqe->sge[i];
		int ret;

		ret = rcl_region_sge(chan, from, writes, &sge[n],
				     chan->max_sge - n);
		if (ret < 0)
			return ret;
		if (from->len > RCL_LEN_MAX - *len)
			return -EMSGSIZE;
		n += ret;
		*len += from->len;
	}
	return n;
}

static u32 rcl_chan_right(u8 op)
{
	switch (op) {
	case RCLINK_OP_READ:
		return RCLINK_REGION_READ;
	case RCLINK_OP_CAS:
	case RCLINK_OP_FADD:
	case RCLINK_OP_MCAS:
	case RCLINK_OP_MFADD:
		return RCLINK_REGION_ATOMIC;
	case RCLINK_OP_SEND_INV:
		return RCLINK_REGION_INVALIDATE;
	default:
		return RCLINK_REGION_WRITE;
	}
}

/**
 * rcl_chan_window - memory of the peer that an entry may use
 * @chan: open, its lock held
 * @sqe: hostile
 *
 * Return: the memory, or an ERR_PTR: -ESTALE or -EACCES.
 */
struct rcl_window *rcl_chan_window(struct rcl_chan *chan,
				   const struct rclink_dev_sqe *sqe)
{
	struct rcl_window *window = rcl_remote_find(chan, sqe->remote);

	if (!window || !window->rights)
		return ERR_PTR(-ESTALE);
	if (!(window->rights & rcl_chan_right(sqe->op)))
		return ERR_PTR(-EACCES);
	return window;
}

/* Returns how many work requests it takes. */
static int rcl_chan_remote(struct rcl_chan *chan,
			   const struct rclink_dev_sqe *sqe, u32 len,
			   u64 *addr, u32 *rkey)
{
	const struct rcl_window *window = rcl_chan_window(chan, sqe);
	u32 parts;

	if (IS_ERR(window))
		return PTR_ERR(window);
	if (sqe->remote_offset > window->len ||
	    len > window->len - sqe->remote_offset)
		return -EINVAL;
	*addr = window->addr + sqe->remote_offset;
	*rkey = window->rkeys[rcl_window_index(window, *addr)];
	parts = rcl_window_touched(window, *addr, len);
	return parts > RCLINK_DEV_PARTS_MAX ? -EMSGSIZE : parts;
}

static bool rcl_chan_has_atomic(const struct rcl_chan *chan, u8 op)
{
	return op == RCLINK_OP_CAS || op == RCLINK_OP_FADD ?
	       chan->atomics : chan->masked_atomics;
}

static int rcl_chan_fill_atomic(struct rcl_chan *chan,
				const struct rclink_dev_sqe *sqe, u32 len,
				u32 num_sge, struct ib_atomic_wr *wr)
{
	int ret;

	if (!rcl_chan_has_atomic(chan, sqe->op))
		return -EOPNOTSUPP;
	if (len != sizeof(u64) || sqe->num_sge != 1)
		return -EINVAL;
	if (num_sge != 1)
		return -EMSGSIZE;
	ret = rcl_chan_remote(chan, sqe, len, &wr->remote_addr, &wr->rkey);
	if (ret < 0)
		return ret;
	if (wr->remote_addr % sizeof(u64))
		return -EINVAL;
	wr->compare_add = sqe->compare_add;
	wr->swap = sqe->swap;
	wr->compare_add_mask = sqe->compare_mask;
	wr->swap_mask = sqe->swap_mask;
	return 1;
}

/* Once the peer has the message, it has no such region any more. */
static int rcl_chan_fill_inv(struct rcl_chan *chan,
			     const struct rclink_dev_sqe *sqe,
			     struct ib_send_wr *wr)
{
	struct rcl_window *window = rcl_chan_window(chan, sqe);

	if (IS_ERR(window))
		return PTR_ERR(window);
	wr->ex.invalidate_rkey = window->rkeys[0];
	rcl_remote_revoke(chan, window->rkeys[0]);
	return 1;
}

/**
 * rcl_chan_fill - turn an entry into a work request
 * @chan: open, its lock held
 * @sqe: hostile
 * @len: bytes
 * @num_sge: pieces
 * @wr: set, except its list of pieces; the first one if it takes several
 *
 * Return: how many work requests it takes, -ESTALE, -EACCES, -EINVAL, -EMSGSIZE
 * or -EOPNOTSUPP.
 */
int rcl_chan_fill(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		  u32 len, u32 num_sge, union rcl_wr *wr)
{
	static const enum ib_wr_opcode opcodes[] = {
		[RCLINK_OP_SEND] = IB_WR_SEND,
		[RCLINK_OP_SEND_IMM] = IB_WR_SEND_WITH_IMM,
		[RCLINK_OP_WRITE] = IB_WR_RDMA_WRITE,
		[RCLINK_OP_WRITE_IMM] = IB_WR_RDMA_WRITE_WITH_IMM,
		[RCLINK_OP_READ] = IB_WR_RDMA_READ,
		[RCLINK_OP_CAS] = IB_WR_ATOMIC_CMP_AND_SWP,
		[RCLINK_OP_FADD] = IB_WR_ATOMIC_FETCH_AND_ADD,
		[RCLINK_OP_SEND_INV] = IB_WR_SEND_WITH_INV,
		[RCLINK_OP_MCAS] = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		[RCLINK_OP_MFADD] = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	};

	wr->send.opcode = opcodes[array_index_nospec(sqe->op,
						     ARRAY_SIZE(opcodes))];
	wr->send.ex.imm_data = cpu_to_be32(sqe->imm);
	switch (sqe->op) {
	case RCLINK_OP_SEND:
	case RCLINK_OP_SEND_IMM:
		return 1;
	case RCLINK_OP_SEND_INV:
		return rcl_chan_fill_inv(chan, sqe, &wr->send);
	case RCLINK_OP_WRITE:
	case RCLINK_OP_WRITE_IMM:
	case RCLINK_OP_READ:
		return rcl_chan_remote(chan, sqe, len, &wr->rdma.remote_addr,
				       &wr->rdma.rkey);
	default:
		return rcl_chan_fill_atomic(chan, sqe, len, num_sge,
					    &wr->atomic);
	}
}

/**
 * rcl_chan_inline - put inline data where the device can read it
 * @chan: open, its lock held
 * @sqe: with RCLINK_SQE_INLINE, hostile
 * @slot: of the operation
 * @sge: set
 * @len: set to its bytes
 *
 * Return: how many pieces: 0 if there are no bytes, because some devices take a
 * piece of length 0 for one of 2 GiB; or -EINVAL.
 */
int rcl_chan_inline(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		    u32 slot, struct ib_sge *sge, u32 *len)
{
	u32 at = slot * RCLINK_DEV_INLINE_MAX;

	if (sqe->num_sge || sqe->len > RCLINK_DEV_INLINE_MAX ||
	    (sqe->op > RCLINK_OP_WRITE_IMM && sqe->op != RCLINK_OP_SEND_INV))
		return -EINVAL;
	memcpy(chan->inl + at, sqe->inline_data, sqe->len);
	ib_dma_sync_single_for_device(chan->qp->qp->device, chan->inl_dma + at,
				      RCLINK_DEV_INLINE_MAX, DMA_TO_DEVICE);
	sge->addr = chan->inl_dma + at;
	sge->length = sqe->len;
	sge->lkey = chan->qp->qp->pd->local_dma_lkey;
	*len = sqe->len;
	return sqe->len ? 1 : 0;
}

/**
 * rcl_chan_split - cut pieces where an extent of the peer ends
 * @sge: pieces of more than @len bytes
 * @n: how many; set to how many remain
 * @len: bytes that remain
 * @to: set to the pieces of what is behind them
 *
 * Return: how many are in @to.
 */
u32 rcl_chan_split(struct ib_sge *sge, u32 *n, u64 len, struct ib_sge *to)
{
	u32 rest = 0;
	u32 i, keep;

	for (i = 0; sge[i].length <= len; i++)
		len -= sge[i].length;
	keep = i;
	if (len) {
		to[rest] = sge[i];
		to[rest].addr += len;
		to[rest++].length -= len;
		sge[i++].length = len;
		keep = i;
	}
	while (i < *n)
		to[rest++] = sge[i++];
	*n = keep;
	return rest;
}
