// SPDX-License-Identifier: GPL-2.0
/*
 * An epoch over libibverbs, with a peer that does as it likes: this test plays
 * the peer.
 */
#include "epoch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "objects.h"
#include "port.h"
#include "shown.h"
#include "verbs_peer.h"

#define MANY		30	/* more than one poll has room for */
#define SERVICE		"svc"
#define REGION		"memory"

/* What the consumers saw; each QP has one. */
struct user {
	struct rcv_epoch *ep;
	struct rcv_lease *lease;
	unsigned int completed, imported, ended;
	struct rcv_shown shown;
	char why[RCL_ERR_LEN];
};

static struct user users[QPS];
static unsigned int nusers;
static uint8_t memory[64];

static void on_attached(void *ctx, struct rcv_lease *lease)
{
	const struct ibv_sge sge = { .addr = (uintptr_t)memory };
	struct user *user = ctx;
	int i;

	user->lease = lease;
	for (i = 0; i < MANY; i++)
		rcv_lease_recv(user->ep, lease, 0, &sge);
}

static void on_completed(void *ctx, const struct rcv_wc *wc)
{
	struct user *user = ctx;

	user->completed++;
}

static void on_imported(void *ctx, const struct rcv_shown *shown)
{
	struct user *user = ctx;

	user->imported++;
	if (shown)
		user->shown = *shown;
}

static void on_ended(void *ctx, const char *why)
{
	struct user *user = ctx;

	user->ended++;
	snprintf(user->why, sizeof(user->why), "%s", why);
}

static const struct rcv_lease_ops lease_ops = {
	.attached = on_attached,
	.completed = on_completed,
	.imported = on_imported,
	.ended = on_ended,
};

static void *on_accept(struct rcv_epoch *ep)
{
	users[nusers].ep = ep;
	return &users[nusers++];
}

static const struct rcv_service service = {
	.name = SERVICE,
	.ops = &lease_ops,
	.accept = on_accept,
};

static const struct rcv_service *const services[] = { &service, NULL };

static void on_ping(void *ctx, int error, const char *why, uint64_t rtt)
{
}

FIXTURE(epoch)
{
	struct peer peer;
};

FIXTURE_SETUP(epoch)
{
	ASSERT_TRUE(meets(&self->peer, services));
}

FIXTURE_TEARDOWN(epoch)
{
	leave(&self->peer);
}

/* The peer leases all pooled QPs. */
static bool opens(struct peer *p)
{
	uint32_t i;

	if (!comes_up(p))
		return false;
	for (i = 0; i < QPS; i++) {
		ask(p, RCL_MSG_OPEN, i, strlen(SERVICE), SERVICE);
		while (said(p) == RCL_MSG_HEARS)
			answer(p, RCL_MSG_OK);
		if (p->got.type != RCL_MSG_OPENED || p->got.status)
			return false;
	}
	while (said(p) == RCL_MSG_HEARS)
		answer(p, RCL_MSG_OK);
	return nusers == QPS;
}

static void ping(struct peer *p, uint32_t size)
{
	static struct rcv_ping ping = {
		.op = RCLINK_PING_OP_SEND, .done = on_ping,
	};

	ping.size = size;
	rcv_epoch_ping(p->ep, &ping);
	rcv_epoch_turn(p->ep);
}

/* However many completions of another channel are in the CQ before. */
TEST_F(epoch, takes_what_came_before_the_end_of_a_channel)
{
	struct peer *p = &self->peer;
	struct rcl_msg recycle = {
		.type = RCL_MSG_RECYCLE, .cookie = 7, .offset = 1, .len = 500,
		.seed = 1,
	};
	uint32_t i;

	ASSERT_TRUE(opens(p));
	for (i = 0; i < MANY; i++)
		fake_arrive(fake_qp(users[0].lease->qp->qp), IBV_WC_SUCCESS,
			    NULL, 8);
	fake_arrive(fake_qp(users[1].lease->qp->qp), IBV_WC_SUCCESS, NULL, 8);
	say(p, &recycle);
	EXPECT_EQ(1, users[1].ended);
	EXPECT_EQ(1, users[1].completed);
	EXPECT_EQ(MANY, users[0].completed);
	EXPECT_STREQ("", p->ep->why);
}

TEST_F(epoch, takes_a_send_that_is_too_long_for_no_message)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(comes_up(p));
	fake_arrive(&fake_ctrl, IBV_WC_LOC_LEN_ERR, NULL, 0);
	rcv_epoch_turn(p->ep);
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_NOT_A_MESSAGE), p->ep->why);
}

