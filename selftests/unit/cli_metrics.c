// SPDX-License-Identifier: GPL-2.0
/* Links and groups as metrics: names, values, and hostile labels. */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "group.h"
#include "link.h"

#include "cli_spec.h"

FIXTURE(metrics)
{
	struct rcl_link_info infos[2];
	struct rcl_group_info groups[2];
	char *text;
	size_t len;
};

static void make_groups(struct rcl_group_info groups[2])
{
	struct rcl_group_info *g = &groups[0], *h = &groups[1];
	int c;

	snprintf(g->name, sizeof(g->name), "g");
	snprintf(g->device, sizeof(g->device), "rxe0");
	g->state = RCLINK_GROUP_STATE_JOINED;
	g->npeers = 4;
	g->peer[3].age = 5000;	/* has gone */
	g->consumers = 2;
	g->has_key = true;
	g->key_id = 0x123456789abcdef0;
	g->has_qkey = true;
	g->qkey = 0xfedcba98;
	for (c = RCLINK_A_GROUP_STATS_JOINS; c < RCLINK_A_GROUP_STATS_PAD; c++)
		g->stats[c] = UINT64_MAX - c;
	snprintf(h->name, sizeof(h->name), "h");
	h->state = RCLINK_GROUP_STATE_DOWN;
	h->reason = RCLINK_DOWN_REASON_PORT_DOWN;
}

FIXTURE_SETUP(metrics)
{
	struct rcl_link_info *a = &self->infos[0], *b = &self->infos[1];
	FILE *to = open_memstream(&self->text, &self->len);
	int c;

	ASSERT_NE(NULL, to);
	snprintf(a->name, sizeof(a->name), "a");
	snprintf(a->peer, sizeof(a->peer), "sha256:x\\y\"z\n");
	snprintf(a->policy.device, sizeof(a->policy.device), "rxe0");
	a->state = RCLINK_LINK_STATE_UP;
	a->epoch = 7;
	for (c = RCLINK_A_STATS_EPOCHS; c < RCLINK_A_STATS_PAD; c++)
		a->counter[c] = UINT64_MAX - c;
	a->latency.sum = 4000002000;
	a->latency.bucket[0] = 1;
	a->latency.bucket[1] = 2;
	a->latency.bucket[RCLINK_LATENCY_BUCKETS - 1] = 4;
	snprintf(b->name, sizeof(b->name), "b");
	b->state = RCLINK_LINK_STATE_DOWN;
	b->reason = RCLINK_DOWN_REASON_DISCONNECTED;
	rcl_metrics_print(to, self->infos, 2);
	make_groups(self->groups);
	rcl_metrics_print_groups(to, self->groups, 2);
	fclose(to);
}

FIXTURE_TEARDOWN(metrics)
{
	free(self->text);
}

#define HAS(line) EXPECT_NE(NULL, strstr(self->text, line "\n"))

TEST_F(metrics, say_what_a_link_is)
{
	static const char *const infos[] = {
		"rclink_link_info{link=\"a\",state=\"up\",reason=\"none\",device=\"rxe0\",peer=\"sha256:x\\\\y\\\"z\\n\"} 1\n",
		"rclink_link_info{link=\"b\",state=\"down\",reason=\"disconnected\",device=\"\",peer=\"\"} 1\n",
	};

	EXPECT_NE(NULL, strstr(self->text, infos[0]));
	EXPECT_NE(NULL, strstr(self->text, infos[1]));
	HAS("rclink_link_up{link=\"a\"} 1");
	HAS("rclink_link_up{link=\"b\"} 0");
	HAS("rclink_link_epoch{link=\"a\"} 7");
}

TEST_F(metrics, have_each_counter_with_its_meaning)
{
	char line[128];
	int c;

	for (c = RCLINK_A_STATS_EPOCHS; c < RCLINK_A_STATS_PAD; c++) {
		bool gauge = c == RCLINK_A_STATS_CHANNELS ||
			     c == RCLINK_A_STATS_CHAN_SUSPENDED;

		snprintf(line, sizeof(line), "\nrclink_%s%s{link=\"a\"} %llu\n",
			 rcl_counter_word[c], gauge ? "" : "_total",
			 (unsigned long long)(UINT64_MAX - c));
		EXPECT_NE(NULL, strstr(self->text, line))
			TH_LOG("no %s", rcl_counter_word[c]);
	}
	EXPECT_EQ(NULL, strstr(self->text, "(null)"));
	HAS("# TYPE rclink_channels gauge");
	HAS("# TYPE rclink_downs_total counter");
}

