/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/rclink: channels, regions and operations for processes.
 *
 * An open file is nothing yet: poll() returns EPOLLERR, and an epoll set that
 * it is in by then reports nothing later. RCLINK_IOC_CONNECT makes it a
 * channel, RCLINK_IOC_LISTEN a listener, on which each RCLINK_IOC_ACCEPT
 * returns a new channel file. A channel leases one wired QP of its link at both
 * ends. Its memory (mmap offset 0, struct rclink_dev_shared) holds a submission
 * and a completion ring; RCLINK_IOC_SUBMIT hands entries to the kernel and can
 * wait; completions can be reaped without any call.
 *
 * A region is registered in extents of as many bytes as one registration of the
 * device takes, such as 2 MiB. An operation has a part for each extent that it
 * touches: at most RCLINK_DEV_PARTS_MAX in the peer's regions, each of which
 * counts as an operation in flight, and as many in local regions, all pieces
 * together, or fewer, but at least RCLINK_DEV_SGE_MAX, if the device's work
 * requests cannot have that many. The operation completes once. An atomic
 * cannot have two parts.
 *
 * A call on a file of the wrong kind fails: with EISCONN if it is one that
 * decides what the file is, with EINVAL if it is ACCEPT, else with ENOTCONN on
 * a file that is nothing or a listener, and with EOPNOTSUPP on a group's
 * channel or a share. A call that does not exist fails with ENOTTY. A field
 * that must be zero, or has a bound, is EINVAL otherwise.
 *
 * Until the peer has posted its first receive, the first operation that needs
 * one, and those behind it, are in flight without being started.
 *
 * A call, or poll(), says that a channel has ended only when all its
 * completions are in the ring. A call waits for that, even a SUBMIT without
 * @wait; one that has nothing to hand over, either, returns 0 until then.
 *
 * When a link fails whose operator said "recover resume", its channels are
 * suspended until there is another epoch: nothing can be posted (EAGAIN; a
 * SUBMIT with @wait also waits for the end of the suspension, when poll()
 * returns EPOLLOUT), and what is in flight stays in flight. Regions and imports
 * keep their handles. Messages that the peer has received complete, and the
 * others are sent again, so each arrives once, in order. A WRITE that was
 * posted before a message that the peer has received completes, too. A READ or
 * another WRITE is carried out again only with RCLINK_CHAN_REPLAY, and a READ
 * only if the peer has received no message that was posted behind it. Otherwise
 * a READ ends as flushed and a WRITE as RCLINK_STATUS_UNKNOWN, while messages
 * behind it are sent. So a process that tells the peer of a WRITE without
 * having waited for its completion needs that flag. RCLINK_SQE_FENCE does not
 * change that: a process that tells the peer that it has read must wait for the
 * completion, or needs the flag, too. An atomic is never carried out again. If
 * a region or an import that a posted receive, or an operation to be carried
 * out again, needs was withdrawn or released meanwhile, the channel ends.
 * Completions keep the order of submission.
 *
 * RCLINK_IOC_JOIN makes a file a channel to a service of a group of this host,
 * if its opener has the right, as for a link. The kernel copies and seals, so
 * regions belong to no device, are at most RCLINK_DEV_GROUP_REGION_MAX long,
 * and have neither name nor rights; the operations are RCLINK_OP_SEND, without
 * immediate, and RCLINK_OP_RECV. Such a channel is unreliable: a SEND is
 * carried out when it is submitted, and is over when the device has it; a
 * channel without a posted receive, on this host or another, gets nothing, and
 * nobody is told. A SEND is EMSGSIZE beyond @max of the channel's memory
 * (struct rclink_dev_group_shared), and completes as flushed while the group is
 * down or has no key. When the group is deleted, the channel ends.
 *
 * RCLINK_IOC_SHARE makes a file a share: its regions are exported to all links,
 * present and future, over which the peers import them like those of a channel.
 * Each has a name, which no other region for all links of the same user has
 * (EEXIST), and rights, except RCLINK_REGION_INVALIDATE. It is pinned and
 * counted once. Whoever opened the file must have the right to use a link: that
 * is checked whenever the peer imports. A region of a channel of that link,
 * with the same name, comes first; if several users export one name, the first
 * of them that has the right does. A share has REGION, MEMORY, WITHDRAW, and
 * mmap() of what MEMORY has allocated. WITHDRAW, and the end of the file, end
 * the registrations with all links before the memory is let go. A link whose
 * device does not take a region does not export it; one whose device has no
 * atomics exports it without that right, or not at all if it has no other.
 * poll() of a share returns EPOLLERR.
 */
