/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels, regions for all links, and groups for kernel modules, over links
 * that rclink keeps.
 *
 * A channel leases one queue pair of a link's pool, at both ends: one host
 * listens on a service of the link, and the other one connects to it. A process
 * may be at the other end. Entries and completions are the same as for
 * processes: struct rclink_dev_sqe and struct rclink_dev_cqe in
 * uapi/linux/rclink_dev.h; the functions below fill an entry.
 *
 * At any moment a link may be deleted, its device may be removed, or the peer
 * may close. Then the channel is over, once and for all: everything that was
 * posted completes, and every call returns an error, until rclink_close(). All
 * names are copied.
 *
 * If the operator has set "recover resume" for a link, a channel is not over
 * when the link fails or its device is removed, but suspended until the link is
 * up again, for as long as that takes: see uapi/linux/rclink_dev.h for what
 * becomes of operations. A user that does not want to wait so long closes it.
 * If the peer's operator has not, it is over when the link is up again.
 */
#ifndef RCLINK_H
#define RCLINK_H

#include <linux/string.h>
#include <linux/types.h>

#include <uapi/linux/rclink.h>
#include <uapi/linux/rclink_dev.h>

struct notifier_block;
struct rclink_chan;
struct rclink_listener;
struct rclink_member;
struct rclink_share;
struct scatterlist;

/**
 * struct rclink_chan_ops - what a channel calls
 * @completed: an operation completed; the entry is valid during the call, its
 *	time is 0, and its length is valid only if the operation succeeded; for
 *	a receive with RCLINK_CQE_WRITTEN it is that of the last part of what
 *	the peer wrote elsewhere, and may be more than the receive has room for
 * @ended: the channel is over, for this reason: -ECONNRESET when the peer
 *	closed it, the link went down, or it could not go on in another epoch,
 *	-ENODEV when the device was removed, -ESHUTDOWN for rclink_close();
 *	nothing is called afterwards. NULL for a polled channel, where
 *	rclink_poll() returns the reason.
 * @resumed: rclink_post() may be tried again after it returned -EAGAIN because
 *	the channel was suspended, or -EBUSY, which it may return again; NULL
 *	if the user does not want to know, and for a polled channel
 *
 * After a completion that failed, all that follow are "WR flushed" (except what
 * the device had taken before it refused a send), and nothing is left to do but
 * rclink_close(), which also tells the peer. Only an operation that a new epoch
 * cut short (see above) may fail alone, with the channel going on.
 *
 * For a polled channel, @completed is called by rclink_poll() and
 * rclink_close(). For any other channel, all are called in softirq context, one
 * at a time, in the order of completion, and maybe before rclink_connect() or
 * rclink_accept() has returned. They may post, and must not sleep. No lock of
 * rclink is held.
 */
struct rclink_chan_ops {
	void (*completed)(struct rclink_chan *chan, void *ctx,
			  const struct rclink_dev_cqe *cqe);
	void (*ended)(struct rclink_chan *chan, void *ctx, int why);
	void (*resumed)(struct rclink_chan *chan, void *ctx);
};

struct rclink_chan *rclink_connect(const char *link, const char *service,
				   u32 flags, const struct rclink_chan_ops *ops,
				   void *ctx);
int rclink_close(struct rclink_chan *chan);

struct rclink_listener *rclink_listen(const char *link, const char *service,
				      u32 backlog, u32 flags,
				      void (*waiting)(void *ctx), void *ctx);
struct rclink_chan *rclink_accept(struct rclink_listener *listener,
				  const struct rclink_chan_ops *ops, void *ctx);
void rclink_unlisten(struct rclink_listener *listener);

/**
 * struct rclink_remote - a region of the peer
 * @len: bytes
 * @handle: names the region in entries of this channel
 * @rights: RCLINK_REGION_*, what the peer allows
 */
struct rclink_remote {
	u64 len;
	u32 handle;
	u32 rights;
};

int rclink_register(struct rclink_chan *chan, void *buf, size_t len,
		    const char *name, u32 rights, u32 *handle);
int rclink_register_sg(struct rclink_chan *chan, struct scatterlist *sgl,
		       unsigned int nents, const char *name, u32 rights,
		       u32 *handle);
