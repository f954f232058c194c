// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lossy.h"

#define RECVS		(LOSSY_OPS + 2)	/* a batch, a hello, and one too many */
#define PAGE		4096
#define TRIES		5000		/* of 2 ms, for a name to be free */

struct far {
	struct rclink_chan *chan;
	uint32_t writer;
	uint8_t *area;
	uint64_t *word;
	uint8_t *large;			/* its own, unlike the area */
	uint8_t *in, *spare;
	uint8_t *rest;		/* of the large message of a batch */
	uint8_t *lent;
	uint32_t memory_region, in_region, rest_region, lent_region;
	uint32_t pieces;	/* of a receive */
	uint64_t seed;
	struct lossy_hello last;
	uint32_t batch, next;		/* operation that has not come in */
	struct lossy_model model;	/* before that batch */
	uint32_t took;			/* receives on this channel */
};

static int wrong(const struct far *f, const char *what)
{
	fprintf(stderr,
		"lossy: far end of writer %u, batch %u, operation %u: %s\n",
		f->writer, f->batch, f->next, what);
	return -EILSEQ;
}

/* All receives have the same place for what exceeds LOSSY_SIZE. */
static int post(struct far *f, uint32_t slot)
{
	const struct rclink_dev_sge sge[] = {
		{ .region = f->in_region, .offset = slot * LOSSY_SIZE,
		  .len = LOSSY_SIZE },
		{ .region = f->rest_region, .len = LOSSY_LARGE - LOSSY_SIZE },
	};

	return rclink_recv(f->chan, rclink_pieces(sge, f->pieces), slot);
}

/* The names are taken until the end of the channel before has been seen. */
static int export_as(struct far *f, const char *what, uint8_t *memory,
		     uint64_t len, unsigned int rights, uint32_t *region)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	char name[LOSSY_NAME];
	int i, ret = -EEXIST;

	lossy_name(name, what, f->writer);
	for (i = 0; i < TRIES && ret == -EEXIST; i++) {
		ret = rclink_region(f->chan, memory, len, name, rights, region);
		if (ret == -EEXIST)
			nanosleep(&pause, NULL);
	}
	return ret;
}

static int export(struct far *f)
{
	uint32_t region;
	int ret = export_as(f, "far", f->area - LOSSY_AREA_AT,
			    lossy_region(f->writer), RCLINK_REGION_READ |
			    RCLINK_REGION_WRITE | RCLINK_REGION_ATOMIC,
			    &f->memory_region);

	if (ret || !lossy_has_large(f->seed))
		return ret;
	f->pieces = 2;
	ret = export_as(f, "large", f->large, LOSSY_LARGE_AREA,
			RCLINK_REGION_READ | RCLINK_REGION_WRITE, &region);
	return ret ? ret : rclink_region(f->chan, f->rest,
					 LOSSY_LARGE - LOSSY_SIZE, NULL, 0,
					 &f->rest_region);
}

/* For the batch that comes next, if it ends a region */
static int lend(struct far *f)
{
	if (!lossy_lends(f->seed, f->writer, f->batch))
		return 0;
	memset(f->lent, 0, LOSSY_LENT);
	return export_as(f, "lent", f->lent, LOSSY_LENT, RCLINK_REGION_WRITE |
			 RCLINK_REGION_INVALIDATE, &f->lent_region);
}

/* Registering beside the traffic must neither disturb it nor suffer from it. */
static int register_spare(struct far *f)
{
	char name[LOSSY_NAME];
	uint32_t region;
	int ret;

	lossy_name(name, "spare", f->writer);
	ret = rclink_region(f->chan, f->spare, PAGE, name, RCLINK_REGION_WRITE,
			    &region);
	return ret ? ret : rclink_withdraw(f->chan, region);
}

static int answer(struct far *f)
{
	const struct lossy_answer a = { .right = 1 };
	int ret = rclink_send(f->chan, rclink_bytes(&a, sizeof(a)), 0, 0);

	if (!ret)
		ret = rclink_submit(f->chan, 0, 0);
	return ret < 0 ? ret : 0;
}

static int compare_bytes(const struct far *f, const uint8_t *is,
			 const uint8_t *right, const uint8_t *tainted,
			 uint32_t len)
{
	char what[80];
	uint32_t i;

	if (!memcmp(is, right, len))
		return 0;
	for (i = 0; i < len; i++) {
		if (tainted[i] || is[i] == right[i])
			continue;
		snprintf(what, sizeof(what), "byte %u of %u is %#x, not %#x", i,
			 len, is[i], right[i]);
		return wrong(f, what);
	}
	return 0;
}

