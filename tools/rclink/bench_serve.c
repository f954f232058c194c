// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bench_hello.h"
#include "cli.h"
#include "process.h"

#define OTHERS	RCLINK_DEV_BACKLOG_MAX

/*
 * Channels that are opened while one is served: by the same peer again and
 * again, to measure that, or by those who come next.
 */
struct others {
	struct rclink_chan *chan[OTHERS];
	unsigned int num;
};

static int read_page(struct bench *b, uint32_t region)
{
	int ret;

	ret = rclink_read(b->at.chan,
			  rclink_piece(region, 0, sizeof(struct bench_hello)),
			  &b->remote, 0, RCLINK_SQE_SIGNALED, 0);
	if (ret)
		return bench_failed(b, "cannot read", ret);
	while (!ret && !b->completed)
		ret = bench_pump(b, 1);
	b->completed = 0;
	return ret;
}

/* Read what is wanted, into memory that the test does not use. */
static int read_hello(struct bench *b)
{
	struct bench_hello *hello;
	uint32_t region;
	int ret;

	if (attach_find(&b->at, &b->remote))
		return -EIO;
	hello = attach_memory(&b->at, BENCH_PAGE, &region);
	if (!hello)
		return -ENOMEM;
	ret = read_page(b, region);
	if (!ret && !bench_hello_get(b, hello))
		ret = bench_failed(b, "a test that this end does not know",
				   -EPROTO);
	munmap(hello, BENCH_PAGE);
	return ret;
}

static unsigned int rights(const struct bench *b)
{
	if (b->op == RCLINK_OP_CAS || b->op == RCLINK_OP_FADD)
		return RCLINK_REGION_WRITE | RCLINK_REGION_READ |
		       RCLINK_REGION_ATOMIC;
	return RCLINK_REGION_WRITE | RCLINK_REGION_READ;
}

static int prepare(struct bench *b)
{
	int ret = read_hello(b);

	if (!ret)
		ret = bench_memory(b);
	if (!ret)
		ret = bench_post(b);
	if (ret)
		return ret;
	if (attach_offer(&b->at, b->page, BENCH_PAGE + b->size, rights(b)))
		return -EIO;
	ret = rclink_send(b->at.chan, rclink_none(), RCLINK_SQE_SIGNALED, 0);
	if (ret)
		return bench_failed(b, "cannot begin", ret);
	return bench_pump(b, 1);
}

/* Answer each message with one. */
static int answer_sends(struct bench *b)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < b->iters && !ret; i++) {
		while (!ret && b->received <= i)
			ret = bench_pump(b, 1);
		if (!ret)
			ret = bench_queue(b, (i + 1) % BENCH_SIGNAL == 0);
		if (!ret)
			ret = bench_pump(b, 0);
		/* Handed over with the next wait: now it delays nobody. */
		if (!ret && b->posted <= RCLINK_DEV_RECVS / 2)
			ret = bench_post(b);
	}
	return ret;
}

static int answer_writes(struct bench *b)
{
	bool signaled;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < b->iters && !ret; i++) {
		uint64_t since = rcl_now();

		while (!ret && bench_last(b) != (uint8_t)(i + 1))
			ret = bench_still_there(b, since);
		b->out[b->size - 1] = i + 1;
		signaled = (i + 1) % BENCH_SIGNAL == 0;
		if (!ret)
			ret = bench_queue(b, signaled);
		if (!ret)
			ret = bench_pump(b, signaled);
	}
	return ret;
}

/* Post receives again, and tell the other end for how many SENDs. */
static int make_room(struct bench *b)
{
	uint32_t taken = htobe32(b->received);
	int ret = bench_post(b);

	if (ret)
		return ret;
	return rclink_write(b->at.chan, rclink_bytes(&taken, sizeof(taken)),
			    &b->remote, offsetof(struct bench_page, taken), 0,
			    0);
}

/*
 * The other end sends no more than this end says it can receive. The first ones
 * may all be here before this end looks.
 */
static int take_sends(struct bench *b)
{
	uint32_t left;
	int ret = 0;

	while (!ret && b->received < b->iters) {
		if (b->posted <= RCLINK_DEV_RECVS - BENCH_ROOM)
			ret = make_room(b);
		left = b->iters - b->received;
		if (!ret)
			ret = bench_pump(b, left < BENCH_ROOM ? left :
							BENCH_ROOM);
	}
	return ret;
}

static bool has_ended(const struct rclink_chan *chan, int timeout_ms)
{
	struct pollfd fd = { .fd = rclink_fd(chan) };

	return poll(&fd, 1, timeout_ms) > 0 && fd.revents;
}

static void close_ended(struct others *others)
{
	unsigned int i, kept = 0;

	for (i = 0; i < others->num; i++) {
		if (has_ended(others->chan[i], 0))
			rclink_close(others->chan[i]);
		else
			others->chan[kept++] = others->chan[i];
	}
	others->num = kept;
}

/* Keep each channel that is opened meanwhile until its other end is closed. */
static int hold(struct bench *b, struct rclink_listener *listener,
		struct others *others)
{
	struct pollfd fds[2 + OTHERS] = {
		{ .fd = rclink_fd(b->at.chan) }, { .events = POLLIN },
	};
	unsigned int i;
	int ret = 0;

	while (!ret) {
		fds[1].fd = others->num < OTHERS ?
				    rclink_listener_fd(listener) : -1;
		for (i = 0; i < others->num; i++)
			fds[2 + i].fd = rclink_fd(others->chan[i]);
		if (poll(fds, 2 + i, -1) <= 0 || fds[0].revents)
			break;
		close_ended(others);
		if (!fds[1].revents)
			continue;
		ret = rclink_accept(listener, &others->chan[others->num]);
		others->num += !ret;
	}
	return ret ? bench_failed(b, "cannot accept", ret) : 0;
}

static int play(struct bench *b, struct rclink_listener *listener,
		struct others *others)
{
	if (b->test == BENCH_ATTACH)
		return hold(b, listener, others);
	if (b->op == RCLINK_OP_SEND)
		return b->test == BENCH_LAT ? answer_sends(b) : take_sends(b);
	if (b->op == RCLINK_OP_WRITE && b->test == BENCH_LAT)
		return answer_writes(b);
	return 0;
}

static void serve_one(struct bench *b, struct rclink_listener *listener,
		      struct others *others)
{
	if (!prepare(b) && !play(b, listener, others))
		while (!has_ended(b->at.chan, -1))
			;
	if (b->out)
		munmap(b->out, b->size + 1);
	if (b->page)
		munmap(b->page, BENCH_PAGE + b->size);
	attach_close(&b->at);
}

static int next(struct rclink_listener *listener, struct others *others,
		struct rclink_chan **chan)
{
	close_ended(others);
	if (!others->num)
		return rclink_accept(listener, chan);
	*chan = others->chan[0];
	others->num--;
	memmove(others->chan, others->chan + 1,
		others->num * sizeof(*others->chan));
	return 0;
}

int bench_serve(struct bench *b)
{
	struct others others = { .num = 0 };
	struct rclink_listener *listener;
	struct bench one;
	int ret;

	if (attach_listen(&b->at, &listener, RCLINK_DEV_BACKLOG_MAX,
			  RCLINK_CHAN_POLLED))
		return CLI_FAILED;
	for (;;) {
		one = *b;
		ret = next(listener, &others, &one.at.chan);
		if (ret)
			break;
		serve_one(&one, listener, &others);
	}
	rclink_listener_close(listener);
	return attach_refused(&b->at, "cannot accept", ret);
}
