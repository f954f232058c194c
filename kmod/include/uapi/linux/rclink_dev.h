/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/rclink: channels, regions and operations for processes.
 *
 * An open file is nothing yet: poll() says EPOLLERR, and who has it in an epoll
 * set by then hears of nothing later. RCLINK_IOC_CONNECT makes it a channel,
 * RCLINK_IOC_LISTEN a listener, each of whose RCLINK_IOC_ACCEPT returns a new
 * channel file. A channel leases one wired QP of its link at both ends. Its
 * memory (mmap offset 0, struct rclink_dev_shared) holds a submission and a
 * completion ring; RCLINK_IOC_SUBMIT hands entries to the kernel and can wait;
 * completions can be reaped without any call.
 *
 * A region is registered in extents of as many bytes as one registration of the
 * device takes, such as 2 MiB. An operation has a part for each extent that it
 * touches: at most RCLINK_DEV_PARTS_MAX of the peer's regions, each of which
 * counts as an operation in flight, and as many of own ones, all pieces
 * together, or fewer, but RCLINK_DEV_SGE_MAX, if the device's work requests
 * cannot have so many. It completes once. An atomic cannot have two.
 *
 * A file of another kind than the call is for: EISCONN where it is decided what
 * the file is, ENOTCONN of nothing or a listener, EOPNOTSUPP of a group's channel
 * or a share, EINVAL of ACCEPT. ENOTTY is for a call that there is none of. What
 * says zero, or has a bound, is EINVAL otherwise.
 *
 * Until the peer has posted its first receive, the first operation that takes
 * one, and those behind it, are in flight without being started.
 *
 * A call, or poll(), says that a channel has ended when all its completions are
 * in the ring, and waits for that: SUBMIT without @wait, too. One that has
 * nothing to hand over does not wait, and returns 0 until then.
 *
 * When the link fails whose operator said "recover resume", its channels are
 * suspended: nothing can be posted (EAGAIN; a SUBMIT with @wait waits for the
 * end of that, too, and poll() says EPOLLOUT), and what is in flight stays so,
 * until there is another epoch. Regions and imports keep their handles.
 * Messages that the peer has got complete, and the others are sent again, so
 * each arrives once, in order. A WRITE that was posted before a message that the
 * peer has got completes, too. A READ or another WRITE is carried out again only
 * with RCLINK_CHAN_REPLAY, and a READ only if the peer has got no message that
 * was posted behind it; an import must not have been released meanwhile. Else a
 * READ ends as flushed and a WRITE as RCLINK_STATUS_UNKNOWN, while messages
 * behind it are sent. So who tells the peer of a WRITE without having waited
 * for its completion wants that flag. RCLINK_SQE_FENCE does not change that: who
 * tells the peer that he has read waits for the completion, or wants the flag,
 * too. An atomic is never carried out again.
 * Completions keep the order of submission.
 *
 * RCLINK_IOC_JOIN makes a file a channel to a service of a group of this host,
 * for who has the right, as to a link. The kernel copies and seals, so regions are of no
 * device, at most RCLINK_DEV_GROUP_REGION_MAX long, and have neither name nor
 * rights; there are RCLINK_OP_SEND, without immediate, and RCLINK_OP_RECV. It
 * is unreliable: a SEND is carried out when it is submitted, and is over when the
 * device has it; who has no receive posted, here or elsewhere, gets nothing,
 * and nobody is told. A SEND is EMSGSIZE beyond what @max of its memory (struct
 * rclink_dev_group_shared) says, and completes as flushed while the group is
 * down or has no key. When the group is deleted the channel ends.
 *
 * RCLINK_IOC_SHARE makes a file a share: its regions are exported to all links,
 * those of now and those of later, over which the peers import them as those of
 * a channel. Each has a name, which no other region for all links of the same
 * user has (EEXIST), and rights but RCLINK_REGION_INVALIDATE. It is pinned and
 * counted once. Who opened the file must have the right to use a link: that is
 * looked at whenever the peer imports. A region of a channel of that link, with
 * the same name, comes first; of several users who export one name, who came
 * first and has the right. There are REGION, MEMORY, WITHDRAW and mmap() of what
 * MEMORY has allocated. WITHDRAW, and the end of the file, end the registrations
 * with all links before the memory is let go. A link whose device does not take
 * a region, or no atomics, exports it not, or without that right.
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
#define RCLINK_DEV_SENDS	29	/* operations in flight, no receives */
#define RCLINK_DEV_RECVS	30	/* receives posted */
#define RCLINK_DEV_GROUP_REGION_MAX	(1 << 20)	/* bytes */

