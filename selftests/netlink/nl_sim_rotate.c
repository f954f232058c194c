// SPDX-License-Identifier: GPL-2.0
/*
 * Each verbs call of a rotation fails once: the n-th call of one end, for every
 * n. An end that cannot have the new epoch reports that, and stays in the
 * former one; if the exchange learns of the failure, both ends stay there. A
 * failure after that may end the link, but only in the new epoch. Whatever
 * fails, nothing is left behind, and the next try works.
 */
#include "sim.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define N_MAX		2000	/* more calls than a rotation makes */
#define QUIET_MS	60000	/* no heartbeat is among the calls */
#define SETTLE_MS	20000

static const char * const names[] = { "a", "b" };

FIXTURE(ends)
{
	struct genl_sock s;
	struct genl_sock owner;		/* of the new epoch */
	struct genl_sock events;
	int objects;			/* of other devices */
	uint64_t epoch;			/* up before the rotation */
	bool made[2];			/* the end has prepared a new one */
	int told[2];			/* events that it did not come up */
	struct rcl_view view[2];
};

FIXTURE_VARIANT(ends)
{
	const char *device;
};

FIXTURE_VARIANT_ADD(ends, of_who_begins)
{
	.device = SIM_NEAR,
};

FIXTURE_VARIANT_ADD(ends, of_the_peer)
{
	.device = SIM_FAR,
};

FIXTURE_SETUP(ends)
{
	ASSERT_EQ(0, sim_begin(&self->s, &self->objects));
	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "a", SIM_NEAR, RCLINK_A_LINK_HEARTBEAT,
			      QUIET_MS));
	ASSERT_EQ(0, sim_link(&self->s, "b", SIM_FAR, RCLINK_A_LINK_HEARTBEAT,
			      QUIET_MS));
}

FIXTURE_TEARDOWN(ends)
{
	sim_end(&self->s);
}

static int rotate(struct _test_data_ends *self)
{
	struct genl_sock *s = &self->owner;
	struct rcl_end end[2];
	uint64_t epoch;
	int ret = 0;
	int i;

	for (i = 0; !ret && i < 2; i++) {
		ret = rcl_prepare_beside(s, names[i], &end[i]);
		self->made[i] = !ret;
	}
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_connect(s, names[i], end[i].epoch,
				  RCLINK_ROLE_INITIATOR + i, &end[!i], NULL);
	if (ret)
		return ret;
	epoch = end[0].epoch > end[1].epoch ? end[0].epoch : end[1].epoch;
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_activate(s, names[i], epoch, NULL);
	return ret;
}

static bool is_settled(const struct rcl_view *view)
{
	return !view->standby_epoch &&
	       (view->state == RCLINK_LINK_STATE_UP ||
		view->state == RCLINK_LINK_STATE_DOWN);
}

static bool is_given_up(const struct _test_data_ends *self, int i)
{
	return is_settled(&self->view[i]) &&
	       self->view[i].epoch == self->epoch;
}

static void give_up(struct _test_data_ends *self)
{
	if (self->owner.fd >= 0)
		genl_close(&self->owner);
}

static int look(struct _test_data_ends *self)
{
	int ret;

	ret = rcl_view(&self->s, "a", &self->view[0]);
	return ret ? ret : rcl_view(&self->s, "b", &self->view[1]);
}

/* Look once both ends have finished what they began, and told of it. */
static int look_again(struct _test_data_ends *self)
{
	rcl_settle(&self->s, "a");
	rcl_settle(&self->s, "b");
	return look(self);
}

/* Wait until neither end has another epoch beside the one that it is in. */
static int settle(struct _test_data_ends *self)
{
	int ms, ret;

	for (ms = slow(SETTLE_MS); ms > 0; ms -= 5) {
		ret = look(self);
		if (ret)
			return ret;
		if (is_settled(&self->view[0]) && is_settled(&self->view[1]))
			return look_again(self);
		/* An exchange that hears of an end's failure gives up, too. */
		if (is_given_up(self, 0) || is_given_up(self, 1))
			give_up(self);
		usleep(5000);
	}
	return -ETIMEDOUT;
}

