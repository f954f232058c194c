/* SPDX-License-Identifier: GPL-2.0 */
/*
 * librclink: channels, regions and RDMA operations for processes.
 *
 * A channel is the lease of one queue pair of a link, at both ends: one host
 * listens on a service of the link, the other connects to it. Operations are
 * queued in a ring that the kernel shares, handed over by rclink_submit() in
 * batches, and complete in another ring, which rclink_reap() reads without any
 * system call.
 *
 * Functions that return an int return a negative errno when they fail. Those
 * that move data allocate nothing. One thread at a time may queue and submit on
 * a channel, and one may reap; the two may differ. Closing does not interrupt a
 * thread that waits in a call: see THREADS in librclink(3).
 */
#ifndef RCLINK_H
#define RCLINK_H

#include <stdint.h>

#include <linux/rclink_dev.h>

#include "rclink_share.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rclink_chan;
struct rclink_listener;

/**
 * struct rclink_remote - a region of the peer
 * @len: bytes
 * @handle: names it in operations on this channel
 * @rights: RCLINK_REGION_*, what the peer allows
 */
struct rclink_remote {
	uint64_t len;
	uint32_t handle;
	uint32_t rights;
};

/**
 * struct rclink_source - where a message to a group came from
 * @gid: the one that its packet named, which nothing proves
 */
struct rclink_source {
	uint8_t gid[16];
};

/**
 * struct rclink_data - what an operation moves; made by a function below
 * @inline_data: bytes that are copied when the operation is queued, or NULL
 * @sge: pieces of local regions, or NULL
 * @one: the only piece, if @sge is NULL
 * @num: bytes at @inline_data, or pieces
 */
struct rclink_data {
	const void *inline_data;
	const struct rclink_dev_sge *sge;
	struct rclink_dev_sge one;
	uint32_t num;
};

/**
 * rclink_none() - no data, for an operation of zero bytes
 *
 * Return: the data argument of the functions that queue.
 */
struct rclink_data rclink_none(void);

/**
 * rclink_bytes() - data that is copied when the operation is queued
 * @bytes: at least @len bytes; can be reused after the call that queues
 * @len: RCLINK_DEV_INLINE_MAX at most; only for sends and writes
 *
 * Return: the data argument of the functions that queue.
 */
struct rclink_data rclink_bytes(const void *bytes, uint32_t len);

/**
 * rclink_piece() - a piece of a local region
 * @region: handle from rclink_region()
 * @offset: from the start of the region, in bytes
 * @len: bytes; 0 is the same as rclink_none()
 *
 * Return: the data argument of the functions that queue.
 */
struct rclink_data rclink_piece(uint32_t region, uint64_t offset,
				uint32_t len);

/**
 * rclink_pieces() - several pieces of local regions, one after the other
 * @sge: the pieces; read by the call that queues
 * @num: how many, RCLINK_DEV_SGE_MAX at most
 *
 * Return: the data argument of the functions that queue.
 */
struct rclink_data rclink_pieces(const struct rclink_dev_sge *sge,
				 uint32_t num);

/**
 * rclink_connect() - open a channel to a service of the peer
 * @chan: set to the channel
 * @link: name of the link
 * @service: name that the peer listens on
 * @flags: RCLINK_CONNECT_WAIT to wait for a free queue pair,
 *	RCLINK_CHAN_POLLED to have no event for completions: rclink_submit()
 *	looks for them, and polls for 20 ms before it sleeps, or 5 ms while
 *	somebody else wants its processor (fast, but it occupies one), until
 *	poll() asks for more than the end of the channel;
 *	RCLINK_CHAN_REPLAY to have READs and WRITEs that a new epoch cuts short
 *	carried out again
 *
 * Return: 0, or -ENOENT without the module, -EACCES without the right to open
 * /dev/rclink or to use the link (see mode in rclink(8)), -ENODEV for no such
 * link, -ENOTCONN if it is not up, -ECONNREFUSED if nobody listens;
 * -EAGAIN, without RCLINK_CONNECT_WAIT, if no queue pair is free or about to be
 * (one that a channel has just left is waited for, as long as an answer of the
 * peer would be: 10 s, or as long as heartbeats let it be silent), or, even
 * with that flag, if 256 calls, from any process, already wait for one on that
 * link, or the peer's backlog is full;
 * -EINVAL for a name that is empty or too long, or an unknown flag, -EIO if the
 * device cannot reach its memory, -EMFILE, -ENFILE, -ENOMEM, -EINTR.
 */
