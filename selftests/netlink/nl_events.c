// SPDX-License-Identifier: GPL-2.0
/* A listener hears of each change once, in order, with the next number. */
#include "rcl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

#define QUIET_MS	300

struct event {
	uint64_t seq;
	uint32_t kind;
	uint32_t id;
	char name[RCLINK_NAME_MAX + 1];
	uint32_t state;
	uint32_t reason;
	uint32_t wc_status;
	uint32_t vendor_err;
	char reason_text[128];
	uint64_t epoch;
	bool whole;		/* it had just these attributes */
};

FIXTURE(host)
{
	struct genl_sock s;
	struct genl_sock events;
	uint64_t seq;		/* of the last event that was heard */
};

/* Are these the attributes, in order, apart from padding? */
static bool is_whole(const struct genl_msg *m)
{
	static const uint16_t types[] = {
		RCLINK_A_LINK_EVENT_SEQ, RCLINK_A_LINK_EVENT_KIND,
		RCLINK_A_LINK_ID, RCLINK_A_LINK_NAME, RCLINK_A_LINK_STATE,
		RCLINK_A_LINK_REASON, RCLINK_A_LINK_WC_STATUS,
		RCLINK_A_LINK_VENDOR_ERR, RCLINK_A_LINK_REASON_TEXT,
		RCLINK_A_LINK_EPOCH,
	};
	const unsigned char *end = m->buf + m->nlh.nlmsg_len;
	const struct nlattr *nla = (void *)(m->buf + NLMSG_HDRLEN + 4);
	unsigned int n = 0;

	while ((const unsigned char *)nla < end) {
		if (nla->nla_type != RCLINK_A_LINK_PAD &&
		    (n == ARRAY_SIZE(types) || nla->nla_type != types[n++]))
			return false;
		nla = (void *)((char *)nla + NLA_ALIGN(nla->nla_len));
	}
	return n == ARRAY_SIZE(types);
}

static int next_event(struct genl_sock *s, struct event *ev, int ms)
{
	struct genl_msg m;
	int ret;

	ret = genl_recv(s, &m, ms);
	if (ret)
		return ret;
	if (genl_cmd(&m) != RCLINK_CMD_LINK_NTF)
		return -EPROTO;
	memset(ev, 0, sizeof(*ev));
	ev->seq = genl_u64(genl_attr(&m, RCLINK_A_LINK_EVENT_SEQ));
	ev->kind = genl_u32(genl_attr(&m, RCLINK_A_LINK_EVENT_KIND));
	ev->id = genl_u32(genl_attr(&m, RCLINK_A_LINK_ID));
	snprintf(ev->name, sizeof(ev->name), "%s",
		 genl_str(genl_attr(&m, RCLINK_A_LINK_NAME)));
	ev->state = genl_u32(genl_attr(&m, RCLINK_A_LINK_STATE));
	ev->reason = genl_u32(genl_attr(&m, RCLINK_A_LINK_REASON));
	ev->wc_status = genl_u32(genl_attr(&m, RCLINK_A_LINK_WC_STATUS));
	ev->vendor_err = genl_u32(genl_attr(&m, RCLINK_A_LINK_VENDOR_ERR));
	ev->whole = is_whole(&m);
	snprintf(ev->reason_text, sizeof(ev->reason_text), "%s",
		 genl_str(genl_attr(&m, RCLINK_A_LINK_REASON_TEXT)));
	ev->epoch = genl_u64(genl_attr(&m, RCLINK_A_LINK_EPOCH));
	return 0;
}

static int next_group(struct genl_sock *s, struct event *ev, uint64_t *key)
{
	struct genl_msg m;
	int ret;

	ret = genl_recv(s, &m, 5000);
	if (ret)
		return ret;
	if (genl_cmd(&m) != RCLINK_CMD_GROUP_NTF)
		return -EPROTO;
	memset(ev, 0, sizeof(*ev));
	ev->seq = genl_u64(genl_attr(&m, RCLINK_A_GROUP_EVENT_SEQ));
	ev->kind = genl_u32(genl_attr(&m, RCLINK_A_GROUP_EVENT_KIND));
	ev->id = genl_u32(genl_attr(&m, RCLINK_A_GROUP_ID));
	snprintf(ev->name, sizeof(ev->name), "%s",
		 genl_str(genl_attr(&m, RCLINK_A_GROUP_NAME)));
	ev->state = genl_u32(genl_attr(&m, RCLINK_A_GROUP_STATE));
	ev->reason = genl_u32(genl_attr(&m, RCLINK_A_GROUP_REASON));
	*key = 0;
	if (genl_attr(&m, RCLINK_A_GROUP_KEY_ID))
		*key = genl_u64(genl_attr(&m, RCLINK_A_GROUP_KEY_ID));
	/* the Q_Key is for members or CAP_NET_ADMIN only */
	return genl_attr(&m, RCLINK_A_GROUP_QKEY) ? -EPERM : 0;
}