#ifndef _UAPI_LINUX_RCLINK_DEV_H
#define _UAPI_LINUX_RCLINK_DEV_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define RCLINK_DEV_LINK_LEN	32	/* with the NUL */
#define RCLINK_DEV_SERVICE_LEN	32	/* with the NUL */
#define RCLINK_DEV_REGION_LEN	32	/* with the NUL */
#define RCLINK_DEV_SGE_MAX	4
#define RCLINK_DEV_PARTS_MAX	8	/* of an operation, at either end */
#define RCLINK_DEV_INLINE_MAX	64
#define RCLINK_DEV_DEPTH	256	/* entries of the submission ring */
#define RCLINK_DEV_CQ_DEPTH	512	/* entries of the completion ring */
#define RCLINK_DEV_BACKLOG_MAX	64	/* channels that wait for ACCEPT */
/* With what the kernel adds, devices that round up need no more than 32. */
#define RCLINK_DEV_SENDS	29	/* in flight, other than receives */
#define RCLINK_DEV_RECVS	30	/* receives posted */
#define RCLINK_DEV_GROUP_REGION_MAX	(1 << 20)	/* bytes */

/**
 * enum rclink_dev_op - what a submission entry asks for
 * @RCLINK_OP_SEND: send @sge or inline data
 * @RCLINK_OP_SEND_IMM: the same with @imm
 * @RCLINK_OP_WRITE: from @sge or inline data to @remote, @remote_offset
 * @RCLINK_OP_WRITE_IMM: the same; @imm uses up a receive of the peer
 * @RCLINK_OP_READ: from @remote, @remote_offset to @sge
 * @RCLINK_OP_CAS: 8 bytes: @compare_add, @swap; the old value goes to @sge
 * @RCLINK_OP_FADD: 8 bytes: adds @compare_add; the old value goes to @sge
 * @RCLINK_OP_RECV: take one message into @sge
 * @RCLINK_OP_SEND_INV: like SEND, and ends the peer's region @remote
 * @RCLINK_OP_MCAS: CAS that compares @compare_mask's bits, swaps @swap_mask's
 * @RCLINK_OP_MFADD: FADD in fields that end at the bits of @compare_mask
 */
enum rclink_dev_op {
	RCLINK_OP_SEND,
	RCLINK_OP_SEND_IMM,
	RCLINK_OP_WRITE,
	RCLINK_OP_WRITE_IMM,
	RCLINK_OP_READ,
	RCLINK_OP_CAS,
	RCLINK_OP_FADD,
	RCLINK_OP_RECV,
	RCLINK_OP_SEND_INV,
	RCLINK_OP_MCAS,
	RCLINK_OP_MFADD,
	RCLINK_OP_MAX
};

/* Flags of a submission entry. */
#define RCLINK_SQE_SIGNALED	0x01	/* a completion also on success */
#define RCLINK_SQE_INLINE	0x02	/* @inline_data: @len bytes, no @sge */
#define RCLINK_SQE_FENCE	0x04	/* after all earlier READs, atomics */
#define RCLINK_SQE_SOLICITED	0x08	/* the verbs' flag; here all wake */
#define RCLINK_SQE_FLAGS	0x0f

/**
 * struct rclink_dev_sge - a piece of a local region
 * @offset: from its start, in bytes
 * @region: handle
 * @len: bytes
 */
struct rclink_dev_sge {
	__u64 offset;
	__u32 region;
	__u32 len;
};