TEST_F(epoch, tells_the_vendors_error_of_a_completion)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(comes_up(p));
	fake_arrive(&fake_ctrl, IBV_WC_RETRY_EXC_ERR, NULL, 0);
	rcv_epoch_turn(p->ep);
	EXPECT_NE(NULL, strstr(p->ep->why, "(vendor error 0x81)"));
}

TEST_F(epoch, takes_the_pieces_of_a_ping_in_their_order)
{
	struct peer *p = &self->peer;
	struct rcl_msg first;

	ASSERT_TRUE(comes_up(p));
	ping(p, RCL_MSG_DATA_MAX + 8);
	ASSERT_EQ(RCL_MSG_PING, said(p));
	answer(p, RCL_MSG_OK);
	ASSERT_EQ(RCL_MSG_PING, said(p));
	EXPECT_EQ(8, p->got.len);
	answer(p, RCL_MSG_OK);
	EXPECT_EQ(NULL, p->ep->pinger.ping);
	EXPECT_STREQ("", p->ep->why);

	ping(p, RCL_MSG_DATA_MAX + 8);
	ASSERT_EQ(RCL_MSG_PING, said(p));
	first = p->got;
	first.type = RCL_MSG_PONG;
	first.len--;
	say(p, &first);
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_PROTOCOL), p->ep->why);
}

/* The first answer ends the ping; the answer to the second is still valid. */
TEST_F(epoch, takes_the_answers_to_a_ping_that_has_ended)
{
	struct peer *p = &self->peer;
	struct rcl_msg first, second;

	ASSERT_TRUE(comes_up(p));
	ping(p, 2 * RCL_MSG_DATA_MAX);
	ASSERT_EQ(RCL_MSG_PING, said(p));
	first = p->got;
	ASSERT_EQ(RCL_MSG_PING, said(p));
	second = p->got;
	p->got = first;
	answer(p, RCL_MSG_DIFFERS);
	EXPECT_EQ(NULL, p->ep->pinger.ping);
	p->got = second;
	answer(p, RCL_MSG_OK);
	EXPECT_STREQ("", p->ep->why);
}

/* While a question is open, an answer of another type is an error. */
TEST_F(epoch, takes_no_answer_but_to_the_oldest_question)
{
	struct peer *p = &self->peer;
	struct rcl_msg beat = { .type = RCL_MSG_BEAT_ACK };

	ASSERT_TRUE(comes_up(p));
	ping(p, 2 * RCL_MSG_DATA_MAX);
	ASSERT_EQ(RCL_MSG_PING, said(p));
	say(p, &beat);
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_PROTOCOL), p->ep->why);
}

/* The process may have been stopped for a while before. */
TEST_F(epoch, waits_for_an_answer_from_when_it_asked)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(comes_up(p));
	fake_now += 20000 * MS;
	ping(p, 8);
	EXPECT_STREQ("", p->ep->why);
	ASSERT_EQ(RCL_MSG_PING, said(p));
	later(p, 9999);
	EXPECT_STREQ("", p->ep->why);
	later(p, 1);
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_TIMED_OUT), p->ep->why);
}

TEST_F(epoch, waits_anew_after_each_answer)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(comes_up(p));
	ping(p, 2 * RCL_MSG_DATA_MAX);
	ASSERT_EQ(RCL_MSG_PING, said(p));
	later(p, 9999);
	answer(p, RCL_MSG_OK);
	later(p, 9999);
	EXPECT_STREQ("", p->ep->why);
	later(p, 1);
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_TIMED_OUT), p->ep->why);
}

TEST_F(epoch, takes_no_answer_with_another_cookie)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(opens(p));
	rcv_lease_import(users[0].lease, REGION);
	rcv_epoch_turn(p->ep);
	ASSERT_EQ(RCL_MSG_IMPORT, said(p));
	/* The cookie of an earlier question. */
	p->got.cookie--;
	answer(p, RCL_MSG_REFUSED);
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_PROTOCOL), p->ep->why);
}

