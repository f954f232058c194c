// SPDX-License-Identifier: GPL-2.0
#include "story.h"

#include <stdbool.h>
#include <string.h>

#include <json-c/json.h>

#include "../../kmod/gid.h"
#include "advice.h"
#include "doc.h"
#include "link.h"
#include "out.h"
#include "process.h"
#include "text.h"

#define SENTENCE_LEN	640
#define SPAN_LEN	32
#define PERIOD_MAX	6	/* lines that repeat together */

#define BY_HAND	"run `rclink connect` on one host while `rclink listen` runs on the other; that one, or rclinkd, has said if it refused somebody"

static void add_time(struct json_object *obj, const char *key,
		     const struct rcl_story *story, uint64_t ns)
{
	char text[RCL_TIME_TEXT_LEN];

	rcl_out_text(obj, key, rcl_time_text(ns + story->realtime, text));
}

/* A duration that may well be days. */
static const char *span(uint64_t ns, char buf[SPAN_LEN])
{
	unsigned long long s = ns / NS_PER_S;

	if (s < 60)
		return rcl_ns_text(ns, buf);
	if (s < 3600)
		snprintf(buf, SPAN_LEN, "%llu min %llu s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, SPAN_LEN, "%llu h %llu min", s / 3600,
			 s / 60 % 60);
	else
		snprintf(buf, SPAN_LEN, "%llu d %llu h", s / 86400,
			 s / 3600 % 24);
	return buf;
}

static void state_sentence(const struct rcl_entry *e, char *buf)
{
	const char *gid = e->text[0] ? "; GID chosen: " : "";

	switch (e->to) {
	case RCLINK_LINK_STATE_IDLE:
		snprintf(buf, SENTENCE_LEN, "the link was created");
		break;
	case RCLINK_LINK_STATE_PREPARED:
		snprintf(buf, SENTENCE_LEN, "it was prepared%s%s", gid,
			 e->text);
		break;
	case RCLINK_LINK_STATE_CONNECTED:
		snprintf(buf, SENTENCE_LEN, "the peer's values came in");
		break;
	case RCLINK_LINK_STATE_UP:
		snprintf(buf, SENTENCE_LEN,
			 e->from == RCLINK_LINK_STATE_UP ?
			 "it moved to that epoch" : "it came up");
		break;
	default:
		snprintf(buf, SENTENCE_LEN, "%s: %s",
			 e->from == RCLINK_LINK_STATE_DOWN ?
			 "while it was down" : "it went down", e->text);
	}
}

/* For an epoch that is to replace the one that is up. */
static void standby_sentence(const struct rcl_entry *e, char *buf)
{
	const char *gid = e->text[0] ? "; GID chosen: " : "";

	switch (e->to) {
	case RCLINK_LINK_STATE_PREPARED:
		snprintf(buf, SENTENCE_LEN,
			 "another epoch was prepared beside it%s%s", gid,
			 e->text);
		break;
	case RCLINK_LINK_STATE_CONNECTED:
		snprintf(buf, SENTENCE_LEN,
			 "the peer's values for that epoch came in");
		break;
	default:
		snprintf(buf, SENTENCE_LEN,
			 "that epoch ended before it came up: %s", e->text);
	}
}

static void failure_sentence(const struct rcl_entry *e, char *buf)
{
	const char *name = rcl_wc_name(e->wc_status);
	char qp[SPAN_LEN] = "the device";
	int len;

	if (e->has_qp && e->qp)
		snprintf(qp, sizeof(qp), "pooled QP %u", e->qp);
	else if (e->has_qp)
		snprintf(qp, sizeof(qp), "the control QP");
	len = snprintf(buf, SENTENCE_LEN, "%s: %s", qp, e->text);
	if (e->wc_status)
		snprintf(buf + len, SENTENCE_LEN - len,
			 " (%s, vendor error 0x%x)", name ? name : "?",
			 e->vendor_err);
	else if (e->vendor_err)
		snprintf(buf + len, SENTENCE_LEN - len, " (event 0x%x)",
			 e->vendor_err);
}

static void sentence(const struct rcl_entry *e, char *buf)
{
	const char *step = rcl_word(RCL_WORDS_STEP, e->step);

	switch (e->kind) {
	case RCLINK_ENTRY_KIND_STATE:
		state_sentence(e, buf);
		break;
	case RCLINK_ENTRY_KIND_STANDBY:
		standby_sentence(e, buf);
		break;
	case RCLINK_ENTRY_KIND_FAILURE:
		failure_sentence(e, buf);
		break;
	case RCLINK_ENTRY_KIND_REFUSED:
		snprintf(buf, SENTENCE_LEN, "the module refused to %s: %s",
			 step ? step : "go on", e->text);
		break;
	default:
		snprintf(buf, SENTENCE_LEN, "%s", e->text[0] ? e->text :
			 "a note, which only CAP_NET_ADMIN may read");
	}
}

