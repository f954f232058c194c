// SPDX-License-Identifier: GPL-2.0
/*
 * This host prepares to sleep, and wakes up without having slept; or it hears
 * that it was copied. Either ends all epochs, in whatever state, and none is
 * made meanwhile. Nothing else stands still: see sleep.c of rdmasim.
 */
#include "sim.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define ASLEEP	"asleep"
#define COPIED	"copied"

#define QPS	64	/* of the pool; these and the control QP are slow */
#define SLOW_MS	20	/* so one step of all of them takes 1.3 s */
#define LATE_MS	200	/* so two steps take longer than the module waits */
#define WAIT_MS	10000
#define LONG_MS	60000
#define ALL	1000000

FIXTURE(sleep)
{
	struct genl_sock s;
	int objects;	/* of other devices */
};

FIXTURE_SETUP(sleep)
{
	ASSERT_EQ(0, sim_begin(&self->s, &self->objects));
}

static int take_time(int count, int ms)
{
	int ret;

	ret = sim_knob("sim0", "fault", "slow_qp 1 %d %d", count, ms);
	return ret ? ret : sim_knob("sim1", "fault", "slow_qp 1 %d %d", count,
				    ms);
}

FIXTURE_TEARDOWN(sleep)
{
	EXPECT_EQ(0, sim_put(ASLEEP, "0"));
	take_time(0, SLOW_MS);
	rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "g", NULL);
	rcl_clean(&self->s);
	EXPECT_EQ(self->objects, rcl_all_objects());
	sim_end(&self->s);
}

/* The child's write returns when all epochs have ended, or time is up. */
static pid_t fall_asleep(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(sim_put(ASLEEP, "1") ? 1 : 0);
	return pid;
}

static int wake_up(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -ECHILD;
	return status ? -EIO : sim_put(ASLEEP, "0");
}

static bool is_down(struct genl_sock *s, const char *name, uint32_t reason)
{
	struct rcl_view view;

	return !rcl_view(s, name, &view) &&
	       view.state == RCLINK_LINK_STATE_DOWN && !view.standby_epoch &&
	       view.reason == reason;
}

static bool has_fallen(struct genl_sock *s, const char *name)
{
	return is_down(s, name, RCLINK_DOWN_REASON_SLEEP);
}

/* The second end is told after its peer, whose goodbye may come before. */
static bool has_fallen_second(struct genl_sock *s, const char *name)
{
	return has_fallen(s, name) ||
	       is_down(s, name, RCLINK_DOWN_REASON_REPLACED);
}

TEST_F_TIMEOUT(sleep, all_epochs_end_and_others_come_up_after_it, 120)
{
	static const char names[][2] = { "a", "b", "c", "d", "e", "f" };
	struct rcl_view view;
	struct rcl_end end;
	size_t i;

	for (i = 2; i < 6; i++)
		ASSERT_EQ(0, sim_link(&self->s, names[i], i % 2 ? "sim1" :
				      "sim0", 0, 0));
	ASSERT_EQ(0, sim_link(&self->s, "idle", "sim0", 0, 0));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, rcl_prepare_beside(&self->s, "a", &end));
	ASSERT_EQ(0, rcl_pair(&self->s, "c", "d",
			      RCLINK_LINK_STATE_CONNECTED));
	ASSERT_EQ(0, rcl_pair(&self->s, "e", "f", RCLINK_LINK_STATE_PREPARED));
	ASSERT_EQ(0, wake_up(fall_asleep()));
	for (i = 0; i < 6; i++)
		EXPECT_TRUE(i % 2 ? has_fallen_second(&self->s, names[i]) :
				    has_fallen(&self->s, names[i]))
			TH_LOG("%s", names[i]);
	EXPECT_EQ(0, rcl_view(&self->s, "idle", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_IDLE, view.state);
	EXPECT_EQ(self->objects, rcl_all_objects());
	EXPECT_EQ(0, sim_up(&self->s));
	EXPECT_EQ(0, rcl_prepare(&self->s, "idle", &end));
}