TEST_F(epoch, asks_again_for_what_is_not_registered_yet)
{
	struct peer *p = &self->peer;
	const struct rcv_shown shown = {
		.addr = 4096, .len = 64, .rights = RCV_RIGHT_READ, .rkey = 9,
	};
	uint8_t data[RCL_MSG_DATA_MAX];
	int i;

	ASSERT_TRUE(opens(p));
	rcv_lease_import(users[0].lease, REGION);
	rcv_epoch_turn(p->ep);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(RCL_MSG_IMPORT, said(p));
		answer(p, RCL_MSG_BUSY);
		EXPECT_EQ(0, said(p));
		later(p, 4);
	}
	EXPECT_EQ(0, users[0].imported);
	ASSERT_EQ(RCL_MSG_IMPORT, said(p));
	EXPECT_EQ(strlen(REGION), p->got.len);
	rcv_shown_put(&shown, 0, data, &p->got);
	answer(p, RCL_MSG_OK);
	EXPECT_EQ(1, users[0].imported);
	EXPECT_EQ(9, users[0].shown.rkey);
	later(p, 1000);
	EXPECT_EQ(0, said(p));
	EXPECT_STREQ("", p->ep->why);
}

TEST_F(epoch, asks_after_a_pause_for_what_was_not_there)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(opens(p));
	rcv_lease_import(users[0].lease, REGION);
	rcv_epoch_turn(p->ep);
	ASSERT_EQ(RCL_MSG_IMPORT, said(p));
	answer(p, RCL_MSG_REFUSED);
	EXPECT_EQ(1, users[0].imported);
	rcv_lease_import_later(users[0].lease, REGION);
	rcv_epoch_turn(p->ep);
	EXPECT_EQ(0, said(p));
	later(p, 4);
	EXPECT_EQ(RCL_MSG_IMPORT, said(p));
}

TEST_F(epoch, does_not_ask_for_ever)
{
	struct peer *p = &self->peer;
	int i;

	ASSERT_TRUE(opens(p));
	rcv_lease_import(users[0].lease, REGION);
	rcv_epoch_turn(p->ep);
	for (i = 0; i < 10 && said(p) == RCL_MSG_IMPORT; i++) {
		answer(p, RCL_MSG_BUSY);
		later(p, 4000);
	}
	EXPECT_EQ(9, i);
	EXPECT_EQ(1, users[0].ended);
	EXPECT_NE(NULL, strstr(users[0].why, "registered"));
	EXPECT_EQ(RCL_MSG_RECYCLE, p->got.type);
}

/* Otherwise the event loop would spin until a send completes. */
TEST_F(epoch, waits_for_room_and_not_for_time)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(opens(p));
	rcv_lease_import(users[0].lease, REGION);
	EXPECT_EQ(fake_now / MS, rcv_lease_due(p->ep));
	p->ep->ctrl.retired = p->ep->ctrl.sent - RCL_CTRL_SLOTS;
	EXPECT_EQ(0, rcv_lease_due(p->ep));
	p->ep->ctrl.retired = p->ep->ctrl.sent;
}

/* The peer closes a channel. Return: the type of the epoch's answer. */
static int recycles(struct peer *p)
{
	struct rcl_msg recycle = {
		.type = RCL_MSG_RECYCLE, .cookie = 7, .len = 500, .seed = 1,
	};

	say(p, &recycle);
	return said(p);
}

TEST_F(epoch, ends_when_the_peer_owes_its_go)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(opens(p));
	ASSERT_EQ(RCL_MSG_RECYCLED, recycles(p));
	EXPECT_EQ(fake_now / MS + 10000, rcv_lease_due(p->ep));
	later(p, 9999);
	EXPECT_STREQ("", p->ep->why);
	later(p, 1);
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_TIMED_OUT), p->ep->why);
}

TEST_F(epoch, waits_for_no_go_that_came)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(opens(p));
	ASSERT_EQ(RCL_MSG_RECYCLED, recycles(p));
	ask(p, RCL_MSG_GO, 0, 0, NULL);
	ASSERT_EQ(RCL_MSG_GONE, said(p));
	EXPECT_EQ(0, rcv_lease_due(p->ep));
	later(p, 10000);
	EXPECT_STREQ("", p->ep->why);
}

/* The peer may be up already. */
TEST_F(epoch, says_goodbye_before_it_is_up)
{
	struct peer *p = &self->peer;

	p->ep->again = true;
	rcv_epoch_free(p->ep);
	p->ep = NULL;
	ASSERT_EQ(RCL_MSG_BYE, said(p));
	EXPECT_EQ(RCL_MSG_AGAIN, p->got.cookie);
}

TEST_F(epoch, says_goodbye_for_good)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(comes_up(p));
	rcv_epoch_free(p->ep);
	p->ep = NULL;
	ASSERT_EQ(RCL_MSG_BYE, said(p));
	EXPECT_EQ(0, p->got.cookie);
}

