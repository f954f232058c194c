// SPDX-License-Identifier: GPL-2.0
/*
 * This host is about to sleep, and is awake again before it does; or it hears
 * that it was copied. All epochs have ended then, whatever they were at, and no
 * other was made meanwhile. Nothing else stands still: see sleep.c of rdmasim.
 */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define ASLEEP	"/sys/kernel/debug/rdmasim/asleep"
#define COPIED	"/sys/kernel/debug/rdmasim/copied"

#define QPS	64	/* of the pool; with the control QP, what is slow */
#define SLOW_MS	20	/* so one step of all of them takes 1.3 s */
#define STEP_MS	(QPS * SLOW_MS)
#define LATE_MS	200	/* so that two steps take longer than is waited for */
#define WAIT_MS	10000
#define LONG_MS	60000
#define ALL	1000000

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = strlen(text);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		ret = -errno;
	close(fd);
	return ret;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

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
	EXPECT_EQ(0, put(ASLEEP, "0"));
	take_time(0, SLOW_MS);
	rcl_clean(&self->s);
	EXPECT_EQ(self->objects, rcl_all_objects());
	sim_end(&self->s);
}

/* Its write is over when all that there is has ended, or may take no longer. */
static pid_t fall_asleep(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(put(ASLEEP, "1") ? 1 : 0);
	return pid;
}

static int wake_up(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -ECHILD;
	return status ? -EIO : put(ASLEEP, "0");
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
		EXPECT_TRUE(has_fallen(&self->s, names[i]))
			TH_LOG("%s", names[i]);
	EXPECT_EQ(0, rcl_view(&self->s, "idle", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_IDLE, view.state);
	EXPECT_EQ(self->objects, rcl_all_objects());
	EXPECT_EQ(0, sim_up(&self->s));
	EXPECT_EQ(0, rcl_prepare(&self->s, "idle", &end));
}

/* It waits for the end of what is up, which takes its time. */
TEST_F_TIMEOUT(sleep, nothing_is_prepared_before_it_is_awake, 120)
{
	int64_t end_ms = now_ms() + slow(LONG_MS);
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
	while (rcl_all_objects() == up && now_ms() < end_ms)
		usleep(10000);
	EXPECT_EQ(-EBUSY, rcl_prepare(&self->s, "c", &end));
	EXPECT_EQ(0, sim_link(&self->s, "new", "sim0", 0, 0));
	EXPECT_EQ(-EBUSY, rcl_prepare(&self->s, "new", &end));
	EXPECT_LT(self->objects, rcl_all_objects());
	ASSERT_EQ(0, wake_up(pid));
	EXPECT_TRUE(has_fallen(&self->s, "a"));
	EXPECT_TRUE(has_fallen(&self->s, "b"));
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

	ASSERT_EQ(0, rcl_open(&owner));
	ASSERT_EQ(0, sim_link(&self->s, "c", "sim0", RCLINK_A_LINK_QPS, QPS));
	ASSERT_EQ(0, take_time(ALL, SLOW_MS));
	asker.s = &owner;
	ASSERT_EQ(0, pthread_create(&thread, NULL, prepare, &asker));
	usleep(STEP_MS * 1000 / 2);
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
	began = now_ms();
	ASSERT_EQ(0, wake_up(fall_asleep()));
	TH_LOG("it took %lld ms", (long long)(now_ms() - began));
	EXPECT_LE(WAIT_MS, now_ms() - began);
	EXPECT_LT(self->objects, rcl_all_objects());
	EXPECT_EQ(0, take_time(0, LATE_MS));
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, LONG_MS));
	EXPECT_TRUE(has_fallen(&self->s, "a"));
}

/* It hears of it at once, and is at it for a moment. */
static int prepare_after(struct genl_sock *s, const char *name)
{
	int64_t end_ms = now_ms() + slow(WAIT_MS);
	struct rcl_end end;
	int ret;

	while ((ret = rcl_prepare(s, name, &end)) == -EBUSY &&
	       now_ms() < end_ms)
		usleep(10000);
	return ret;
}

/* Each message, a goodbye as well, would be sealed by the other copy, too. */
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
	if (put(COPIED, "id"))
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

TEST_HARNESS_MAIN
