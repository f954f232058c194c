// SPDX-License-Identifier: GPL-2.0
/*
 * A device with slow QP calls: an epoch that is up is not disturbed by another
 * one that comes up or is given up beside it, and whatever else happens to the
 * link meanwhile is handled in order.
 */
#include "sim.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define QPS		64	/* of the pool */
#define SLOW_MS		20	/* so one step of all QPs takes 1.3 s */
#define STEP_MS		(QPS * SLOW_MS)
#define PAUSE_MS	(STEP_MS / 3)
#define MAKE		(2 * (QPS + 1))	/* create each QP, and to INIT */
#define ALL		1000000
#define BYE_MS		150	/* less than the wait for a goodbye */
#define TRIES		5
#define LONG_MS		60000
#define HEARTBEAT_MS	200

FIXTURE(slow)
{
	struct genl_sock s;
	struct genl_sock owner;	/* of the replacement epoch */
	uint64_t epoch;
	int objects;		/* of other devices */
	int up;			/* objects while both links are up */
};

static int take_time(int count)
{
	int ret;

	ret = sim_knob("sim0", "fault", "slow_qp 1 %d %d", count, SLOW_MS);
	return ret ? ret : sim_knob("sim1", "fault", "slow_qp 1 %d %d", count,
				    SLOW_MS);
}

FIXTURE_SETUP(slow)
{
	struct rcl_view view;

	ASSERT_EQ(0, sim_begin(&self->s, &self->objects));
	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, sim_link(&self->s, "b", "sim1", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, rcl_pair(&self->s, "a", "b", RCLINK_LINK_STATE_UP));
	ASSERT_EQ(0, rcl_view(&self->s, "a", &view));
	self->epoch = view.epoch;
	self->up = rcl_all_objects();
	ASSERT_EQ(0, rcl_open(&self->owner));
	ASSERT_EQ(0, take_time(MAKE));
}

FIXTURE_TEARDOWN(slow)
{
	take_time(0);
	rcl_clean(&self->s);
	EXPECT_EQ(self->objects, rcl_all_objects());
	if (self->owner.fd >= 0)
		genl_close(&self->owner);
	sim_end(&self->s);
}

/* Ping over link a until over(): the longest round trip; -1: a ping failed */
static int64_t longest(struct genl_sock *s, bool (*over)(void *), void *arg)
{
	int64_t begin, took, most = 0;
	struct rcl_pong pong;
	bool last;

	do {
		last = over(arg);
		begin = rcl_now_ms();
		if (rcl_ping(s, "a", RCLINK_PING_OP_SEND, -1, 1, NULL) ||
		    rcl_pong(s, &pong, slow(10000)) || pong.error)
			return -1;
		took = rcl_now_ms() - begin;
		most = took > most ? took : most;
		usleep(10000);
	} while (!last);
	return most;
}

/* A slow request to the links, made by a thread. */
struct asker {
	pthread_t thread;
	struct genl_sock *s;
	int (*ask)(struct asker *asker);
	struct rcl_end a, b;
	int ret;
	atomic_bool over;
};

static void *run(void *arg)
{
	struct asker *asker = arg;

	asker->ret = asker->ask(asker);
	asker->over = true;
	return NULL;
}

static bool is_over(void *arg)
{
	const struct asker *asker = arg;

	return asker->over;
}

static int prepare(struct asker *asker)
{
	return rcl_prepare_beside(asker->s, "a", &asker->a);
}

static int prepare_both(struct asker *asker)
{
	struct genl_sock *s = asker->s;
	int ret;

	ret = rcl_prepare_beside(s, "a", &asker->a);
	if (!ret)
		ret = rcl_prepare_beside(s, "b", &asker->b);
	if (!ret)
		ret = rcl_connect(s, "a", asker->a.epoch, RCLINK_ROLE_INITIATOR,
				  &asker->b, NULL);
	if (!ret)
		ret = rcl_connect(s, "b", asker->b.epoch, RCLINK_ROLE_RESPONDER,
				  &asker->a, NULL);
	return ret;
}

/* All but the activate of b, which makes both links move. */
static int bring_up(struct asker *asker)
{
	int ret = prepare_both(asker);

	return ret ? ret : rcl_activate(asker->s, "a", asker->a.epoch, NULL);
}

static long before;	/* slow calls of sim0 until then */

static void is_to_begin(void)
{
	before = sim_seen("sim0", "slow_qp");
}

static int begin(struct asker *asker, struct genl_sock *s,
		 int (*ask)(struct asker *))
{
	asker->s = s;
	asker->ask = ask;
	is_to_begin();
	return pthread_create(&asker->thread, NULL, run, asker);
}