/* It would keep its process from serving the other links. */
TEST_F(epoch, does_not_wait_for_a_peer_that_acknowledged_nothing)
{
	struct peer *p = &self->peer;
	uint64_t begun = fake_now;

	leave(p);
	fake_mute = true;
	ASSERT_EQ(0, activate(p, services));
	rcv_epoch_free(p->ep);
	p->ep = NULL;
	EXPECT_EQ(begun, fake_now);
}

TEST_F(epoch, does_not_wait_for_a_peer_that_knows)
{
	struct peer *p = &self->peer;
	uint64_t begun = fake_now;

	fake_mute = true;
	p->ep->left = true;
	rcv_epoch_free(p->ep);
	p->ep = NULL;
	EXPECT_EQ(begun, fake_now);
	EXPECT_EQ(RCL_MSG_BYE, said(p));
}

TEST_F(epoch, waits_a_while_for_its_goodbye_to_arrive)
{
	struct peer *p = &self->peer;
	uint64_t begun = fake_now;

	ASSERT_TRUE(comes_up(p));
	fake_mute = true;
	rcv_epoch_free(p->ep);
	p->ep = NULL;
	EXPECT_EQ(200 * MS, fake_now - begun);
}

/* Whatever the page size of the device is. */
TEST_F(epoch, shows_an_address_that_lies_in_its_page_as_the_memory_does)
{
	const uint64_t page = 1ULL << 31;
	struct rcv_epoch *ep = self->peer.ep;

	EXPECT_EQ((uintptr_t)ep->buffer % page, ep->local.addr % page);
	EXPECT_LT(ep->local.addr, 1ULL << 63);
}

/* Like the module, the epoch asks nobody for the LID of a router. */
TEST_F(epoch, has_no_way_into_another_infiniband_subnet)
{
	struct rcv_epoch *ep = self->peer.ep;
	char err[RCL_ERR_LEN] = "";

	ep->hca.link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	ep->hca.port_attr.sm_lid = 1;
	ep->wiring.ah.is_global = 0;
	EXPECT_EQ(0, rcv_objects_to_rtr(ep, err));
	EXPECT_EQ(0, ep->wiring.ah.is_global);
	ep->remote.gid[7]++;
	EXPECT_EQ(-EOPNOTSUPP, rcv_objects_to_rtr(ep, err));
	EXPECT_NE(NULL, strstr(err, "links cross no router"));
	ep->hca.port_attr.sm_lid = 0;
	EXPECT_EQ(0, rcv_objects_to_rtr(ep, err));
	EXPECT_EQ(1, ep->wiring.ah.is_global);
}

/* On RoCE the kernel sets the hop limit of a process's QP itself. */
TEST_F(epoch, has_a_hop_limit_on_infiniband_only)
{
	struct rcv_epoch *ep = self->peer.ep;
	const char *why;

	ep->policy.v[RCL_P_HOP_LIMIT] = 7;
	ASSERT_EQ(-EINVAL, rcv_port_check(&ep->hca, &ep->policy, &why));
	EXPECT_EQ(why, strstr(why, "hop-limit is the route's"));
	ep->hca.link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	EXPECT_EQ(0, rcv_port_check(&ep->hca, &ep->policy, &why));
}

TEST_F(epoch, opens_another_one_where_the_peer_has_lost_that)
{
	struct peer *p = &self->peer;
	struct user *user = &users[0];

	ASSERT_TRUE(comes_up(p));
	user->ep = p->ep;
	rcv_lease_open(p->ep, SERVICE, &lease_ops, user);
	rcv_epoch_turn(p->ep);
	ASSERT_EQ(RCL_MSG_OPEN, said(p));
	EXPECT_EQ(0, p->got.offset);
	answer(p, RCL_MSG_FAILED);
	ASSERT_EQ(RCL_MSG_OPEN, said(p));
	EXPECT_EQ(1, p->got.offset);
	answer(p, RCL_MSG_OK);
	EXPECT_EQ(0, user->ended);
	EXPECT_EQ(&p->ep->lease[1], user->lease);
}

TEST_F(epoch, takes_no_group_without_a_name)
{
	struct peer *p = &self->peer;

	ASSERT_TRUE(comes_up(p));
	ask(p, RCL_MSG_GROUP, 0, 2, "kv");
	ASSERT_EQ(RCL_MSG_GROUPED, said(p));
	EXPECT_EQ(RCL_MSG_REFUSED, p->got.status);
	EXPECT_STREQ("", p->ep->why);
	ask(p, RCL_MSG_GROUP, 0, 0, "");
	EXPECT_STREQ(text(RCLINK_DOWN_REASON_PROTOCOL), p->ep->why);
}

TEST_HARNESS_MAIN