/* The host is not asleep before the slow links have ended their epochs. */
TEST_F_TIMEOUT(sleep, nothing_is_prepared_before_it_is_awake, 120)
{
	int64_t end_ms = rcl_now_ms() + slow(LONG_MS);
	struct rcl_end end;
	int up;
	pid_t pid;

	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "b", "sim1", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, sim_link(&self->s, "c", "sim0", 0, 0));
	ASSERT_EQ(0, sim_up(&self->s));
	up = rcl_all_objects();
	ASSERT_EQ(0, take_time(ALL, SLOW_MS));
	pid = fall_asleep();
	while (rcl_all_objects() == up && rcl_now_ms() < end_ms)
		usleep(10000);
	EXPECT_EQ(-EBUSY, rcl_prepare(&self->s, "c", &end));
	EXPECT_EQ(0, sim_link(&self->s, "new", "sim0", 0, 0));
	EXPECT_EQ(-EBUSY, rcl_prepare(&self->s, "new", &end));
	EXPECT_LT(self->objects, rcl_all_objects());
	ASSERT_EQ(0, wake_up(pid));
	EXPECT_TRUE(has_fallen(&self->s, "a"));
	EXPECT_TRUE(has_fallen_second(&self->s, "b"));
	EXPECT_EQ(self->objects, rcl_all_objects());
	EXPECT_EQ(0, take_time(0, SLOW_MS));
	EXPECT_EQ(0, rcl_prepare(&self->s, "c", &end));
	EXPECT_EQ(0, rcl_prepare(&self->s, "new", &end));
}

struct asker {
	struct genl_sock *s;
	struct rcl_end end;
	int ret;
};

static void *prepare(void *arg)
{
	struct asker *asker = arg;

	asker->ret = rcl_prepare(asker->s, "c", &asker->end);
	return NULL;
}

TEST_F_TIMEOUT(sleep, what_is_just_being_made_ends_too, 120)
{
	struct asker asker = {};
	struct genl_sock owner;
	pthread_t thread;
	long before;

	ASSERT_EQ(0, rcl_open(&owner));
	ASSERT_EQ(0, sim_link(&self->s, "c", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, take_time(ALL, SLOW_MS));
	asker.s = &owner;
	before = sim_seen("sim0", "slow_qp");
	ASSERT_EQ(0, pthread_create(&thread, NULL, prepare, &asker));
	while (sim_seen("sim0", "slow_qp") < before + QPS / 2)
		usleep(1000);
	ASSERT_EQ(0, wake_up(fall_asleep()));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, asker.ret);
	EXPECT_TRUE(has_fallen(&self->s, "c"));
	EXPECT_EQ(self->objects, rcl_all_objects());
	genl_close(&owner);
}

TEST_F_TIMEOUT(sleep, a_device_that_takes_too_long_does_not_keep_it_awake, 180)
{
	int64_t began;

	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "b", "sim1", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, take_time(ALL, LATE_MS));
	began = rcl_now_ms();
	ASSERT_EQ(0, wake_up(fall_asleep()));
	TH_LOG("it took %lld ms", (long long)(rcl_now_ms() - began));
	EXPECT_LE(WAIT_MS, rcl_now_ms() - began);
	EXPECT_LT(self->objects, rcl_all_objects());
	EXPECT_EQ(0, take_time(0, LATE_MS));
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_TRUE(has_fallen(&self->s, "a"));
}

/*
 * A link that moves has the new epoch before it has ended the old one, and
 * hears only then that its peer disconnects for good.
 */
TEST_F_TIMEOUT(sleep, a_goodbye_for_good_counts, 120)
{
	static const char * const names[] = { "a", "b" };
	int64_t end_ms = rcl_now_ms() + slow(LONG_MS);
	struct rcl_view view = {};
	struct rcl_end end[2];
	uint64_t epoch;
	int i;

	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "b", "sim1", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, sim_up(&self->s));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, rcl_prepare_beside(&self->s, names[i], &end[i]));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, rcl_connect(&self->s, names[i], end[i].epoch,
					 RCLINK_ROLE_INITIATOR + i, &end[!i],
					 NULL));
	epoch = end[0].epoch > end[1].epoch ? end[0].epoch : end[1].epoch;
	ASSERT_EQ(0, rcl_activate(&self->s, "b", epoch, NULL));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "slow_qp 1 %d %d", ALL,
			      SLOW_MS));
	ASSERT_EQ(0, rcl_activate(&self->s, "a", epoch, NULL));
	while (view.epoch != epoch && rcl_now_ms() < end_ms)
		ASSERT_EQ(0, rcl_view(&self->s, "b", &view));
	ASSERT_EQ(epoch, view.epoch);
	ASSERT_EQ(0, rcl_disconnect(&self->s, "b"));
	ASSERT_EQ(0, wake_up(fall_asleep()));
	EXPECT_TRUE(is_down(&self->s, "a",
			    RCLINK_DOWN_REASON_PEER_DISCONNECTED));
	EXPECT_TRUE(is_down(&self->s, "b", RCLINK_DOWN_REASON_DISCONNECTED));
	EXPECT_EQ(self->objects, rcl_all_objects());
}