static bool is_state(const struct rcl_entry *e)
{
	return e->kind == RCLINK_ENTRY_KIND_STATE;
}

/* The newest change of state before entry i, or NULL. */
static const struct rcl_entry *state_before(const struct rcl_story *story,
					    size_t i)
{
	while (i--)
		if (is_state(&story->entries[i]))
			return &story->entries[i];
	return NULL;
}

static struct json_object *doc_counters(const struct rcl_entry *e)
{
	static const int shown[] = {
		RCLINK_A_STATS_TX_MESSAGES, RCLINK_A_STATS_RX_MESSAGES,
		RCLINK_A_STATS_TX_BYTES, RCLINK_A_STATS_RX_BYTES,
		RCLINK_A_STATS_RX_UNAUTHENTICATED,
		RCLINK_A_STATS_COMPLETION_ERRORS, RCLINK_A_STATS_DOWNS,
	};
	struct json_object *obj = json_object_new_object();
	size_t i;

	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		rcl_out_u64(obj, rcl_counter_word[shown[i]],
			    e->counter[shown[i]]);
	return obj;
}

static void add_failure(struct json_object *obj, const struct rcl_entry *e)
{
	rcl_out_text(obj, "reason", rcl_word(RCL_WORDS_REASON, e->reason));
	rcl_doc_add_wc(obj, e->wc_status, e->vendor_err);
	if (e->has_qp)
		rcl_out_u64(obj, "qp", e->qp);
	else
		rcl_out_text(obj, "qp", NULL);
}

static struct json_object *doc_entry(const struct rcl_story *story, size_t i)
{
	const struct rcl_entry *e = &story->entries[i];
	const struct rcl_entry *before = state_before(story, i);
	struct json_object *obj = json_object_new_object();
	char text[SENTENCE_LEN];

	rcl_out_u64(obj, "number", e->number);
	add_time(obj, "time", story, e->time);
	add_time(obj, "last", story, e->last);
	rcl_out_u64(obj, "boot_ns", e->time);
	rcl_out_u64(obj, "times", e->times);
	rcl_out_text(obj, "kind", rcl_word(RCL_WORDS_ENTRY_KIND, e->kind));
	rcl_out_u64(obj, "epoch", e->epoch);
	rcl_out_text(obj, "from", rcl_word(RCL_WORDS_STATE, e->from));
	rcl_out_text(obj, "to", rcl_word(RCL_WORDS_STATE, e->to));
	/* How long it was in the state that it left. */
	if (is_state(e) && before && e->time >= before->time)
		rcl_out_u64(obj, "lasted_ns", e->time - before->time);
	else
		rcl_out_text(obj, "lasted_ns", NULL);
	rcl_out_text(obj, "step", rcl_word(RCL_WORDS_STEP, e->step));
	add_failure(obj, e);
	rcl_out_text(obj, "text", e->text[0] ? e->text : NULL);
	json_object_object_add(obj, "counters", doc_counters(e));
	sentence(e, text);
	rcl_out_text(obj, "sentence", text);
	return obj;
}

/* The GID that a link of this policy would use there, or NULL; and why. */
static const struct rcl_gid_info *find_gid(const struct rcl_dev_info *dev,
					   const struct rcl_policy *policy,
					   const char **why)
{
	uint32_t index = policy->v[RCL_P_GID_INDEX];
	bool set = policy->given & 1u << RCL_P_GID_INDEX &&
		   index != RCLINK_GID_INDEX_AUTO;
	const struct rcl_gid_info *gid, *best = NULL;
	size_t i;

	*why = dev->reason;
	if (!set && !dev->has_chosen)
		return NULL;
	for (i = 0; i < dev->ngids; i++) {
		gid = &dev->gids[i];
		if ((policy->netdev[0] &&
		     strcmp(policy->netdev, gid->netdev)) ||
		    (set ? gid->index != index : !gid->usable))
			continue;
		if (!best || rcl_gid_rank(gid->gid) > rcl_gid_rank(best->gid))
			best = gid;
	}
	if (set)
		*why = best ? "set by the operator" :
		       policy->netdev[0] ?
		       "netdev: it has no GID at the gid-index that is set" :
		       "the GID table has none at the gid-index that is set";
	else if (policy->netdev[0])
		*why = best ? "of the netdev that is set" :
		       "netdev: it has no usable GID here, or is down";
	return best;
}

