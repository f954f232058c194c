/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Correctness over a bad network. Both ends make the same operations from a
 * seed, so each knows what the memory of the far end must hold and which
 * message comes next. Operations go in batches. The last one of a batch is a
 * message, upon which the far end compares all that it has, and answers.
 *
 * A channel begins with a struct lossy_hello, in which the near end says which
 * operations it knows to be done. After a channel ended, the results of these
 * must be there, and those of operations that were under way may be.
 *
 * Before about half of the batches of a mix with SENDs, the far end lends a
 * region. The near end imports it amid the batch, writes to it and ends it by a
 * SEND with invalidate. What it wrote must be there when that message is, and
 * afterwards.
 */
#ifndef LOSSY_H
#define LOSSY_H

#include <stdbool.h>
#include <stdint.h>

#include <rclink.h>

#define LOSSY_WRITERS	64		/* processes, each with a channel */
/* Odd, so that the areas of two writers meet at any byte of a word. */
#define LOSSY_AREA	20011		/* bytes that a writer writes */
#define LOSSY_WORDS	8		/* for its atomics */
#define LOSSY_SIZE	8192		/* bytes of an operation, at most */
#define LOSSY_LARGE	0x100000	/* of a large one; a batch has one */
#define LOSSY_LENT	4096		/* of a region that is lent */
#define LOSSY_OPS	24		/* of a batch, at most */
#define LOSSY_NAME	16		/* of a service or region */

/* The memory of the far end, for all writers: all areas, then all words */
#define LOSSY_WORDS_AT	((LOSSY_WRITERS * LOSSY_AREA + 7) & ~7)
#define LOSSY_MEMORY \
	(LOSSY_WORDS_AT + LOSSY_WRITERS * LOSSY_WORDS * sizeof(uint64_t))

/*
 * A writer's region begins LOSSY_LEAD before the middle of the writer's area,
 * so that one of its registrations ends there: an operation across that is
 * moved in two pieces.
 */
#define LOSSY_LEAD	(2 << 20)
#define LOSSY_AREA_AT	(LOSSY_LEAD - LOSSY_AREA / 2)

/* A large operation has memory of its own, in a region of one registration. */
#define LOSSY_LARGE_AREA	(LOSSY_LARGE + 4099)

#define LOSSY_MIX_SHIFT	61		/* of a seed */

enum lossy_mix {
	LOSSY_ALL,	/* but masked atomics, which most devices lack */
	LOSSY_SENDS,	/* SEND and WRITE, with immediate or not; invalidate */
	LOSSY_READS,
	LOSSY_ATOMICS,
	LOSSY_MASKED,	/* all, and masked atomics */
	LOSSY_LARGE_SENDS,	/* as above, each batch with a large one */
	LOSSY_LARGE_READS,
	LOSSY_LARGE_MASKED,
};

/**
 * struct lossy_op - one operation
 * @what: RCLINK_OP_*
 * @offset: in the area; or which word
 * @len: bytes
 * @imm: immediate
 * @shift: offset of the data in the near end's memory
 * @pieces: number of pieces that hold the data
 * @key: of the data; for atomics, the operand
 * @mask: for masked atomics: which bits to compare, or the end of each field
 * @swap_mask: for a masked CAS
 * @hits: the CAS finds the value that it compares with
 * @signaled: the operation gives a completion
 * @inlined: the data is inline, if the size allows
 * @fresh: the near end registers memory for the operation
 * @pushed: the near end submits before the operation
 * @large: it is the large one of its batch; @offset is in the large area
 */
struct lossy_op {
	uint32_t what;
	uint32_t offset;
	uint32_t len;
	uint32_t imm;
	uint32_t shift;
	uint32_t pieces;
	uint64_t key;
	uint64_t mask;
	uint64_t swap_mask;
	bool hits, signaled, inlined, fresh, pushed, large;
};

struct lossy_hello {
	uint64_t seed;		/* a new seed: all begins anew */
	uint32_t batch;		/* the first that is not finished */
	uint32_t issued;	/* operations of it that were submitted */
	uint32_t done;		/* how many of these are done */
};

struct lossy_answer {
	uint32_t right;
};

/* What a writer's areas and words hold. */
struct lossy_model {
	uint8_t area[LOSSY_AREA];
	uint8_t large[LOSSY_LARGE_AREA];
	uint64_t word[LOSSY_WORDS];
};

/* The length of a writer's region, and where the writer's words are in it */
static inline uint32_t lossy_region(uint32_t writer)
{
	return LOSSY_AREA_AT + LOSSY_MEMORY - writer * LOSSY_AREA;
}

static inline uint32_t lossy_words_at(uint32_t writer)
{
	return LOSSY_AREA_AT + LOSSY_WORDS_AT - writer * LOSSY_AREA +
	       writer * LOSSY_WORDS * sizeof(uint64_t);
}

uint32_t lossy_batch_len(uint64_t seed, uint32_t writer, uint32_t batch);
bool lossy_lends(uint64_t seed, uint32_t writer, uint32_t batch);
bool lossy_has_large(uint64_t seed);
void lossy_make(struct lossy_op *op, uint64_t seed, uint32_t writer,
		uint32_t batch, uint32_t number);
bool lossy_is_message(const struct lossy_op *op);
bool lossy_is_write(const struct lossy_op *op);
bool lossy_is_atomic(const struct lossy_op *op);

void lossy_fill(uint8_t *to, uint64_t key, uint32_t len);
bool lossy_is(const uint8_t *data, uint64_t key, uint32_t len);
/* The key of what is behind the first @len bytes, a multiple of 8 */
uint64_t lossy_behind(uint64_t key, uint32_t len);

/* The end of the lent region that is written before @op ends the region */
uint32_t lossy_lent_len(const struct lossy_op *op);
uint64_t lossy_lent_key(const struct lossy_op *op);

/* What is there before the first batch of a channel */
void lossy_reset(struct lossy_model *m, uint64_t seed, uint32_t writer);
uint8_t *lossy_at(struct lossy_model *m, const struct lossy_op *op);
/* The value with which a CAS compares */
uint64_t lossy_compare(const struct lossy_model *m, const struct lossy_op *op);
void lossy_apply(struct lossy_model *m, const struct lossy_op *op);

/* Name a service or region of a writer. */
void lossy_name(char *name, const char *what, uint32_t writer);

/*
 * One end of one writer; these return an exit status, and print what is wrong.
 */
int lossy_near(const char *link, uint32_t writer, uint64_t seed,
	       unsigned int seconds, bool may_end);
int lossy_far(struct rclink_listener *listener, uint32_t writer,
	      uint8_t *memory);

#endif /* LOSSY_H */