int rclink_connect(struct rclink_chan **chan, const char *link,
		   const char *service, unsigned int flags);

/**
 * rclink_join() - open a channel to a service of a group of this host
 * @chan: set to the channel
 * @group: name of the group, see `rclink group`
 * @service: name, the same for all that communicate with each other
 * @flags: 0
 *
 * A message goes to all other members in one packet, and there to all that
 * joined that service and have a receive posted; the same holds here. All of it
 * is unreliable: a message arrives once or not at all, and nobody is told. The
 * only operations are rclink_send() and rclink_recv(); regions have 1 MiB at
 * most, and neither name nor rights, not even RCLINK_REGION_READ_ONLY.
 * rclink_submit() returns -EMSGSIZE for more than rclink_max_message(),
 * -EOPNOTSUPP for other operations, and -ESHUTDOWN when the group was deleted.
 * A send completes when the device has it; while the group is down, or has no
 * key yet, it completes with "work request flushed error", and is not sent. The
 * completion of a receive has the number of the member as its immediate, with
 * RCLINK_CQE_SENDER.
 *
 * Return: 0, or -ENOENT without the module, -EACCES without the right to open
 * /dev/rclink, or to use the group, -ENODEV for no such group, -ENOSPC if 64,
 * also kernel modules, use it, -EINVAL for a name that is empty or too long, or
 * a flag, -ENOTTY from an older module, -EMFILE, -ENFILE, -ENOMEM, -EINTR.
 */
int rclink_join(struct rclink_chan **chan, const char *group,
		const char *service, unsigned int flags);

/**
 * rclink_max_message() - how long may a message to a group be?
 * @chan: the channel
 *
 * Return: bytes, as of when the channel was opened, or when a message was last
 * refused for its length; 0 for a channel that is not to a group.
 */
uint32_t rclink_max_message(const struct rclink_chan *chan);

/**
 * rclink_listen() - listen on a service of a link
 * @listener: set to the listener
 * @link: name of the link, which need not exist yet
 * @service: name; one listener at a time
 * @backlog: channels that may wait for rclink_accept(), 1 to 64
 * @flags: RCLINK_CHAN_POLLED and RCLINK_CHAN_REPLAY, for the channels that are
 *	accepted
 *
 * The right to use the link is checked again for each channel that the peer
 * opens: without it none arrives, and the service is free for whoever has it.
 *
 * Return: 0, or -ENOENT, -EACCES, -EMFILE, -ENFILE, -ENOMEM as for
 * rclink_connect(), -EINVAL likewise, or for another @backlog, -EADDRINUSE, or
 * -ENOSPC beyond 4096 listeners of this user.
 */
int rclink_listen(struct rclink_listener **listener, const char *link,
		  const char *service, unsigned int backlog,
		  unsigned int flags);

/**
 * rclink_accept() - wait for a channel that a peer opens
 * @listener: the listener
 * @chan: set to the channel
 *
 * After -EMFILE or -ENFILE the channel can be accepted later; after -ENOMEM it
 * may have ended.
 *
 * A thread that must be able to stop sets O_NONBLOCK on rclink_listener_fd(),
 * and polls it together with something else, such as an eventfd: neither
 * rclink_listener_close() nor pthread_cancel() ends this call.
 *
 * Return: 0, or -EINTR, -EAGAIN if none waits and O_NONBLOCK is set on
 * rclink_listener_fd(), -EMFILE, -ENFILE, -ENOMEM.
 */
int rclink_accept(struct rclink_listener *listener, struct rclink_chan **chan);

/**
 * rclink_adopt() - use a channel's file descriptor that was passed to us
 * @chan: set to the channel
 * @fd: belongs to the channel from now on; not closed on error
 *
 * Return: 0, or -EBADF, -ENODEV, -EINVAL if @fd is no channel, -ENOTCONN if it
 * is not yet one, or is a listener, -ENOMEM.
 */
