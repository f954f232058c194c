// SPDX-License-Identifier: GPL-2.0
/*
 * An entry is checked against what the consumer registered and imported, and
 * becomes a work request.
 */
#include "chan-wr.h"

#include <linux/nospec.h>

#include "remote.h"

/**
 * struct rcl_kind - what the operations of a kind have in common
 * @opcode: of the work request
 * @right: to the peer's memory; 0 if they need none
 */
struct rcl_kind {
	enum ib_wr_opcode opcode;
	u32 right;
};

static const struct rcl_kind rcl_kinds[] = {
	[RCLINK_OP_SEND] = { IB_WR_SEND, 0 },
	[RCLINK_OP_SEND_IMM] = { IB_WR_SEND_WITH_IMM, 0 },
	[RCLINK_OP_WRITE] = { IB_WR_RDMA_WRITE, RCLINK_REGION_WRITE },
	[RCLINK_OP_WRITE_IMM] = { IB_WR_RDMA_WRITE_WITH_IMM,
				  RCLINK_REGION_WRITE },
	[RCLINK_OP_READ] = { IB_WR_RDMA_READ, RCLINK_REGION_READ },
	[RCLINK_OP_CAS] = { IB_WR_ATOMIC_CMP_AND_SWP, RCLINK_REGION_ATOMIC },
	[RCLINK_OP_FADD] = { IB_WR_ATOMIC_FETCH_AND_ADD, RCLINK_REGION_ATOMIC },
	[RCLINK_OP_SEND_INV] = { IB_WR_SEND_WITH_INV,
				 RCLINK_REGION_INVALIDATE },
	[RCLINK_OP_MCAS] = { IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
			     RCLINK_REGION_ATOMIC },
	[RCLINK_OP_MFADD] = { IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
			      RCLINK_REGION_ATOMIC },
};

/* Memory of the peer that an entry may use; or -ESTALE or -EACCES. */
static inline struct rcl_window *
rcl_chan_window(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		u32 right)
{
	struct rcl_window *window = rcl_remote_find(chan, sqe->remote);

	if (!window || !window->rights)
		return ERR_PTR(-ESTALE);
	if (!(window->rights & right))
		return ERR_PTR(-EACCES);
	return window;
}

/* Returns how many work requests it takes. */
static int rcl_chan_remote(struct rcl_chan *chan,
			   const struct rclink_dev_sqe *sqe, u32 right, u32 len,
			   u64 *addr, u32 *rkey)
{
	const struct rcl_window *window = rcl_chan_window(chan, sqe, right);
	u32 parts, i;

	if (IS_ERR(window))
		return PTR_ERR(window);
	if (sqe->remote_offset > window->len ||
	    len > window->len - sqe->remote_offset)
		return -EINVAL;
	*addr = window->addr + sqe->remote_offset;
	i = rcl_window_index(window, *addr, rcl_window_extents(window));
	*rkey = window->rkeys[i];
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
				struct ib_atomic_wr *wr)
{
	int ret;

	if (!rcl_chan_has_atomic(chan, sqe->op))
		return -EOPNOTSUPP;
	if (len != sizeof(u64) || sqe->num_sge != 1)
		return -EINVAL;
	if (wr->wr.num_sge != 1)
		return -EMSGSIZE;
	ret = rcl_chan_remote(chan, sqe, RCLINK_REGION_ATOMIC, len,
			      &wr->remote_addr, &wr->rkey);
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
	struct rcl_window *window =
		rcl_chan_window(chan, sqe, RCLINK_REGION_INVALIDATE);

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
 * @wr: its list of pieces is set; the first one if it takes several
 *
 * Return: how many work requests it takes, -ESTALE, -EACCES, -EINVAL, -EMSGSIZE
 * or -EOPNOTSUPP.
 */
int rcl_chan_fill(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		  u32 len, union rcl_wr *wr)
{
	const struct rcl_kind *kind =
		&rcl_kinds[array_index_nospec(sqe->op, ARRAY_SIZE(rcl_kinds))];

	wr->send.opcode = kind->opcode;
	wr->send.ex.imm_data = cpu_to_be32(sqe->imm);
	switch (kind->right) {
	case RCLINK_REGION_WRITE:
	case RCLINK_REGION_READ:
		return rcl_chan_remote(chan, sqe, kind->right, len,
				       &wr->rdma.remote_addr, &wr->rdma.rkey);
	case RCLINK_REGION_ATOMIC:
		return rcl_chan_fill_atomic(chan, sqe, len, &wr->atomic);
	case RCLINK_REGION_INVALIDATE:
		return rcl_chan_fill_inv(chan, sqe, &wr->send);
	default:
		return 1;
	}
}

/**
 * rcl_chan_inline - put inline data where the driver or the device can read it
 * @chan: open, its lock held
 * @sqe: with RCLINK_SQE_INLINE, hostile
 * @slot: of the operation
 * @sge: set
 * @len: set to its bytes
 *
 * The work request is posted later, when @sqe may be gone.
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
	if (rcl_chan_driver_copies(chan, sqe->len)) {
		sge->addr = (uintptr_t)chan->inl + at;
	} else {
		ib_dma_sync_single_for_device(chan->qp->qp->device,
					      chan->inl_dma + at,
					      RCLINK_DEV_INLINE_MAX,
					      DMA_TO_DEVICE);
		sge->addr = chan->inl_dma + at;
	}
	sge->length = sqe->len;
	sge->lkey = chan->qp->qp->pd->local_dma_lkey;
	*len = sqe->len;
	return sqe->len ? 1 : 0;
}

/* Cuts pieces after @len bytes, which are not all; the rest goes to @next. */
static void rcl_chan_split(struct ib_send_wr *wr, u64 len,
			   struct ib_send_wr *next)
{
	struct ib_sge *sge = wr->sg_list;
	struct ib_sge *to = next->sg_list;
	int rest = 0;
	int i, keep;

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
	while (i < wr->num_sge)
		to[rest++] = sge[i++];
	wr->num_sge = keep;
	next->num_sge = rest;
}

/**
 * rcl_chan_cut - end a work request where an extent of the peer ends
 * @chan: open, its lock held
 * @sqe: the entry that it is from
 * @wr: a WRITE or READ that goes on behind that extent
 * @next: set to the rest; its list of pieces is long enough
 */
void rcl_chan_cut(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		  struct ib_rdma_wr *wr, struct ib_rdma_wr *next)
{
	const struct rcl_window *window = rcl_remote_find(chan, sqe->remote);
	u64 left = rcl_window_left(window, wr->remote_addr);
	u64 addr = wr->remote_addr + left;
	u32 i = rcl_window_index(window, addr, rcl_window_extents(window));

	rcl_chan_split(&wr->wr, left, &next->wr);
	next->wr.opcode = wr->wr.opcode;
	next->wr.ex = wr->wr.ex;
	next->remote_addr = addr;
	next->rkey = window->rkeys[i];
	/* The peer is told only when all of it is there. */
	if (wr->wr.opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		wr->wr.opcode = IB_WR_RDMA_WRITE;
}