static int group_add(struct genl_sock *s, const char *name)
{
	uint8_t mgid[RCLINK_GID_LEN];
	struct genl_msg m;
	uint32_t mlid;

	rcl_group_at(mgid, &mlid);
	genl_begin(&m, s, RCLINK_CMD_GROUP_ADD);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, name);
	genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
	genl_put_u32(&m, RCLINK_A_GROUP_MLID, mlid);
	return genl_ask(s, &m, NULL, NULL);
}

static int group_rekey(struct genl_sock *s, const char *name)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_GROUP_SET);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, name);
	genl_put(&m, RCLINK_A_GROUP_REKEY, NULL, 0);
	return genl_ask(s, &m, NULL, NULL);
}

FIXTURE_SETUP(host)
{
	struct rcl_view view;

	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	ASSERT_EQ(0, rcl_open(&self->events));
	/* events are numbered per host: any link shows the number */
	ASSERT_EQ(0, rcl_new(&self->s, "x"));
	ASSERT_EQ(0, rcl_view(&self->s, "x", &view));
	ASSERT_EQ(0, genl_join(&self->events));
	self->seq = view.event_seq;
}

FIXTURE_TEARDOWN(host)
{
	rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "g", NULL);
	rcl_clean(&self->s);
	genl_close(&self->s);
	genl_close(&self->events);
}

/* The next event is this one, and has the next number. */
#define EXPECT_EVENT(n, k, st, r, ep) do { \
	struct event __ev; \
	ASSERT_EQ(0, next_event(&self->events, &__ev, 5000)); \
	EXPECT_EQ(++self->seq, __ev.seq); \
	EXPECT_STREQ(n, __ev.name); \
	EXPECT_EQ(RCLINK_EVENT_KIND_##k, __ev.kind); \
	EXPECT_EQ(RCLINK_LINK_STATE_##st, __ev.state); \
	EXPECT_EQ(RCLINK_DOWN_REASON_##r, __ev.reason); \
	EXPECT_EQ(RCLINK_DOWN_REASON_##r != RCLINK_DOWN_REASON_NONE, \
		  __ev.reason_text[0] != '\0'); \
	EXPECT_EQ(0, __ev.wc_status); \
	EXPECT_EQ(0, __ev.vendor_err); \
	EXPECT_TRUE(__ev.whole); \
	EXPECT_EQ(ep, __ev.epoch); \
} while (0)

#define EXPECT_QUIET() do { \
	struct event __ev; \
	EXPECT_EQ(-ETIMEDOUT, next_event(&self->events, &__ev, QUIET_MS)); \
} while (0)

TEST_F(host, the_life_of_a_link_is_heard)
{
	struct rcl_end end;

	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	EXPECT_EVENT("a", CREATED, IDLE, NONE, 0);
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	EXPECT_EVENT("a", CHANGED, PREPARED, NONE, 1);
	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	EXPECT_EVENT("a", CHANGED, DOWN, DISCONNECTED, 1);
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	EXPECT_EVENT("a", CHANGED, PREPARED, NONE, 2);
	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	EXPECT_EVENT("a", CHANGED, DOWN, DISCONNECTED, 2);
	EXPECT_EVENT("a", DELETED, DOWN, DISCONNECTED, 2);
	EXPECT_QUIET();
}

/* A listener about to bring the link up again must hear of it. */
TEST_F(host, a_disconnect_while_it_is_down_is_heard_once)
{
	struct rcl_view view;
	struct genl_sock owner;
	struct rcl_end end;

	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	EXPECT_EVENT("a", CREATED, IDLE, NONE, 0);
	/* nobody has tried to connect it: there is nothing to end */
	ASSERT_EQ(-ENOTCONN, rcl_disconnect(&self->s, "a"));
	ASSERT_EQ(0, rcl_open(&owner));
	ASSERT_EQ(0, rcl_prepare(&owner, "a", &end));
	EXPECT_EVENT("a", CHANGED, PREPARED, NONE, 1);
	genl_close(&owner);
	EXPECT_EVENT("a", CHANGED, DOWN, OWNER_GONE, 1);
	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	EXPECT_EVENT("a", CHANGED, DOWN, DISCONNECTED, 1);
	ASSERT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_DOWN, view.state);
	ASSERT_EQ(-ENOTCONN, rcl_disconnect(&self->s, "a"));
	EXPECT_QUIET();
	/* it can be connected again, and then be disconnected again */
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	EXPECT_EVENT("a", CHANGED, PREPARED, NONE, 2);
	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	EXPECT_EVENT("a", CHANGED, DOWN, DISCONNECTED, 2);
	ASSERT_EQ(-ENOTCONN, rcl_disconnect(&self->s, "a"));
	EXPECT_QUIET();
}

