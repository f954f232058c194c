// SPDX-License-Identifier: GPL-2.0
/*
 * A process that is killed while a device takes its time to register memory for
 * it: it ends soon, nothing of its memory stays pinned or registered, and the
 * channel, which is not its own, goes on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "rig.h"
#include "sim.h"

#define WORDS		"pages=16"
#define EXTENT		(16 * 4096)
#define MANY		60		/* extents of the memory */
#define LEN		(MANY * EXTENT)
#define SLOW_MS		200		/* for each: all take 12 s */
#define SOON		3		/* extents */
#define END_MS		3000
#define START_MS	10000
#define POLL_MS		10
#define NAME		"killed"
#define EVER		1000000
#define TIMEOUT_S	120

FIXTURE(killed)
{
	struct rig r;
	long pinned;			/* pages of this host */
	int objects;
};

FIXTURE_VARIANT(killed)
{
	bool allocate;			/* MEMORY, else REGION */
};

FIXTURE_VARIANT_ADD(killed, region) {
	.allocate = false,
};

FIXTURE_VARIANT_ADD(killed, memory) {
	.allocate = true,
};

/* Pages that are pinned, by whomever, and those of tmpfs. */
static long host_pages(void)
{
	FILE *in = fopen("/proc/vmstat", "r");
	long sum = 0, value;
	char name[64];

	while (in && fscanf(in, "%63s %ld", name, &value) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired") ||
		    !strcmp(name, "nr_shmem"))
			sum += value;
		else if (!strcmp(name, "nr_foll_pin_released"))
			sum -= value;
	}
	if (in)
		fclose(in);
	return sum;
}

static int slow_down(int ms)
{
	return sim_knob(SIM_NEAR, "fault", "slow_reg 1 %d %d", ms ? EVER : 0,
			ms ? ms : 1);
}

FIXTURE_SETUP(killed)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, rig_begin_sims(r, WORDS));
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	self->pinned = host_pages();
	self->objects = rcl_all_objects();
	ASSERT_EQ(0, slow_down(SLOW_MS));
}

/* Nobody has the name, and everything works as before. */
FIXTURE_TEARDOWN(killed)
{
	struct rig *r = &self->r;
	uint32_t region;

	EXPECT_EQ(0, slow_down(0));
	EXPECT_EQ(self->objects, rig_until_objects(self->objects, END_MS));
	EXPECT_EQ(0, rclink_region(r->near, r->near_memory, EXTENT / 16, NAME,
				   RCLINK_REGION_READ, &region));
	EXPECT_EQ(0, rclink_withdraw(r->near, region));
	EXPECT_EQ(0, rig_moves(r, 1));
	rig_end_sims(r);
}

/* A child that registers memory and gives it back, and returns 0 if it may. */
static pid_t registers(const struct _test_data_killed *self, bool allocate,
		       const char *name)
{
	struct rclink_dev_region arg = {
		.len = LEN,
		.rights = name ? RCLINK_REGION_READ : 0,
	};
	int fd = rclink_fd(self->r.near);
	pid_t pid = fork();
	void *m;
	int ret;

	if (pid)
		return pid;
	snprintf(arg.name, sizeof(arg.name), "%s", name ? name : "");
	if (allocate) {
		ret = rig_memory(fd, &arg);
	} else {
		m = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		arg.addr = (uintptr_t)m;
		ret = rig_region(fd, &arg);
	}
	_exit(ret || rig_withdraw(fd, arg.handle));
}

/* Has it pinned its memory, and does it wait for something? */
static bool waits(pid_t pid)
{
	char path[64], line[256], state;
	bool sleeps = false;
	long kib = -1;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "State: %c", &state) == 1)
			sleeps = state == 'D';
		if (sscanf(line, "VmPin: %ld", &kib) == 1)
			break;
	}
	if (in)
		fclose(in);
	return sleeps && kib == LEN / 1024;
}

/* Wait until the device was asked for so many registrations. */
static int until_seen(long want)
{
	int ms = slow(START_MS);

	for (; sim_seen(SIM_NEAR, "slow_reg") < want; ms -= POLL_MS) {
		if (ms <= 0)
			return -ETIMEDOUT;
		usleep(POLL_MS * 1000);
	}
	return 0;
}

static int until_waits(pid_t pid)
{
	int ms = slow(START_MS);

	for (; !waits(pid); ms -= POLL_MS) {
		if (ms <= 0)
			return -ETIMEDOUT;
		usleep(POLL_MS * 1000);
	}
	return 0;
}

static void is_killed(struct __test_metadata *_metadata, pid_t pid)
{
	int64_t begun = rcl_now_ms();
	int status;

	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_GT(slow(END_MS), rcl_now_ms() - begun);
	TH_LOG("it was gone after %lld ms", (long long)(rcl_now_ms() - begun));
}

TEST_F_TIMEOUT(killed, who_registers, TIMEOUT_S)
{
	long seen = sim_seen(SIM_NEAR, "slow_reg");
	pid_t pid;

	pid = registers(self, variant->allocate, NAME);
	ASSERT_LE(0, pid);
	ASSERT_EQ(0, until_seen(seen + SOON));
	ASSERT_EQ(0, until_waits(pid));
	EXPECT_LT(self->pinned + LEN / 4096 / 2, host_pages());
	is_killed(_metadata, pid);
	/* The one that was under way was to be the last one. */
	EXPECT_GT(seen + MANY / 2, sim_seen(SIM_NEAR, "slow_reg"));
	EXPECT_GT(self->pinned + LEN / 4096 / 2, host_pages());
}

/* Somebody else registers with that channel, and is not disturbed. */
TEST_F_TIMEOUT(killed, who_waits_for_another_one_that_registers, TIMEOUT_S)
{
	long seen = sim_seen(SIM_NEAR, "slow_reg");
	pid_t first, second;
	int status;

	first = registers(self, variant->allocate, NULL);
	ASSERT_LE(0, first);
	ASSERT_EQ(0, until_seen(seen + 1));
	second = registers(self, variant->allocate, NAME);
	ASSERT_LE(0, second);
	ASSERT_EQ(0, until_waits(second));
	is_killed(_metadata, second);
	EXPECT_EQ(0, waitpid(first, &status, WNOHANG));
	EXPECT_GT(self->pinned + LEN / 4096 * 3 / 2, host_pages());
	ASSERT_EQ(0, slow_down(0));
	ASSERT_EQ(first, waitpid(first, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(seen + MANY, sim_seen(SIM_NEAR, "slow_reg"));
}

TEST_HARNESS_MAIN