/* Wait until sim0 has made slow calls for half of the QPs. */
static void let_begin(void)
{
	while (sim_seen("sim0", "slow_qp") < before + QPS / 2)
		usleep(1000);
}

static int until_objects(int n)
{
	int64_t end = rcl_now_ms() + slow(LONG_MS);

	while (rcl_all_objects() != n) {
		if (rcl_now_ms() >= end)
			return -ETIMEDOUT;
		usleep(10000);
	}
	return 0;
}

static int until_epoch(struct genl_sock *s, const char *name, uint64_t epoch)
{
	int64_t end = rcl_now_ms() + slow(LONG_MS);
	struct rcl_view view;
	int ret;

	while (!(ret = rcl_view(s, name, &view)) && view.epoch != epoch) {
		if (rcl_now_ms() >= end)
			return -ETIMEDOUT;
		usleep(10000);
	}
	return ret;
}

typedef int64_t try_fn(struct __test_metadata *_metadata,
		       struct _test_data_slow *self);

/*
 * The least result of up to TRIES tries, or -1: the test machine itself may
 * stall now and then. @tries: set to the number of tries
 */
static int64_t best_of(struct __test_metadata *_metadata,
		       struct _test_data_slow *self, try_fn *one_try,
		       int64_t limit, int *tries)
{
	int64_t most, best = LONG_MS;

	for (*tries = 0; *tries < TRIES && best >= limit; ++*tries) {
		most = one_try(_metadata, self);
		if (most < 0)
			return most;
		best = most < best ? most : best;
	}
	return best;
}

/* Closing the owner gives up the epoch of the previous try. */
static int64_t another_comes_up(struct __test_metadata *_metadata,
				struct _test_data_slow *self)
{
	struct asker asker = {};
	int64_t began, most;

	EXPECT_EQ(0, take_time(0));
	genl_close(&self->owner);
	EXPECT_EQ(0, until_objects(self->up));
	EXPECT_EQ(0, rcl_open(&self->owner));
	EXPECT_EQ(0, take_time(ALL));
	began = rcl_now_ms();
	if (begin(&asker, &self->owner, bring_up))
		return -1;
	most = longest(&self->s, is_over, &asker);
	pthread_join(asker.thread, NULL);
	EXPECT_EQ(0, asker.ret);
	TH_LOG("all of it took %lld ms, a ping %lld ms at most",
	       (long long)(rcl_now_ms() - began), (long long)most);
	EXPECT_LT(5 * STEP_MS, rcl_now_ms() - began);
	return most;
}

TEST_F_TIMEOUT(slow, what_is_up_goes_on_while_another_epoch_comes_up, 120)
{
	struct rcl_view view;
	uint64_t epoch;
	int64_t best;
	int tries;

	best = best_of(_metadata, self, another_comes_up, slow(PAUSE_MS),
		       &tries);
	ASSERT_LE(0, best);
	EXPECT_GT(slow(PAUSE_MS), best);
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(self->epoch, view.epoch);
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);

	epoch = self->epoch + tries;
	EXPECT_EQ(0, take_time(0));
	EXPECT_EQ(0, rcl_activate(&self->owner, "b", epoch, NULL));
	EXPECT_EQ(0, until_epoch(&self->s, "a", epoch));
	EXPECT_EQ(0, until_epoch(&self->s, "b", epoch));
	EXPECT_EQ(0, until_objects(self->up));
}

static bool is_as_before(void *arg)
{
	return rcl_all_objects() == *(int *)arg;
}

static int64_t another_is_given_up(struct __test_metadata *_metadata,
				   struct _test_data_slow *self)
{
	struct genl_sock owner;
	struct rcl_end end;
	int64_t most;

	EXPECT_EQ(0, take_time(0));
	EXPECT_EQ(0, rcl_open(&owner));
	EXPECT_EQ(0, rcl_prepare_beside(&owner, "a", &end));
	EXPECT_EQ(0, take_time(ALL));
	genl_close(&owner);
	most = longest(&self->s, is_as_before, &self->up);
	TH_LOG("a ping took %lld ms at most", (long long)most);
	return most;
}

TEST_F_TIMEOUT(slow, what_is_up_goes_on_while_another_epoch_is_given_up, 120)
{
	struct rcl_view view;
	struct rcl_end end;
	int64_t best;
	int tries;

	best = best_of(_metadata, self, another_is_given_up, slow(PAUSE_MS),
		       &tries);
	ASSERT_LE(0, best);
	EXPECT_GT(slow(PAUSE_MS), best);
	EXPECT_EQ(0, take_time(0));
	/* The next prepare waits until the given-up epoch has ended. */
	ASSERT_EQ(0, rcl_prepare_beside(&self->s, "a", &end));
	EXPECT_EQ(self->epoch + tries + 1, end.epoch);
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
}

