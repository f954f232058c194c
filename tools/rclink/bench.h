/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measurements of a channel. The end that connects measures; the other one
 * reads what is wanted from the first one's shared memory, and plays its part.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach.h"

#define BENCH_PAGE	4096
#define BENCH_LARGEST	1048576		/* bytes of an operation */
#define BENCH_ITERS_MAX	10000000
#define BENCH_DEPTH	RCLINK_DEV_SENDS
#define BENCH_SIGNAL	8		/* one in so many is signaled */
#define BENCH_ROOM	(RCLINK_DEV_RECVS / 2)	/* receives reported at once */

enum bench_test {
	BENCH_LAT,
	BENCH_BW,
	BENCH_RATE,
	BENCH_ATTACH,
};

/* What is wanted, and where it is in the memory that both ends share. */
struct bench_hello {
	uint32_t magic, test, op, size, iters;	/* big-endian */
};

/*
 * The first page of each end's shared memory; behind it are the bytes that the
 * other end writes, reads, or changes.
 */
struct bench_page {
	struct bench_hello hello;
	uint8_t pad[68 - sizeof(struct bench_hello)];
	/* Big-endian: for how many SENDs a receive was posted again. */
	uint32_t taken;
};

struct bench {
	struct attach at;
	enum bench_test test;
	unsigned int op;		/* enum rclink_dev_op */
	uint32_t size, iters;
	bool json;

	uint8_t *out;			/* what is sent, or read */
	uint32_t out_region;
	struct bench_page *page;	/* shared, BENCH_PAGE + size bytes */
	struct rclink_remote remote;	/* the other end's */

	uint32_t posted;		/* receives */
	uint32_t received;
	uint32_t sent, completed;	/* operations */
	uint32_t spins;			/* looks at memory */
	uint64_t *sample;		/* ns, of each iteration */
	uint64_t duration;		/* ns, of all */
};

/* The last byte behind the first page, which the other end may be changing. */
static inline uint8_t bench_last(const struct bench *b)
{
	const uint8_t *last = (const uint8_t *)b->page + BENCH_PAGE +
			      b->size - 1;

	return __atomic_load_n(last, __ATOMIC_ACQUIRE);
}

/* bench_flow.c: for both ends. 0, or less after saying what is wrong. */
int bench_failed(struct bench *b, const char *what, int ret);
int bench_memory(struct bench *b);
int bench_post(struct bench *b);
int bench_queue(struct bench *b, bool signaled);
int bench_pump(struct bench *b, unsigned int wait);
int bench_still_there(struct bench *b, uint64_t since);

/* bench_lead.c: the end that measures. Returns an exit code. */
int bench_lead(struct bench *b);

/* bench_serve.c: the other end, for one peer after the other. */
int bench_serve(struct bench *b);

/* bench_report.c: to stdout. */
void bench_report(struct bench *b);

#endif /* BENCH_H */