/* Both links come up, each once, in either order. */
static void both_up(struct __test_metadata *_metadata,
		    struct _test_data_host *self)
{
	struct event ev;
	char names[2];
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, next_event(&self->events, &ev, 5000));
		EXPECT_EQ(++self->seq, ev.seq);
		EXPECT_EQ(RCLINK_EVENT_KIND_CHANGED, ev.kind);
		EXPECT_EQ(RCLINK_LINK_STATE_UP, ev.state);
		EXPECT_EQ(RCLINK_DOWN_REASON_NONE, ev.reason);
		EXPECT_EQ(1, ev.epoch);
		EXPECT_TRUE(ev.whole);
		names[i] = ev.name[0];
	}
	EXPECT_EQ('a' + 'b', names[0] + names[1]);
}

TEST_F(host, coming_up_is_heard_of_both)
{
	struct rcl_end a, b;

	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	EXPECT_EVENT("a", CREATED, IDLE, NONE, 0);
	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	EXPECT_EVENT("b", CREATED, IDLE, NONE, 0);
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &a));
	EXPECT_EVENT("a", CHANGED, PREPARED, NONE, 1);
	ASSERT_EQ(0, rcl_prepare(&self->s, "b", &b));
	EXPECT_EVENT("b", CHANGED, PREPARED, NONE, 1);
	ASSERT_EQ(0, rcl_connect(&self->s, "a", 1, RCLINK_ROLE_INITIATOR, &b,
				 NULL));
	EXPECT_EVENT("a", CHANGED, CONNECTED, NONE, 1);
	b.epoch = 1;
	ASSERT_EQ(0, rcl_connect(&self->s, "b", 1, RCLINK_ROLE_RESPONDER, &a,
				 NULL));
	EXPECT_EVENT("b", CHANGED, CONNECTED, NONE, 1);
	ASSERT_EQ(0, rcl_activate(&self->s, "a", 1, NULL));
	/* nothing is up before both are active */
	EXPECT_QUIET();
	ASSERT_EQ(0, rcl_activate(&self->s, "b", 1, NULL));
	ASSERT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_UP, 5000));
	ASSERT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_UP, 5000));
	both_up(_metadata, self);
	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	ASSERT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, 3000));
	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
}

TEST_F(host, the_peer_hears_of_a_goodbye)
{
	struct event ev, mine = {}, theirs = {};

	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	ASSERT_EQ(0, rcl_pair(&self->s, "a", "b", RCLINK_LINK_STATE_UP));
	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	while (mine.state != RCLINK_LINK_STATE_DOWN ||
	       theirs.state != RCLINK_LINK_STATE_DOWN) {
		ASSERT_EQ(0, next_event(&self->events, &ev, 5000));
		EXPECT_EQ(++self->seq, ev.seq);
		if (ev.name[0] == 'a')
			mine = ev;
		else
			theirs = ev;
	}
	EXPECT_QUIET();
	EXPECT_EQ(RCLINK_LINK_STATE_DOWN, mine.state);
	EXPECT_EQ(RCLINK_DOWN_REASON_DISCONNECTED, mine.reason);
	EXPECT_EQ(RCLINK_LINK_STATE_DOWN, theirs.state);
	EXPECT_EQ(RCLINK_DOWN_REASON_PEER_DISCONNECTED, theirs.reason);
	EXPECT_NE(mine.id, theirs.id);
}