int rclink_adopt(struct rclink_chan **chan, int fd);

/**
 * rclink_fd() - file descriptor of a channel, for poll() and epoll
 * @chan: the channel
 *
 * It is readable when there is something for rclink_reap(), and hung up when
 * the channel has ended. It is writable when rclink_submit() may take
 * something: not while the channel is suspended, nor after an -EBUSY with all
 * reaped until something has completed, signaled or not. It is closed on exec.
 *
 * Return: a file descriptor that belongs to the channel.
 */
int rclink_fd(const struct rclink_chan *chan);

/**
 * rclink_listener_fd() - file descriptor of a listener, for poll() and epoll
 * @listener: the listener
 *
 * Return: a file descriptor that belongs to the listener, readable when a
 * channel waits for rclink_accept().
 */
int rclink_listener_fd(const struct rclink_listener *listener);

/**
 * rclink_close() - end a channel, and its regions
 * @chan: the channel; NULL is allowed
 *
 * Nobody may be in a call on it, or make one: it is freed. What has not
 * completed is abandoned: to know that the last messages have arrived, send
 * them signaled, and wait. As long as a child after fork, or a process that was
 * passed the file descriptor, has a copy of it, the channel lives on, and
 * memory that is registered stays locked.
 */
void rclink_close(struct rclink_chan *chan);

/**
 * rclink_listener_close() - stop listening; accepted channels live on
 * @listener: the listener; NULL is allowed
 *
 * Nobody may be in rclink_accept(). The service stays taken as long as a child
 * after fork has a copy of the listener.
 */
void rclink_listener_close(struct rclink_listener *listener);

/**
 * rclink_region() - register memory of this process
 * @chan: the channel; the region ends with it
 * @addr: start of the memory
 * @len: bytes, at least 1
 * @name: the peer imports it under this name; NULL for local use
 * @rights: RCLINK_REGION_* of the peer, 0 for local use; in addition,
 *	RCLINK_REGION_READ_ONLY or not
 * @region: set to its handle
 *
 * The memory is locked and counts towards RLIMIT_MEMLOCK. A region with a name
 * has rights, one without has none. With RCLINK_REGION_READ_ONLY it may be
 * memory that this process may only read: to send or write from, and for the
 * peer to read.
 *
 * Return: 0, or -EINVAL, -EFAULT, -EMSGSIZE for more than 4096 registrations of
 * the device can hold, -EOPNOTSUPP for a right that the device does not have,
 * RCLINK_REGION_INVALIDATE if one registration is too small, a file on DAX, or
 * memory that the device would reach only through a copy (bounce buffers),
 * -EDQUOT beyond RLIMIT_MEMLOCK, -EEXIST for a name that is taken, -ENOSPC for
 * too many regions, -EAGAIN while the channel is suspended, -EIO while its link
 * goes down, -EINTR, -ENOMEM, the reason why the channel ended, an errno of the
 * device, or -ENOTRECOVERABLE when it failed and did not give back what it had:
 * then the memory stays locked.
 */
int rclink_region(struct rclink_chan *chan, void *addr, uint64_t len,
		  const char *name, unsigned int rights, uint32_t *region);

/**
 * rclink_memory() - allocate memory, map it, and register it
 * @chan: the channel; the region ends with it
 * @addr: set to where it is mapped
 * @len: bytes, whole pages
 * @name: the peer imports it under this name; NULL for local use
 * @rights: RCLINK_REGION_* of the peer, 0 for local use; in addition,
 *	RCLINK_REGION_READ_ONLY or not
 * @region: set to its handle
 *
 * The memory is zero at first. The region outlives munmap(), and the mapping
 * outlives rclink_withdraw() and rclink_close(); a child after fork has the
 * same memory. While it is registered it counts towards RLIMIT_MEMLOCK.
 *
 * Return: 0, or as for rclink_region(), or an errno of mmap().
 */
int rclink_memory(struct rclink_chan *chan, void **addr, uint64_t len,
		  const char *name, unsigned int rights, uint32_t *region);

