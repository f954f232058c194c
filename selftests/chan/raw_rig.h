/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel of rig.h whose near end is used without librclink: entries as they
 * are, with every kind of handle that there is, right or wrong.
 */
#ifndef RAW_RIG_H
#define RAW_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

#define RAW_SIZE	64		/* of a right operation */
#define RAW_NEAR_AT	128		/* offset of its bytes at either end */
#define RAW_FAR_AT	256
#define RAW_IMM		0x12345678
#define RAW_SWAP	0x0102030405060708
#define RAW_ADD		0xfedcba9876543210
#define RAW_TAG		1		/* user_data */

#define OP(name)	(1U << RCLINK_OP_##name)
#define SENDS		(OP(SEND) | OP(SEND_IMM) | OP(SEND_INV))
#define WRITES		(OP(WRITE) | OP(WRITE_IMM))
#define MASKED		(OP(MCAS) | OP(MFADD))
#define ATOMICS		(OP(CAS) | OP(FADD) | MASKED)
#define ALL_OPS		((1U << RCLINK_OP_MAX) - 1)

/* Handles of the near end, but for two. */
enum handle {
	AS_IT_IS,
	NONE,			/* 0, and all bits */
	ONES,
	LOCAL,			/* regions */
	READ_ONLY,
	BIG,
	WITHDRAWN,
	OF_FAR,			/* of the far end */
	PEERS,			/* imports: all rights but INVALIDATE */
	PEERS_WRITE,
	PEERS_READ,
	PEERS_ATOMIC,
	PEERS_BIG,
	RELEASED,
	FARS_IMPORT,		/* of the far end */
	BRIEF,			/* 0 unless a test has it */
	HANDLES
};

struct raw {
	struct rig r;
	int fd;					/* of the near end */
	struct rclink_dev_shared *shared;	/* likewise */
	uint32_t handle[HANDLES];
	uint32_t brief;				/* region of BRIEF */
	uint32_t extent;			/* bytes */
	uint8_t *big;				/* a byte more than 8 extents */
	uint8_t near[RIG_MEMORY];		/* what both ends must have */
	uint8_t far[RIG_MEMORY];
};

/* On simulated devices, or on the lab's. */
int raw_begin(struct raw *raw, bool sims);
void raw_end(struct raw *raw);

/* SUBMIT of at most @count entries, which moves no tail. */
int raw_submit(struct raw *raw, uint32_t count, uint32_t *taken);
/* Wait for a completion, and submit nothing. */
int raw_completes(struct raw *raw);
uint32_t raw_head(const struct raw *raw);
void raw_set_tail(struct raw *raw, uint32_t tail);
/* Make it the only entry of the ring. */
void raw_put(struct raw *raw, const struct rclink_dev_sqe *sqe);
/* Entry @i from the head on */
struct rclink_dev_sqe *raw_entry(struct raw *raw, uint32_t i);
/* Operations and receives that devices were given, or completed. */
uint64_t raw_moved(struct raw *raw);

/* New bytes in all memory, also as what both ends must have. */
void raw_fill(struct raw *raw, uint32_t seed);
/* An entry in which nothing is wrong, and what it does to both memories */
struct rclink_dev_sqe raw_right(const struct raw *raw, uint8_t op);
void raw_foresee(struct raw *raw, uint8_t op, uint32_t recv_at);

#endif /* RAW_RIG_H */