TEST_F(host, an_owner_that_goes_is_heard_of)
{
	struct genl_sock owner;
	struct rcl_end end;

	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	EXPECT_EVENT("a", CREATED, IDLE, NONE, 0);
	ASSERT_EQ(0, rcl_open(&owner));
	ASSERT_EQ(0, rcl_prepare(&owner, "a", &end));
	EXPECT_EVENT("a", CHANGED, PREPARED, NONE, 1);
	genl_close(&owner);
	EXPECT_EVENT("a", CHANGED, DOWN, OWNER_GONE, 1);
	EXPECT_QUIET();
}

TEST_F(host, what_is_refused_is_not_heard)
{
	struct rcl_end end;

	ASSERT_EQ(-EEXIST, rcl_new(&self->s, "x"));
	ASSERT_EQ(-EINVAL, rcl_new(&self->s, "-"));
	ASSERT_EQ(-ENOENT, rcl_del(&self->s, "nobody"));
	ASSERT_EQ(-ENOTCONN, rcl_disconnect(&self->s, "x"));
	ASSERT_EQ(0, rcl_prepare(&self->s, "x", &end));
	EXPECT_EVENT("x", CHANGED, PREPARED, NONE, 1);
	ASSERT_EQ(-EBUSY, rcl_prepare(&self->s, "x", &end));
	ASSERT_EQ(-ESTALE, rcl_connect(&self->s, "x", 9, 1, &end, NULL));
	EXPECT_QUIET();
}

/* The next event is this one of the group; puts the key's ID into `key`. */
#define EXPECT_GROUP(k, st) do { \
	struct event __ev; \
	ASSERT_EQ(0, next_group(&self->events, &__ev, &key)); \
	EXPECT_EQ(++self->seq, __ev.seq); \
	EXPECT_STREQ("g", __ev.name); \
	EXPECT_EQ(RCLINK_EVENT_KIND_##k, __ev.kind); \
	EXPECT_EQ(RCLINK_GROUP_STATE_##st, __ev.state); \
	EXPECT_EQ(RCLINK_DOWN_REASON_NONE, __ev.reason); \
} while (0)

TEST_F(host, a_group_is_heard_with_the_numbers_of_links)
{
	uint64_t key, first;

	ASSERT_EQ(0, group_add(&self->s, "g"));
	EXPECT_GROUP(CREATED, JOINED);
	EXPECT_EQ(0, key);
	EXPECT_GROUP(REKEYED, JOINED);
	EXPECT_NE(0, key);
	first = key;
	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	EXPECT_EVENT("a", CREATED, IDLE, NONE, 0);
	ASSERT_EQ(-EEXIST, group_add(&self->s, "g"));
	ASSERT_EQ(-ENOENT, group_rekey(&self->s, "h"));
	ASSERT_EQ(0, group_rekey(&self->s, "g"));
	EXPECT_GROUP(REKEYED, JOINED);
	EXPECT_NE(0, key);
	EXPECT_NE(first, key);
	ASSERT_EQ(0, rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "g", NULL));
	EXPECT_GROUP(DELETED, DOWN);
	EXPECT_QUIET();
}

/* A listener that does not read loses events, and can see that. */
TEST_F(host, a_full_listener_sees_the_gap_and_harms_nobody)
{
	static const int small = 1;
	uint64_t last = self->seq;
	struct rcl_view view;
	struct event ev;
	bool lost = false;
	int i, ret;

	setsockopt(self->events.fd, SOL_SOCKET, SO_RCVBUF, &small,
		   sizeof(small));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, rcl_new(&self->s, "a"));
		ASSERT_EQ(0, rcl_del(&self->s, "a"));
	}
	for (;;) {
		ret = next_event(&self->events, &ev, QUIET_MS);
		if (ret == -ETIMEDOUT)
			break;
		if (ret == -ENOBUFS)
			lost = true;
		else
			last = ev.seq;
	}
	EXPECT_TRUE(lost);
	EXPECT_LT(last, self->seq + 200);
	/* a view of a link tells the current number */
	ASSERT_EQ(0, rcl_view(&self->s, "x", &view));
	EXPECT_EQ(self->seq + 200, view.event_seq);
	self->seq = view.event_seq;
	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	EXPECT_EVENT("a", CREATED, IDLE, NONE, 0);
}

TEST_HARNESS_MAIN