/* The peer's end is gone, so nobody acknowledges the goodbye of ours. */
static int64_t a_goodbye_to_nobody(struct __test_metadata *_metadata,
				   struct _test_data_slow *self)
{
	struct genl_sock owner, other;
	struct rcl_end a, b;
	int64_t most;

	EXPECT_EQ(0, rcl_open(&owner));
	EXPECT_EQ(0, rcl_open(&other));
	EXPECT_EQ(0, rcl_prepare_beside(&owner, "a", &a));
	EXPECT_EQ(0, rcl_prepare_beside(&other, "b", &b));
	EXPECT_EQ(0, rcl_connect(&owner, "a", a.epoch, RCLINK_ROLE_INITIATOR,
				 &b, NULL));
	EXPECT_EQ(0, rcl_connect(&other, "b", b.epoch, RCLINK_ROLE_RESPONDER,
				 &a, NULL));
	genl_close(&other);
	EXPECT_EQ(0, rcl_activate(&owner, "a", a.epoch > b.epoch ? a.epoch :
				  b.epoch, NULL));
	genl_close(&owner);
	most = longest(&self->s, is_as_before, &self->up);
	TH_LOG("a ping took %lld ms at most", (long long)most);
	return most;
}

TEST_F_TIMEOUT(slow, what_is_up_goes_on_while_another_epoch_says_goodbye, 120)
{
	int64_t best;
	int tries;

	EXPECT_EQ(0, take_time(0));
	best = best_of(_metadata, self, a_goodbye_to_nobody, BYE_MS, &tries);
	ASSERT_LE(0, best);
	EXPECT_GT(BYE_MS, best);
}

TEST_F_TIMEOUT(slow, requests_wait_for_their_turn, 120)
{
	struct asker asker = {};
	struct rcl_view view;
	int64_t end;

	ASSERT_EQ(0, begin(&asker, &self->owner, prepare));
	let_begin();
	EXPECT_EQ(0, rcl_disconnect(&self->s, "a"));
	/* Had it overtaken the other, that would take another step and more. */
	end = rcl_now_ms();
	pthread_join(asker.thread, NULL);
	EXPECT_GT(STEP_MS / 2, rcl_now_ms() - end);
	EXPECT_EQ(0, asker.ret);
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_DOWN, view.state);
	EXPECT_EQ(RCLINK_DOWN_REASON_DISCONNECTED, view.reason);
	EXPECT_EQ(0, view.standby_epoch);
}

TEST_F_TIMEOUT(slow, a_peer_that_disconnects_ends_what_is_being_made, 120)
{
	struct asker asker = {};
	struct rcl_view view;

	ASSERT_EQ(0, begin(&asker, &self->owner, prepare));
	let_begin();
	EXPECT_EQ(0, rcl_disconnect(&self->s, "b"));
	pthread_join(asker.thread, NULL);
	EXPECT_EQ(0, asker.ret);
	EXPECT_EQ(0, until_objects(self->objects));
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_DOWN_REASON_PEER_DISCONNECTED, view.reason)
		TH_LOG("%s", view.reason_text);
}

static int look_at_port(struct asker *asker)
{
	struct genl_msg m;

	genl_begin(&m, asker->s, RCLINK_CMD_DEV_GET);
	genl_put_str(&m, RCLINK_A_DEV_NAME, "sim1");
	genl_put_u32(&m, RCLINK_A_DEV_PORT, 1);
	return genl_ask(asker->s, &m, NULL, NULL);
}

TEST_F_TIMEOUT(slow, a_port_that_is_slow_to_answer_holds_up_no_other, 120)
{
	struct asker asker = {};
	struct rcl_end end;
	long seen;

	EXPECT_EQ(0, take_time(0));
	EXPECT_EQ(0, rcl_disconnect(&self->s, "a"));
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, LONG_MS));
	ASSERT_EQ(0, sim_knob("sim1", "fault", "slow_port 1 1 %d",
			      LONG_MS / 6));
	seen = sim_seen("sim1", "slow_port");
	ASSERT_EQ(0, begin(&asker, &self->owner, look_at_port));
	while (sim_seen("sim1", "slow_port") == seen)
		usleep(1000);
	EXPECT_EQ(0, rcl_prepare(&self->s, "a", &end));
	EXPECT_FALSE(asker.over);
	pthread_join(asker.thread, NULL);
	EXPECT_EQ(0, asker.ret);
}

