// SPDX-License-Identifier: GPL-2.0
#include "metrics.h"

#include "group.h"
#include "link.h"
#include "text.h"

#define NS_PER_S	1e9

static const char *const meaning[RCLINK_A_STATS_PAD] = {
	[RCLINK_A_STATS_EPOCHS] =
		"Epochs that came up: at first, after each fall, and by rotation",
	[RCLINK_A_STATS_TX_MESSAGES] = "Control messages sent",
	[RCLINK_A_STATS_RX_MESSAGES] = "Control messages received",
	[RCLINK_A_STATS_TX_BYTES] = "Bytes of control messages sent",
	[RCLINK_A_STATS_RX_BYTES] = "Bytes of control messages received",
	[RCLINK_A_STATS_RX_UNAUTHENTICATED] =
		"Control messages that were not authentic",
	[RCLINK_A_STATS_RX_MALFORMED] =
		"Control messages that broke the protocol",
	[RCLINK_A_STATS_COMPLETION_ERRORS] = "Work requests that failed",
	[RCLINK_A_STATS_CREDIT_WAITS] =
		"Times that a SEND ping had to wait for an answer or a credit",
	[RCLINK_A_STATS_PINGS] = "Pings that succeeded",
	[RCLINK_A_STATS_PING_ERRORS] = "Pings that failed",
	[RCLINK_A_STATS_DOWNS] = "Times that a link went down",
	[RCLINK_A_STATS_HEARTBEATS] = "Heartbeats sent",
	[RCLINK_A_STATS_HEARTBEATS_MISSED] =
		"Intervals in which the peer was asked and gave no sign",
	[RCLINK_A_STATS_CHANNELS] = "Channels that are open now",
	[RCLINK_A_STATS_CHAN_OPS] =
		"Operations that channels of this end posted",
	[RCLINK_A_STATS_CHAN_BYTES] =
		"Bytes that these operations moved, either way",
	[RCLINK_A_STATS_CHAN_RECVS] =
		"Messages that channels of this end received",
	[RCLINK_A_STATS_CHAN_RECV_BYTES] = "Bytes of these messages",
	[RCLINK_A_STATS_CHAN_SUSPENDED] =
		"Channels that wait for another epoch now",
	[RCLINK_A_STATS_CHAN_RESUMES] =
		"Times that a channel went on in another epoch",
	[RCLINK_A_STATS_CHAN_RESENDS] =
		"Operations posted again because of that",
	[RCLINK_A_STATS_CHAN_ERRORS] = "Work requests of channels that failed",
	[RCLINK_A_STATS_RX_OUT_OF_SEQUENCE] =
		"Authentic control messages that came again, or after a lost one",
	[RCLINK_A_STATS_RX_WRONG_SIZE] =
		"What came in on the control QP and was too short or long",
	[RCLINK_A_STATS_RX_WRONG_KIND] =
		"What came in on the control QP and is no SEND",
	[RCLINK_A_STATS_LOCAL_ACCESS_ERRORS] =
		"Work requests whose memory was not registered here",
	[RCLINK_A_STATS_REMOTE_ACCESS_ERRORS] =
		"Work requests that the peer refused access",
	[RCLINK_A_STATS_QP_ACCESS_EVENTS] =
		"Requests of the peer without a right, as the device tells",
	[RCLINK_A_STATS_QP_REQUEST_EVENTS] =
		"Requests of the peer that make no sense, as the device tells",
	[RCLINK_A_STATS_UNEXPLAINED_ERRORS] =
		"Times that QPs failed without a reason",
};

static const char *const group_meaning[RCLINK_A_GROUP_STATS_PAD] = {
	[RCLINK_A_GROUP_STATS_JOINS] = "Times that a group was joined",
	[RCLINK_A_GROUP_STATS_KEYS] = "Keys of a group that this host has had",
	[RCLINK_A_GROUP_STATS_TX_MESSAGES] = "Messages sent to a group",
	[RCLINK_A_GROUP_STATS_RX_MESSAGES] = "Messages of a group received",
	[RCLINK_A_GROUP_STATS_RX_SHORT] = "Packets too short for a message",
	[RCLINK_A_GROUP_STATS_RX_UNKNOWN_KEY] =
		"Packets under a key that this host does not have",
	[RCLINK_A_GROUP_STATS_RX_FORGED] = "Packets whose seal did not open",
	[RCLINK_A_GROUP_STATS_RX_AGAIN] =
		"Messages that came before, or are too old to know",
	[RCLINK_A_GROUP_STATS_RX_OWN] =
		"Messages of this host that came back to it",
	[RCLINK_A_GROUP_STATS_RX_MALFORMED] =
		"Messages of a member that make no sense",
	[RCLINK_A_GROUP_STATS_RX_MISSED] =
		"Messages that a consumer had no receive for",
};

/* A peer's name may contain anything. */
static void print_label(FILE *to, const char *name, const char *value)
{
	fprintf(to, "%s=", name);
	rcl_print_quoted(to, value);
}

void rcl_metrics_head(FILE *to, const char *name, const char *type,
		      const char *help)
{
	fprintf(to, "# HELP %s %s.\n# TYPE %s %s\n", name, help, name, type);
}

static void print_labelled(FILE *to, const char *metric, const char *label,
			   const char *name, uint64_t value)
{
	fprintf(to, "%s{", metric);
	print_label(to, label, name);
	fprintf(to, "} %llu\n", (unsigned long long)value);
}

static void print_value(FILE *to, const char *metric, const char *link,
			uint64_t value)
{
	print_labelled(to, metric, "link", link, value);
}