static struct json_object *doc_port(const struct rcl_dev_info *dev,
				    const struct rcl_policy *policy)
{
	const char *why;
	const struct rcl_gid_info *gid = find_gid(dev, policy, &why);
	char text[RCL_GID_TEXT_LEN];

	return rcl_doc_port(dev, gid ? rcl_gid_text(gid->gid, text) : NULL,
			    why);
}

static struct json_object *doc_ports(const struct rcl_story *story)
{
	const struct rcl_policy *policy = &story->info->policy;
	const uint32_t port = policy->v[RCL_P_PORT];
	struct json_object *ports = json_object_new_array();
	size_t i;

	for (i = 0; i < story->ndevs; i++) {
		const struct rcl_dev_info *dev = &story->devs[i];

		if ((policy->device[0] && strcmp(policy->device, dev->name)) ||
		    (port && port != dev->port))
			continue;
		json_object_array_add(ports, doc_port(dev, policy));
	}
	return ports;
}

/* The last attempt since the link was last up, if any; it did not succeed. */
static const struct rcl_entry *last_attempt(const struct rcl_story *story)
{
	const struct rcl_entry *found = NULL;
	size_t i = story->num;

	while (i--) {
		const struct rcl_entry *e = &story->entries[i];

		if (is_state(e) && e->to == RCLINK_LINK_STATE_UP)
			break;
		if ((e->kind == RCLINK_ENTRY_KIND_NOTE ||
		     e->kind == RCLINK_ENTRY_KIND_REFUSED) &&
		    (!found || e->last > found->last))
			found = e;
	}
	return found;
}

static void add_attempt(struct json_object *doc, const struct rcl_story *story,
			const struct rcl_entry *attempt)
{
	char text[SENTENCE_LEN];

	if (!attempt) {
		rcl_out_text(doc, "last_attempt", NULL);
		rcl_out_text(doc, "last_attempt_time", NULL);
		return;
	}
	sentence(attempt, text);
	rcl_out_text(doc, "last_attempt", text);
	add_time(doc, "last_attempt_time", story, attempt->last);
}

static void judge(struct json_object *doc, const char *cause, const char *todo)
{
	rcl_out_text(doc, "cause", cause);
	rcl_out_text(doc, "advice", todo);
}

/*
 * A sentence of an exchange or of the module says more than a reason can. That
 * of an exchange is empty for who may not read it.
 */
static void judge_attempt(struct json_object *doc,
			  const struct rcl_entry *attempt)
{
	char cause[SENTENCE_LEN];

	sentence(attempt, cause);
	if (attempt->kind == RCLINK_ENTRY_KIND_NOTE && !*attempt->text)
		judge(doc, cause, "ask again as root, who may read it");
	else if (attempt->kind == RCLINK_ENTRY_KIND_NOTE)
		judge(doc, cause,
		      "do what that sentence says, and see `rclink why` on the peer; then connect it again");
	else if (attempt->step == RCLINK_STEP_PREPARE)
		judge(doc, cause,
		      "see `rclink dev` for what each port lacks; then connect it again");
	else
		judge(doc, cause,
		      "compare `rclink show` and `rclink dev` of both hosts; then connect it again");
}

/*
 * When the link's present condition began: if the epoch never came up, when it
 * was prepared, because its exchange may fail before it goes down.
 */
static uint64_t begun_when(const struct rcl_story *story, uint64_t since)
{
	const struct rcl_entry *e = state_before(story, story->num);

	if (!e || e->to != RCLINK_LINK_STATE_DOWN)
		return since;
	while (e && (e->from == RCLINK_LINK_STATE_PREPARED ||
		     e->from == RCLINK_LINK_STATE_CONNECTED))
		e = state_before(story, e - story->entries);
	return e ? e->time : 0;
}

static void add_verdict(struct json_object *doc, const struct rcl_story *story,
			uint64_t since)
{
	const struct rcl_link_info *info = story->info;
	const struct rcl_entry *attempt = last_attempt(story);
	bool never = !info->counter[RCLINK_A_STATS_EPOCHS];
	const struct rcl_advice *advice =
		rcl_advice(info->reason, info->wc_status);

	if (info->state != RCLINK_LINK_STATE_DOWN &&
	    info->state != RCLINK_LINK_STATE_IDLE) {
		add_attempt(doc, story, NULL);
		judge(doc, NULL, info->state == RCLINK_LINK_STATE_UP ? NULL :
		      "wait for the end of the exchange that is under way");
		return;
	}
	if (attempt && attempt->last < begun_when(story, since))
		attempt = NULL;
	add_attempt(doc, story, attempt);
	if (attempt && (never || info->reason == RCLINK_DOWN_REASON_OWNER_GONE))
		judge_attempt(doc, attempt);
	else if (info->state == RCLINK_LINK_STATE_IDLE)
		judge(doc, "nobody has tried to connect it", BY_HAND);
	else
		judge(doc, advice->cause, advice->todo);
}

