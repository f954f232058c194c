// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lossy.h"

#define SLOT		(LOSSY_SIZE + 4096)	/* an operation's own memory */
#define ANSWER		(LOSSY_OPS * SLOT)
#define LENT_AT		(ANSWER + sizeof(struct lossy_answer))
#define BUFFER		(LENT_AT + LOSSY_LENT)
#define LARGE_AT	BUFFER		/* if the mix has large operations */
#define LARGE_BUFFER	(LARGE_AT + LOSSY_LARGE + 64)
#define ANSWER_TAG	1000
#define BATCHES		12			/* of one channel */
#define OPEN_S		60
#define HELLO_MS	30000			/* for the far end's answer */
#define WAIT_MS		4000			/* for anything to complete */
#define STUCK_MAX	2			/* channels of a run */
#define UNHEARD_MAX	7			/* hellos in a row */

struct near {
	const char *link;
	uint32_t writer;
	uint64_t seed;
	bool may_end;
	struct rclink_chan *chan;
	struct rclink_remote far, far_large, lent;
	uint8_t *buffer;
	uint32_t region, room;		/* bytes of the buffer in use */
	struct lossy_model model;
	uint32_t batch, len, issued, done;
	bool answered;
	struct lossy_op op[LOSSY_OPS];
	uint32_t fresh[LOSSY_OPS], num_fresh;
	uint8_t expect[LOSSY_OPS][LOSSY_SIZE];	/* what a READ or atomic gets */
	unsigned int ops, batches, ended, stuck, unheard;
	/* Of whole batches */
	unsigned int ended_lent, masked, of_64k, of_1m;
};

/* -EILSEQ is never forgiven; any other error says how a channel ended. */
static int wrong(const struct near *n, uint32_t number, const char *what)
{
	fprintf(stderr, "lossy: writer %u, batch %u, operation %u (%s): %s\n",
		n->writer, n->batch, number,
		number < n->len ? rclink_op_name(n->op[number].what) : "none",
		what);
	return -EILSEQ;
}

static uint8_t *data(struct near *n, uint32_t number)
{
	const struct lossy_op *op = &n->op[number];

	return n->buffer + (op->large ? LARGE_AT : number * SLOT) + op->shift;
}

/* Check the data that a READ or an atomic has brought. */
static int check_data(struct near *n, uint32_t number)
{
	const struct lossy_op *op = &n->op[number];
	const uint8_t *right = n->expect[number];

	if (op->what != RCLINK_OP_READ && !lossy_is_atomic(op))
		return 0;
	/* Nothing else of the batch is large, so the model has it still. */
	if (op->large)
		right = lossy_at(&n->model, op);
	if (memcmp(data(n, number), right, op->len))
		return wrong(n, number, "data");
	return 0;
}

/* Completions are in order; one vouches for what was posted before it. */
static int complete(struct near *n, const struct rclink_dev_cqe *cqe)
{
	uint32_t number = cqe->user_data;
	struct lossy_answer answer;

	if (cqe->status) {
		if (!n->may_end)
			fprintf(stderr, "lossy: writer %u: %s: %s\n", n->writer,
				rclink_op_name(cqe->op),
				rclink_status_name(cqe->status));
		return -ECONNRESET;
	}
	if (number == ANSWER_TAG) {
		memcpy(&answer, n->buffer + ANSWER, sizeof(answer));
		if (n->answered || cqe->len != sizeof(answer) || !answer.right)
			return wrong(n, n->len, "an answer");
		n->answered = true;
		return 0;
	}
	if (number < n->done || number >= n->issued)
		return wrong(n, number, "a completion out of order");
	if (cqe->op != n->op[number].what || cqe->len != n->op[number].len ||
	    !n->op[number].signaled)
		return wrong(n, number, "a completion of another operation");
	for (; n->done <= number; n->done++) {
		int ret = check_data(n, n->done);

		if (ret)
			return ret;
		if (n->op[n->done].signaled && n->done < number)
			return wrong(n, n->done, "no completion");
	}
	return 0;
}

/* The channel has no room for more: wait until something has completed. */
static int wait_for_room(const struct near *n, unsigned int wait_ms)
{
	struct pollfd fd = {
		.fd = rclink_fd(n->chan), .events = POLLIN | POLLOUT,
	};

	return poll(&fd, 1, wait_ms) > 0 ? 0 : -ETIME;
}

