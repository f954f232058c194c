// SPDX-License-Identifier: GPL-2.0
/* The record of a link: what is in it, in which order, and how it is read. */
#include "rcl.h"

#include <errno.h>
#include <string.h>

#include "harness.h"

#define PAGES_MAX	32

struct entry {
	uint64_t number;
	uint32_t kind;
	uint64_t time;
	uint64_t last;
	uint32_t times;
	uint64_t epoch;
	uint32_t from;
	uint32_t to;
	uint32_t step;
	uint32_t reason;
	bool has_qp;
	char text[RCLINK_NOTE_MAX + 2];
	uint64_t downs;
};

struct record {
	struct entry e[RCLINK_RECORD_MAX];
	int n;
	int pages;
};

FIXTURE(host)
{
	struct genl_sock s;
	struct record r;
};

FIXTURE_SETUP(host)
{
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	ASSERT_EQ(0, rcl_new(&self->s, "a"));
}

FIXTURE_TEARDOWN(host)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

static void read_entry(const struct nlattr *nest, struct entry *e)
{
#define GET(type)	genl_next(nest, RCLINK_A_ENTRY_##type, NULL)
	memset(e, 0, sizeof(*e));
	e->number = genl_u64(GET(NUMBER));
	e->kind = genl_u32(GET(KIND));
	e->time = genl_u64(GET(TIME));
	e->last = genl_u64(GET(LAST));
	e->times = genl_u32(GET(TIMES));
	e->epoch = genl_u64(GET(EPOCH));
	e->from = genl_u32(GET(FROM));
	e->to = genl_u32(GET(TO));
	e->step = genl_u32(GET(STEP));
	e->reason = genl_u32(GET(REASON));
	e->has_qp = GET(QP);
	snprintf(e->text, sizeof(e->text), "%s", genl_str(GET(TEXT)));
	if (GET(STATS))
		e->downs = genl_u64(genl_next(GET(STATS),
					      RCLINK_A_STATS_DOWNS, NULL));
#undef GET
}

/* How many entries came, or an errno. */
static int ask(struct genl_sock *s, const char *link, uint64_t number,
	       struct entry *e, int room)
{
	const struct nlattr *nla = NULL;
	struct genl_msg answer;
	struct nlattr *all;
	int n = 0;
	int ret;

	ret = rcl_record(s, link, number, &answer, &all);
	if (ret)
		return ret;
	while ((nla = genl_next(all, RCLINK_A_RECORD_ENTRY, nla))) {
		if (n == room)
			return -E2BIG;
		read_entry(nla, &e[n++]);
	}
	return n;
}

/* 0, or an errno. */
static int look(struct genl_sock *s, struct record *r, const char *link)
{
	uint64_t number = 0;
	int ret;

	r->n = 0;
	for (r->pages = 0; r->pages < PAGES_MAX; r->pages++) {
		ret = ask(s, link, number, r->e + r->n,
			  RCLINK_RECORD_MAX - r->n);
		if (ret <= 0)
			return ret;
		r->n += ret;
		number = r->e[r->n - 1].number + 1;
	}
	return -ELOOP;
}

static int put_note(struct genl_sock *s, const char *link, const char *text)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NOTE);
	genl_put_str(&m, RCLINK_A_RECORD_LINK, link);
	genl_put_str(&m, RCLINK_A_RECORD_TEXT, text);
	return genl_ask(s, &m, NULL, NULL);
}

TEST_F(host, a_new_link_was_created)
{
	ASSERT_EQ(0, look(&self->s, &self->r, "a"));
	ASSERT_EQ(1, self->r.n);
	EXPECT_EQ(1, self->r.e[0].number);
	EXPECT_EQ(RCLINK_ENTRY_KIND_STATE, self->r.e[0].kind);
	EXPECT_EQ(0, self->r.e[0].from);
	EXPECT_EQ(RCLINK_LINK_STATE_IDLE, self->r.e[0].to);
	EXPECT_EQ(1, self->r.e[0].times);
	EXPECT_EQ(self->r.e[0].time, self->r.e[0].last);
	EXPECT_FALSE(self->r.e[0].has_qp);
}

TEST_F(host, of_70_changes_the_last_64_stay_in_order_under_their_numbers)
{
	struct rcl_end end;
	int i;

	for (i = 0; i < 35; i++) {
		ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
		ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	}
	ASSERT_EQ(0, look(&self->s, &self->r, "a"));
	ASSERT_EQ(64, self->r.n);
	for (i = 0; i < 64; i++) {
		const struct entry *e = &self->r.e[i];
		/* entry 1 created it, 2 prepared it, 3 took it down, ... */
		bool down = e->number % 2;

		EXPECT_EQ(8 + i, e->number);
		EXPECT_EQ(RCLINK_ENTRY_KIND_STATE, e->kind);
		EXPECT_EQ(e->number / 2, e->epoch);
		EXPECT_EQ(down ? RCLINK_LINK_STATE_DOWN :
			  RCLINK_LINK_STATE_PREPARED, e->to);
		EXPECT_EQ(down ? RCLINK_LINK_STATE_PREPARED :
			  RCLINK_LINK_STATE_DOWN, e->from);
		EXPECT_EQ(down ? RCLINK_DOWN_REASON_DISCONNECTED :
			  RCLINK_DOWN_REASON_NONE, e->reason);
		EXPECT_NE('\0', e->text[0]);
		EXPECT_EQ(0, e->downs); /* it never was up */
		if (i)
			EXPECT_LE(self->r.e[i - 1].time, e->time);
	}
}

