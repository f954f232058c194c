// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "bench_hello.h"
#include "cli.h"
#include "process.h"

#define SETTLE_NS	50000000L	/* for a closed channel to settle */

/* A round trip, half of which counts as one way, as in perftest. */
static int lat_send(struct bench *b)
{
	uint64_t begun;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < b->iters && !ret; i++) {
		begun = rcl_now();
		ret = bench_queue(b, (i + 1) % BENCH_SIGNAL == 0);
		/* Nobody waits for this while the message is under way. */
		if (!ret && b->posted <= RCLINK_DEV_RECVS / 2) {
			ret = bench_pump(b, 0);
			if (!ret)
				ret = bench_post(b);
		}
		while (!ret && b->received <= i)
			ret = bench_pump(b, 1);
		b->sample[i] = (rcl_now() - begun) / 2;
	}
	return ret;
}

/* The last byte of each end's memory holds the number of the iteration. */
static int lat_write(struct bench *b)
{
	uint64_t begun;
	bool signaled;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < b->iters && !ret; i++) {
		signaled = (i + 1) % BENCH_SIGNAL == 0;
		b->out[b->size - 1] = i + 1;
		begun = rcl_now();
		ret = bench_queue(b, signaled);
		if (!ret)
			ret = bench_pump(b, signaled);
		while (!ret && bench_last(b) != (uint8_t)(i + 1))
			ret = bench_still_there(b, begun);
		b->sample[i] = (rcl_now() - begun) / 2;
	}
	return ret;
}

/* Time until the answer arrives. */
static int lat_answer(struct bench *b)
{
	uint64_t begun = rcl_now(), now;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < b->iters && !ret; i++) {
		ret = bench_queue(b, true);
		while (!ret && b->completed <= i)
			ret = bench_pump(b, 1);
		/* From one to the next, as in perftest. */
		now = rcl_now();
		b->sample[i] = now - begun;
		begun = now;
	}
	return ret;
}

/* A SEND without a receive at the other end would have to be sent again. */
static bool has_room(const struct bench *b)
{
	uint32_t taken = be32toh(__atomic_load_n(&b->page->taken,
						 __ATOMIC_ACQUIRE));

	return b->sent < b->iters && b->sent - b->completed < BENCH_DEPTH &&
	       (b->op != RCLINK_OP_SEND ||
		b->sent - taken < RCLINK_DEV_RECVS);
}

static bool is_signaled(const struct bench *b)
{
	uint32_t number = b->sent + 1;

	return number == b->iters || number % BENCH_SIGNAL == 0;
}

/* The other end says in this end's memory that it can take more. */
static int wait_for_room(struct bench *b)
{
	uint64_t since = rcl_now();
	int ret = 0;

	while (!ret && !has_room(b))
		ret = bench_still_there(b, since);
	return ret;
}

static int stream(struct bench *b)
{
	bool wait;
	int ret = 0;

	while (!ret && b->completed < b->iters) {
		while (!ret && has_room(b))
			ret = bench_queue(b, is_signaled(b));
		/* Among fewer, there may be none that completes. */
		wait = b->sent == b->iters ||
		       b->sent - b->completed == BENCH_DEPTH;
		if (!ret)
			ret = bench_pump(b, wait);
		if (!ret && !wait)
			ret = wait_for_room(b);
	}
	return ret;
}

static int first_write(struct bench *b)
{
	struct rclink_remote remote;
	int ret;

	ret = attach_import(&b->at, &remote);
	if (!ret)
		ret = rclink_write(b->at.chan, rclink_bytes(&remote, 8),
				   &remote, BENCH_PAGE, RCLINK_SQE_SIGNALED, 0);
	if (ret)
		return bench_failed(b, "cannot write", ret);
	b->completed = 0;
	while (!ret && !b->completed)
		ret = bench_pump(b, 1);
	return ret;
}

/* A new channel each time; waiting for closed ones to be free is not timed. */
static int attaches(struct bench *b)
{
	const struct timespec pause = { .tv_nsec = SETTLE_NS };
	struct rclink_chan *first = b->at.chan;
	uint64_t begun, end;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < b->iters && !ret; i++) {
		end = rcl_now() + ATTACH_TIMEOUT_MS * NS_PER_MS;
		do {
			nanosleep(&pause, NULL);
			begun = rcl_now();
			ret = rclink_connect(&b->at.chan, b->at.target.link,
					     b->at.target.service,
					     RCLINK_CHAN_POLLED);
		} while (ret == -EAGAIN && begun < end);
		if (ret) {
			attach_refused(&b->at, "cannot connect", ret);
			break;
		}
		ret = first_write(b);
		b->sample[i] = rcl_now() - begun;
		rclink_close(b->at.chan);
	}
	b->at.chan = first;
	return ret;
}

static int measure(struct bench *b)
{
	if (b->test == BENCH_ATTACH)
		return attaches(b);
	if (b->test != BENCH_LAT)
		return stream(b);
	if (b->op == RCLINK_OP_SEND)
		return lat_send(b);
	return b->op == RCLINK_OP_WRITE ? lat_write(b) : lat_answer(b);
}

/* Returns once the other end's first message says that it is ready. */
static int prepare(struct bench *b)
{
	int ret = bench_memory(b);

	if (ret)
		return ret;
	bench_hello_put(b, &b->page->hello);
	ret = bench_post(b);
	if (!ret)
		ret = bench_pump(b, 0);
	if (ret)
		return ret;
	if (attach_offer(&b->at, b->page, BENCH_PAGE + b->size,
			 RCLINK_REGION_WRITE | RCLINK_REGION_READ))
		return -EIO;
	while (!ret && !b->received)
		ret = bench_pump(b, 1);
	b->received = 0;
	if (ret)
		return ret;
	ret = attach_import(&b->at, &b->remote);
	return ret ? bench_failed(b, "cannot import", ret) : 0;
}

int bench_lead(struct bench *b)
{
	uint64_t begun;
	int status;

	b->sample = calloc(b->iters, sizeof(*b->sample));
	if (!b->sample)
		return cli_fail("bench: out of memory; choose fewer --iters");
	status = attach_connect(&b->at, RCLINK_CHAN_POLLED);
	if (!status && prepare(b))
		status = CLI_FAILED;
	begun = rcl_now();
	if (!status && measure(b))
		status = CLI_FAILED;
	b->duration = rcl_now() - begun;
	attach_close(&b->at);
	if (!status)
		bench_report(b);
	free(b->sample);
	return status;
}