/**
 * enum rclink_dev_op - what a submission entry asks for
 * @RCLINK_OP_SEND: send @sge or inline data
 * @RCLINK_OP_SEND_IMM: the same with @imm
 * @RCLINK_OP_WRITE: from @sge or inline data to @remote, @remote_offset
 * @RCLINK_OP_WRITE_IMM: the same; @imm takes a receive of the peer
 * @RCLINK_OP_READ: from @remote, @remote_offset to @sge
 * @RCLINK_OP_CAS: 8 bytes: @compare_add, @swap; the old value goes to @sge
 * @RCLINK_OP_FADD: 8 bytes: adds @compare_add; the old value goes to @sge
 * @RCLINK_OP_RECV: take one message into @sge
 * @RCLINK_OP_SEND_INV: as SEND, and the peer's region @remote ends
 * @RCLINK_OP_MCAS: CAS of the bits of @compare_mask, to those of @swap_mask
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
#define RCLINK_SQE_INLINE	0x02	/* @len bytes at @inline_data, no @sge */
#define RCLINK_SQE_FENCE	0x04	/* after all earlier READs and atomics */
#define RCLINK_SQE_SOLICITED	0x08	/* the verbs' flag; here all wake */
#define RCLINK_SQE_FLAGS	0x0f

/**
 * struct rclink_dev_sge - a piece of a region of one's own
 * @offset: from its begin, bytes
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
 * @flags: RCLINK_SQE_*
 * @num_sge: entries of @sge, none with RCLINK_SQE_INLINE
 * @pad: zero
 * @len: bytes of @inline_data
 * @user_data: returned by the completion
 * @remote_offset: from the begin of @remote, bytes
 * @remote: handle of RCLINK_IOC_IMPORT
 * @imm: immediate
 * @compare_add: of atomics
 * @swap: of CAS and MCAS
 * @compare_mask: of MCAS and MFADD, else zero
 * @swap_mask: of MCAS, else zero
 * @sge: local memory
 * @inline_data: or the data itself
 *
 * What the operation has no use for is ignored, and will be: @len without
 * RCLINK_SQE_INLINE, @remote, @remote_offset, @imm, @compare_add, @swap, and
 * @sge from @num_sge on. @pad and the masks are checked.
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
 * Beside the verbs' statuses: of a WRITE or an atomic that was in flight when
 * the epoch ended, and that may have been carried out, or not.
 */
#define RCLINK_STATUS_UNKNOWN	0x100

/* Flags of a completion. */
#define RCLINK_CQE_IMM		0x01	/* @imm is valid */
#define RCLINK_CQE_INVALIDATED	0x02	/* @imm is the own region that ended */
/* @imm is the member's number; not set if the group had another key then. */
#define RCLINK_CQE_SENDER	0x04
/* Of a receive that a WRITE_IMM took: the data is in a region, none is here. */
#define RCLINK_CQE_WRITTEN	0x08

/**
 * struct rclink_dev_cqe - one completion, 40 bytes
 * @user_data: of the submission
 * @time: CLOCK_MONOTONIC of the host, not of a time namespace, in nanoseconds,
 *	when the kernel saw it
 * @status: enum ib_wc_status of the verbs, 0 is success, or
 *	RCLINK_STATUS_UNKNOWN
 * @vendor_err: of the device
 * @len: bytes received, read or written, if @status is success; of a receive
 *	that a WRITE_IMM took, those of its last part, which may be more than
 *	the receive has room for: see RCLINK_CQE_WRITTEN
 * @imm: of the peer, handle of a region, or number of a member: see @flags
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
 * @head: next to be taken: by the kernel of submissions, else by the process
 * @pad: another cache line
 * @tail: next to be filled
 * @pad2: another cache line
 *
 * Both begin at 0 and run on for ever, modulo 2^32; whoever gets the file, or
 * maps it again, goes on where they are. The process fills entries at @tail of
 * the submissions, then stores it with release; loads @tail of the completions
 * with acquire, copies entries, then stores @head with release.
 *
 * SUBMIT takes entries in order. One that it refuses stays at @head, and is
 * refused by every SUBMIT, until it is replaced or @tail is moved back to @head.
 * So does one without room (EBUSY, for which @wait does not wait), as a SEND
 * beyond RCLINK_DEV_SENDS or a receive beyond RCLINK_DEV_RECVS: all behind it
 * wait, and for ever where a message that they send is to be answered first.
 * More submissions than the ring has, between @head and @tail, are EINVAL.
 */
struct rclink_dev_ring {
	__u32 head;
	__u32 pad[15];
	__u32 tail;
	__u32 pad2[15];
};

