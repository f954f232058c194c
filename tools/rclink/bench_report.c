// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "out.h"
#include "times.h"

#define NS_PER_S	1e9
#define NS_PER_US	1e3

/* Times are one way, as in perftest; else until the answer arrives. */
static bool is_half(const struct bench *b)
{
	return b->test == BENCH_LAT &&
	       (b->op == RCLINK_OP_SEND || b->op == RCLINK_OP_WRITE);
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

/* As perftest prints them. */
static void print_times(const struct bench *b, const struct times *t)
{
	const struct {
		const char *head;
		uint64_t ns;
	} columns[] = {
		{ "t_min[usec]", t->min },
		{ "t_max[usec]", t->max },
		{ "t_typical[usec]", t->median },
		{ "t_avg[usec]", t->avg },
		{ "t_stdev[usec]", t->mdev },
		{ "99%[usec]", t->p99 },
		{ "99.9%[usec]", t->p999 },
	};
	size_t i;

	printf("#bytes   #iterations");
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		printf("  %s", columns[i].head);
	printf("\n%-8u %-11u", b->size, b->iters);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		printf("  %*.2f", (int)strlen(columns[i].head),
		       columns[i].ns / NS_PER_US);
	putchar('\n');
}

static void report_times(struct bench *b)
{
	struct times t = times_sum(b->sample, b->iters);
	struct json_object *doc;

	if (!b->json) {
		print_times(b, &t);
		return;
	}
	doc = begin(b);
	rcl_out_u64(doc, "min", t.min);
	rcl_out_u64(doc, "max", t.max);
	rcl_out_u64(doc, "median", t.median);
	rcl_out_u64(doc, "avg", t.avg);
	rcl_out_u64(doc, "mdev", t.mdev);
	rcl_out_u64(doc, "p99", t.p99);
	rcl_out_u64(doc, "p999", t.p999);
	json_object_object_add(doc, "half_round_trip",
			       json_object_new_boolean(is_half(b)));
	print(doc);
}

static void report_stream(const struct bench *b)
{
	double seconds = b->duration / NS_PER_S;
	double rate = b->iters / seconds;
	struct json_object *doc;

	if (!b->json) {
		puts("#bytes   #iterations  BW average[MB/sec]  MsgRate[Mpps]");
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