/* When the state was entered; that entry may have fallen out of the record. */
static uint64_t since_when(const struct rcl_story *story)
{
	const struct rcl_entry *e = state_before(story, story->num);

	if (!e)
		return story->num ? story->entries[0].time : story->now;
	return e->time;
}

struct json_object *rcl_story_doc(const struct rcl_story *story)
{
	const struct rcl_link_info *info = story->info;
	struct json_object *doc = json_object_new_object();
	struct json_object *record = json_object_new_array();
	uint64_t since = since_when(story);
	char trips[RCL_TRIP_TEXT_LEN];
	size_t i;

	rcl_out_text(doc, "name", info->name);
	rcl_out_text(doc, "state", rcl_word(RCL_WORDS_STATE, info->state));
	rcl_out_text(doc, "reason", rcl_word(RCL_WORDS_REASON, info->reason));
	rcl_out_text(doc, "reason_text",
		     info->reason_text[0] ? info->reason_text : NULL);
	add_time(doc, "since", story, since);
	rcl_out_u64(doc, "for_ns", story->now > since ? story->now - since : 0);
	rcl_out_u64(doc, "epoch", info->epoch);
	rcl_out_text(doc, "peer", info->peer[0] ? info->peer : NULL);
	rcl_out_u64(doc, "times_up", info->counter[RCLINK_A_STATS_EPOCHS]);
	rcl_out_u64(doc, "times_down", info->counter[RCLINK_A_STATS_DOWNS]);
	rcl_out_gid(doc, "gid", info->gid);
	rcl_out_text(doc, "gid_reason",
		     info->gid_reason[0] ? info->gid_reason : NULL);
	json_object_object_add(doc, "ports", doc_ports(story));
	add_verdict(doc, story, since);
	rcl_out_text(doc, "tripwire", rcl_trip_text(info->counter, trips));
	rcl_out_u64(doc, "entries_lost",
		    story->num ? story->entries[story->num - 1].number -
				 story->num : 0);
	for (i = 0; i < story->num; i++)
		json_object_array_add(record, doc_entry(story, i));
	json_object_object_add(doc, "record", record);
	return doc;
}

static const char *sentence_at(struct json_object *record, size_t i)
{
	return rcl_out_get_text(json_object_array_get_idx(record, i),
				"sentence");
}

static uint64_t number_at(struct json_object *record, size_t i)
{
	return rcl_out_get_u64(json_object_array_get_idx(record, i), "number");
}

/* How often the period lines from line i on occur in a row, without a gap. */
static size_t repeats(struct json_object *record, size_t i, size_t period)
{
	size_t num = json_object_array_length(record);
	size_t at;

	for (at = i + period; at + period <= num; at += period) {
		size_t line;

		for (line = 0; line < period; line++)
			if (number_at(record, at + line) !=
			    number_at(record, i) + (at + line - i) ||
			    strcmp(sentence_at(record, i + line),
				   sentence_at(record, at + line)))
				return (at - i) / period;
	}
	return (at - i) / period;
}

/* Several lines that occur only twice are told in full: no habit yet. */
static size_t find_period(struct json_object *record, size_t i, size_t *times)
{
	size_t num = json_object_array_length(record);
	size_t period;

	for (period = 1; period <= PERIOD_MAX && i + period <= num; period++) {
		*times = repeats(record, i, period);
		if (*times > (period > 1 ? 2 : 1))
			return period;
	}
	*times = 1;
	return 1;
}