/**
 * struct rclink_dev_shared - what mmap() shows of a channel, with MAP_SHARED
 * @sq: the process fills, the kernel takes
 * @cq: the kernel fills, the process takes
 * @sqe: submissions
 * @cqe: completions
 *
 * What is mapped keeps no file open: the channel ends when the last process has
 * closed that, and the memory stays where it is still mapped.
 */
struct rclink_dev_shared {
	struct rclink_dev_ring sq;
	struct rclink_dev_ring cq;
	struct rclink_dev_sqe sqe[RCLINK_DEV_DEPTH];
	struct rclink_dev_cqe cqe[RCLINK_DEV_CQ_DEPTH];
};

/**
 * struct rclink_dev_group_shared - what mmap() shows of a channel to a group
 * @shared: as of each channel
 * @max: bytes that a message may have; as it was when the channel was opened,
 *	or when the last one was refused for that
 * @pad: another cache line
 * @source: where message i came from, the GID that its packet names, which
 *	nobody has proven; at the place of its completion, RECV only
 */
struct rclink_dev_group_shared {
	struct rclink_dev_shared shared;
	__u32 max;
	__u32 pad[15];
	__u8 source[RCLINK_DEV_CQ_DEPTH][16];
};

/* Flags of RCLINK_IOC_CONNECT. */
/*
 * For a free QP; else EAGAIN if none is free, nor just left by a channel. With
 * it EAGAIN if 256 wait for one on the link already.
 */
#define RCLINK_CONNECT_WAIT	0x01
/* Flags of RCLINK_IOC_CONNECT and RCLINK_IOC_LISTEN. */
/*
 * Completions are reaped in SUBMIT only, until poll() asks for more than the
 * end; by one that hands over nothing and does not wait, too.
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
 * @service: name: what is sent is for those who joined with the same one, and
 *	no other messages come
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
/* Beside another one; of this channel's, and only of one extent. */
#define RCLINK_REGION_INVALIDATE 0x08
#define RCLINK_REGION_RIGHTS	0x0f
/*
 * Beside READ, or no right: the own channel does not write there, either, so it
 * can be memory that the process may only read. It is what SEND and WRITE are
 * sent from; EACCES where something is to be received, read or returned into it.
 */
#define RCLINK_REGION_READ_ONLY	0x10

/**
 * struct rclink_dev_region - RCLINK_IOC_REGION, RCLINK_IOC_MEMORY,
 *	RCLINK_IOC_IMPORT
 * @name: exported under it, or imported; empty for local use only
 * @addr: REGION: begin of the memory; MEMORY: zero, and set to the offset for
 *	mmap() of the file, where the memory that the kernel allocates
 *	is as long as the region is not withdrawn; IMPORT: zero
 * @len: REGION: bytes; MEMORY: the same, whole pages; IMPORT: zero, and set
 * @rights: REGION, MEMORY: of the peer, and RCLINK_REGION_READ_ONLY; IMPORT:
 *	zero, and set
 * @handle: set; of this file only
 *
 * A region of a group's channel has neither name nor rights (EOPNOTSUPP).
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
 * @name: exported under it; empty for local use only
 * @offset: of the region in the dma-buf, bytes
 * @len: bytes, within the dma-buf
 * @rights: of the peer, and RCLINK_REGION_READ_ONLY
 * @fd: of the dma-buf, which can be written, or be read with that; the region
 *	goes on without it
 * @handle: set; of the channel file only
 * @pad: zero
 *
 * The memory is that of the dma-buf's exporter, and need not be RAM. It counts
 * for no limit. A device that has no DMA of its own, such as rxe, cannot reach
 * it (EOPNOTSUPP): use a link on another device, or copy by way of a REGION.
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
 *	the call fails for the next one, which stays in the ring
 * @wait: return when so many completions are in the ring, at most
 *	RCLINK_DEV_CQ_DEPTH; 0 does not wait
 * @timeout_ms: limit of the wait, then ETIME; 0 for no limit
 * @pad: zero
 *
 * With @wait it is @timeout_ms, too, that limits the wait for the completions of
 * a channel that is ending: after ETIME the next call says why it has ended. A
 * signal ends any wait with EINTR, also with SA_RESTART.
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
 * Of IMPORT: what is in flight goes on, unless it has to be posted again, and
 * the handle names nothing more.
 */
#define RCLINK_IOC_RELEASE	_IOW('R', 0x88, __u32)
#define RCLINK_IOC_DMABUF	_IOWR('R', 0x89, struct rclink_dev_dmabuf)
#define RCLINK_IOC_JOIN		_IOW('R', 0x8a, struct rclink_dev_group)
#define RCLINK_IOC_SHARE	_IO('R', 0x8b)

#endif /* _UAPI_LINUX_RCLINK_DEV_H */
