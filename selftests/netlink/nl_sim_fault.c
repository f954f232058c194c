// SPDX-License-Identifier: GPL-2.0
/*
 * Each verbs call of a link's life fails once: the n-th call of one end, for
 * every n, from preparing the link until it is down again; and so does each
 * mapping of memory for a device. No failure leaves anything behind, and the
 * link works in the end. What the device says of the registration of the link
 * buffer is told, too.
 */
#include "sim.h"

#include <errno.h>
#include <unistd.h>

#include "harness.h"

#define N_MAX	2000		/* more calls than a link makes */

FIXTURE(ports)
{
	struct genl_sock s;
	int objects;		/* of other devices */
};

FIXTURE_VARIANT(ports)
{
	const char *device;
	const char *link;
};

FIXTURE_VARIANT_ADD(ports, of_who_begins)
{
	.device = SIM_NEAR,
	.link = "a",
};

FIXTURE_VARIANT_ADD(ports, of_the_peer)
{
	.device = SIM_FAR,
	.link = "b",
};

FIXTURE_SETUP(ports)
{
	ASSERT_EQ(0, sim_begin(&self->s, &self->objects));
}

FIXTURE_TEARDOWN(ports)
{
	sim_end(&self->s);
}

/* Waits until both ends are up, 0, or one of them is down. */
static int settle(struct genl_sock *s)
{
	struct rcl_view a, b;
	int ms, ret;

	for (ms = slow(12000); ms > 0; ms -= 5) {
		ret = rcl_view(s, "a", &a);
		if (!ret)
			ret = rcl_view(s, "b", &b);
		if (ret)
			return ret;
		if (a.state == RCLINK_LINK_STATE_UP &&
		    b.state == RCLINK_LINK_STATE_UP)
			return 0;
		if (a.state == RCLINK_LINK_STATE_DOWN ||
		    b.state == RCLINK_LINK_STATE_DOWN)
			return -ENOTCONN;
		usleep(5000);
	}
	return -ETIMEDOUT;
}

/* Connects both; sets the epoch to be activated. */
static int connect_both(struct genl_sock *s, uint64_t *epoch)
{
	struct rcl_end a, b;
	int ret;

	ret = rcl_prepare(s, "a", &a);
	if (!ret)
		ret = rcl_prepare(s, "b", &b);
	if (!ret)
		ret = rcl_connect(s, "a", a.epoch, RCLINK_ROLE_INITIATOR, &b,
				  NULL);
	if (!ret)
		ret = rcl_connect(s, "b", b.epoch, RCLINK_ROLE_RESPONDER, &a,
				  NULL);
	if (!ret)
		*epoch = a.epoch > b.epoch ? a.epoch : b.epoch;
	return ret;
}

static int bring_up(struct genl_sock *s)
{
	uint64_t epoch;
	int ret;

	ret = connect_both(s, &epoch);
	if (!ret)
		ret = rcl_activate(s, "a", epoch, NULL);
	if (!ret)
		ret = rcl_activate(s, "b", epoch, NULL);
	return ret ? ret : settle(s);
}

/* Does not wait for a peer that is down. */
static int await_pong(struct genl_sock *s, struct rcl_pong *pong)
{
	struct rcl_view b;
	int ret = -ETIMEDOUT;
	int ms;

	for (ms = slow(15000); ms > 0; ms -= 50) {
		ret = rcl_pong(s, pong, 50);
		if (ret != -ETIMEDOUT)
			return ret;
		if (!rcl_view(s, "b", &b) &&
		    b.state == RCLINK_LINK_STATE_DOWN)
			rcl_disconnect(s, "a");
	}
	return ret;
}

/* Brings the link up, moves data, and takes it down; 0 or what did not work. */
static int live(struct genl_sock *s)
{
	struct rcl_pong pong;
	uint32_t op;
	int ret;

	ret = bring_up(s);
	for (op = RCLINK_PING_OP_SEND; !ret && op <= RCLINK_PING_OP_FADD;
	     op++) {
		ret = rcl_ping(s, "a", op, 8, 1, NULL);
		if (!ret)
			ret = await_pong(s, &pong);
		if (!ret)
			ret = -(int)pong.error;
	}
	rcl_disconnect(s, "a");
	rcl_disconnect(s, "b");
	return ret;
}

static void nothing_is_left(struct __test_metadata *_metadata, int objects,
			    int n)
{
	ASSERT_EQ(0, sim_objects_left(objects)) TH_LOG("call %d", n);
	ASSERT_EQ(0, sim_mapped_left(SIM_NEAR)) TH_LOG("call %d", n);
	ASSERT_EQ(0, sim_mapped_left(SIM_FAR)) TH_LOG("call %d", n);
}