/* What @tainted marks is not compared: its contents are unknown. */
static int compare(const struct far *f, const struct lossy_model *tainted)
{
	uint32_t i;
	int ret = compare_bytes(f, f->area, f->model.area, tainted->area,
				LOSSY_AREA);

	if (!ret && lossy_has_large(f->seed))
		ret = compare_bytes(f, f->large, f->model.large, tainted->large,
				    LOSSY_LARGE_AREA);
	if (ret)
		return ret;
	for (i = 0; i < LOSSY_WORDS; i++)
		if (!tainted->word[i] && f->word[i] != f->model.word[i])
			return wrong(f, "a word of the atomics");
	return 0;
}

/* What was written before @op ended the region is all that changed there. */
static int compare_lent(const struct far *f, const struct lossy_op *op)
{
	uint32_t len = lossy_lent_len(op), i;

	for (i = 0; i < LOSSY_LENT - len; i++)
		if (f->lent[i])
			return wrong(f, "a byte of what was lent");
	if (!lossy_is(f->lent + i, lossy_lent_key(op), len))
		return wrong(f, "what was written to what was lent");
	return 0;
}

/* The batch came in and was judged before; only an answer got lost. */
static bool is_known(const struct far *f, const struct lossy_hello *h)
{
	if (h->batch + 1 != f->batch || f->next)
		return false;
	return h->issued == lossy_batch_len(f->seed, f->writer, h->batch) ||
	       (h->batch == f->last.batch && h->issued == f->last.issued &&
		h->done == f->last.done);
}

/* The previous channel may have ended anywhere in the batch. */
static int settle(struct far *f, const struct lossy_hello *h)
{
	static struct lossy_model tainted;
	uint32_t i, len = lossy_batch_len(f->seed, f->writer, h->batch);
	struct lossy_op op;

	memset(&tainted, 0, sizeof(tainted));
	if (is_known(f, h))
		return compare(f, &tainted);
	if (h->batch != f->batch || h->done > h->issued || h->issued > len)
		return wrong(f, "the near end is elsewhere");
	for (i = 0; i < h->issued; i++) {
		lossy_make(&op, f->seed, f->writer, f->batch, i);
		if (lossy_is_message(&op) && i < h->done && i >= f->next)
			return wrong(f, "a message that was sent is not there");
		if (i < h->done)
			lossy_apply(&f->model, &op);
		else if (lossy_is_write(&op))
			memset(lossy_at(&tainted, &op), 1, op.len);
		else if (lossy_is_atomic(&op))
			tainted.word[op.offset] = 1;
	}
	if (f->next > h->issued)
		return wrong(f, "a message that was not sent");
	return compare(f, &tainted);
}

static int begin(struct far *f, const uint8_t *in, uint32_t len)
{
	struct lossy_hello h;
	uint32_t i;
	int ret;

	if (len != sizeof(h))
		return wrong(f, "no hello");
	memcpy(&h, in, sizeof(h));
	ret = h.seed == f->seed ? settle(f, &h) : 0;
	if (ret)
		return ret;
	f->seed = h.seed;
	f->last = h;
	f->batch = h.batch + !!h.issued;
	f->next = 0;
	lossy_reset(&f->model, f->seed, f->writer);
	memcpy(f->area, f->model.area, LOSSY_AREA);
	if (lossy_has_large(f->seed))
		memcpy(f->large, f->model.large, LOSSY_LARGE_AREA);
	memset(f->word, 0, LOSSY_WORDS * sizeof(*f->word));
	ret = export(f);
	for (i = 1; i < RECVS && !ret; i++)
		ret = post(f, i);
	if (!ret)
		ret = lend(f);
	return ret ? ret : answer(f);
}

static int finish_batch(struct far *f)
{
	static const struct lossy_model known;
	struct lossy_op op;
	uint32_t i;
	int ret;

	for (i = 0; i < f->next; i++) {
		lossy_make(&op, f->seed, f->writer, f->batch, i);
		lossy_apply(&f->model, &op);
		ret = op.what == RCLINK_OP_SEND_INV ? compare_lent(f, &op) : 0;
		if (ret)
			return ret;
	}
	ret = compare(f, &known);
	if (ret)
		return ret;
	f->batch++;
	f->next = 0;
	ret = lend(f);
	return ret ? ret : answer(f);
}

/* If a WRITE takes two pieces, its receive has the length of the last one. */
static uint32_t length_of(const struct far *f, const struct lossy_op *op)
{
	uintptr_t at = (uintptr_t)f->area + op->offset;
	uintptr_t second = (uintptr_t)f->area - LOSSY_AREA_AT;

	if (op->large)
		return op->len;
	second = second / PAGE * PAGE + LOSSY_LEAD;
	return op->what == RCLINK_OP_WRITE_IMM && at < second &&
	       second < at + op->len ? at + op->len - second : op->len;
}