TEST_F_TIMEOUT(slow, what_is_being_made_takes_the_place_of_what_fails, 120)
{
	struct asker asker = {};
	struct rcl_view view;
	struct rcl_end a;

	ASSERT_EQ(0, rcl_local(&self->s, "a", &a));
	ASSERT_EQ(0, begin(&asker, &self->owner, prepare));
	let_begin();
	EXPECT_EQ(0, sim_knob("sim0", "event", "%d %u", SIM_QP_FATAL,
			      a.qp[0].qpn));
	pthread_join(asker.thread, NULL);
	EXPECT_EQ(0, asker.ret);
	/* The failed epoch may need that long to end. */
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_PREPARED,
			       LONG_MS));
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(asker.a.epoch, view.epoch);
	EXPECT_EQ(0, view.standby_epoch);
	genl_close(&self->owner);
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, LONG_MS));
}

/* Takes effect from the next epoch on. */
static int set_heartbeat(struct genl_sock *s, const char *name)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_SET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u32(&m, RCLINK_A_LINK_HEARTBEAT, HEARTBEAT_MS);
	return genl_ask(s, &m, NULL, NULL);
}

static int pair_with_heartbeat(struct genl_sock *s)
{
	int ret;

	ret = set_heartbeat(s, "a");
	if (!ret)
		ret = set_heartbeat(s, "b");
	if (!ret)
		ret = rcl_disconnect(s, "a");
	if (!ret)
		ret = rcl_until(s, "b", RCLINK_LINK_STATE_DOWN, LONG_MS);
	return ret ? ret : rcl_pair(s, "a", "b", RCLINK_LINK_STATE_UP);
}

/*
 * One end notices that its epoch has failed, and goes on in the other one. Its
 * peer, which has seen no failure, reads nothing while it ends the old epoch.
 */
TEST_F_TIMEOUT(slow, who_failed_alone_waits_for_a_peer_that_moves, 120)
{
	struct asker asker = { .s = &self->owner };
	struct rcl_view view;

	EXPECT_EQ(0, take_time(0));
	ASSERT_EQ(0, pair_with_heartbeat(&self->s));
	ASSERT_EQ(0, prepare_both(&asker));
	ASSERT_EQ(0, rcl_activate(&self->owner, "b", asker.a.epoch, NULL));
	EXPECT_EQ(0, sim_knob("sim1", "fault", "slow_qp 1 %d %d", ALL,
			      SLOW_MS));
	/* The next heartbeat of a fails; then a cannot say goodbye. */
	EXPECT_EQ(0, sim_knob("sim0", "fault", "send 1 1"));
	ASSERT_EQ(0, until_epoch(&self->s, "a", asker.a.epoch));
	ASSERT_EQ(0, rcl_activate(&self->owner, "a", asker.a.epoch, NULL));
	/* b gets there when it has ended its part of the old epoch. */
	ASSERT_EQ(0, until_epoch(&self->s, "b", asker.a.epoch));
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_UP, LONG_MS));
	EXPECT_EQ(0, until_objects(self->up));
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state)
		TH_LOG("%s", view.reason_text);
	EXPECT_EQ(asker.a.epoch, view.epoch);
}

/* The same, but a's epoch has failed before a prepares the other one. */
TEST_F_TIMEOUT(slow, who_failed_before_waits_for_a_peer_that_moves, 120)
{
	struct rcl_end a, b;
	struct rcl_view view;

	EXPECT_EQ(0, take_time(0));
	ASSERT_EQ(0, pair_with_heartbeat(&self->s));
	ASSERT_EQ(0, rcl_local(&self->s, "a", &a));
	ASSERT_EQ(0, rcl_prepare_beside(&self->owner, "b", &b));
	EXPECT_EQ(0, sim_knob("sim0", "event", "%d %u", SIM_QP_FATAL,
			      a.qp[0].qpn));
	ASSERT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, LONG_MS));
	ASSERT_EQ(0, rcl_prepare_beside(&self->owner, "a", &a));
	ASSERT_EQ(0, rcl_connect(&self->owner, "a", a.epoch,
				 RCLINK_ROLE_INITIATOR, &b, NULL));
	ASSERT_EQ(0, rcl_connect(&self->owner, "b", b.epoch,
				 RCLINK_ROLE_RESPONDER, &a, NULL));
	ASSERT_EQ(0, rcl_activate(&self->owner, "b", a.epoch, NULL));
	EXPECT_EQ(0, sim_knob("sim1", "fault", "slow_qp 1 %d %d", ALL,
			      SLOW_MS));
	ASSERT_EQ(0, rcl_activate(&self->owner, "a", a.epoch, NULL));
	/* b gets there when it has ended its part of the old epoch. */
	ASSERT_EQ(0, until_epoch(&self->s, "b", a.epoch));
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_UP, LONG_MS));
	EXPECT_EQ(0, until_objects(self->up));
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state)
		TH_LOG("%s", view.reason_text);
	EXPECT_EQ(a.epoch, view.epoch);
}