/**
 * rclink_dmabuf() - register the memory behind a dma-buf
 * @chan: the channel; the region ends with it
 * @fd: of the dma-buf, for example of a GPU; may be closed afterwards
 * @offset: where in the dma-buf the region starts, in bytes
 * @len: bytes, at least 1, to the dma-buf's end at most
 * @name: the peer imports it under this name; NULL for local use
 * @rights: RCLINK_REGION_* of the peer, 0 for local use; in addition,
 *	RCLINK_REGION_READ_ONLY or not
 * @region: set to its handle
 *
 * The memory need not be RAM, and counts towards no limit. While it is
 * registered it stays where it is; enclose any access by the CPU meanwhile in
 * DMA_BUF_IOCTL_SYNC.
 *
 * The device must do DMA of its own. One that does not, such as rxe, cannot
 * reach the memory, and the call returns -EOPNOTSUPP: use a link on another
 * device, or copy through an rclink_region().
 *
 * Return: 0, -EBADF, -EINVAL if it is no dma-buf, or the region exceeds it, or
 * its pieces are not whole pages, -EACCES if it may not be written, -EIO if it
 * is shorter than it says, or its exporter could not move its content there,
 * -EINTR, -ETIMEDOUT if it was not ready after 5 s, -ENOTTY from an older
 * module, as for rclink_region(), or an errno of the exporter.
 */
int rclink_dmabuf(struct rclink_chan *chan, int fd, uint64_t offset,
		  uint64_t len, const char *name, unsigned int rights,
		  uint32_t *region);

/**
 * rclink_withdraw() - end a region
 * @chan: the channel
 * @region: handle from rclink_region(), rclink_memory() or rclink_dmabuf()
 *
 * When it returns 0, neither end can reach the memory through it any more.
 *
 * Return: 0, -ESTALE, or -EIO when the device did not end it: then the memory
 * may still be reached, and its pages stay locked and are lost.
 */
int rclink_withdraw(struct rclink_chan *chan, uint32_t region);

/**
 * rclink_import() - find a region that the peer exports
 * @chan: the channel
 * @name: of the region
 * @remote: set
 *
 * If the link is rotated meanwhile, the peer is asked again.
 *
 * Return: 0, or -ENOENT if the peer has none of that name, -ENOSPC beyond 64
 * at a time, -EAGAIN while the link is down and the channel suspended,
 * -ETIMEDOUT if for 30 s the peer was busy or did not resume a channel, or 64
 * imports of this channel had no answer, or if the link was rotated after that;
 * -EINVAL, -EINTR, -ENOMEM, or the reason why the channel ended.
 */
int rclink_import(struct rclink_chan *chan, const char *name,
		  struct rclink_remote *remote);

/**
 * rclink_release() - give an import back
 * @chan: the channel
 * @remote: from rclink_import(); cannot be used any more afterwards
 *
 * What was submitted with it goes on. Another region can be imported instead.
 *
 * Return: 0, or -ESTALE.
 */
int rclink_release(struct rclink_chan *chan,
		   const struct rclink_remote *remote);

/*
 * Each function below queues one operation; rclink_submit() starts it.
 *
 * @user_data is returned in the completion. @flags are RCLINK_SQE_SIGNALED
 * (without it only a failure completes), RCLINK_SQE_FENCE (start after all
 * earlier reads and atomics are done) and RCLINK_SQE_SOLICITED. @offset is from
 * the start of the peer's region, in bytes.
 *
 * Local memory is in use until its operation is over: when that, or a later
 * send, write, read or atomic of the channel, has completed with success, or
 * when the channel has ended. A receive's completion covers itself only.
 *
 * They return 0; -EAGAIN when the ring is full: submit, and try again;
 * -EINVAL for too many pieces or inline bytes, inline bytes where none are
 * allowed, or an unknown flag; -EIO when the ring's indexes make no sense.
 */

/**
 * rclink_send() - queue a SEND
 * @chan: the channel
 * @data: what to send
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_send(struct rclink_chan *chan, struct rclink_data data,
		unsigned int flags, uint64_t user_data);

/**
 * rclink_send_imm() - queue a SEND with immediate
 * @chan: the channel
 * @data: what to send
 * @imm: for the receiver's completion
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_send_imm(struct rclink_chan *chan, struct rclink_data data,
		    uint32_t imm, unsigned int flags, uint64_t user_data);

/**
 * rclink_send_inv() - queue a SEND that ends a region of the peer
 * @chan: the channel
 * @data: what to send
 * @remote: the peer's region, exported on this channel with
 *	RCLINK_REGION_INVALIDATE; cannot be used any more afterwards
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * The receiver's completion has RCLINK_CQE_INVALIDATED and the handle of its
 * region as the immediate; it has only rclink_withdraw() left to do.
 *
 * Return: see above.
 */
