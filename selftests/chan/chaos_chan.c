// SPDX-License-Identifier: GPL-2.0
/*
 * Each message has its number, a checksum, and the number of messages that have
 * come from the other end. Before some of them a WRITE puts a pattern into the
 * peer's memory, which is there when the message is; beside others a counter
 * of the peer is incremented.
 */
#include "chaos.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "common.h"

#define WINDOW		8	/* messages that the peer has not acked */
#define TELL		4	/* messages after which an ACK goes alone */
#define RECVS		28	/* the window, and ACKs */
#define SLOT		2048
#define HEAD		48
#define SLOTS		16	/* of patterns, more than the window */
#define PATTERN		1024

#define TRIES		6000	/* of what is not possible yet: half a minute */

/*
 * A registration of the region covers so many bytes. One ends amid a receive,
 * another one amid a pattern, which are therefore moved in two pieces.
 */
#define REGISTERED	(2u << 20)
#define RECV_AT		(REGISTERED - 4 * SLOT - 512)
#define SEND_AT		(RECV_AT + RECVS * SLOT)
#define WRITE_AT	(SEND_AT + WINDOW * SLOT)
#define OLD_AT		(WRITE_AT + WINDOW * PATTERN)
#define TARGET_AT	(2 * REGISTERED - SLOTS / 2 * PATTERN - 512)
#define COUNTER_AT	(TARGET_AT + SLOTS * PATTERN)
#define MEMORY		((COUNTER_AT + 8 + 4095) / 4096 * 4096)

enum { DATA, ACK, ADD, WROTE };

#define TAG(kind, number)	((uint64_t)(kind) << 56 | (number))

struct head {
	uint64_t number;
	uint64_t got;
	uint64_t sum;		/* of what is behind it */
	uint32_t len;
	uint32_t wrote;		/* there is a pattern */
	uint64_t last;		/* nothing more comes */
	uint64_t pad;
};

bool chaos_atomics = true;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* FNV-1a. */
static uint64_t sum_of(const uint8_t *data, size_t len)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	while (len--)
		sum = (sum ^ *data++) * 0x100000001b3ULL;
	return sum;
}

static void fill(uint8_t *data, size_t len, uint64_t seed)
{
	size_t i;

	for (i = 0; i < len; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		data[i] = seed >> 56;
	}
}

static bool is_filled(const uint8_t *data, size_t len, uint64_t seed)
{
	uint8_t want[PATTERN];

	fill(want, len, seed);
	return !memcmp(want, data, len);
}

static void fail(struct chaos_chan *c, const char *what, const char *why)
{
	if (!c->failed)
		fprintf(stderr,
			"chaos: %s: %s (sent %llu, acked %llu, got %llu)\n",
			what, why, (unsigned long long)c->sent,
			(unsigned long long)c->acked,
			(unsigned long long)c->got);
	c->failed = true;
}

static void fail_errno(struct chaos_chan *c, const char *what, int ret)
{
	fail(c, what, strerror(-ret));
}

static void queued(struct chaos_chan *c, const char *what, int ret)
{
	if (ret)
		fail_errno(c, what, ret);
}

static void submit(struct chaos_chan *c)
{
	int ret = rclink_submit(c->chan, 0, 0);

	/* A peer that is done has closed; earlier completions are reaped. */
	if (ret == -ECONNRESET && !c->closed) {
		c->closed = true;
		return;
	}
	c->sums.suspended += ret == -EAGAIN && !c->blocked;
	c->blocked = ret == -EAGAIN;
	if (ret < 0 && ret != -EAGAIN && ret != -EBUSY)
		fail_errno(c, "submit", ret);
}

static void post_recv(struct chaos_chan *c, unsigned int i)
{
	queued(c, "recv",
	       rclink_recv(c->chan, rclink_piece(c->region, RECV_AT + i * SLOT,
						 SLOT), i));
}

static void post_write(struct chaos_chan *c, uint64_t number)
{
	uint32_t at = WRITE_AT + number % WINDOW * PATTERN;

	fill(c->memory + at, PATTERN, ~number);
	queued(c, "write",
	       rclink_write(c->chan, rclink_piece(c->region, at, PATTERN),
			    &c->remote, TARGET_AT + number % SLOTS * PATTERN,
			    0, TAG(WROTE, number)));
}

static void post_add(struct chaos_chan *c, uint64_t number)
{
	queued(c, "fadd",
	       rclink_fadd(c->chan, rclink_piece(c->region, OLD_AT +
						 number % WINDOW * 8, 8),
			   &c->remote, COUNTER_AT, 1, RCLINK_SQE_SIGNALED,
			   TAG(ADD, number)));
}

static void post_message(struct chaos_chan *c)
{
	uint64_t number = c->sent++;
	uint32_t at = SEND_AT + number % WINDOW * SLOT;
	struct head head = {
		.number = number,
		.got = c->got,
		.len = number * 37 % (SLOT - HEAD),
		.wrote = number % 4 == 0,
		.last = c->stopping,
	};

	_Static_assert(sizeof(head) == HEAD, "as defined");
	if (head.wrote)
		post_write(c, number);
	if (number % 8 == 1 &&
	    __atomic_load_n(&chaos_atomics, __ATOMIC_RELAXED))
		post_add(c, number);
	fill(c->memory + at + HEAD, head.len, number);
	head.sum = sum_of(c->memory + at + HEAD, head.len);
	memcpy(c->memory + at, &head, HEAD);
	queued(c, "send",
	       rclink_send(c->chan, rclink_piece(c->region, at,
						 HEAD + head.len),
			   RCLINK_SQE_SIGNALED, TAG(DATA, number)));
	c->told = c->got;
	c->ending = c->stopping;
}

