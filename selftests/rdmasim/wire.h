/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet between kernels, in a broadcast Ethernet frame: the device with its
 * LID takes it. In host byte order, as all ends run on one machine.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <linux/crc32.h>
#include <rdma/ib_verbs.h>

#define SIM_ETHERTYPE	0x88b5	/* for local experiments (IEEE 802) */

struct sim_frame {
	union ib_gid sgid, dgid;
	u64 prefix;
	u64 remote_addr;
	u64 compare_add, swap, compare_add_mask, swap_mask;
	u64 at, total;
	u32 len;		/* bytes that follow, or are asked for */
	u32 sqpn, dqpn;
	u32 psn, npsn;
	u32 rkey;
	u32 ex;			/* immediate data, or a key */
	u32 qkey;
	u32 crc;		/* of frame and bytes, with 0 here */
	u16 slid, dlid, pkey;
	u8 opcode;
	u8 sl;
	u8 grh;
	u8 ud;
	u8 solicited;
	u8 last;		/* request: answer it; answer: it is complete */
	u8 answer;		/* enum sim_answer; 0: a request */
	u8 rnr_timer;
	u8 status;
};

/* Covers @bytes, too; @frame->crc must be 0. */
static inline u32 sim_frame_crc(const struct sim_frame *frame,
				const void *bytes, u32 len)
{
	return crc32_le(crc32_le(~0, (u8 *)frame, sizeof(*frame)), bytes, len);
}

#endif /* SIM_WIRE_H */