int rclink_send_inv(struct rclink_chan *chan, struct rclink_data data,
		    const struct rclink_remote *remote, unsigned int flags,
		    uint64_t user_data);

/**
 * rclink_write() - queue an RDMA WRITE
 * @chan: the channel
 * @data: what to write
 * @remote: the peer's region
 * @offset: where in it
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_write(struct rclink_chan *chan, struct rclink_data data,
		 const struct rclink_remote *remote, uint64_t offset,
		 unsigned int flags, uint64_t user_data);

/**
 * rclink_write_imm() - queue an RDMA WRITE with immediate
 * @chan: the channel
 * @data: what to write
 * @remote: the peer's region
 * @offset: where in it
 * @imm: for the completion of a receive, which the peer must have posted
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * The receive's completion has RCLINK_CQE_WRITTEN, because nothing is in the
 * receive itself, and the length of the part in the last extent of the region
 * that this writes to (channels.rst).
 *
 * Return: see above.
 */
int rclink_write_imm(struct rclink_chan *chan, struct rclink_data data,
		     const struct rclink_remote *remote, uint64_t offset,
		     uint32_t imm, unsigned int flags, uint64_t user_data);

/**
 * rclink_read() - queue an RDMA READ
 * @chan: the channel
 * @data: where to; not inline
 * @remote: the peer's region
 * @offset: where in it
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_read(struct rclink_chan *chan, struct rclink_data data,
		const struct rclink_remote *remote, uint64_t offset,
		unsigned int flags, uint64_t user_data);

/**
 * rclink_cas() - queue an atomic compare and swap of 8 bytes
 * @chan: the channel
 * @data: where the old value goes: one piece of 8 bytes
 * @remote: the peer's region
 * @offset: where in it; the address there must be a multiple of 8
 * @compare: the value to compare with
 * @swap: the new value, if they are equal
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_cas(struct rclink_chan *chan, struct rclink_data data,
	       const struct rclink_remote *remote, uint64_t offset,
	       uint64_t compare, uint64_t swap, unsigned int flags,
	       uint64_t user_data);

/**
 * rclink_fadd() - queue an atomic fetch and add of 8 bytes
 * @chan: the channel
 * @data: where the old value goes: one piece of 8 bytes
 * @remote: the peer's region
 * @offset: where in it; the address there must be a multiple of 8
 * @add: the value to add
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_fadd(struct rclink_chan *chan, struct rclink_data data,
		const struct rclink_remote *remote, uint64_t offset,
		uint64_t add, unsigned int flags, uint64_t user_data);

/**
 * rclink_mcas() - queue an atomic compare and swap of some bits of 8 bytes
 * @chan: the channel
 * @data: where the old value goes: one piece of 8 bytes
 * @remote: the peer's region
 * @offset: where in it; the address there must be a multiple of 8
 * @compare: the value to compare with, in the bits of @compare_mask
 * @swap: the new value, in the bits of @swap_mask, if those are equal
 * @compare_mask: bits to compare
 * @swap_mask: bits to change
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_mcas(struct rclink_chan *chan, struct rclink_data data,
		const struct rclink_remote *remote, uint64_t offset,
		uint64_t compare, uint64_t swap, uint64_t compare_mask,
		uint64_t swap_mask, unsigned int flags, uint64_t user_data);

/**
 * rclink_mfadd() - queue an atomic fetch and add in fields of 8 bytes
 * @chan: the channel
 * @data: where the old value goes: one piece of 8 bytes
 * @remote: the peer's region
 * @offset: where in it; the address there must be a multiple of 8
 * @add: the value to add, field by field
 * @boundary: has the highest bit of each field set: no carry leaves a field
 * @flags: RCLINK_SQE_*
 * @user_data: of the completion
 *
 * Return: see above.
 */