static void print_info(FILE *to, const struct rcl_link_info *info)
{
	const char *state = rcl_word(RCL_WORDS_STATE, info->state);
	const char *reason = rcl_word(RCL_WORDS_REASON, info->reason);

	fputs("rclink_link_info{", to);
	print_label(to, "link", info->name);
	fputc(',', to);
	print_label(to, "state", state ? state : "");
	fputc(',', to);
	print_label(to, "reason", reason ? reason : "");
	fputc(',', to);
	print_label(to, "device", rcl_link_device(info));
	fputc(',', to);
	print_label(to, "peer", info->peer);
	fputs("} 1\n", to);
}

static void print_counter(FILE *to, int c,
			  const struct rcl_link_info *infos, size_t num)
{
	const bool gauge = rcl_counter_is_gauge(c);
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "rclink_%s%s", rcl_counter_word[c],
		 gauge ? "" : "_total");
	rcl_metrics_head(to, name, gauge ? "gauge" : "counter", meaning[c]);
	for (i = 0; i < num; i++)
		print_value(to, name, infos[i].name, infos[i].counter[c]);
}

/* In Prometheus' format each bucket includes all that took less. */
static void print_latency(FILE *to, const struct rcl_link_info *info)
{
	const char *name = "rclink_control_rtt_seconds";
	const struct rcl_latency *latency = &info->latency;
	uint64_t sum = 0, limit;
	int i;

	for (i = 0; i < RCLINK_LATENCY_BUCKETS; i++) {
		sum += latency->bucket[i];
		limit = rcl_latency_limit(i);
		fprintf(to, "%s_bucket{", name);
		print_label(to, "link", info->name);
		if (limit)
			fprintf(to, ",le=\"%.6f\"} ", limit / NS_PER_S);
		else
			fputs(",le=\"+Inf\"} ", to);
		fprintf(to, "%llu\n", (unsigned long long)sum);
	}
	fprintf(to, "%s_sum{", name);
	print_label(to, "link", info->name);
	fprintf(to, "} %.9f\n%s_count{", latency->sum / NS_PER_S, name);
	print_label(to, "link", info->name);
	fprintf(to, "} %llu\n", (unsigned long long)sum);
}

void rcl_metrics_print(FILE *to, const struct rcl_link_info *infos, size_t num)
{
	size_t i;
	int c;

	rcl_metrics_head(to, "rclink_link_info", "gauge",
			 "Always 1; what a link is, in its labels");
	for (i = 0; i < num; i++)
		print_info(to, &infos[i]);
	rcl_metrics_head(to, "rclink_link_up", "gauge",
			 "1 if a link is up, else 0");
	for (i = 0; i < num; i++)
		print_value(to, "rclink_link_up", infos[i].name,
			    infos[i].state == RCLINK_LINK_STATE_UP);
	rcl_metrics_head(to, "rclink_link_epoch", "gauge",
			 "Number of a link's newest epoch");
	for (i = 0; i < num; i++)
		print_value(to, "rclink_link_epoch", infos[i].name,
			    infos[i].epoch);
	for (c = RCLINK_A_STATS_EPOCHS; c < RCLINK_A_STATS_PAD; c++)
		print_counter(to, c, infos, num);
	rcl_metrics_head(to, "rclink_control_rtt_seconds", "histogram",
			 "Questions on the control QP, until they were answered");
	for (i = 0; i < num; i++)
		print_latency(to, &infos[i]);
}

static void print_group_info(FILE *to, const struct rcl_group_info *info)
{
	const char *state = rcl_word(RCL_WORDS_GROUP_STATE, info->state);
	const char *reason = rcl_word(RCL_WORDS_REASON, info->reason);

	fputs("rclink_group_info{", to);
	print_label(to, "group", info->name);
	fputc(',', to);
	print_label(to, "state", state ? state : "");
	fputc(',', to);
	print_label(to, "reason", reason ? reason : "");
	fputc(',', to);
	print_label(to, "device", info->device);
	fputs("} 1\n", to);
}

static void print_group_counter(FILE *to, int c,
				const struct rcl_group_info *infos, size_t num)
{
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "rclink_group_%s_total",
		 rcl_group_stat_word[c]);
	rcl_metrics_head(to, name, "counter", group_meaning[c]);
	for (i = 0; i < num; i++)
		print_labelled(to, name, "group", infos[i].name,
			       infos[i].stats[c]);
}

void rcl_metrics_print_groups(FILE *to, const struct rcl_group_info *infos,
			      size_t num)
{
	size_t i;
	int c;

	rcl_metrics_head(to, "rclink_group_info", "gauge",
			 "Always 1; what a group is, in its labels");
	for (i = 0; i < num; i++)
		print_group_info(to, &infos[i]);
	rcl_metrics_head(to, "rclink_group_joined", "gauge",
			 "1 if a group is joined, else 0");
	for (i = 0; i < num; i++)
		print_labelled(to, "rclink_group_joined", "group",
			       infos[i].name,
			       infos[i].state == RCLINK_GROUP_STATE_JOINED);
	rcl_metrics_head(to, "rclink_group_heard", "gauge",
			 "Other members that were heard in the last 5 s");
	for (i = 0; i < num; i++)
		print_labelled(to, "rclink_group_heard", "group",
			       infos[i].name, rcl_group_heard(&infos[i]));
	rcl_metrics_head(to, "rclink_group_consumers", "gauge",
			 "Channels and kernel modules that use a group now");
	for (i = 0; i < num; i++)
		print_labelled(to, "rclink_group_consumers", "group",
			       infos[i].name, infos[i].consumers);
	for (c = RCLINK_A_GROUP_STATS_JOINS; c < RCLINK_A_GROUP_STATS_PAD; c++)
		print_group_counter(to, c, infos, num);
}