/**
 * struct rclink_dev_sqe - one submission entry, 128 bytes
 * @op: enum rclink_dev_op
 * @flags: RCLINK_SQE_*; zero for RCLINK_OP_RECV
 * @num_sge: entries of @sge, none with RCLINK_SQE_INLINE
 * @pad: zero
 * @len: bytes of @inline_data
 * @user_data: returned in the completion
 * @remote_offset: from the start of @remote, in bytes
 * @remote: handle from RCLINK_IOC_IMPORT
 * @imm: immediate
 * @compare_add: for atomics
 * @swap: for CAS and MCAS
 * @compare_mask: for MCAS and MFADD, else zero
 * @swap_mask: for MCAS, else zero
 * @sge: local memory
 * @inline_data: or the data itself
 *
 * What the operation has no use for is ignored, and always will be: @len
 * without RCLINK_SQE_INLINE, @remote, @remote_offset, @imm, @compare_add,
 * @swap, @sge from @num_sge on, and @inline_data from @len on. @flags,
 * @num_sge, @pad and the masks are checked.
 */
struct rclink_dev_sqe {
	__u8 op;
	__u8 flags;
	__u8 num_sge;
	__u8 pad;
	__u32 len;
	__u64 user_data;
	__u64 remote_offset;
	__u32 remote;
	__u32 imm;
	__u64 compare_add;
	__u64 swap;
	__u64 compare_mask;
	__u64 swap_mask;
	union {
		struct rclink_dev_sge sge[RCLINK_DEV_SGE_MAX];
		__u8 inline_data[RCLINK_DEV_INLINE_MAX];
	};
};

/*
 * Besides the verbs' statuses: a WRITE or an atomic was in flight when the
 * epoch ended, and may have been carried out, or not.
 */
#define RCLINK_STATUS_UNKNOWN	0x100

/* Flags of a completion. */
#define RCLINK_CQE_IMM		0x01	/* @imm is valid */
#define RCLINK_CQE_INVALIDATED	0x02	/* @imm: the local region that ended */
/* @imm is the member's number; not set if it sent under the previous key. */
#define RCLINK_CQE_SENDER	0x04
/* A WRITE_IMM took this receive: the data is in a region, none is here. */
#define RCLINK_CQE_WRITTEN	0x08

/**
 * struct rclink_dev_cqe - one completion, 40 bytes
 * @user_data: that of the submission
 * @time: when the kernel saw it, in nanoseconds of CLOCK_MONOTONIC of the host,
 *	not of a time namespace
 * @status: enum ib_wc_status of the verbs, 0 is success, or
 *	RCLINK_STATUS_UNKNOWN
 * @vendor_err: of the device
 * @len: bytes received, read or written, if @status is success; for a receive
 *	that a WRITE_IMM took, those of its last part, which may be more than
 *	the receive has room for: see RCLINK_CQE_WRITTEN
 * @imm: the peer's immediate, a region's handle, or a member's number: see
 *	@flags
 * @op: enum rclink_dev_op
 * @flags: RCLINK_CQE_*
 * @pad: zero
 */
struct rclink_dev_cqe {
	__u64 user_data;
	__u64 time;
	__u32 status;
	__u32 vendor_err;
	__u32 len;
	__u32 imm;
	__u8 op;
	__u8 flags;
	__u8 pad[6];
};

/**
 * struct rclink_dev_ring - the two indexes of a ring; entry i is at i % depth
 * @head: next to be taken: by the kernel for submissions, else by the process
 * @pad: another cache line
 * @tail: next to be filled
 * @pad2: another cache line
 *
 * Both begin at 0 and run on for ever, modulo 2^32; a process that is passed
 * the file, or maps it again, goes on where they are. The process fills entries
 * at @tail of the submissions, then stores @tail with release; it loads @tail
 * of the completions with acquire, copies entries, then stores @head with
 * release.
 *
 * SUBMIT takes entries in order. One that it refuses stays at @head, and is
 * refused by every SUBMIT, until it is replaced or @tail is moved back to
 * @head. So does one without room (EBUSY, for which @wait does not wait), such
 * as a SEND beyond RCLINK_DEV_SENDS or a receive beyond RCLINK_DEV_RECVS: all
 * behind it wait, and wait for ever if one of them is a message that must be
 * answered first. More submissions than the ring has, between @head and @tail,
 * are EINVAL.
 */