int rclink_withdraw(struct rclink_chan *chan, u32 handle);
int rclink_import(struct rclink_chan *chan, const char *name,
		  struct rclink_remote *remote);
int rclink_release(struct rclink_chan *chan,
		   const struct rclink_remote *remote);

struct rclink_share *rclink_share(void *buf, size_t len, const char *name,
				  u32 rights);
struct rclink_share *rclink_share_sg(struct scatterlist *sgl,
				     unsigned int nents, const char *name,
				     u32 rights);
int rclink_unshare(struct rclink_share *share);

int rclink_post(struct rclink_chan *chan, const struct rclink_dev_sqe *sqe,
		unsigned int n, unsigned int *taken);
int rclink_poll(struct rclink_chan *chan, int budget);
const char *rclink_status_name(u32 status);

/**
 * struct rclink_link_event - a link changed its state, its epoch, or the reason
 *	why it is down, or was deleted
 * @link: name
 * @id: number, which no other link of that name has
 * @state: current state
 * @reason: enum rclink_down_reason, if the link is down
 * @text: @reason in words
 * @epoch: number of the epoch that has this state; while a link is rotated
 *	there may be a newer one
 *
 * It, and what it points to, are there during the call only.
 */
struct rclink_link_event {
	const char *link;
	u32 id;
	enum rclink_link_state state;
	u32 reason;
	const char *text;
	u64 epoch;
};

int rclink_register_notifier(struct notifier_block *nb);
void rclink_unregister_notifier(struct notifier_block *nb);

/* The sender of a message that came under the key before the newest. */
#define RCLINK_GROUP_NOBODY	(~0U)
/* Bytes; no message of any host is longer. */
#define RCLINK_GROUP_LEN_MAX	4096

/**
 * struct rclink_group_ops - what a membership of a group calls
 * @received: a message from another host to this service came in: @data, of
 *	@len bytes, is valid during the call, as is @gid, of RCLINK_GID_LEN
 *	bytes, which the message names as its source. @sender is the number of
 *	the sender under the newest key, or RCLINK_GROUP_NOBODY. Returns false
 *	if there was no room for the message, which is counted with the group.
 *	@len may be more than rclink_group_max() says, and is at most
 *	RCLINK_GROUP_LEN_MAX. Do not remember @sender: another key gives the
 *	numbers to others, without notice.
 * @ended: the group was deleted; called once, nothing is called afterwards, and
 *	rclink_group_leave() is still due. A group that is down has not ended.
 *
 * @received is called in the group's completion handling, in process context,
 * @ended by whoever deletes the group; both maybe before rclink_group_join()
 * has returned. They are called one at a time, with a mutex of the group held.
 * So they must be short, and leave to others what calls rclink, except for
 * rclink_group_max(), or waits for somebody who does. They may sleep for a lock
 * or for memory, to be allocated with GFP_NOIO: on the way to a disk there may
 * be a queue pair whose completions are handled on the same workqueue.
 */
struct rclink_group_ops {
	bool (*received)(struct rclink_member *member, void *ctx,
			 const void *data, u32 len, u32 sender, const u8 *gid);
	void (*ended)(struct rclink_member *member, void *ctx);
};

struct rclink_member *rclink_group_join(const char *name, const char *service,
					const struct rclink_group_ops *ops,
					void *ctx);
void rclink_group_leave(struct rclink_member *member);
u32 rclink_group_max(const struct rclink_member *member);
int rclink_group_send(struct rclink_member *member, const void *data, u32 len);

/**
 * rclink_prep - begin an entry without data
 * @sqe: filled in
 * @op: enum rclink_dev_op
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 */
static inline void rclink_prep(struct rclink_dev_sqe *sqe, u8 op, u8 flags,
			       u64 user_data)
{
	memset(sqe, 0, offsetof(struct rclink_dev_sqe, sge));
	sqe->op = op;
	sqe->flags = flags;
	sqe->user_data = user_data;
}

