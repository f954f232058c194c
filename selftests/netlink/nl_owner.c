// SPDX-License-Identifier: GPL-2.0
/* Who owns a link while it comes up, and which epoch a request may name. */
#include "rcl.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

/* An end that hears nothing from its peer waits 10 s for the hello. */
#define DOWN_MS	15000

/* A prepared link must be activated within 30 s; its hello is due in 10 s. */
#define PREPARED_S	30
#define HELLO_S		10
#define LATE_MS		60000

FIXTURE(pair)
{
	struct genl_sock owner;
	struct genl_sock other;
	struct rcl_end a, b;
	uint64_t epoch;
};

FIXTURE_SETUP(pair)
{
	ASSERT_EQ(0, rcl_open(&self->owner));
	ASSERT_EQ(0, rcl_open(&self->other));
	ASSERT_EQ(0, rcl_clean(&self->owner));
	ASSERT_EQ(0, rcl_new(&self->owner, "a"));
	ASSERT_EQ(0, rcl_new(&self->owner, "b"));
	ASSERT_EQ(0, rcl_prepare(&self->owner, "a", &self->a));
	ASSERT_EQ(0, rcl_prepare(&self->owner, "b", &self->b));
}

FIXTURE_TEARDOWN(pair)
{
	rcl_clean(&self->other);
	EXPECT_EQ(0, rcl_objects("qp"));
	EXPECT_EQ(0, rcl_objects("mr"));
	EXPECT_EQ(0, rcl_objects("cq"));
	EXPECT_EQ(0, rcl_objects("pd"));
	if (self->owner.fd >= 0)
		genl_close(&self->owner);
	genl_close(&self->other);
}

static int connect_both(struct genl_sock *s, const struct rcl_end *a,
			const struct rcl_end *b)
{
	int ret;

	ret = rcl_connect(s, "a", a->epoch, RCLINK_ROLE_INITIATOR, b, NULL);
	if (ret)
		return ret;
	return rcl_connect(s, "b", b->epoch, RCLINK_ROLE_RESPONDER, a, NULL);
}

static int activate_both(struct genl_sock *s, uint64_t epoch)
{
	int ret;

	ret = rcl_activate(s, "a", epoch, NULL);
	return ret ? ret : rcl_activate(s, "b", epoch, NULL);
}

/* Is the link down for @reason, and are both ends' values gone from view? */
static bool ended(struct genl_sock *s, const char *name, uint32_t reason)
{
	struct rcl_view view;

	if (rcl_until(s, name, RCLINK_LINK_STATE_DOWN, DOWN_MS) ||
	    rcl_view(s, name, &view))
		return false;
	if (view.reason != reason)
		fprintf(stderr, "# %s: reason %u '%s'\n", name, view.reason,
			view.reason_text);
	return view.reason == reason && !view.secrets;
}

TEST_F(pair, closing_the_owner_ends_prepared_links)
{
	EXPECT_EQ(10, rcl_objects("qp"));
	genl_close(&self->owner);
	EXPECT_TRUE(ended(&self->other, "a", RCLINK_DOWN_REASON_OWNER_GONE));
	EXPECT_TRUE(ended(&self->other, "b", RCLINK_DOWN_REASON_OWNER_GONE));
	EXPECT_EQ(0, rcl_objects("qp"));
}

TEST_F(pair, closing_the_owner_ends_connected_links)
{
	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	genl_close(&self->owner);
	EXPECT_TRUE(ended(&self->other, "a", RCLINK_DOWN_REASON_OWNER_GONE));
	EXPECT_TRUE(ended(&self->other, "b", RCLINK_DOWN_REASON_OWNER_GONE));
}

TEST_F(pair, closing_the_owner_ends_a_link_that_waits_for_its_hello)
{
	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(0, rcl_activate(&self->owner, "a", 1, NULL));
	genl_close(&self->owner);
	EXPECT_TRUE(ended(&self->other, "a", RCLINK_DOWN_REASON_OWNER_GONE));
}

