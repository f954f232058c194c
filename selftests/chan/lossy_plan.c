// SPDX-License-Identifier: GPL-2.0
/* The operations and their data, which both ends derive from the seed. */
#include <stdio.h>
#include <string.h>

#include "lossy.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

/* Sizes where something changes with an MTU of 1024; drawn half the time. */
static const uint32_t sizes[] = {
	0, 1, 7, 8, 9, 64, 1023, 1024, 1025, 2048, 4095, 4096, 4097, LOSSY_SIZE,
};

static const uint32_t large_sizes[] = {
	65535, 65536, 65537, LOSSY_LARGE,
};

/* Each mix has some that are side by side; READs are drawn more often. */
static const uint8_t kinds[] = {
	RCLINK_OP_SEND, RCLINK_OP_SEND_IMM, RCLINK_OP_WRITE,
	RCLINK_OP_WRITE_IMM,
	/* 4 */ RCLINK_OP_READ, RCLINK_OP_READ, RCLINK_OP_CAS, RCLINK_OP_FADD,
	/* 8 */ RCLINK_OP_MCAS, RCLINK_OP_MFADD,
};

/* @sends: more than the message that closes a batch */
static const struct mix {
	uint32_t first, num;
	bool sends, large;
} mixes[] = {
	[LOSSY_ALL] = { 0, 8, .sends = true },
	[LOSSY_SENDS] = { 0, 4, .sends = true },
	[LOSSY_READS] = { 4, 1 },
	[LOSSY_ATOMICS] = { 6, 2 },
	[LOSSY_MASKED] = { 0, 10, .sends = true },
	[LOSSY_LARGE_SENDS] = { 0, 4, .sends = true, .large = true },
	[LOSSY_LARGE_READS] = { 4, 1, .large = true },
	[LOSSY_LARGE_MASKED] = { 0, 10, .sends = true, .large = true },
};

/* The finalizer of SplitMix64. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

#define GAMMA	0x9e3779b97f4a7c15

static uint64_t draw(uint64_t *state)
{
	*state += GAMMA;
	return mix(*state);
}

static const struct mix *mix_of(uint64_t seed)
{
	return &mixes[seed >> LOSSY_MIX_SHIFT];
}

static uint64_t draw_batch(uint64_t seed, uint32_t writer, uint32_t batch)
{
	return mix(seed ^ mix((uint64_t)batch << 32 | writer));
}

uint32_t lossy_batch_len(uint64_t seed, uint32_t writer, uint32_t batch)
{
	return 1 + draw_batch(seed, writer, batch) % LOSSY_OPS;
}

/* Which operation ends what was lent: not the last one; or LOSSY_OPS */
static uint32_t ends_lent(uint64_t seed, uint32_t writer, uint32_t batch)
{
	uint64_t drawn = mix(draw_batch(seed, writer, batch));
	uint32_t len = lossy_batch_len(seed, writer, batch);

	if (!mix_of(seed)->sends || len < 2 || drawn & 1)
		return LOSSY_OPS;
	return (drawn >> 1) % (len - 1);
}

bool lossy_lends(uint64_t seed, uint32_t writer, uint32_t batch)
{
	return ends_lent(seed, writer, batch) < LOSSY_OPS;
}

bool lossy_has_large(uint64_t seed)
{
	return mix_of(seed)->large;
}

/* Which operation is the large one, if it moves data; or LOSSY_OPS */
static uint32_t large_one(uint64_t seed, uint32_t writer, uint32_t batch)
{
	uint32_t len = lossy_batch_len(seed, writer, batch);

	/* Where no SEND is to be large, the last one is not, either. */
	if (!mix_of(seed)->sends)
		len--;
	if (!lossy_has_large(seed) || !len)
		return LOSSY_OPS;
	return mix(~draw_batch(seed, writer, batch)) % len;
}