/* Return: how many calls there are; @failed: after how many it did not work. */
static int each_fails(struct __test_metadata *_metadata, struct genl_sock *s,
		      int objects, const char *device, const char *fault,
		      int *failed)
{
	int n, calls;
	long seen;

	*failed = 0;
	ASSERT_EQ(0, live(s));
	for (n = 1; n < N_MAX; n++) {
		ASSERT_EQ(0, sim_knob(device, "fault", "%s %d", fault, n));
		seen = sim_seen(device, fault);
		*failed += live(s) != 0;
		calls = sim_seen(device, fault) - seen;
		nothing_is_left(_metadata, objects, n);
		if (calls < n)
			break;
	}
	EXPECT_GT(N_MAX, n);
	TH_LOG("%s: %d calls, %d of them needed", fault, n - 1, *failed);
	ASSERT_EQ(0, sim_knob(device, "fault", "%s 1 0", fault));
	EXPECT_EQ(0, live(s));
	return n - 1;
}

TEST_F_TIMEOUT(ports, each_verbs_call_fails_once, 240)
{
	int calls, failed;

	calls = each_fails(_metadata, &self->s, self->objects, variant->device,
			   "any", &failed);
	/* Some may fail without harm, as the notice to a peer that left. */
	EXPECT_LT((calls + 1) / 2, failed);
}

/* What the link, its counters and its record say of such a failure. */
static void is_told(struct __test_metadata *_metadata, struct genl_sock *s,
		    const char *name, int status)
{
	struct rcl_failure failure;
	struct rcl_view view;

	ASSERT_EQ(0, rcl_view(s, name, &view));
	EXPECT_EQ(RCLINK_LINK_STATE_DOWN, view.state);
	EXPECT_EQ(RCLINK_DOWN_REASON_COMPLETION, view.reason)
		TH_LOG("status %d: %s", status, view.reason_text);
	EXPECT_EQ(status, view.wc_status);
	EXPECT_EQ(SIM_VENDOR + status, view.vendor_err);
	ASSERT_EQ(0, rcl_last_failure(s, name, &failure));
	EXPECT_EQ(RCLINK_DOWN_REASON_COMPLETION, failure.reason);
	EXPECT_EQ(status, failure.wc_status);
	EXPECT_EQ(SIM_VENDOR + status, failure.vendor_err);
	EXPECT_EQ(1, failure.times);
	EXPECT_TRUE(failure.has_qp);
	EXPECT_EQ(0, failure.qp);
	EXPECT_EQ(0, rcl_stat(s, name, RCLINK_A_STATS_CHAN_ERRORS));
}

/* The first send of an epoch is the registration of the link buffer. */
TEST_F_TIMEOUT(ports, a_buffer_that_is_not_registered_ends_the_epoch, 60)
{
	struct genl_sock *s = &self->s;
	uint64_t epoch, failed = 0;
	int status;

	for (status = 1; status < SIM_STATUSES; status++) {
		if (status == SIM_FLUSHED)
			continue;
		ASSERT_EQ(0, connect_both(s, &epoch));
		ASSERT_EQ(0, sim_knob(variant->device, "fault", "send 1 1 %d",
				      status));
		EXPECT_EQ(-EIO, rcl_activate(s, variant->link, epoch, NULL))
			TH_LOG("status %d", status);
		is_told(_metadata, s, variant->link, status);
		EXPECT_EQ(++failed, rcl_stat(s, variant->link,
					     RCLINK_A_STATS_COMPLETION_ERRORS));
		rcl_disconnect(s, "a");
		rcl_disconnect(s, "b");
	}
	ASSERT_EQ(0, sim_objects_left(self->objects));
	EXPECT_EQ(0, live(s));
}

/* Devices for which mapping memory can fail. */
FIXTURE(maps)
{
	struct genl_sock s;
	int objects;		/* of other devices */
};

FIXTURE_VARIANT(maps)
{
	const char *device;
};

FIXTURE_VARIANT_ADD(maps, of_who_begins)
{
	.device = SIM_NEAR,
};

FIXTURE_VARIANT_ADD(maps, of_the_peer)
{
	.device = SIM_FAR,
};

FIXTURE_SETUP(maps)
{
	ASSERT_EQ(0, sim_begin_with(&self->s, "dma=2", &self->objects));
}

FIXTURE_TEARDOWN(maps)
{
	sim_end(&self->s);
}

/* None of them may fail without notice: the device would use the address. */
TEST_F_TIMEOUT(maps, each_fails_once, 240)
{
	int calls, failed;

	calls = each_fails(_metadata, &self->s, self->objects, variant->device,
			   "dma_map", &failed);
	/* Slots of both directions, and the buffer. */
	EXPECT_LE(3, calls);
	EXPECT_EQ(calls, failed);
}

TEST_HARNESS_MAIN
