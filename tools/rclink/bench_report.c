// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "out.h"

#define NS_PER_S	1e9
#define NS_PER_US	1e3

/* All in nanoseconds. */
struct summary {
	uint64_t min, max, typical, avg, stdev, p99, p999;
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* No more than permille of the sorted samples are smaller. */
static uint64_t at(const struct bench *b, uint64_t permille)
{
	return b->sample[(b->iters - 1) * permille / 1000];
}

static struct summary summarize(struct bench *b)
{
	double sum = 0, square = 0, avg;
	uint32_t i;

	qsort(b->sample, b->iters, sizeof(*b->sample), by_value);
	for (i = 0; i < b->iters; i++)
		sum += b->sample[i];
	avg = sum / b->iters;
	for (i = 0; i < b->iters; i++)
		square += (b->sample[i] - avg) * (b->sample[i] - avg);
	return (struct summary) {
		.min = b->sample[0],
		.max = b->sample[b->iters - 1],
		.typical = at(b, 500),
		.avg = avg,
		.stdev = sqrt(square / b->iters),
		.p99 = at(b, 990),
		.p999 = at(b, 999),
	};
}

static struct json_object *begin(const struct bench *b)
{
	static const char *const tests[] = {
		[BENCH_LAT] = "lat",
		[BENCH_BW] = "bw",
		[BENCH_RATE] = "rate",
		[BENCH_ATTACH] = "attach",
	};
	struct json_object *doc = json_object_new_object();

	rcl_out_text(doc, "name", b->at.target.link);
	rcl_out_text(doc, "service", b->at.target.service);
	rcl_out_text(doc, "test", tests[b->test]);
	rcl_out_text(doc, "op", rclink_op_name(b->op));
	rcl_out_u64(doc, "size", b->size);
	rcl_out_u64(doc, "iters", b->iters);
	return doc;
}

static void print(struct json_object *doc)
{
	rcl_out_json(stdout, doc);
	json_object_put(doc);
}

static void report_times(struct bench *b)
{
	struct summary s = summarize(b);
	struct json_object *doc;

	if (!b->json) {
		printf("#bytes   #iterations  t_min[usec]  t_max[usec]  "
		       "t_typical[usec]  t_avg[usec]  t_stdev[usec]  "
		       "99%%[usec]  99.9%%[usec]\n");
		printf("%-8u %-12u %-12.2f %-12.2f %-16.2f %-12.2f %-14.2f "
		       "%-10.2f %.2f\n", b->size, b->iters, s.min / NS_PER_US,
		       s.max / NS_PER_US, s.typical / NS_PER_US,
		       s.avg / NS_PER_US, s.stdev / NS_PER_US,
		       s.p99 / NS_PER_US, s.p999 / NS_PER_US);
		return;
	}
	doc = begin(b);
	rcl_out_u64(doc, "min", s.min);
	rcl_out_u64(doc, "max", s.max);
	rcl_out_u64(doc, "typical", s.typical);
	rcl_out_u64(doc, "avg", s.avg);
	rcl_out_u64(doc, "stdev", s.stdev);
	rcl_out_u64(doc, "p99", s.p99);
	rcl_out_u64(doc, "p999", s.p999);
	print(doc);
}

static void report_stream(const struct bench *b)
{
	double seconds = b->duration / NS_PER_S;
	double rate = b->iters / seconds;
	struct json_object *doc;

	if (!b->json) {
		printf("#bytes   #iterations  BW average[MB/sec]  "
		       "MsgRate[Mpps]\n");
		/* A megabyte is 2^20 bytes, as in perftest. */
		printf("%-8u %-12u %-19.2f %.6f\n", b->size, b->iters,
		       rate * b->size / (1 << 20), rate / 1e6);
		return;
	}
	doc = begin(b);
	rcl_out_u64(doc, "duration", b->duration);
	rcl_out_u64(doc, "bytes_per_second", rate * b->size);
	rcl_out_u64(doc, "messages_per_second", rate);
	print(doc);
}

void bench_report(struct bench *b)
{
	if (b->test == BENCH_LAT || b->test == BENCH_ATTACH)
		report_times(b);
	else
		report_stream(b);
}
