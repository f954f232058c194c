// SPDX-License-Identifier: GPL-2.0
#include "ping_report.h"

#include <stddef.h>
#include <stdio.h>

#include <json-c/json.h>

#include "out.h"
#include "text.h"
#include "times.h"

#define COUNT		5
#define COUNT_MAX	10000000
#define INTERVAL_NS	200000000ULL
#define SIZE		64
#define ATOMIC_SIZE	8

const struct option ping_options[] = {
	{ "count", required_argument, NULL, 'c' },
	{ "interval", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 's' },
	{ "op", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

void ping_args_init(struct ping_args *args)
{
	*args = (struct ping_args){
		.op = RCLINK_PING_OP_SEND,
		.size = SIZE,
		.count = COUNT,
		.interval = INTERVAL_NS,
	};
}

static void take_op(struct ping_args *args, const char *cmd, const char *word)
{
	if (!rcl_word_value(RCL_WORDS_PING_OP, word, &args->op))
		cli_usage(cmd, "there is no op '%s'", word);
	if (!args->sized)
		args->size = args->op >= RCLINK_PING_OP_CAS ? ATOMIC_SIZE :
							      SIZE;
}

void ping_args_take(struct ping_args *args, const char *cmd, int c)
{
	if (c == 'c') {
		args->count = cli_number(cmd, "-c", optarg, 1, COUNT_MAX);
	} else if (c == 'i') {
		args->interval = cli_seconds(cmd, "-i", optarg);
	} else if (c == 's') {
		args->size = cli_number(cmd, "-s", optarg, 0, UINT32_MAX);
		args->sized = true;
	} else if (c == 'o') {
		take_op(args, cmd, optarg);
	}
	args->quiet |= c == 'q';
	args->json |= c == 'j';
}

void ping_report_line(const char *link, uint32_t op, uint32_t size,
		      uint32_t seq, uint64_t rtt)
{
	char text[RCL_NS_TEXT_LEN];

	printf("%u bytes %s %s: seq %u, time %s\n", size,
	       rcl_word(RCL_WORDS_PING_OP, op), link, seq,
	       rcl_ns_text(rtt, text));
}

static const struct {
	const char *key;
	size_t offset;
} keys[] = {
	{ "min", offsetof(struct times, min) },
	{ "avg", offsetof(struct times, avg) },
	{ "median", offsetof(struct times, median) },
	{ "p99", offsetof(struct times, p99) },
	{ "max", offsetof(struct times, max) },
	{ "mdev", offsetof(struct times, mdev) },
};

#define NUM_KEYS	(sizeof(keys) / sizeof(keys[0]))

static uint64_t value(const struct times *times, size_t i)
{
	return *(const uint64_t *)((const char *)times + keys[i].offset);
}

/* In the order in which they were made. */
static void add_rtt(struct json_object *doc, const struct ping_report *r)
{
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < r->ok; i++)
		json_object_array_add(list, json_object_new_uint64(r->rtt[i]));
	json_object_object_add(doc, "rtt", list);
}

static void print_doc(const struct ping_report *r)
{
	struct json_object *doc = json_object_new_object();
	struct times times;
	size_t i;

	rcl_out_text(doc, "name", r->link);
	rcl_out_text(doc, "op", rcl_word(RCL_WORDS_PING_OP, r->op));
	rcl_out_u64(doc, "size", r->size);
	rcl_out_u64(doc, "ok", r->ok);
	rcl_out_u64(doc, "failed", r->failed);
	rcl_out_text(doc, "error", *r->why ? r->why : NULL);
	add_rtt(doc, r);
	json_object_object_add(doc, "half_round_trip",
			       json_object_new_boolean(false));
	times = times_sum(r->rtt, r->ok);
	for (i = 0; i < NUM_KEYS; i++)
		if (r->ok)
			rcl_out_u64(doc, keys[i].key, value(&times, i));
		else
			json_object_object_add(doc, keys[i].key, NULL);
	rcl_out_json(stdout, doc);
	json_object_put(doc);
}

static void print_summary(const struct ping_report *r)
{
	const struct times times = times_sum(r->rtt, r->ok);
	char text[RCL_NS_TEXT_LEN];
	size_t i;

	printf("--- %s: %u ok, %u failed", r->link, r->ok, r->failed);
	for (i = 0; r->ok && i < NUM_KEYS; i++)
		printf(", %s %s", keys[i].key,
		       rcl_ns_text(value(&times, i), text));
	putchar('\n');
}

void ping_report_print(const struct ping_report *report, bool json)
{
	if (json)
		print_doc(report);
	else if (report->ok || !report->failed)
		print_summary(report);
}