static uint32_t flags_of(const struct lossy_op *op)
{
	switch (op->what) {
	case RCLINK_OP_SEND:
		return 0;
	case RCLINK_OP_SEND_INV:
		return RCLINK_CQE_INVALIDATED;
	case RCLINK_OP_WRITE_IMM:
		return RCLINK_CQE_IMM | RCLINK_CQE_WRITTEN;
	default:
		return RCLINK_CQE_IMM;
	}
}

static bool is_right(const struct far *f, const struct lossy_op *op,
		     const uint8_t *in)
{
	uint32_t len = op->len < LOSSY_SIZE ? op->len : LOSSY_SIZE;

	return lossy_is(in, op->key, len) &&
	       lossy_is(f->rest, lossy_behind(op->key, len), op->len - len);
}

/* The message of the last operation that was taken has ended what was lent. */
static int take_back(struct far *f, const struct lossy_op *op)
{
	int ret = compare_lent(f, op);

	return ret ? ret : rclink_withdraw(f->chan, f->lent_region);
}

/* A message must be the next one: none is lost, comes twice or too early. */
static int take(struct far *f, const struct rclink_dev_cqe *cqe)
{
	const uint8_t *in = f->in + cqe->user_data * LOSSY_SIZE;
	struct lossy_op op;
	int ret;

	do {
		lossy_make(&op, f->seed, f->writer, f->batch, f->next++);
	} while (!lossy_is_message(&op));
	if (cqe->len != length_of(f, &op))
		return wrong(f, "another message: its length");
	if (cqe->flags != flags_of(&op) ||
	    (cqe->flags && cqe->imm != (op.what == RCLINK_OP_SEND_INV ?
					f->lent_region : op.imm)))
		return wrong(f, "another message: its immediate");
	if (op.what != RCLINK_OP_WRITE_IMM && !is_right(f, &op, in))
		return wrong(f, "a message's data");
	ret = op.what == RCLINK_OP_SEND_INV ? take_back(f, &op) : 0;
	if (ret)
		return ret;
	if (f->next == lossy_batch_len(f->seed, f->writer, f->batch))
		return finish_batch(f);
	return op.fresh ? register_spare(f) : 0;
}

static int complete(struct far *f, const struct rclink_dev_cqe *cqe)
{
	uint32_t slot = cqe->user_data;
	int ret;

	if (cqe->status)
		return -ECONNRESET;
	if (cqe->op != RCLINK_OP_RECV || slot != f->took % RECVS)
		return wrong(f, "a completion out of order");
	if (f->took++)
		ret = take(f, cqe);
	else
		ret = begin(f, f->in + slot * LOSSY_SIZE, cqe->len);
	return ret ? ret : post(f, slot);
}

/* Messages from before the end count, even if the end was noticed first. */
static int take_rest(struct far *f, int why)
{
	struct rclink_dev_cqe cqe;

	while (why != -EILSEQ && rclink_reap(f->chan, &cqe, 1) == 1 &&
	       !cqe.status)
		why = complete(f, &cqe) == -EILSEQ ? -EILSEQ : why;
	return why;
}

/* Serves one channel until it ends; the near end knows whether it may end. */
static int serve(struct far *f)
{
	struct rclink_dev_cqe cqe;
	int ret;

	f->took = 0;
	f->pieces = 1;
	ret = rclink_region(f->chan, f->in, RECVS * LOSSY_SIZE, NULL, 0,
			    &f->in_region);
	if (!ret)
		ret = post(f, 0);
	while (!ret) {
		int posted = rclink_submit(f->chan, 1, 0);

		if (rclink_reap(f->chan, &cqe, 1) == 1)
			ret = complete(f, &cqe);
		else
			ret = posted < 0 ? posted : 0;
	}
	return take_rest(f, ret);
}

static uint8_t *memory(size_t len)
{
	uint8_t *addr = mmap(NULL, len, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		exit(EXIT_FAILURE);
	return addr;
}

int lossy_far(struct rclink_listener *listener, uint32_t writer,
	      uint8_t *shared)
{
	static struct far f;
	int ret;

	f.writer = writer;
	f.area = shared + writer * LOSSY_AREA;
	f.word = (uint64_t *)(shared + LOSSY_WORDS_AT) + writer * LOSSY_WORDS;
	f.in = memory(RECVS * LOSSY_SIZE);
	f.spare = memory(PAGE);
	f.large = memory(LOSSY_LARGE_AREA);
	f.rest = memory(LOSSY_LARGE - LOSSY_SIZE);
	f.lent = memory(LOSSY_LENT);
	do {
		ret = rclink_accept(listener, &f.chan);
		if (ret)
			break;
		ret = serve(&f);
		rclink_close(f.chan);
	} while (ret != -EILSEQ);
	fprintf(stderr, "lossy: the far end of writer %u ends: %s\n", writer,
		strerror(-ret));
	return EXIT_FAILURE;
}