static int disconnect(struct asker *asker)
{
	return rcl_disconnect(asker->s, "a");
}

/* The work item that takes pings is busy: it ends the epoch. */
TEST_F_TIMEOUT(slow, pings_that_wait_are_64_at_most_and_all_end, 120)
{
	int i, ret, taken = 0, busy = 0;
	struct asker asker = {};
	struct rcl_pong pong;

	EXPECT_EQ(0, take_time(ALL));
	ASSERT_EQ(0, begin(&asker, &self->owner, disconnect));
	let_begin();
	for (i = 0; i < 80; i++) {
		ret = rcl_ping(&self->s, "a", RCLINK_PING_OP_SEND, -1, i, NULL);
		taken += !ret;
		busy += ret == -EBUSY;
	}
	EXPECT_FALSE(asker.over);
	EXPECT_EQ(64, taken);
	EXPECT_EQ(16, busy);
	for (i = 0; i < taken; i++) {
		ASSERT_EQ(0, rcl_pong(&self->s, &pong, slow(LONG_MS)));
		EXPECT_EQ(ENOTCONN, pong.error);
		EXPECT_EQ(i, pong.cookie);
	}
	pthread_join(asker.thread, NULL);
	EXPECT_EQ(0, asker.ret);
}

TEST_F_TIMEOUT(slow, an_owner_that_is_killed_leaves_nothing, 120)
{
	struct rcl_view view;
	struct genl_sock s;
	struct rcl_end end;
	pid_t pid;

	is_to_begin();
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (!rcl_open(&s))
			rcl_prepare_beside(&s, "a", &end);
		pause();
	}
	let_begin();
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(0, until_objects(self->up));
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(0, view.standby_epoch);
}

TEST_F_TIMEOUT(slow, a_link_is_deleted_while_an_epoch_is_made, 120)
{
	struct asker asker = {};

	ASSERT_EQ(0, begin(&asker, &self->owner, prepare));
	let_begin();
	EXPECT_EQ(0, rcl_del(&self->s, "a"));
	pthread_join(asker.thread, NULL);
	EXPECT_EQ(0, asker.ret);
	EXPECT_EQ(0, rcl_del(&self->s, "b"));
	EXPECT_EQ(self->objects, rcl_all_objects());
}

/* The link is deleted all the same, and its name is free before it is gone. */
TEST_F_TIMEOUT(slow, who_deletes_a_link_can_be_killed, 120)
{
	struct genl_sock s;
	int64_t killed;
	pid_t pid;

	EXPECT_EQ(0, take_time(ALL));
	is_to_begin();
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (!rcl_open(&s))
			rcl_del(&s, "a");
		pause();
	}
	let_begin();
	killed = rcl_now_ms();
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	TH_LOG("it was gone after %lld ms", (long long)(rcl_now_ms() - killed));
	EXPECT_LT(self->objects, rcl_all_objects());
	EXPECT_EQ(-ENOENT, rcl_del(&self->s, "a"));
	EXPECT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_QPS, 1));
	EXPECT_LT(self->objects, rcl_all_objects());
	EXPECT_EQ(0, take_time(0));
	EXPECT_EQ(0, rcl_del(&self->s, "b"));
	EXPECT_EQ(0, until_objects(self->objects));
}

TEST_F_TIMEOUT(slow, a_device_is_removed_while_an_epoch_is_made, 120)
{
	struct asker asker = {};
	struct rcl_view view;

	ASSERT_EQ(0, begin(&asker, &self->owner, prepare));
	let_begin();
	EXPECT_EQ(0, sim_del_device("sim0"));
	pthread_join(asker.thread, NULL);
	EXPECT_EQ(0, asker.ret);
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_DOWN, view.state);
	EXPECT_EQ(RCLINK_DOWN_REASON_DEVICE_REMOVED, view.reason)
		TH_LOG("%s", view.reason_text);
	EXPECT_EQ(0, view.standby_epoch);
}

TEST_HARNESS_MAIN