/**
 * rclink_prep_piece - add a piece of a local region to an entry
 * @sqe: begun; takes RCLINK_DEV_SGE_MAX pieces at most: with more of them,
 *	rclink_post() says -EINVAL
 * @region: handle from rclink_register()
 * @offset: from the start of the region
 * @len: bytes
 */
static inline void rclink_prep_piece(struct rclink_dev_sqe *sqe, u32 region,
				     u64 offset, u32 len)
{
	struct rclink_dev_sge *sge;

	/* One too many is counted, and not written. */
	if (sqe->num_sge <= RCLINK_DEV_SGE_MAX)
		sqe->num_sge++;
	if (sqe->num_sge > RCLINK_DEV_SGE_MAX)
		return;
	sge = &sqe->sge[sqe->num_sge - 1];
	sge->offset = offset;
	sge->region = region;
	sge->len = len;
}

/**
 * rclink_prep_inline - let an entry of a SEND or WRITE carry its data
 * @sqe: begun
 * @data: copied now
 * @len: bytes, RCLINK_DEV_INLINE_MAX at most: with more of them, rclink_post()
 *	says -EINVAL
 */
static inline void rclink_prep_inline(struct rclink_dev_sqe *sqe,
				      const void *data, u32 len)
{
	sqe->flags |= RCLINK_SQE_INLINE;
	sqe->len = len;
	if (len <= RCLINK_DEV_INLINE_MAX)
		memcpy(sqe->inline_data, data, len);
}

/**
 * rclink_prep_send - begin a SEND
 * @sqe: filled in; data is added by rclink_prep_piece() or _inline()
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 */
static inline void rclink_prep_send(struct rclink_dev_sqe *sqe, u8 flags,
				    u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_SEND, flags, user_data);
}

/**
 * rclink_prep_send_imm - begin a SEND with immediate
 * @sqe: filled in; data is added by rclink_prep_piece() or _inline()
 * @imm: for the completion of the peer
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 */
static inline void rclink_prep_send_imm(struct rclink_dev_sqe *sqe, u32 imm,
					u8 flags, u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_SEND_IMM, flags, user_data);
	sqe->imm = imm;
}

/**
 * rclink_prep_recv - begin a receive
 * @sqe: filled in; data is added by rclink_prep_piece()
 * @user_data: for the completion
 */
static inline void rclink_prep_recv(struct rclink_dev_sqe *sqe, u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_RECV, 0, user_data);
}

/**
 * rclink_prep_remote - set what an entry's operation accesses at the peer
 * @sqe: begun
 * @remote: region of the peer
 * @offset: from its start
 */
static inline void rclink_prep_remote(struct rclink_dev_sqe *sqe,
				      const struct rclink_remote *remote,
				      u64 offset)
{
	sqe->remote = remote->handle;
	sqe->remote_offset = offset;
}

/**
 * rclink_prep_send_inv - begin a SEND that ends a region of the peer
 * @sqe: filled in; data is added by rclink_prep_piece() or _inline()
 * @remote: has RCLINK_REGION_INVALIDATE; cannot be used any more afterwards
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 */
static inline void rclink_prep_send_inv(struct rclink_dev_sqe *sqe,
					const struct rclink_remote *remote,
					u8 flags, u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_SEND_INV, flags, user_data);
	rclink_prep_remote(sqe, remote, 0);
}

/**
 * rclink_prep_write - begin a WRITE
 * @sqe: filled in; data is added by rclink_prep_piece() or _inline()
 * @remote: region of the peer
 * @offset: from its start
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 */
static inline void rclink_prep_write(struct rclink_dev_sqe *sqe,
				     const struct rclink_remote *remote,
				     u64 offset, u8 flags, u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_WRITE, flags, user_data);
	rclink_prep_remote(sqe, remote, offset);
}

/**
 * rclink_prep_write_imm - begin a WRITE with immediate
 * @sqe: filled in; data is added by rclink_prep_piece() or _inline()
 * @remote: region of the peer
 * @offset: from its start
 * @imm: for the completion of the peer, with RCLINK_CQE_WRITTEN; takes one of
 *	its receives, and puts no data there
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 */
static inline void rclink_prep_write_imm(struct rclink_dev_sqe *sqe,
					 const struct rclink_remote *remote,
					 u64 offset, u32 imm, u8 flags,
					 u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_WRITE_IMM, flags, user_data);
	rclink_prep_remote(sqe, remote, offset);
	sqe->imm = imm;
}

