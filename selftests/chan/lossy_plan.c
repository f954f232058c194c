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

static const struct mix {
	uint32_t num;
	uint8_t kind[8];
} mixes[] = {
	[LOSSY_ALL] = { 8, {
		RCLINK_OP_SEND, RCLINK_OP_SEND_IMM, RCLINK_OP_WRITE,
		RCLINK_OP_WRITE_IMM, RCLINK_OP_READ, RCLINK_OP_READ,
		RCLINK_OP_CAS, RCLINK_OP_FADD,
	} },
	[LOSSY_SENDS] = { 4, {
		RCLINK_OP_SEND, RCLINK_OP_SEND_IMM, RCLINK_OP_WRITE,
		RCLINK_OP_WRITE_IMM,
	} },
	[LOSSY_READS] = { 1, { RCLINK_OP_READ } },
	[LOSSY_ATOMICS] = { 2, { RCLINK_OP_CAS, RCLINK_OP_FADD } },
};

/* The finalizer of SplitMix64. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t draw(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15;
	return mix(*state);
}

uint32_t lossy_batch_len(uint64_t seed, uint32_t writer, uint32_t batch)
{
	return 1 + mix(seed ^ mix((uint64_t)batch << 32 | writer)) % LOSSY_OPS;
}

void lossy_make(struct lossy_op *op, uint64_t seed, uint32_t writer,
		uint32_t batch, uint32_t number)
{
	uint64_t state = mix(seed + mix((uint64_t)batch << 32 | writer << 16 |
					number));
	bool last = number + 1 == lossy_batch_len(seed, writer, batch);
	const struct mix *m = &mixes[seed >> LOSSY_MIX_SHIFT];
	uint64_t flags = draw(&state);

	op->what = last ? RCLINK_OP_SEND_IMM : m->kind[draw(&state) % m->num];
	op->len = draw(&state) % 2 ? sizes[draw(&state) % NUM(sizes)] :
				     draw(&state) % (LOSSY_SIZE + 1);
	/* rxe finds no memory to repeat the answer to a READ of 0 bytes. */
	if (op->what == RCLINK_OP_READ && !op->len)
		op->len = 1;
	op->offset = draw(&state) % (LOSSY_AREA - op->len + 1);
	if (lossy_is_atomic(op)) {
		op->len = sizeof(uint64_t);
		op->offset = draw(&state) % LOSSY_WORDS;
	}
	op->imm = draw(&state);
	op->shift = draw(&state) % 64;
	op->pieces = 1 + draw(&state) % RCLINK_DEV_SGE_MAX;
	op->key = draw(&state);
	op->hits = flags & 3;
	op->signaled = last || flags & 4;
	op->inlined = flags & 8;
	op->fresh = !(flags & 0x30);
	op->pushed = op->fresh || flags & 0x40;
}

bool lossy_is_message(const struct lossy_op *op)
{
	return op->what == RCLINK_OP_SEND || op->what == RCLINK_OP_SEND_IMM ||
	       op->what == RCLINK_OP_WRITE_IMM;
}

bool lossy_is_write(const struct lossy_op *op)
{
	return op->what == RCLINK_OP_WRITE || op->what == RCLINK_OP_WRITE_IMM;
}

bool lossy_is_atomic(const struct lossy_op *op)
{
	return op->what == RCLINK_OP_CAS || op->what == RCLINK_OP_FADD;
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
	uint8_t right[LOSSY_SIZE];

	lossy_fill(right, key, len);
	return !memcmp(data, right, len);
}

uint64_t lossy_compare(const struct lossy_model *m, const struct lossy_op *op)
{
	uint64_t value = m->word[op->offset];

	return op->hits ? value : ~value;
}

void lossy_apply(struct lossy_model *m, const struct lossy_op *op)
{
	if (lossy_is_write(op))
		lossy_fill(m->area + op->offset, op->key, op->len);
	else if (op->what == RCLINK_OP_FADD)
		m->word[op->offset] += op->key;
	else if (op->what == RCLINK_OP_CAS && op->hits)
		m->word[op->offset] = op->key;
}

void lossy_name(char *name, const char *what, uint32_t writer)
{
	snprintf(name, LOSSY_NAME, "%s.%u", what, writer);
}