TEST_F(pair, closing_the_owner_leaves_links_that_are_up)
{
	struct rcl_pong pong;
	struct rcl_view view;

	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(0, activate_both(&self->owner, self->a.epoch));
	EXPECT_EQ(0, rcl_until(&self->other, "a", RCLINK_LINK_STATE_UP, 5000));
	EXPECT_EQ(0, rcl_until(&self->other, "b", RCLINK_LINK_STATE_UP, 5000));
	genl_close(&self->owner);
	usleep(200000);
	EXPECT_EQ(0, rcl_ping(&self->other, "a", RCLINK_PING_OP_SEND, -1, 7,
			      NULL));
	EXPECT_EQ(0, rcl_pong(&self->other, &pong, 5000));
	EXPECT_EQ(0, pong.error);
	EXPECT_EQ(0, rcl_view(&self->other, "b", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
}

/* Else the peer would wait until the hello is overdue. */
TEST_F(pair, closing_the_owner_tells_the_peer)
{
	struct genl_sock third;
	struct rcl_end b;

	ASSERT_EQ(0, rcl_open(&third));
	EXPECT_EQ(0, rcl_disconnect(&self->owner, "b"));
	ASSERT_EQ(0, rcl_prepare(&third, "b", &b));
	EXPECT_EQ(0, rcl_connect(&self->owner, "a", 1, RCLINK_ROLE_INITIATOR,
				 &b, NULL));
	EXPECT_EQ(0, rcl_connect(&third, "b", b.epoch, RCLINK_ROLE_RESPONDER,
				 &self->a, NULL));
	EXPECT_EQ(0, rcl_activate(&self->owner, "a", b.epoch, NULL));
	genl_close(&self->owner);
	EXPECT_TRUE(ended(&self->other, "a", RCLINK_DOWN_REASON_OWNER_GONE));
	EXPECT_EQ(0, rcl_activate(&third, "b", b.epoch, NULL));
	EXPECT_TRUE(ended(&self->other, "b", RCLINK_DOWN_REASON_REPLACED));
	genl_close(&third);
}

/* A request may name an epoch that has been replaced since: it is refused. */
TEST_F(pair, only_the_epoch_that_is_meant_is_replaced)
{
	uint64_t links;
	struct genl_ack ack;

	EXPECT_EQ(-ENOTCONN, rcl_replace(&self->other, "a", 1, NULL));
	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(-ENOTCONN, rcl_replace(&self->other, "a", 1, NULL));
	EXPECT_EQ(0, activate_both(&self->owner, self->a.epoch));
	EXPECT_EQ(0, rcl_until(&self->other, "a", RCLINK_LINK_STATE_UP, 5000));
	EXPECT_EQ(0, rcl_until(&self->other, "b", RCLINK_LINK_STATE_UP, 5000));
	rcl_settle(&self->other, "a");
	rcl_settle(&self->other, "b");
	links = rcl_links_digest(&self->other);
	EXPECT_EQ(-ESTALE, rcl_replace(&self->other, "a", 0, &ack));
	EXPECT_STRNE("", ack.text);
	EXPECT_EQ(-ESTALE, rcl_replace(&self->other, "a", 2, NULL));
	EXPECT_EQ(links, rcl_links_digest(&self->other));
	EXPECT_EQ(0, rcl_replace(&self->other, "a", 1, NULL));
	EXPECT_TRUE(ended(&self->other, "a", RCLINK_DOWN_REASON_REPLACED));
	EXPECT_TRUE(ended(&self->other, "b", RCLINK_DOWN_REASON_REPLACED));
}

TEST_F(pair, an_epoch_beside_the_one_that_is_up_is_shown)
{
	struct genl_sock third;
	struct rcl_view view;
	struct rcl_end end;
	int i;

	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(0, activate_both(&self->owner, self->a.epoch));
	EXPECT_EQ(0, rcl_until(&self->other, "a", RCLINK_LINK_STATE_UP, 5000));
	EXPECT_EQ(0, rcl_until(&self->other, "b", RCLINK_LINK_STATE_UP, 5000));
	ASSERT_EQ(0, rcl_open(&third));
	ASSERT_EQ(0, rcl_prepare_beside(&third, "a", &end));
	EXPECT_EQ(-EBUSY, rcl_prepare_beside(&self->owner, "a", &end));
	ASSERT_EQ(0, rcl_view(&self->other, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(1, view.epoch);
	EXPECT_EQ(RCLINK_LINK_STATE_PREPARED, view.standby);
	EXPECT_EQ(2, view.standby_epoch);
	EXPECT_EQ(15, rcl_objects("qp"));
	genl_close(&third);
	for (i = 0; i < slow(100) && view.standby_epoch; i++) {
		usleep(10000);
		ASSERT_EQ(0, rcl_view(&self->other, "a", &view));
	}
	EXPECT_EQ(0, view.standby_epoch);
	/* The view no longer shows the epoch before its QPs are gone. */
	for (i = 0; i < slow(100) && rcl_objects("qp") != 10; i++)
		usleep(10000);
	EXPECT_EQ(10, rcl_objects("qp"));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(1, view.epoch);
}

TEST_F(pair, another_socket_of_the_same_process_changes_nothing)
{
	struct genl_sock third;

	ASSERT_EQ(0, rcl_open(&third));
	genl_close(&third);
	usleep(100000);
	EXPECT_EQ(0, rcl_until(&self->other, "a", RCLINK_LINK_STATE_PREPARED,
			       100));
}

TEST_F(pair, only_the_owner_may_go_on)
{
	uint64_t links = rcl_links_digest(&self->other);
	struct genl_ack ack;

	EXPECT_EQ(-EBUSY, rcl_connect(&self->other, "a", self->a.epoch, 1,
				      &self->b, &ack));
	EXPECT_STRNE("", ack.text);
	EXPECT_EQ(links, rcl_links_digest(&self->other));
	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(-EBUSY, rcl_activate(&self->other, "a", 1, &ack));
	EXPECT_STRNE("", ack.text);
	EXPECT_EQ(0, activate_both(&self->owner, self->a.epoch));
}

TEST_F(pair, another_epoch_is_stale)
{
	uint64_t links = rcl_links_digest(&self->other);
	struct genl_ack ack;

	EXPECT_EQ(-ESTALE, rcl_connect(&self->owner, "a", self->a.epoch + 1, 1,
				       &self->b, &ack));
	EXPECT_STRNE("", ack.text);
	EXPECT_EQ(-ESTALE, rcl_connect(&self->owner, "a", 0, 1, &self->b,
				       NULL));
	EXPECT_EQ(links, rcl_links_digest(&self->other));
	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(-ESTALE, rcl_activate(&self->owner, "a", self->a.epoch + 1,
					&ack));
	EXPECT_EQ(0, activate_both(&self->owner, self->a.epoch));
}

/* Even in a state that takes no such request, and from any socket. */
TEST_F(pair, an_older_epoch_is_stale_in_any_state)
{
	struct rcl_end a = self->a, b = self->b;
	struct genl_ack ack;

	EXPECT_EQ(0, connect_both(&self->owner, &a, &b));
	EXPECT_EQ(0, activate_both(&self->owner, a.epoch));
	EXPECT_EQ(0, rcl_until(&self->owner, "a", RCLINK_LINK_STATE_UP, 5000));
	EXPECT_EQ(0, rcl_disconnect(&self->owner, "a"));
	EXPECT_EQ(0, rcl_until(&self->owner, "b", RCLINK_LINK_STATE_DOWN,
			       5000));
	EXPECT_EQ(0, rcl_prepare(&self->owner, "a", &a));
	EXPECT_EQ(0, rcl_prepare(&self->owner, "b", &b));
	EXPECT_EQ(2, a.epoch);
	EXPECT_EQ(-ESTALE, rcl_connect(&self->other, "a", 1, 1, &b, &ack));
	EXPECT_NE(NULL, strstr(ack.text, "older"));
	EXPECT_EQ(-EBUSY, rcl_connect(&self->other, "a", 2, 1, &b, NULL));
	EXPECT_EQ(0, connect_both(&self->owner, &a, &b));
	EXPECT_EQ(-ESTALE, rcl_activate(&self->owner, "a", 1, NULL));
	EXPECT_EQ(0, activate_both(&self->owner, 2));
	EXPECT_EQ(0, rcl_until(&self->owner, "a", RCLINK_LINK_STATE_UP, 5000));
	EXPECT_EQ(-ESTALE, rcl_activate(&self->owner, "a", 1, NULL));
	EXPECT_EQ(-EBUSY, rcl_activate(&self->owner, "a", 2, NULL));
	EXPECT_EQ(0, rcl_disconnect(&self->owner, "a"));
	EXPECT_EQ(-ESTALE, rcl_connect(&self->owner, "a", 1, 1, &b, NULL));
	EXPECT_EQ(-ENOTCONN, rcl_connect(&self->owner, "a", 2, 1, &b, NULL));
}

TEST_F(pair, the_larger_epoch_is_agreed_on)
{
	struct rcl_end a = self->a, b = self->b;
	struct rcl_view view;

	b.epoch = 1000;
	EXPECT_EQ(0, rcl_connect(&self->owner, "a", a.epoch, 1, &b, NULL));
	EXPECT_EQ(-ESTALE, rcl_activate(&self->owner, "a", a.epoch, NULL));
	EXPECT_EQ(0, rcl_view(&self->owner, "a", &view));
	EXPECT_EQ(1000, view.epoch);
	/* the next epoch is larger than all before */
	EXPECT_EQ(0, rcl_disconnect(&self->owner, "a"));
	EXPECT_EQ(0, rcl_prepare(&self->owner, "a", &a));
	EXPECT_EQ(1001, a.epoch);
}

TEST_F(pair, a_link_is_activated_once)
{
	struct genl_ack ack;

	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(0, rcl_activate(&self->owner, "a", 1, NULL));
	EXPECT_EQ(-EBUSY, rcl_activate(&self->owner, "a", 1, &ack));
	EXPECT_STRNE("", ack.text);
	EXPECT_EQ(0, rcl_activate(&self->owner, "b", 1, NULL));
	EXPECT_EQ(0, rcl_until(&self->other, "a", RCLINK_LINK_STATE_UP, 5000));
	EXPECT_EQ(-EBUSY, rcl_activate(&self->owner, "a", 1, &ack));
	EXPECT_STRNE("", ack.text);
}

TEST_F(pair, requests_have_their_order)
{
	struct rcl_end end;

	EXPECT_EQ(-EBUSY, rcl_prepare(&self->owner, "a", &end));
	EXPECT_EQ(-ENOTCONN, rcl_activate(&self->owner, "a", 1, NULL));
	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(-EBUSY, rcl_connect(&self->owner, "a", 1, 1, &self->b, NULL));
	EXPECT_EQ(-EBUSY, rcl_prepare(&self->owner, "a", &end));
	EXPECT_EQ(0, rcl_disconnect(&self->owner, "a"));
	EXPECT_EQ(-ENOTCONN, rcl_disconnect(&self->owner, "a"));
	EXPECT_EQ(-ENOTCONN, rcl_connect(&self->owner, "a", 1, 1, &self->b,
					 NULL));
	EXPECT_EQ(-ENOTCONN, rcl_activate(&self->owner, "a", 1, NULL));
}

TEST_F(pair, every_epoch_has_new_numbers)
{
	struct rcl_end before = self->a, end;
	int i, same = 0;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, rcl_disconnect(&self->owner, "a"));
		ASSERT_EQ(0, rcl_prepare(&self->owner, "a", &end));
		EXPECT_EQ(before.epoch + 1, end.epoch);
		same += !!memmem(end.qp, sizeof(end.qp), &before.qp[0].psn, 4);
		same += before.addr == end.addr;
		before = end;
	}
	EXPECT_EQ(0, same);
}

TEST_F(pair, two_keys_make_no_link)
{
	static const uint8_t key[RCLINK_KEY_LEN] = { 0xff };
	struct genl_msg m;

	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	EXPECT_EQ(0, rcl_activate(&self->owner, "a", 1, NULL));
	genl_begin(&m, &self->owner, RCLINK_CMD_LINK_ACTIVATE);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "b");
	genl_put_u64(&m, RCLINK_A_LINK_EPOCH, 1);
	genl_put(&m, RCLINK_A_LINK_KEY, key, sizeof(key));
	EXPECT_EQ(0, genl_ask(&self->owner, &m, NULL, NULL));
	EXPECT_EQ(0, rcl_until(&self->other, "a", RCLINK_LINK_STATE_DOWN,
			       DOWN_MS));
	EXPECT_EQ(0, rcl_until(&self->other, "b", RCLINK_LINK_STATE_DOWN,
			       DOWN_MS));
}

/* Waits until a link times out: tells its name, and seconds since @begin. */
static void next_down(struct __test_metadata *_metadata,
		      struct genl_sock *events, const struct timespec *begin,
		      char *name, long *seconds)
{
	struct timespec now;
	struct genl_msg m;
	uint32_t state;

	do {
		ASSERT_EQ(0, genl_recv(events, &m, slow(LATE_MS)));
		state = genl_u32(genl_attr(&m, RCLINK_A_LINK_STATE));
	} while (state != RCLINK_LINK_STATE_DOWN);
	clock_gettime(CLOCK_MONOTONIC, &now);
	*name = *genl_str(genl_attr(&m, RCLINK_A_LINK_NAME));
	*seconds = now.tv_sec - begin->tv_sec;
	EXPECT_EQ(RCLINK_DOWN_REASON_TIMED_OUT,
		  genl_u32(genl_attr(&m, RCLINK_A_LINK_REASON)))
		TH_LOG("%c after %ld s", *name, *seconds);
}

/* The owner lives but does not go on: c stays prepared, b connected. */
TEST_F_TIMEOUT(pair, who_does_not_go_on_in_time_loses_the_link, 90)
{
	struct genl_sock events;
	struct timespec begin;
	struct rcl_view view;
	struct rcl_end end;
	char first, second;
	long seconds;

	ASSERT_EQ(0, rcl_open(&events));
	ASSERT_EQ(0, genl_join(&events));
	EXPECT_EQ(0, connect_both(&self->owner, &self->a, &self->b));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ASSERT_EQ(0, rcl_new(&self->owner, "c"));
	ASSERT_EQ(0, rcl_prepare(&self->owner, "c", &end));
	EXPECT_EQ(0, rcl_activate(&self->owner, "a", self->a.epoch, NULL));
	next_down(_metadata, &events, &begin, &first, &seconds);
	EXPECT_EQ('a', first);
	EXPECT_LE(HELLO_S - 1, seconds);
	EXPECT_EQ(0, rcl_view(&self->other, "b", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_CONNECTED, view.state);
	EXPECT_EQ(0, rcl_view(&self->other, "c", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_PREPARED, view.state);
	next_down(_metadata, &events, &begin, &first, &seconds);
	next_down(_metadata, &events, &begin, &second, &seconds);
	EXPECT_EQ('b' + 'c', first + second);
	EXPECT_LE(PREPARED_S - 1, seconds);
	EXPECT_EQ(0, rcl_objects("qp"));
	EXPECT_EQ(0, rcl_objects("mr"));
	EXPECT_EQ(0, rcl_objects("cq"));
	EXPECT_EQ(0, rcl_objects("pd"));
	/* The links have no owner any more. */
	EXPECT_EQ(0, rcl_prepare(&self->other, "b", &end));
	EXPECT_EQ(0, rcl_disconnect(&self->other, "b"));
	genl_close(&events);
}

TEST_HARNESS_MAIN