/**
 * rclink_prep_read - begin a READ
 * @sqe: filled in; the destination is added by rclink_prep_piece()
 * @remote: region of the peer
 * @offset: from its start
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 */
static inline void rclink_prep_read(struct rclink_dev_sqe *sqe,
				    const struct rclink_remote *remote,
				    u64 offset, u8 flags, u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_READ, flags, user_data);
	rclink_prep_remote(sqe, remote, offset);
}

/**
 * rclink_prep_cas - begin a compare and swap of 8 bytes
 * @sqe: filled in; a piece of 8 bytes is added for the old value
 * @remote: region of the peer
 * @offset: from its start, such that the address is a multiple of 8
 * @compare: swaps only if this was there
 * @swap: the new value
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 *
 * rclink_post() refuses it with -EOPNOTSUPP if the device of either end does
 * not have it.
 */
static inline void rclink_prep_cas(struct rclink_dev_sqe *sqe,
				   const struct rclink_remote *remote,
				   u64 offset, u64 compare, u64 swap, u8 flags,
				   u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_CAS, flags, user_data);
	rclink_prep_remote(sqe, remote, offset);
	sqe->compare_add = compare;
	sqe->swap = swap;
}

/**
 * rclink_prep_fadd - begin a fetch and add of 8 bytes
 * @sqe: filled in; a piece of 8 bytes is added for the old value
 * @remote: region of the peer
 * @offset: from its start, such that the address is a multiple of 8
 * @add: to the value there
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 *
 * rclink_post() refuses it with -EOPNOTSUPP if the device of either end does
 * not have it.
 */
static inline void rclink_prep_fadd(struct rclink_dev_sqe *sqe,
				    const struct rclink_remote *remote,
				    u64 offset, u64 add, u8 flags,
				    u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_FADD, flags, user_data);
	rclink_prep_remote(sqe, remote, offset);
	sqe->compare_add = add;
}

/**
 * rclink_prep_mcas - begin a compare and swap of some bits in 8 bytes
 * @sqe: filled in; a piece of 8 bytes is added for the old value
 * @remote: region of the peer
 * @offset: from its start, such that the address is a multiple of 8
 * @compare: swaps only if this was there
 * @swap: the new value
 * @compare_mask: only these bits are compared
 * @swap_mask: only these bits of @swap are taken
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 *
 * rclink_post() refuses it with -EOPNOTSUPP if the device of either end does
 * not have it.
 */
static inline void rclink_prep_mcas(struct rclink_dev_sqe *sqe,
				    const struct rclink_remote *remote,
				    u64 offset, u64 compare, u64 swap,
				    u64 compare_mask, u64 swap_mask, u8 flags,
				    u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_MCAS, flags, user_data);
	rclink_prep_remote(sqe, remote, offset);
	sqe->compare_add = compare;
	sqe->compare_mask = compare_mask;
	sqe->swap = swap;
	sqe->swap_mask = swap_mask;
}

/**
 * rclink_prep_mfadd - begin a fetch and add of numbers within 8 bytes
 * @sqe: filled in; a piece of 8 bytes is added for the old value
 * @remote: region of the peer
 * @offset: from its start, such that the address is a multiple of 8
 * @add: to the value there
 * @boundaries: has the highest bit of each number set: a carry out of it is
 *	lost
 * @flags: RCLINK_SQE_*
 * @user_data: for the completion
 *
 * rclink_post() refuses it with -EOPNOTSUPP if the device of either end does
 * not have it.
 */
static inline void rclink_prep_mfadd(struct rclink_dev_sqe *sqe,
				     const struct rclink_remote *remote,
				     u64 offset, u64 add, u64 boundaries,
				     u8 flags, u64 user_data)
{
	rclink_prep(sqe, RCLINK_OP_MFADD, flags, user_data);
	rclink_prep_remote(sqe, remote, offset);
	sqe->compare_add = add;
	sqe->compare_mask = boundaries;
}

#endif /* RCLINK_H */
