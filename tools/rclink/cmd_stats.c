// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <json-c/json.h>

#include "doc.h"
#include "group.h"
#include "link.h"
#include "look.h"
#include "metrics.h"
#include "nl.h"
#include "out.h"
#include "process.h"
#include "text.h"

#define LIMIT_LEN	(RCL_NS_TEXT_LEN + 2)
#define COUNT_WIDTH	12	/* of a count with a rate beside it */

static const char help[] =
"usage: rclink stats [NAME] [[-i SECONDS] [-j] | --prometheus]\n\n"
"Counters of one link or of all, since each was created, and how long questions\n"
"on the control QP took until they were answered.\n\n"
"  -i, --interval S   look twice, so many seconds apart: rates, and the round\n"
"                     trips between\n"
"  -j, --json         an array of objects\n"
"  -p, --prometheus   metrics for a textfile collector; without NAME, of all\n"
"                     groups, too\n";

static const struct option options[] = {
	{ "interval", required_argument, NULL, 'i' },
	{ "prometheus", no_argument, NULL, 'p' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static void text_count(struct json_object *row, const char *key, char *buf)
{
	struct json_object *rates = json_object_object_get(row, "per_second");
	struct json_object *rate = json_object_object_get(rates, key);
	int len;

	len = snprintf(buf, RCL_CELL_LEN, "%llu",
		       (unsigned long long)rcl_out_get_u64(row, key));
	if (rate)
		snprintf(buf + len, RCL_CELL_LEN - len, "%*s%.1f/s",
			 len < COUNT_WIDTH ? COUNT_WIDTH + 2 - len : 2, "",
			 json_object_get_double(rate));
}

/* The limit of a bucket, which is all that is known of its times. */
static const char *text_limit(struct json_object *rtt, const char *key,
			      char buf[LIMIT_LEN])
{
	uint64_t ns = rcl_out_get_u64(rtt, key);
	char text[RCL_NS_TEXT_LEN];

	if (!ns)
		return "beyond the buckets";
	snprintf(buf, LIMIT_LEN, "< %s", rcl_ns_text(ns, text));
	return buf;
}

static void text_rtt(struct json_object *row, const char *key, char *buf)
{
	struct json_object *rtt = json_object_object_get(row, key);
	uint64_t count = rcl_out_get_u64(rtt, "count");
	char mean[RCL_NS_TEXT_LEN], p50[LIMIT_LEN], p99[LIMIT_LEN];

	if (!count)
		return;
	snprintf(buf, RCL_CELL_LEN,
		 "%llu, on average %s; median %s, 99 %% %s",
		 (unsigned long long)count,
		 rcl_ns_text(rcl_out_get_u64(rtt, "sum_ns") / count, mean),
		 text_limit(rtt, "p50_ns", p50),
		 text_limit(rtt, "p99_ns", p99));
}

static const struct rcl_col block[] = {
	{ "epochs", "epochs", text_count },
	{ "control messages sent", "tx_messages", text_count },
	{ "  of bytes", "tx_bytes", text_count },
	{ "control messages received", "rx_messages", text_count },
	{ "  of bytes", "rx_bytes", text_count },
	{ "  not authentic", "rx_unauthenticated", text_count },
	{ "  out of sequence", "rx_out_of_sequence", text_count },
	{ "  of the wrong size", "rx_wrong_size", text_count },
	{ "  of the wrong kind", "rx_wrong_kind", text_count },
	{ "  malformed", "rx_malformed", text_count },
	{ "waits for credit", "credit_waits", text_count },
	{ "completion errors", "completion_errors", text_count },
	{ "local access errors", "local_access_errors", text_count },
	{ "remote access errors", "remote_access_errors", text_count },
	{ "access events", "qp_access_events", text_count },
	{ "request events", "qp_request_events", text_count },
	{ "errors without a reason", "unexplained_errors", text_count },
	{ "pings", "pings", text_count },
	{ "pings failed", "ping_errors", text_count },
	{ "times down", "downs", text_count },
	{ "heartbeats sent", "heartbeats", text_count },
	{ "heartbeats missed", "heartbeats_missed", text_count },
	{ "channels open", "channels", text_count },
	{ "  operations", "chan_ops", text_count },
	{ "  of bytes", "chan_bytes", text_count },
	{ "  receives", "chan_recvs", text_count },
	{ "  of bytes", "chan_recv_bytes", text_count },
	{ "  suspended now", "chan_suspended", text_count },
	{ "  times resumed", "chan_resumes", text_count },
	{ "  posted again", "chan_resends", text_count },
	{ "  errors", "chan_errors", text_count },
	{ "round trips", "control_rtt", text_rtt },
};

static void print_text(struct json_object *links)
{
	size_t i;

	for (i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);

		printf("%s\n", rcl_out_get_text(link, "name"));
		rcl_out_block(stdout, link, block,
			      sizeof(block) / sizeof(block[0]), "  ");
	}
}

/* For a link that the first look did not see. */
static void add_no_rates(struct json_object *obj)
{
	json_object_object_add(obj, "interval_ns", NULL);
	json_object_object_add(obj, "per_second", NULL);
}

/* Counters per second, and the round trips between the two looks. */
static void add_rates(struct json_object *obj, const struct rcl_link_info *now,
		      const struct rcl_link_info *before, uint64_t ns)
{
	struct json_object *rates = json_object_new_object();
	struct rcl_latency between = now->latency;
	int i;

	for (i = RCLINK_A_STATS_EPOCHS; i < RCLINK_A_STATS_PAD; i++) {
		double rate = now->counter[i] - before->counter[i];
		struct json_object *value;

		if (rcl_counter_is_gauge(i))
			continue;
		value = json_object_new_double(rate * NS_PER_S / ns);
		json_object_object_add(rates, rcl_counter_word[i], value);
	}
	between.sum -= before->latency.sum;
	for (i = 0; i < RCLINK_LATENCY_BUCKETS; i++)
		between.bucket[i] -= before->latency.bucket[i];
	rcl_out_u64(obj, "interval_ns", ns);
	json_object_object_add(obj, "per_second", rates);
	json_object_object_add(obj, "control_rtt", rcl_doc_latency(&between));
}

/* With the name of a link, groups are left out. */
static int print_metrics(struct rcl_nl *nl, const char *name,
			 const struct look *now, char *err)
{
	struct rcl_group_info *groups;
	size_t num;
	int ret;

	if (!name) {
		ret = rcl_call_groups(nl, NULL, &groups, &num, err);
		if (ret)
			return ret;
	}
	rcl_metrics_print(stdout, now->infos, now->num);
	if (!name) {
		rcl_metrics_print_groups(stdout, groups, num);
		free(groups);
	}
	return 0;
}

static void print(const struct look *now, const struct look *before, int how)
{
	struct json_object *links;
	size_t i;

	links = json_object_new_array();
	for (i = 0; i < now->num; i++) {
		const struct rcl_link_info *info = &now->infos[i];
		const struct rcl_link_info *old = look_find(before, info->id);
		struct json_object *obj = rcl_doc_stats(info);

		if (old)
			add_rates(obj, info, old, now->ns - before->ns);
		else if (before->ns)
			add_no_rates(obj);
		json_object_array_add(links, obj);
	}
	if (how == 'j')
		rcl_out_json(stdout, links);
	else
		print_text(links);
	json_object_put(links);
}

static int take(struct rcl_nl *nl, const char *name, uint64_t interval,
		struct look *now, struct look *before, char *err)
{
	const struct timespec pause = {
		.tv_sec = interval / NS_PER_S,
		.tv_nsec = interval % NS_PER_S,
	};
	int ret;

	ret = interval ? look_take(nl, name, before, err) : 0;
	if (ret)
		return ret;
	if (interval)
		nanosleep(&pause, NULL);
	return look_take(nl, name, now, err);
}

int cmd_stats(int argc, char **argv)
{
	struct look now = { 0 }, before = { 0 };
	char err[RCL_ERR_LEN];
	uint64_t interval = 0;
	struct rcl_nl *nl;
	char **words;
	int c, ret, how = 0;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		if (c == 'i') {
			interval = cli_seconds(argv[0], "--interval", optarg);
			if (!interval)
				cli_usage(argv[0], "--interval is above 0");
			continue;
		}
		if (how && how != c)
			cli_usage(argv[0], "either --json or --prometheus");
		how = c;
	}
	if (how == 'p' && interval)
		cli_usage(argv[0], "--prometheus has no --interval");
	words = cli_operands(argc, argv, 0, 1);

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = take(nl, words[0], interval, &now, &before, err);
	if (!ret && how == 'p')
		ret = print_metrics(nl, words[0], &now, err);
	rcl_nl_close(nl);
	if (ret)
		cli_refused(argv[0], words[0], ret, err);
	else if (how != 'p')
		print(&now, &before, how);
	look_free(&now);
	look_free(&before);
	return ret ? CLI_FAILED : CLI_OK;
}