TEST_F(host, refused_steps_are_there_with_their_sentence)
{
	struct rcl_end end;
	int i;

	ASSERT_EQ(-ENOTCONN, rcl_activate(&self->s, "a", 1, NULL));
	ASSERT_EQ(-ENOTCONN, rcl_disconnect(&self->s, "a"));
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(-EBUSY, rcl_prepare(&self->s, "a", &end));
	ASSERT_EQ(-ESTALE, rcl_connect(&self->s, "a", 9, 1, &end, NULL));
	ASSERT_EQ(0, look(&self->s, &self->r, "a"));
	ASSERT_EQ(5, self->r.n);
	EXPECT_EQ(RCLINK_ENTRY_KIND_REFUSED, self->r.e[1].kind);
	EXPECT_EQ(RCLINK_STEP_ACTIVATE, self->r.e[1].step);
	EXPECT_EQ(RCLINK_STEP_PREPARE, self->r.e[3].step);
	EXPECT_EQ(100, self->r.e[3].times);
	EXPECT_LE(self->r.e[3].time, self->r.e[3].last);
	EXPECT_NE(NULL, strstr(self->r.e[3].text, "under way"));
	EXPECT_EQ(RCLINK_STEP_CONNECT, self->r.e[4].step);
	EXPECT_NE(NULL, strstr(self->r.e[4].text, "epoch"));
}

TEST_F(host, a_step_refused_beside_what_is_up_is_of_the_other_epoch)
{
	const struct entry *e;
	struct rcl_end end;

	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	ASSERT_EQ(0, rcl_pair(&self->s, "a", "b", RCLINK_LINK_STATE_UP));
	ASSERT_EQ(-EBUSY, rcl_prepare(&self->s, "a", &end));
	ASSERT_EQ(0, rcl_prepare_beside(&self->s, "a", &end));
	ASSERT_EQ(2, end.epoch);
	ASSERT_EQ(-ENOTCONN, rcl_activate(&self->s, "a", 2, NULL));
	ASSERT_EQ(0, look(&self->s, &self->r, "a"));
	ASSERT_LE(3, self->r.n);
	e = &self->r.e[self->r.n - 1];
	EXPECT_EQ(RCLINK_STEP_ACTIVATE, e->step);
	EXPECT_EQ(2, e->epoch);
	e = &self->r.e[self->r.n - 3];
	EXPECT_EQ(RCLINK_STEP_PREPARE, e->step);
	EXPECT_EQ(1, e->epoch);
}

TEST_F(host, notes_are_kept_whole_and_the_newest_stay)
{
	char text[RCLINK_NOTE_MAX + 1];
	int i;

	memset(text, '\xff', sizeof(text));
	text[RCLINK_NOTE_MAX] = '\0';
	for (i = 0; i < 100; i++) {
		text[0] = 1 + i;
		ASSERT_EQ(0, put_note(&self->s, "a", text));
	}
	ASSERT_EQ(0, look(&self->s, &self->r, "a"));
	ASSERT_EQ(64, self->r.n);
	/* they do not come in one answer */
	EXPECT_LT(1, self->r.pages);
	for (i = 0; i < 64; i++) {
		text[0] = 37 + i;
		EXPECT_EQ(38 + i, self->r.e[i].number);
		EXPECT_EQ(RCLINK_ENTRY_KIND_NOTE, self->r.e[i].kind);
		EXPECT_STREQ(text, self->r.e[i].text);
	}
}

TEST_F(host, the_same_note_is_counted_until_the_state_changes)
{
	struct rcl_end end;
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, put_note(&self->s, "a", i % 2 ? "x" : "y"));
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	ASSERT_EQ(0, put_note(&self->s, "a", "x"));
	ASSERT_EQ(0, look(&self->s, &self->r, "a"));
	ASSERT_EQ(5, self->r.n);
	EXPECT_EQ(5, self->r.e[1].times);
	EXPECT_STREQ("y", self->r.e[1].text);
	EXPECT_EQ(5, self->r.e[2].times);
	EXPECT_EQ(1, self->r.e[4].times);
}

TEST_F(host, behind_the_newest_there_is_nothing)
{
	struct entry e;

	EXPECT_EQ(1, ask(&self->s, "a", 1, &e, 1));
	EXPECT_EQ(0, ask(&self->s, "a", 2, &e, 1));
	EXPECT_EQ(0, ask(&self->s, "a", ~0ULL, &e, 1));
}

TEST_F(host, a_link_of_the_same_name_begins_anew)
{
	ASSERT_EQ(0, put_note(&self->s, "a", "old"));
	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(-ENOENT, look(&self->s, &self->r, "a"));
	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	ASSERT_EQ(0, look(&self->s, &self->r, "a"));
	EXPECT_EQ(1, self->r.n);
}

TEST_F(host, the_life_of_a_link_is_told_and_stays_after_its_end)
{
	static const uint32_t states[] = {
		RCLINK_LINK_STATE_IDLE, RCLINK_LINK_STATE_PREPARED,
		RCLINK_LINK_STATE_CONNECTED, RCLINK_LINK_STATE_UP,
		RCLINK_LINK_STATE_DOWN,
	};
	unsigned int i;

	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	ASSERT_EQ(0, rcl_pair(&self->s, "a", "b", RCLINK_LINK_STATE_UP));
	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	ASSERT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, 5000));
	ASSERT_EQ(0, look(&self->s, &self->r, "b"));
	ASSERT_EQ(ARRAY_SIZE(states), self->r.n);
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		EXPECT_EQ(states[i], self->r.e[i].to);
		EXPECT_EQ(states[i] == RCLINK_LINK_STATE_DOWN,
			  self->r.e[i].downs);
	}
	EXPECT_EQ(RCLINK_DOWN_REASON_PEER_DISCONNECTED, self->r.e[4].reason);
}

TEST_HARNESS_MAIN