/* Until all is done and answered, the channel ends, or nothing moves. */
static int finish(struct near *n, unsigned int wait_ms)
{
	struct rclink_dev_cqe cqe;

	while (n->done < n->len || !n->answered) {
		int posted = rclink_submit(n->chan, 1, wait_ms), ret;

		if (rclink_reap(n->chan, &cqe, 1) == 1)
			ret = complete(n, &cqe);
		else if (posted == -EBUSY)
			ret = wait_for_room(n, wait_ms);
		else
			ret = posted < 0 ? posted : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static int post_answer(struct near *n)
{
	n->answered = false;
	return rclink_recv(n->chan, rclink_piece(n->region, ANSWER,
						 sizeof(struct lossy_answer)),
			   ANSWER_TAG);
}

/* A WRITE must not overtake a READ of what it changes. */
static bool overlaps_read(const struct near *n, uint32_t number)
{
	const struct lossy_op *op = &n->op[number], *read;

	if (!lossy_is_write(op) || op->large)
		return false;
	for (read = n->op; read < op; read++)
		if (read->what == RCLINK_OP_READ && !read->large &&
		    read->offset < op->offset + op->len &&
		    op->offset < read->offset + read->len)
			return true;
	return false;
}

/*
 * The operation's data in own memory, which a fresh operation registers anew
 * while others are in flight.
 */
static int place(struct near *n, uint32_t number, struct rclink_data *to,
		 struct rclink_dev_sge *sge)
{
	const struct lossy_op *op = &n->op[number];
	uint32_t i, pieces = op->len < op->pieces ? 1 : op->pieces;
	uint32_t part = op->len / pieces, region = n->region;
	int ret;

	if (lossy_is_atomic(op))
		pieces = 1;
	if (op->pushed) {
		ret = rclink_submit(n->chan, 0, 0);
		if (ret < 0 && ret != -EBUSY)
			return ret;
	}
	if (op->fresh) {
		ret = rclink_region(n->chan, n->buffer, n->room, NULL, 0,
				    &region);
		if (ret)
			return ret;
		n->fresh[n->num_fresh++] = region;
	}
	for (i = 0; i < pieces; i++) {
		sge[i].region = region;
		sge[i].offset = data(n, number) - n->buffer + i * part;
		sge[i].len = i + 1 < pieces ? part : op->len - i * part;
	}
	*to = rclink_pieces(sge, op->len ? pieces : 0);
	if (op->inlined && op->len <= RCLINK_DEV_INLINE_MAX &&
	    (lossy_is_write(op) || lossy_is_message(op)))
		*to = rclink_bytes(data(n, number), op->len);
	return 0;
}

static int queue_atomic(struct near *n, uint32_t number, struct rclink_data to,
			unsigned int flags)
{
	const struct lossy_op *op = &n->op[number];
	uint64_t at = lossy_words_at(n->writer) +
		op->offset * sizeof(uint64_t);

	memcpy(n->expect[number], &n->model.word[op->offset], sizeof(uint64_t));
	switch (op->what) {
	case RCLINK_OP_FADD:
		return rclink_fadd(n->chan, to, &n->far, at, op->key, flags,
				   number);
	case RCLINK_OP_MFADD:
		return rclink_mfadd(n->chan, to, &n->far, at, op->key, op->mask,
				    flags, number);
	case RCLINK_OP_MCAS:
		return rclink_mcas(n->chan, to, &n->far, at,
				   lossy_compare(&n->model, op), op->key,
				   op->mask, op->swap_mask, flags, number);
	default:
		return rclink_cas(n->chan, to, &n->far, at,
				  lossy_compare(&n->model, op), op->key, flags,
				  number);
	}
}

/* The far end has lent the region before it answered the last batch. */
static int queue_inv(struct near *n, uint32_t number, struct rclink_data data,
		     unsigned int flags)
{
	const struct lossy_op *op = &n->op[number];
	uint32_t len = lossy_lent_len(op);
	char name[LOSSY_NAME];
	int ret;

	lossy_name(name, "lent", n->writer);
	ret = rclink_import(n->chan, name, &n->lent);
	if (ret)
		return ret;
	lossy_fill(n->buffer + LENT_AT, lossy_lent_key(op), len);
	ret = rclink_write(n->chan, rclink_piece(n->region, LENT_AT, len),
			   &n->lent, LOSSY_LENT - len, 0, number);
	if (ret)
		return ret;
	return rclink_send_inv(n->chan, data, &n->lent, flags, number);
}

static int queue(struct near *n, uint32_t number)
{
	const struct lossy_op *op = &n->op[number];
	const struct rclink_remote *far = op->large ? &n->far_large : &n->far;
	uint64_t at = op->offset + (op->large ? 0 : LOSSY_AREA_AT);
	unsigned int flags = op->signaled ? RCLINK_SQE_SIGNALED : 0;
	struct rclink_dev_sge sge[RCLINK_DEV_SGE_MAX];
	struct rclink_data to;
	int ret = place(n, number, &to, sge);

	if (ret)
		return ret;
	if (overlaps_read(n, number))
		flags |= RCLINK_SQE_FENCE;
	lossy_fill(data(n, number), op->key, op->len);
	switch (op->what) {
	case RCLINK_OP_SEND:
		return rclink_send(n->chan, to, flags, number);
	case RCLINK_OP_SEND_IMM:
		return rclink_send_imm(n->chan, to, op->imm, flags, number);
	case RCLINK_OP_SEND_INV:
		return queue_inv(n, number, to, flags);
	case RCLINK_OP_WRITE:
		return rclink_write(n->chan, to, far, at, flags, number);
	case RCLINK_OP_WRITE_IMM:
		return rclink_write_imm(n->chan, to, far, at, op->imm, flags,
					number);
	case RCLINK_OP_READ:
		if (!op->large)
			memcpy(n->expect[number], lossy_at(&n->model, op),
			       op->len);
		return rclink_read(n->chan, to, far, at, flags, number);
	default:
		return queue_atomic(n, number, to, flags);
	}
}

/* What was lent is over for this end, too. */
static int check_lent(struct near *n)
{
	int ret;

	if (!lossy_lends(n->seed, n->writer, n->batch))
		return 0;
	ret = rclink_write(n->chan, rclink_piece(n->region, LENT_AT, 1),
			   &n->lent, 0, 0, 0);
	if (!ret)
		ret = rclink_submit(n->chan, 0, 0);
	if (ret == -ESTALE)
		return 0;
	return ret < 0 ? ret : wrong(n, n->len, "what was lent is there");
}

static void count(struct near *n)
{
	const struct lossy_op *op;

	for (op = n->op; op < n->op + n->len; op++) {
		n->of_64k += op->large && op->len < LOSSY_LARGE;
		n->of_1m += op->large && op->len == LOSSY_LARGE;
		n->ended_lent += op->what == RCLINK_OP_SEND_INV;
		n->masked += op->what == RCLINK_OP_MCAS ||
			     op->what == RCLINK_OP_MFADD;
	}
}

static int go_batch(struct near *n)
{
	uint32_t i;
	int ret = 0;

	n->len = lossy_batch_len(n->seed, n->writer, n->batch);
	n->issued = 0;
	n->done = 0;
	n->num_fresh = 0;
	ret = post_answer(n);
	for (i = 0; i < n->len && !ret; i++) {
		lossy_make(&n->op[i], n->seed, n->writer, n->batch, i);
		ret = queue(n, i);
		lossy_apply(&n->model, &n->op[i]);
		n->issued += !ret;
	}
	if (!ret)
		ret = finish(n, WAIT_MS);
	n->ops += n->done;
	if (ret)
		return ret;
	count(n);
	while (n->num_fresh && !ret)
		ret = rclink_withdraw(n->chan, n->fresh[--n->num_fresh]);
	if (!ret)
		ret = check_lent(n);
	n->batch++;
	n->issued = 0;
	n->done = 0;
	n->batches++;
	return ret;
}

static int ask_size(struct near *n, uint32_t what, uint32_t size)
{
	struct rclink_data data = rclink_piece(n->region, 0, size);

	switch (what) {
	case RCLINK_OP_SEND:
		return rclink_send(n->chan, data, 0, 0);
	case RCLINK_OP_WRITE:
		return rclink_write(n->chan, data, &n->far, 0, 0, 0);
	case RCLINK_OP_READ:
		return rclink_read(n->chan, data, &n->far, 0, 0, 0);
	default:
		return rclink_recv(n->chan, data, 0);
	}
}

static int refuses_size(struct near *n, uint32_t what, uint32_t size)
{
	int ret = ask_size(n, what, size);

	if (!ret)
		ret = rclink_submit(n->chan, 0, 0);
	if (ret == -EINVAL || ret == -EMSGSIZE)
		return 0;
	if (ret < 0)
		return ret;
	fprintf(stderr, "lossy: %s of %u bytes\n", rclink_op_name(what), size);
	return wrong(n, n->len, "a size was taken");
}

/* Sizes that no operation can have are refused at once and do no harm. */
static int refuses(struct near *n)
{
	const uint32_t sizes[] = {
		n->room + 1, INT32_MAX, 1U << 31, (1U << 31) + 1, UINT32_MAX,
	};
	static const uint32_t whats[] = {
		RCLINK_OP_SEND, RCLINK_OP_WRITE, RCLINK_OP_READ, RCLINK_OP_RECV,
	};
	const uint32_t num = sizeof(sizes) / sizeof(sizes[0]);
	uint32_t i;
	int ret = 0;

	for (i = 0; i < num * sizeof(whats) / sizeof(whats[0]) && !ret; i++)
		ret = refuses_size(n, whats[i / num], sizes[i % num]);
	return ret;
}

static int greet(struct near *n)
{
	struct lossy_hello h = {
		.seed = n->seed, .batch = n->batch, .issued = n->issued,
		.done = n->done,
	};
	char name[LOSSY_NAME];
	int ret;

	ret = rclink_region(n->chan, n->buffer, n->room, NULL, 0, &n->region);
	if (!ret)
		ret = post_answer(n);
	if (!ret)
		ret = rclink_send(n->chan, rclink_bytes(&h, sizeof(h)), 0, 0);
	n->len = 0;
	if (!ret)
		ret = finish(n, n->may_end ? WAIT_MS : HELLO_MS);
	/* The far end accepts channels, whatever became of earlier ones. */
	if (ret == -ETIME && (!n->may_end || ++n->unheard > UNHEARD_MAX))
		ret = wrong(n, n->len, "no answer to a hello");
	if (!ret) {
		n->unheard = 0;
		lossy_name(name, "far", n->writer);
		ret = rclink_import(n->chan, name, &n->far);
	}
	if (!ret && lossy_has_large(n->seed)) {
		lossy_name(name, "large", n->writer);
		ret = rclink_import(n->chan, name, &n->far_large);
	}
	if (ret)
		return ret;
	n->batch += !!n->issued;
	n->issued = 0;
	n->done = 0;
	lossy_reset(&n->model, n->seed, n->writer);
	return refuses(n);
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* If channels may end, the link may be down for a while, too. */
static int open_channel(struct near *n)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const time_t end = now() + OPEN_S;
	char name[LOSSY_NAME];
	int ret;

	lossy_name(name, "lossy", n->writer);
	for (;;) {
		ret = rclink_connect(&n->chan, n->link, name,
				     RCLINK_CONNECT_WAIT |
				     (n->writer % 2 ? RCLINK_CHAN_POLLED : 0));
		if (!ret || !n->may_end || now() > end)
			return ret;
		nanosleep(&pause, NULL);
	}
}

/*
 * rxe (6.1 and 6.12) can lose an operation for ever on a network that loses or
 * delays packets, see testing.rst: so a few channels may get stuck, and are
 * closed.
 */
static int judge_end(struct near *n, int why)
{
	n->ended += why != -ETIME;
	n->stuck += why == -ETIME;
	if (n->may_end || (why == -ETIME && n->stuck <= STUCK_MAX))
		return 0;
	return wrong(n, n->done, strerror(-why));
}

/* One channel: some batches, then it is closed with nothing under way. */
static int go_channel(struct near *n, time_t end)
{
	unsigned int i;
	int ret = open_channel(n);

	if (ret) {
		fprintf(stderr, "lossy: writer %u: connect: %s\n", n->writer,
			strerror(-ret));
		return -EILSEQ;
	}
	ret = greet(n);
	for (i = 0; i < BATCHES && !ret && now() <= end; i++)
		ret = go_batch(n);
	rclink_close(n->chan);
	return ret && ret != -EILSEQ ? judge_end(n, ret) : ret;
}

int lossy_near(const char *link, uint32_t writer, uint64_t seed,
	       unsigned int seconds, bool may_end)
{
	static struct near n;
	const time_t end = now() + seconds;
	int ret;

	n.link = link;
	n.writer = writer;
	n.seed = seed;
	n.may_end = may_end;
	n.room = lossy_has_large(seed) ? LARGE_BUFFER : BUFFER;
	n.buffer = mmap(NULL, n.room, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (n.buffer == MAP_FAILED)
		return EXIT_FAILURE;
	/* One more channel if the last one ended: to judge its batch, too. */
	do {
		ret = go_channel(&n, end);
	} while (!ret && (now() <= end || n.issued));
	printf("writer %u: %u operations, %u batches, %u ends, %u stuck, ",
	       writer, n.ops, n.batches, n.ended, n.stuck);
	printf("%u lent, %u masked, %u of 64 KiB, %u of 1 MiB\n",
	       n.ended_lent, n.masked, n.of_64k, n.of_1m);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
