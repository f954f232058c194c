// SPDX-License-Identifier: GPL-2.0
#include "ping_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "out.h"
#include "text.h"

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

static const char *const keys[] = {
	"min", "avg", "median", "p99", "max", "mdev"
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void add_times(struct json_object *doc, uint64_t *rtt, uint32_t num)
{
	struct json_object *list = json_object_new_array();
	double avg = 0, var = 0;
	uint32_t i;

	for (i = 0; i < num; i++) {
		json_object_array_add(list, json_object_new_uint64(rtt[i]));
		avg += (double)rtt[i] / num;
	}
	for (i = 0; i < num; i++)
		var += (rtt[i] - avg) * (rtt[i] - avg) / num;
	json_object_object_add(doc, "rtt", list);
	json_object_object_add(doc, "half_round_trip",
			       json_object_new_boolean(false));
	if (!num) {
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			json_object_object_add(doc, keys[i], NULL);
		return;
	}
	qsort(rtt, num, sizeof(*rtt), compare);
	rcl_out_u64(doc, "min", rtt[0]);
	rcl_out_u64(doc, "avg", avg + 0.5);
	rcl_out_u64(doc, "median", (rtt[(num - 1) / 2] + rtt[num / 2]) / 2);
	rcl_out_u64(doc, "p99", rtt[((uint64_t)num * 99 + 99) / 100 - 1]);
	rcl_out_u64(doc, "max", rtt[num - 1]);
	rcl_out_u64(doc, "mdev", sqrt(var) + 0.5);
}

static struct json_object *make_doc(const struct ping_report *r)
{
	struct json_object *doc = json_object_new_object();

	rcl_out_text(doc, "name", r->link);
	rcl_out_text(doc, "op", rcl_word(RCL_WORDS_PING_OP, r->op));
	rcl_out_u64(doc, "size", r->size);
	rcl_out_u64(doc, "ok", r->ok);
	rcl_out_u64(doc, "failed", r->failed);
	rcl_out_text(doc, "error", *r->why ? r->why : NULL);
	add_times(doc, r->rtt, r->ok);
	return doc;
}

static void print_summary(struct json_object *doc)
{
	char text[RCL_NS_TEXT_LEN];
	size_t i;

	printf("--- %s: %llu ok, %llu failed", rcl_out_get_text(doc, "name"),
	       (unsigned long long)rcl_out_get_u64(doc, "ok"),
	       (unsigned long long)rcl_out_get_u64(doc, "failed"));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_object_get(doc, keys[i]))
			printf(", %s %s", keys[i],
			       rcl_ns_text(rcl_out_get_u64(doc, keys[i]),
					   text));
	putchar('\n');
}

void ping_report_print(const struct ping_report *report, bool json)
{
	struct json_object *doc = make_doc(report);

	if (json)
		rcl_out_json(stdout, doc);
	else if (report->ok || !report->failed)
		print_summary(doc);
	json_object_put(doc);
}