TEST_F(metrics, say_how_a_group_is)
{
	static const char *const infos[] = {
		"rclink_group_info{group=\"g\",state=\"joined\",reason=\"none\",device=\"rxe0\"} 1\n",
		"rclink_group_info{group=\"h\",state=\"down\",reason=\"port-down\",device=\"\"} 1\n",
	};

	EXPECT_NE(NULL, strstr(self->text, infos[0]));
	EXPECT_NE(NULL, strstr(self->text, infos[1]));
	HAS("rclink_group_joined{group=\"g\"} 1");
	HAS("rclink_group_joined{group=\"h\"} 0");
	HAS("rclink_group_heard{group=\"g\"} 3");
	HAS("rclink_group_heard{group=\"h\"} 0");
	HAS("rclink_group_consumers{group=\"g\"} 2");
	HAS("# TYPE rclink_group_consumers gauge");
	HAS("# TYPE rclink_group_rx_forged_total counter");
	EXPECT_EQ(NULL, strstr(self->text, "4275878552"));
	EXPECT_EQ(NULL, strstr(self->text, "123456789abcdef0"));
}

/* All those that the specification has */
TEST_F(metrics, have_each_counter_of_a_group)
{
	unsigned int i, checked = 0;
	char line[128], word[64], *dash;

	for (i = 0; i < sizeof(spec_attributes) / sizeof(spec_attributes[0]);
	     i++) {
		const struct spec_entry *e = &spec_attributes[i];

		if (strcmp(e->set, "group-stats") || !strcmp(e->word, "pad"))
			continue;
		snprintf(word, sizeof(word), "%s", e->word);
		while ((dash = strchr(word, '-')))
			*dash = '_';
		snprintf(line, sizeof(line),
			 "\nrclink_group_%s_total{group=\"g\"} %llu\n", word,
			 (unsigned long long)(UINT64_MAX - e->value));
		EXPECT_NE(NULL, strstr(self->text, line))
			TH_LOG("no %s", word);
		checked++;
	}
	EXPECT_EQ(11, checked);
}

TEST_F(metrics, have_a_histogram_of_round_trips)
{
	HAS("# TYPE rclink_control_rtt_seconds histogram");
	HAS("rclink_control_rtt_seconds_bucket{link=\"a\",le=\"0.000001\"} 1");
	HAS("rclink_control_rtt_seconds_bucket{link=\"a\",le=\"0.000002\"} 3");
	HAS("rclink_control_rtt_seconds_bucket{link=\"a\",le=\"4.194304\"} 3");
	HAS("rclink_control_rtt_seconds_bucket{link=\"a\",le=\"+Inf\"} 7");
	HAS("rclink_control_rtt_seconds_sum{link=\"a\"} 4.000002000");
	HAS("rclink_control_rtt_seconds_count{link=\"a\"} 7");
	HAS("rclink_control_rtt_seconds_count{link=\"b\"} 0");
}

/* The samples of a histogram have a suffix. */
static const char *rest_of(const char *line, const char *name)
{
	static const char *const ends[] = { "_bucket", "_sum", "_count" };
	size_t i;

	line += strlen(name);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strncmp(line, ends[i], strlen(ends[i])))
			return line + strlen(ends[i]);
	return line;
}

/* Each sample follows the "# TYPE" line of its metric. */
TEST_F(metrics, belong_to_the_head_above_them)
{
	char name[64] = "", *line, *rest = self->text;

	while ((line = strsep(&rest, "\n")) && *line) {
		if (sscanf(line, "# TYPE %63s", name) == 1 || *line == '#')
			continue;
		EXPECT_EQ(0, strncmp(line, name, strlen(name)));
		EXPECT_EQ('{', *rest_of(line, name));
	}
}

TEST_HARNESS_MAIN