int rclink_mfadd(struct rclink_chan *chan, struct rclink_data data,
		 const struct rclink_remote *remote, uint64_t offset,
		 uint64_t add, uint64_t boundary, unsigned int flags,
		 uint64_t user_data);

/**
 * rclink_recv() - queue a receive
 * @chan: the channel
 * @data: where one message goes; not inline
 * @user_data: of the completion, which always comes
 *
 * No more than RCLINK_DEV_RECVS can be posted at a time: one more holds up what
 * is queued behind it until one of them completes.
 *
 * Return: see above.
 */
int rclink_recv(struct rclink_chan *chan, struct rclink_data data,
		uint64_t user_data);

/**
 * rclink_submit() - hand all that is queued to the kernel, and wait
 * @chan: the channel
 * @wait: return when this many completions can be reaped; 0 does not wait
 * @timeout_ms: limit of the wait, then -ETIME; 0 for no limit
 *
 * On a channel to a group each send may wait for the device, too: 1 s at most,
 * whatever @wait and @timeout_ms are. Entries are taken in order, receives and
 * others alike: one without room, such as one receive more than
 * RCLINK_DEV_RECVS, holds up all behind it. When the kernel stops at an entry,
 * a call that took others before it returns how many, and does not wait; the
 * next call begins with the one it stopped at. What has no room stays queued
 * (-EBUSY). What is refused is dropped, with those behind it, by the call that
 * returns why. A caller that does not count entries calls again until the
 * result is 0 or an error.
 *
 * While the channel is suspended, all stays queued, and a call with @wait also
 * waits for the end of that, which poll() reports as POLLOUT. That the channel
 * has ended is reported when all completions can be reaped; a call waits for
 * that, even without @wait. In both cases entries may be left after -ETIME and
 * -EINTR, as after -EINTR on a channel to a group: call again.
 *
 * Return: how many entries the kernel took; or for the first one -EINVAL if it
 * is wrong or beyond the bounds of a region, -EACCES if it exceeds the rights,
 * or writes to a local region that is read only, -ESTALE for no such region,
 * -EMSGSIZE for more than 8 extents of the peer's regions, or, of local ones,
 * more than 8 or SGES of `rclink dev`, -EOPNOTSUPP for an atomic that the
 * device of either end does not have, -EBUSY for no room, or an errno of the
 * device's driver, such as -ENOMEM; or -EAGAIN while the channel is suspended
 * and @wait is 0, -ETIME, -EINTR, or, when it has ended, -ECONNRESET, or
 * -ENODEV when its device was removed. Before it takes or drops anything:
 * -EINVAL for @wait beyond RCLINK_DEV_CQ_DEPTH, -EIO for bad indexes.
 */
int rclink_submit(struct rclink_chan *chan, unsigned int wait,
		  unsigned int timeout_ms);

/**
 * rclink_reap() - take completions from the ring, without a system call
 * @chan: the channel
 * @cqes: where they are copied to
 * @max: how many there is room for
 *
 * Return: how many, 0 if there are none, or -EIO when the ring's indexes make
 * no sense.
 */
int rclink_reap(struct rclink_chan *chan, struct rclink_dev_cqe *cqes,
		unsigned int max);

/**
 * rclink_reap_from() - rclink_reap() for a channel to a group, with sources
 * @chan: the channel, from rclink_join()
 * @cqes: where they are copied to
 * @sources: set to those of receives; else to zero
 * @max: how many there is room for
 *
 * Return: as for rclink_reap(), or -EOPNOTSUPP for another channel.
 */
int rclink_reap_from(struct rclink_chan *chan, struct rclink_dev_cqe *cqes,
		     struct rclink_source *sources, unsigned int max);

/**
 * rclink_status_name() - words for a completion's status
 * @status: of struct rclink_dev_cqe
 *
 * Return: text such as "remote access error"; never NULL.
 */
const char *rclink_status_name(uint32_t status);

/**
 * rclink_op_name() - word for an operation
 * @op: enum rclink_dev_op
 *
 * Return: text such as "write-imm"; never NULL.
 */
const char *rclink_op_name(unsigned int op);

#ifdef __cplusplus
}
#endif

#endif /* RCLINK_H */
