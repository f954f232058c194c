// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "cli.h"
#include "process.h"

#define REAP		16
#define LOOK_NS		200000000ULL	/* of spinning, then check the peer */
#define SPINS		256		/* for each look at the clock */
#define PAUSE_NS	1000000L	/* until the next look */

int bench_failed(struct bench *b, const char *what, int ret)
{
	attach_failed(&b->at, what, ret);
	return ret;
}

/* Allocate the memory, once the size is known; it is not exported yet. */
int bench_memory(struct bench *b)
{
	void *page;

	b->out = attach_memory(&b->at, b->size + 1, &b->out_region);
	if (!b->out)
		return -ENOMEM;
	page = mmap(NULL, BENCH_PAGE + b->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return bench_failed(b, "memory", -errno);
	b->page = page;
	return 0;
}

/* Post as many receives as there can be. */
int bench_post(struct bench *b)
{
	int ret = 0;

	for (; b->posted < RCLINK_DEV_RECVS && !ret; b->posted++)
		ret = rclink_recv(b->at.chan,
				  rclink_piece(b->out_region, 0, b->size), 0);
	return ret ? bench_failed(b, "cannot queue", ret) : 0;
}

static struct rclink_data message(const struct bench *b)
{
	if (b->size <= RCLINK_DEV_INLINE_MAX)
		return rclink_bytes(b->out, b->size);
	return rclink_piece(b->out_region, 0, b->size);
}

/* Queue the next operation of the test. */
int bench_queue(struct bench *b, bool signaled)
{
	unsigned int flags = signaled ? RCLINK_SQE_SIGNALED : 0;
	struct rclink_data into = rclink_piece(b->out_region, 0, b->size);
	struct rclink_chan *chan = b->at.chan;
	uint64_t number = b->sent++;
	int ret;

	if (b->op == RCLINK_OP_SEND)
		ret = rclink_send(chan, message(b), flags, number);
	else if (b->op == RCLINK_OP_WRITE)
		ret = rclink_write(chan, message(b), &b->remote, BENCH_PAGE,
				   flags, number);
	else if (b->op == RCLINK_OP_READ)
		ret = rclink_read(chan, into, &b->remote, BENCH_PAGE, flags,
				  number);
	else if (b->op == RCLINK_OP_CAS)
		ret = rclink_cas(chan, into, &b->remote, BENCH_PAGE, number,
				 number + 1, flags, number);
	else
		ret = rclink_fadd(chan, into, &b->remote, BENCH_PAGE, 1, flags,
				  number);
	return ret ? bench_failed(b, "cannot queue", ret) : 0;
}

static int take(struct bench *b, const struct rclink_dev_cqe *cqe)
{
	if (cqe->status) {
		attach_broken(&b->at, cqe);
		return -EIO;
	}
	if (cqe->op == RCLINK_OP_RECV) {
		b->received++;
		b->posted--;
	} else {
		b->completed = cqe->user_data + 1;
	}
	return 0;
}

/* Returns how many have completed. */
static int reap(struct bench *b)
{
	struct rclink_dev_cqe cqes[REAP];
	int num, i, all = 0;

	do {
		num = rclink_reap(b->at.chan, cqes, REAP);
		if (num < 0)
			return bench_failed(b, "completions", num);
		for (i = 0; i < num; i++)
			if (take(b, &cqes[i]))
				return -EIO;
		all += num;
	} while (num == REAP);
	return all;
}

/* Hand over what is queued, and count what has completed. */
int bench_pump(struct bench *b, unsigned int wait)
{
	int ret = attach_submit(&b->at, wait);
	int num = reap(b);

	if (num < 0)
		return num;
	/* What completed before the end can still be reaped after it. */
	if (ret >= 0 || ret == -EINTR || ret == -EBUSY || num)
		return 0;
	return bench_failed(b, "broken off", ret);
}

/*
 * The caller has been spinning on memory since then: is anybody there to change
 * it? The channel is polled, so only a look shows that an operation has failed.
 */
int bench_still_there(struct bench *b, uint64_t since)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	/* An emulator has one clock for all processors, behind a lock. */
	if (++b->spins % SPINS || rcl_now() - since < LOOK_NS)
		return 0;
	nanosleep(&pause, NULL);
	return bench_pump(b, 0);
}