static void post_ack(struct chaos_chan *c)
{
	c->told = c->got;
	c->acks++;
	queued(c, "ack", rclink_send_imm(c->chan, rclink_none(), c->got,
					 RCLINK_SQE_SIGNALED, TAG(ACK, 0)));
}

static void take_message(struct chaos_chan *c, const uint8_t *data,
			 uint32_t len)
{
	struct head head;
	uint64_t now = now_ns();

	memcpy(&head, data, HEAD);
	if (len < HEAD || head.len != len - HEAD ||
	    head.sum != sum_of(data + HEAD, head.len)) {
		c->sums.corrupt++;
		return;
	}
	if (head.number < c->got) {
		c->sums.duplicated++;
		return;
	}
	c->sums.lost += head.number - c->got;
	c->got = head.number + 1;
	c->acked = head.got;
	c->ended = head.last;
	if (head.wrote &&
	    !is_filled(c->memory + TARGET_AT + head.number % SLOTS * PATTERN,
		       PATTERN, ~head.number))
		c->sums.corrupt++;
	if (now - c->last > c->longest)
		c->longest = now - c->last;
	c->last = now;
}

static void take_receive(struct chaos_chan *c, const struct rclink_dev_cqe *cqe)
{
	if (cqe->flags & RCLINK_CQE_IMM)
		c->acked += (int32_t)(cqe->imm - (uint32_t)c->acked);
	else
		take_message(c, c->memory + RECV_AT + cqe->user_data * SLOT,
			     cqe->len);
	post_recv(c, cqe->user_data);
}

static void take(struct chaos_chan *c, const struct rclink_dev_cqe *cqe)
{
	uint64_t number = cqe->user_data & ~0ULL >> 8;
	unsigned int kind = cqe->user_data >> 56;

	if (cqe->op == RCLINK_OP_FADD &&
	    cqe->status == RCLINK_STATUS_UNKNOWN) {
		c->sums.unknown++;
		return;
	}
	if (cqe->status) {
		fail(c, rclink_op_name(cqe->op),
		     rclink_status_name(cqe->status));
		return;
	}
	if (cqe->op == RCLINK_OP_RECV) {
		take_receive(c, cqe);
	} else if (kind == ACK) {
		c->acks--;
	} else if (kind == ADD) {
		c->sums.fadds++;
	} else if (kind == DATA) {
		if (number != c->completed)
			fail(c, "send", "completed out of order");
		c->completed++;
	}
}

static void pump(struct chaos_chan *c)
{
	while (!c->failed && !c->ending && c->sent - c->acked < WINDOW &&
	       c->sent - c->completed < WINDOW)
		post_message(c);
	if (!c->failed && (c->got - c->told >= TELL ||
			   (c->ended && c->got != c->told)))
		post_ack(c);
}

int chaos_begin(struct chaos_chan *c, const char *name)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	int ret, tries, i;

	c->memory = memory(MEMORY);
	memset(c->memory, 0, MEMORY);
	for (tries = 0; tries < TRIES; tries++) {
		ret = rclink_region(c->chan, c->memory, MEMORY, name,
				    RCLINK_REGION_READ | RCLINK_REGION_WRITE |
				    RCLINK_REGION_ATOMIC, &c->region);
		if (ret != -EAGAIN)
			break;
		nanosleep(&pause, NULL);
	}
	if (ret)
		return say("region", ret);
	for (i = 0; i < RECVS; i++)
		post_recv(c, i);
	submit(c);
	/* The peer registers its own as soon as it has the channel. */
	for (tries = 0; tries < TRIES; tries++) {
		ret = rclink_import(c->chan, name, &c->remote);
		if (ret != -ENOENT && ret != -EAGAIN)
			break;
		nanosleep(&pause, NULL);
	}
	if (ret)
		return say("import", ret);
	c->last = now_ns();
	return c->failed ? -1 : 0;
}

void chaos_go_on(struct chaos_chan *c)
{
	struct rclink_dev_cqe cqes[32];
	int i, num;

	while (!c->failed && (num = rclink_reap(c->chan, cqes, 32)) > 0)
		for (i = 0; i < num && !chaos_is_over(c); i++)
			take(c, &cqes[i]);
	if (!chaos_is_over(c)) {
		pump(c);
		if (!c->failed)
			submit(c);
	}
	c->sums.sent = c->sent;
	c->sums.received = c->got;
}

/* The last message of this end has arrived, and so has the peer's. */
bool chaos_is_over(const struct chaos_chan *c)
{
	return c->failed || (c->ended && c->ending && c->acked == c->sent &&
			     c->told == c->got && !c->acks);
}

uint64_t chaos_counter(const struct chaos_chan *c)
{
	uint64_t counter;

	memcpy(&counter, c->memory + COUNTER_AT, 8);
	return counter;
}