void lossy_make(struct lossy_op *op, uint64_t seed, uint32_t writer,
		uint32_t batch, uint32_t number)
{
	uint64_t state = mix(seed + mix((uint64_t)batch << 32 | writer << 16 |
					number));
	bool last = number + 1 == lossy_batch_len(seed, writer, batch);
	const struct mix *m = mix_of(seed);
	uint64_t flags = draw(&state);
	uint32_t room = LOSSY_AREA;

	op->what = last ? RCLINK_OP_SEND_IMM :
			  kinds[m->first + draw(&state) % m->num];
	if (number == ends_lent(seed, writer, batch))
		op->what = RCLINK_OP_SEND_INV;
	op->len = draw(&state) % 2 ? sizes[draw(&state) % NUM(sizes)] :
				     draw(&state) % (LOSSY_SIZE + 1);
	op->large = number == large_one(seed, writer, batch) &&
		    !lossy_is_atomic(op);
	if (op->large) {
		op->len = large_sizes[draw(&state) % NUM(large_sizes)];
		room = LOSSY_LARGE_AREA;
	}
	/* rxe finds no memory to repeat the answer to a READ of 0 bytes. */
	if (op->what == RCLINK_OP_READ && !op->len)
		op->len = 1;
	op->offset = draw(&state) % (room - op->len + 1);
	if (lossy_is_atomic(op)) {
		op->len = sizeof(uint64_t);
		op->offset = draw(&state) % LOSSY_WORDS;
	}
	op->imm = draw(&state);
	op->shift = draw(&state) % 64;
	op->pieces = 1 + draw(&state) % RCLINK_DEV_SGE_MAX;
	op->key = draw(&state);
	op->mask = draw(&state);
	op->swap_mask = draw(&state);
	op->hits = flags & 3;
	op->signaled = last || flags & 4;
	op->inlined = flags & 8;
	op->fresh = !(flags & 0x30);
	op->pushed = op->fresh || flags & 0x40;
}

bool lossy_is_message(const struct lossy_op *op)
{
	return op->what == RCLINK_OP_SEND || op->what == RCLINK_OP_SEND_IMM ||
	       op->what == RCLINK_OP_SEND_INV ||
	       op->what == RCLINK_OP_WRITE_IMM;
}

bool lossy_is_write(const struct lossy_op *op)
{
	return op->what == RCLINK_OP_WRITE || op->what == RCLINK_OP_WRITE_IMM;
}

bool lossy_is_atomic(const struct lossy_op *op)
{
	return op->what == RCLINK_OP_CAS || op->what == RCLINK_OP_FADD ||
	       op->what == RCLINK_OP_MCAS || op->what == RCLINK_OP_MFADD;
}

void lossy_fill(uint8_t *to, uint64_t key, uint32_t len)
{
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word)) {
		word = draw(&key);
		memcpy(to, &word, sizeof(word));
		to += sizeof(word);
	}
	word = draw(&key);
	memcpy(to, &word, len);
}

bool lossy_is(const uint8_t *data, uint64_t key, uint32_t len)
{
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word)) {
		word = draw(&key);
		if (memcmp(data, &word, sizeof(word)))
			return false;
		data += sizeof(word);
	}
	word = draw(&key);
	return !memcmp(data, &word, len);
}

uint64_t lossy_behind(uint64_t key, uint32_t len)
{
	return key + len / sizeof(uint64_t) * GAMMA;
}

uint32_t lossy_lent_len(const struct lossy_op *op)
{
	return 1 + op->key % LOSSY_LENT;
}

uint64_t lossy_lent_key(const struct lossy_op *op)
{
	return ~op->key;
}

void lossy_reset(struct lossy_model *m, uint64_t seed, uint32_t writer)
{
	uint64_t key = mix(seed + writer);

	lossy_fill(m->area, key, LOSSY_AREA);
	if (lossy_has_large(seed))
		lossy_fill(m->large, ~key, LOSSY_LARGE_AREA);
	memset(m->word, 0, sizeof(m->word));
}

uint8_t *lossy_at(struct lossy_model *m, const struct lossy_op *op)
{
	return (op->large ? m->large : m->area) + op->offset;
}

/* No carry leaves a field, of which @boundary has the highest bit. */
static uint64_t add_fields(uint64_t a, uint64_t b, uint64_t boundary)
{
	return ((a & ~boundary) + (b & ~boundary)) ^ ((a ^ b) & boundary);
}

uint64_t lossy_compare(const struct lossy_model *m, const struct lossy_op *op)
{
	uint64_t value = m->word[op->offset];

	return op->hits ? value : ~value;
}

void lossy_apply(struct lossy_model *m, const struct lossy_op *op)
{
	uint64_t *word = lossy_is_atomic(op) ? &m->word[op->offset] : NULL;

	if (lossy_is_write(op))
		lossy_fill(lossy_at(m, op), op->key, op->len);
	else if (op->what == RCLINK_OP_FADD)
		*word += op->key;
	else if (op->what == RCLINK_OP_CAS && op->hits)
		*word = op->key;
	else if (op->what == RCLINK_OP_MFADD)
		*word = add_fields(*word, op->key, op->mask);
	else if (op->what == RCLINK_OP_MCAS && op->hits)
		*word = (*word & ~op->swap_mask) | (op->key & op->swap_mask);
}

void lossy_name(char *name, const char *what, uint32_t writer)
{
	snprintf(name, LOSSY_NAME, "%s.%u", what, writer);
}