/* Prepare a link; the host is busy for a moment after it was copied. */
static int prepare_after(struct genl_sock *s, const char *name)
{
	int64_t end_ms = rcl_now_ms() + slow(WAIT_MS);
	struct rcl_end end;
	int ret;

	while ((ret = rcl_prepare(s, name, &end)) == -EBUSY &&
	       rcl_now_ms() < end_ms)
		usleep(10000);
	return ret;
}

/* Any message, even a goodbye, could reuse a nonce of the other copy. */
TEST_F_TIMEOUT(sleep, a_copy_says_nothing_more_and_comes_up_again, 120)
{
	struct rcl_end end;
	uint64_t said;

	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_HEARTBEAT,
			      0));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "b", "sim1", RCLINK_A_LINK_HEARTBEAT,
			      0));
	ASSERT_EQ(0, sim_link(&self->s, "c", "sim0", 0, 0));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, rcl_prepare_beside(&self->s, "a", &end));
	said = rcl_stat(&self->s, "a", RCLINK_A_STATS_TX_MESSAGES);
	EXPECT_LT(0, said);
	if (sim_put(COPIED, "id"))
		SKIP(return, "this kernel does not hear of copies");
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_EQ(0, sim_objects_left(self->objects));
	EXPECT_TRUE(is_down(&self->s, "a", RCLINK_DOWN_REASON_SNAPSHOT));
	EXPECT_TRUE(is_down(&self->s, "b", RCLINK_DOWN_REASON_SNAPSHOT));
	EXPECT_EQ(said, rcl_stat(&self->s, "a", RCLINK_A_STATS_TX_MESSAGES));
	EXPECT_EQ(0, prepare_after(&self->s, "c"));
	EXPECT_EQ(0, sim_up(&self->s));
}

/* The port went down before the copy, and the epochs are being ended. */
TEST_F_TIMEOUT(sleep, a_copy_says_nothing_more_of_a_failure, 120)
{
	int64_t end_ms = rcl_now_ms() + slow(LONG_MS);
	struct rcl_end end;
	long seen;

	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "b", "sim1", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, rcl_prepare_beside(&self->s, "a", &end));
	ASSERT_EQ(0, take_time(ALL, SLOW_MS));
	seen = sim_seen("sim0", "slow_qp");
	ASSERT_EQ(0, sim_knob("sim0", "up", "0"));
	while (sim_seen("sim0", "slow_qp") == seen && rcl_now_ms() < end_ms)
		usleep(1000);
	if (sim_put(COPIED, "id"))
		SKIP(return, "this kernel does not hear of copies");
	EXPECT_EQ(0, sim_objects_left(self->objects));
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_TRUE(is_down(&self->s, "a", RCLINK_DOWN_REASON_SNAPSHOT));
}

static int key_of_group(struct genl_sock *s, uint64_t *key)
{
	struct genl_msg m, answer;
	int ret;

	genl_begin(&m, s, RCLINK_CMD_GROUP_GET);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	ret = genl_ask(s, &m, &answer, NULL);
	if (!ret)
		*key = genl_u64(genl_attr(&answer, RCLINK_A_GROUP_KEY_ID));
	return ret;
}

TEST_F_TIMEOUT(sleep, a_copy_has_no_key_of_a_group_while_a_link_ends, 120)
{
	int64_t end_ms = rcl_now_ms() + slow(LONG_MS);
	struct rcl_view view;
	uint64_t key, old;

	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, sim_link(&self->s, "a", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	ASSERT_EQ(0, sim_link(&self->s, "b", "sim1", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, sim_up(&self->s));
	ASSERT_EQ(0, sim_group(&self->s, NULL));
	ASSERT_EQ(0, key_of_group(&self->s, &old));
	EXPECT_NE(0, old);
	key = old;
	ASSERT_EQ(0, take_time(ALL, SLOW_MS));
	if (sim_put(COPIED, "id"))
		SKIP(return, "this kernel does not hear of copies");
	while (key == old && rcl_now_ms() < end_ms)
		ASSERT_EQ(0, key_of_group(&self->s, &key));
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(0, key);
	while (!key && rcl_now_ms() < end_ms)
		ASSERT_EQ(0, key_of_group(&self->s, &key));
	EXPECT_NE(0, key);
	EXPECT_NE(old, key);
	EXPECT_TRUE(is_down(&self->s, "a", RCLINK_DOWN_REASON_SNAPSHOT));
}

TEST_HARNESS_MAIN