struct rclink_dev_ring {
	__u32 head;
	__u32 pad[15];
	__u32 tail;
	__u32 pad2[15];
};

/**
 * struct rclink_dev_shared - what mmap() of a channel maps, with MAP_SHARED
 * @sq: the process fills, the kernel takes
 * @cq: the kernel fills, the process takes
 * @sqe: submissions
 * @cqe: completions
 *
 * A mapping does not keep the file open: the channel ends when the last process
 * has closed the file, and the memory stays where it is still mapped.
 */
struct rclink_dev_shared {
	struct rclink_dev_ring sq;
	struct rclink_dev_ring cq;
	struct rclink_dev_sqe sqe[RCLINK_DEV_DEPTH];
	struct rclink_dev_cqe cqe[RCLINK_DEV_CQ_DEPTH];
};

/**
 * struct rclink_dev_group_shared - what mmap() of a channel to a group maps
 * @shared: as for any channel
 * @max: bytes that a message may have; as of when the channel was opened, or
 *	when a message was last refused for its length
 * @pad: another cache line
 * @source: where each message came from: the GID that its packet names, which
 *	nobody has proven; at the index of its completion, RECV only
 */
struct rclink_dev_group_shared {
	struct rclink_dev_shared shared;
	__u32 max;
	__u32 pad[15];
	__u8 source[RCLINK_DEV_CQ_DEPTH][16];
};

/* Flags of RCLINK_IOC_CONNECT. */
/*
 * Wait for a free QP. Without it, EAGAIN if none is free, and none was just
 * left by a channel. EAGAIN in either case if 256 wait for one on the link.
 */
#define RCLINK_CONNECT_WAIT	0x01
/* Flags of RCLINK_IOC_CONNECT and RCLINK_IOC_LISTEN. */
/*
 * No event reaps completions until poll() asks for more than the end. They are
 * reaped in SUBMIT, also in one that neither hands over anything nor waits, in
 * WITHDRAW, and when the link is rotated or the channel ends.
 */
#define RCLINK_CHAN_POLLED	0x02
/* READs and WRITEs that a new epoch cuts short are carried out again. */
#define RCLINK_CHAN_REPLAY	0x04
#define RCLINK_CHAN_FLAGS	(RCLINK_CHAN_POLLED | RCLINK_CHAN_REPLAY)

/**
 * struct rclink_dev_service - RCLINK_IOC_CONNECT, RCLINK_IOC_LISTEN
 * @link: name
 * @service: name, the same at both ends
 * @flags: RCLINK_CONNECT_*, RCLINK_CHAN_*
 * @backlog: LISTEN: channels that may wait to be accepted, 1 to
 *	RCLINK_DEV_BACKLOG_MAX; CONNECT: zero
 */
struct rclink_dev_service {
	char link[RCLINK_DEV_LINK_LEN];
	char service[RCLINK_DEV_SERVICE_LEN];
	__u32 flags;
	__u32 backlog;
};

/**
 * struct rclink_dev_group - RCLINK_IOC_JOIN
 * @group: name, on this host
 * @service: name: messages go to those who joined with the same one, and no
 *	others come in
 * @flags: zero
 * @pad: zero
 */
struct rclink_dev_group {
	char group[RCLINK_DEV_LINK_LEN];
	char service[RCLINK_DEV_SERVICE_LEN];
	__u32 flags;
	__u32 pad;
};

/* Rights of the peer in a region. */
#define RCLINK_REGION_WRITE	0x01
#define RCLINK_REGION_READ	0x02
#define RCLINK_REGION_ATOMIC	0x04
/* Along with another right; for regions of this channel, of one extent only. */
#define RCLINK_REGION_INVALIDATE 0x08
#define RCLINK_REGION_RIGHTS	0x0f
/*
 * Along with READ, or no right: the local channel does not write there, either,
 * so it can be memory that the process may only read. SEND and WRITE may send
 * from it; to receive, read or return something into it is EACCES.
 */
#define RCLINK_REGION_READ_ONLY	0x10