static void print_line(FILE *to, struct json_object *entry, uint64_t times,
		       const char *last)
{
	const char *from = rcl_out_get_text(entry, "from");
	struct json_object *counters = json_object_object_get(entry,
							      "counters");
	uint64_t lasted = rcl_out_get_u64(entry, "lasted_ns");
	char text[SPAN_LEN];

	fprintf(to, "%s  %s", rcl_out_get_text(entry, "time"),
		rcl_out_get_text(entry, "sentence"));
	if (lasted)
		fprintf(to, ", after %s %s", span(lasted, text), from);
	if (!strcmp(rcl_out_get_text(entry, "to"), "up"))
		fprintf(to, "; epoch %llu",
			(unsigned long long)rcl_out_get_u64(entry, "epoch"));
	if (!strcmp(from, "up"))
		fprintf(to, "; until then %llu messages sent, %llu received",
			(unsigned long long)rcl_out_get_u64(counters,
							    "tx_messages"),
			(unsigned long long)rcl_out_get_u64(counters,
							    "rx_messages"));
	if (times > 1)
		fprintf(to, "; %llu times, last at %s",
			(unsigned long long)times, last);
	fputc('\n', to);
}

/* Prints how many entries are missing between entry i and the one before it. */
static void print_gap(FILE *to, struct json_object *record, size_t i)
{
	uint64_t number = number_at(record, i);
	uint64_t before = i ? number_at(record, i - 1) : 0;

	if (number > before + 1)
		fprintf(to, "%26s(%llu entries are not kept)\n", "",
			(unsigned long long)(number - before - 1));
}

/* Prints what begins at line i, and returns how many lines that covers. */
static size_t print_lines(FILE *to, struct json_object *record, size_t i)
{
	size_t times, period = find_period(record, i, &times);
	size_t end = i + period * times;
	struct json_object *entry;
	const char *last;
	uint64_t sum = 0;
	size_t at;

	entry = json_object_array_get_idx(record, end - 1);
	last = rcl_out_get_text(entry, "last");
	if (period == 1) {
		for (at = i; at < end; at++)
			sum += rcl_out_get_u64(json_object_array_get_idx(record,
									 at),
					       "times");
		print_line(to, json_object_array_get_idx(record, i), sum, last);
		return times;
	}
	for (at = i; at < i + period; at++) {
		entry = json_object_array_get_idx(record, at);
		print_line(to, entry, rcl_out_get_u64(entry, "times"),
			   rcl_out_get_text(entry, "last"));
	}
	fprintf(to, "%26s(the last %zu lines %zu times, last at %s)\n", "",
		period, times, last);
	return period * times;
}

static void print_ports(FILE *to, struct json_object *ports)
{
	struct json_object *said = json_object_new_array();
	size_t i;

	rcl_doc_tell_ports(ports, said);
	for (i = 0; i < json_object_array_length(said); i++) {
		struct json_object *text = json_object_array_get_idx(said, i);

		fprintf(to, "%s.\n", json_object_get_string(text));
	}
	json_object_put(said);
}

static void print_state(FILE *to, struct json_object *doc)
{
	const char *state = rcl_out_get_text(doc, "state");
	const char *reason = rcl_out_get_text(doc, "reason_text");
	char text[SPAN_LEN];

	fprintf(to, "\n%s is %s since %s, for %s",
		rcl_out_get_text(doc, "name"), state,
		rcl_out_get_text(doc, "since"),
		span(rcl_out_get_u64(doc, "for_ns"), text));
	if (!strcmp(state, "up"))
		fprintf(to, "; epoch %llu, peer %s",
			(unsigned long long)rcl_out_get_u64(doc, "epoch"),
			rcl_out_get_text(doc, "peer"));
	if (*reason)
		fprintf(to, ": %s", reason);
	fputs(".\n", to);
	if (!rcl_out_get_u64(doc, "times_up"))
		fputs("It never came up.\n", to);
}

void rcl_story_print(FILE *to, struct json_object *doc)
{
	struct json_object *record = json_object_object_get(doc, "record");
	const char *attempt = rcl_out_get_text(doc, "last_attempt");
	const char *cause = rcl_out_get_text(doc, "cause");
	const char *todo = rcl_out_get_text(doc, "advice");
	const char *trips = rcl_out_get_text(doc, "tripwire");
	size_t i;

	for (i = 0; i < json_object_array_length(record);) {
		print_gap(to, record, i);
		i += print_lines(to, record, i);
	}
	print_state(to, doc);
	if (*trips)
		fprintf(to,
			"Since it was created an intruder, or a user of a channel, may have set off: %s.\n",
			trips);
	if (*attempt)
		fprintf(to, "Tried last, at %s: %s.\n",
			rcl_out_get_text(doc, "last_attempt_time"), attempt);
	if (strcmp(rcl_out_get_text(doc, "state"), "up"))
		print_ports(to, json_object_object_get(doc, "ports"));
	if (*cause && strcmp(cause, attempt))
		fprintf(to, "Most likely: %s.\n", cause);
	if (*todo)
		fprintf(to, "What to do: %s.\n", todo);
}