static bool is_told(const struct genl_msg *m, const char *name)
{
	return genl_cmd(m) == RCLINK_CMD_LINK_NTF &&
	       genl_u32(genl_attr(m, RCLINK_A_LINK_EVENT_KIND)) ==
	       RCLINK_EVENT_KIND_STANDBY_DOWN &&
	       !strcmp(genl_str(genl_attr(m, RCLINK_A_LINK_NAME)), name);
}

/* Count the events, all of which have come in. */
static void hear(struct _test_data_ends *self)
{
	struct genl_msg m;
	int i;

	memset(self->told, 0, sizeof(self->told));
	while (!genl_recv(&self->events, &m, 0))
		for (i = 0; i < 2; i++)
			self->told[i] += is_told(&m, names[i]);
}

static bool are_up(const struct _test_data_ends *self, uint64_t epoch)
{
	int i;

	for (i = 0; i < 2; i++)
		if (self->view[i].state != RCLINK_LINK_STATE_UP ||
		    self->view[i].epoch != epoch)
			return false;
	return true;
}

/* An end may be down in its new epoch, but not in the former one. */
static void judge(struct __test_metadata *_metadata,
		  const struct _test_data_ends *self, int n)
{
	const struct rcl_view *view = self->view;
	int i;

	for (i = 0; i < 2; i++) {
		if (view[i].epoch == self->epoch + 1)
			continue;
		EXPECT_EQ(self->epoch, view[i].epoch)
			TH_LOG("call %d: %s", n, names[i]);
		EXPECT_EQ(RCLINK_LINK_STATE_UP, view[i].state)
			TH_LOG("call %d: %s: %s", n, names[i],
			       view[i].reason_text);
		EXPECT_EQ(self->made[i], self->told[i])
			TH_LOG("call %d: %s", n, names[i]);
	}
}

/* If both ends are up in the same epoch, data moves. */
static int move(struct _test_data_ends *self)
{
	int ret;

	if (!are_up(self, self->epoch) && !are_up(self, self->epoch + 1))
		return 0;
	ret = sim_ping(&self->s, "a", RCLINK_PING_OP_SEND, 8);
	return ret ? ret : sim_ping(&self->s, "b", RCLINK_PING_OP_WRITE, 4097);
}

/* Return: how many calls there were. */
static int one_fails(struct __test_metadata *_metadata,
		     struct _test_data_ends *self, const char *device, int n)
{
	int calls, ret;
	long seen;

	memset(self->made, 0, sizeof(self->made));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, look(self));
	self->epoch = self->view[0].epoch;
	ASSERT_EQ(0, rcl_open(&self->owner));
	ASSERT_EQ(0, rcl_open(&self->events));
	ASSERT_EQ(0, genl_join(&self->events));

	ASSERT_EQ(0, sim_knob(device, "fault", "any %d", n));
	seen = sim_seen(device, "any");
	ret = rotate(self);
	if (ret)
		give_up(self);
	ASSERT_EQ(0, settle(self)) TH_LOG("call %d", n);
	calls = sim_seen(device, "any") - seen;
	ASSERT_EQ(0, sim_knob(device, "fault", "any 1 0"));

	ASSERT_EQ(0, look_again(self));
	hear(self);
	judge(_metadata, self, n);
	/* An exchange that knows of the failure has changed nothing. */
	EXPECT_TRUE(!ret || are_up(self, self->epoch)) TH_LOG("call %d", n);
	EXPECT_EQ(0, move(self)) TH_LOG("call %d", n);
	give_up(self);
	genl_close(&self->events);
	rcl_disconnect(&self->s, "a");
	rcl_disconnect(&self->s, "b");
	return calls;
}

TEST_F_TIMEOUT(ends, each_verbs_call_of_a_rotation_fails_once, 300)
{
	int n, calls, stayed = 0;

	for (n = 1; n < N_MAX; n++) {
		calls = one_fails(_metadata, self, variant->device, n);
		ASSERT_EQ(0, sim_objects_left(self->objects))
			TH_LOG("call %d", n);
		if (calls < n)
			break;
		stayed += are_up(self, self->epoch);
	}
	EXPECT_GT(N_MAX, n);
	EXPECT_TRUE(are_up(self, self->epoch + 1));
	TH_LOG("%d calls, the link stayed as it was after %d of them", n - 1,
	       stayed);
	EXPECT_LT(n / 3, stayed);
}

TEST_HARNESS_MAIN