/**
 * struct rclink_dev_region - RCLINK_IOC_REGION, RCLINK_IOC_MEMORY,
 *	RCLINK_IOC_IMPORT
 * @name: name to export or import; empty for local use only
 * @addr: REGION: start of the memory; MEMORY: zero, and set to the offset for
 *	mmap() of the file, where the memory that the kernel allocates is until
 *	the region is withdrawn; IMPORT: zero
 * @len: REGION: bytes; MEMORY: the same, whole pages; IMPORT: zero, and set
 * @rights: REGION, MEMORY: of the peer, and RCLINK_REGION_READ_ONLY; IMPORT:
 *	zero, and set
 * @handle: set; for this file only
 *
 * A region of a group's channel has neither name nor rights, not even
 * RCLINK_REGION_READ_ONLY (EOPNOTSUPP).
 */
struct rclink_dev_region {
	char name[RCLINK_DEV_REGION_LEN];
	__u64 addr;
	__u64 len;
	__u32 rights;
	__u32 handle;
};

/**
 * struct rclink_dev_dmabuf - RCLINK_IOC_DMABUF
 * @name: name to export; empty for local use only
 * @offset: of the region in the dma-buf, in bytes
 * @len: bytes, within the dma-buf
 * @rights: of the peer, and RCLINK_REGION_READ_ONLY
 * @fd: of the dma-buf, open for writing, or for reading with
 *	RCLINK_REGION_READ_ONLY; the region goes on without it
 * @handle: set; for the channel file only
 * @pad: zero
 *
 * The memory is that of the dma-buf's exporter, and need not be RAM. It counts
 * towards no limit. A device that has no DMA of its own, such as rxe, cannot
 * reach it (EOPNOTSUPP): use a link on another device, or copy through a
 * REGION.
 */
struct rclink_dev_dmabuf {
	char name[RCLINK_DEV_REGION_LEN];
	__u64 offset;
	__u64 len;
	__u32 rights;
	__s32 fd;
	__u32 handle;
	__u32 pad;
};

/**
 * struct rclink_dev_submit - RCLINK_IOC_SUBMIT
 * @count: submissions to take at most; set to how many were taken, also when
 *	the call fails on the next one, which stays in the ring
 * @wait: return when this many completions are in the ring, at most
 *	RCLINK_DEV_CQ_DEPTH; 0 does not wait
 * @timeout_ms: limit of the wait, then ETIME; 0 for no limit
 * @pad: zero
 *
 * With @wait, @timeout_ms also limits the wait for the completions of a channel
 * that is ending: after ETIME, the next call says why it has ended. A signal
 * ends any wait with EINTR, even with SA_RESTART. On a group's channel each
 * SEND may wait for the device, 1 s at most, whatever these two are.
 */
struct rclink_dev_submit {
	__u32 count;
	__u32 wait;
	__u32 timeout_ms;
	__u32 pad;
};

#define RCLINK_IOC_CONNECT	_IOW('R', 0x80, struct rclink_dev_service)
#define RCLINK_IOC_LISTEN	_IOW('R', 0x81, struct rclink_dev_service)
#define RCLINK_IOC_ACCEPT	_IO('R', 0x82)
#define RCLINK_IOC_REGION	_IOWR('R', 0x83, struct rclink_dev_region)
#define RCLINK_IOC_WITHDRAW	_IOW('R', 0x84, __u32)
#define RCLINK_IOC_IMPORT	_IOWR('R', 0x85, struct rclink_dev_region)
#define RCLINK_IOC_SUBMIT	_IOWR('R', 0x86, struct rclink_dev_submit)
#define RCLINK_IOC_MEMORY	_IOWR('R', 0x87, struct rclink_dev_region)
/*
 * Ends an IMPORT: what is in flight goes on, unless it has to be posted again,
 * and the handle is no longer valid.
 */
#define RCLINK_IOC_RELEASE	_IOW('R', 0x88, __u32)
#define RCLINK_IOC_DMABUF	_IOWR('R', 0x89, struct rclink_dev_dmabuf)
#define RCLINK_IOC_JOIN		_IOW('R', 0x8a, struct rclink_dev_group)
#define RCLINK_IOC_SHARE	_IO('R', 0x8b)

#endif /* _UAPI_LINUX_RCLINK_DEV_H */
