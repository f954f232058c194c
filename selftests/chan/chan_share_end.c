// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a region for all links, and of its imports, when its owner,
 * an epoch, a device or a link ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "share_rig.h"

#define FLIGHT		24
#define DONE_MS		20000
#define BACK_MS		10000
#define FLUSHED		5	/* of enum ib_wc_status */
#define REMOTE_ACCESS	10
#define TIMEOUT_S	120

FIXTURE(link)
{
	struct share_rig s;
	pid_t owner;
};

FIXTURE_SETUP(link)
{
	ASSERT_EQ(0, share_begin(&self->s));
}

FIXTURE_TEARDOWN(link)
{
	if (self->owner > 0) {
		kill(self->owner, SIGKILL);
		waitpid(self->owner, NULL, 0);
	}
	share_end(&self->s);
}

TEST_F(link, after_the_withdrawal_access_fails)
{
	struct share_rig *s = &self->s;
	struct rclink_remote none;

	ASSERT_EQ(0, share_offer_and_import(s));
	ASSERT_EQ(0, share_moves(s, s->memory, 0, 35));
	ASSERT_EQ(0, rclink_share_withdraw(s->share, s->region));
	memset(s->memory, 0xee, SHARE_LEN);
	EXPECT_EQ(-ENOENT, rclink_import(s->r.near, SHARE_NAME, &none));
	EXPECT_EQ(REMOTE_ACCESS, share_write_fails(s->r.near, s->r.near_region,
						   &s->near));
	EXPECT_EQ(0xee, s->memory[0]);
	EXPECT_EQ(0, memcmp(s->memory, s->memory + 1, SHARE_LEN - 1));
}

/* The peer writes during the withdrawal: nothing comes in after it. */
TEST_F(link, the_withdrawal_of_what_is_being_written)
{
	struct share_rig *s = &self->s;
	struct rig *r = &s->r;
	struct rclink_dev_cqe cqe;
	bool failed = false;
	uint32_t i;

	ASSERT_EQ(0, share_offer_and_import(s));
	memset(r->near_memory, 0x55, RIG_MOVED);
	for (i = 0; i < FLIGHT; i++)
		ASSERT_EQ(0, rclink_write(r->near,
					  rclink_piece(r->near_region, 0,
						       RIG_MOVED),
					  &s->near, 0, RCLINK_SQE_SIGNALED,
					  i));
	ASSERT_EQ(FLIGHT, rclink_submit(r->near, 0, 0));
	ASSERT_EQ(0, rclink_share_withdraw(s->share, s->region));
	memset(s->memory, 0xee, SHARE_LEN);
	for (i = 0; i < FLIGHT; i++) {
		rclink_submit(r->near, 1, slow(DONE_MS));
		ASSERT_EQ(1, rclink_reap(r->near, &cqe, 1));
		EXPECT_EQ(i, cqe.user_data);
		EXPECT_EQ(failed ? FLUSHED : cqe.status ? REMOTE_ACCESS : 0,
			  cqe.status);
		failed = failed || cqe.status;
	}
	if (!failed)
		EXPECT_EQ(REMOTE_ACCESS,
			  share_write_fails(r->near, r->near_region, &s->near));
	EXPECT_EQ(0xee, s->memory[0]);
	EXPECT_EQ(0, memcmp(s->memory, s->memory + 1, SHARE_LEN - 1));
}

/* Fork an owner that exports the region, says so, and waits for its end. */
static pid_t fork_owner(struct _test_data_link *self)
{
	struct share_rig *s = &self->s;
	int fds[2];
	pid_t pid;
	char c = 0;

	if (pipe(fds))
		return -errno;
	pid = fork();
	if (!pid) {
		int ret = rclink_share(&s->share);

		far_fill(s->memory, 37, SHARE_LEN);
		ret = ret ? ret : share_offer(s, SHARE_RIGHTS);
		c = !ret;
		if (write(fds[1], &c, 1) == 1)
			pause();
		_exit(1);
	}
	close(fds[1]);
	if (read(fds[0], &c, 1) != 1 || !c)
		return -EIO;
	close(fds[0]);
	return pid;
}

TEST_F(link, an_owner_who_is_killed_leaves_nothing)
{
	struct share_rig *s = &self->s;
	int objects;

	/* From this export on there is the QP that registers memory. */
	ASSERT_EQ(0, share_offer_and_import(s));
	ASSERT_EQ(0, rclink_share_withdraw(s->share, s->region));
	objects = rcl_all_objects();
	self->owner = fork_owner(self);
	ASSERT_LT(0, self->owner);
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(0, share_near_reads(s, 0, 37));
	EXPECT_EQ(0, share_far_reads(s, 0, 37));
	EXPECT_LT(objects, rcl_all_objects());
	ASSERT_EQ(0, kill(self->owner, SIGKILL));
	ASSERT_EQ(self->owner, waitpid(self->owner, NULL, 0));
	self->owner = 0;
	EXPECT_EQ(objects, rig_until_objects(objects, BACK_MS));
	EXPECT_EQ(-ENOENT, rclink_import(s->r.near, SHARE_NAME, &s->near));
	EXPECT_EQ(REMOTE_ACCESS, share_write_fails(s->r.far, s->r.far_region,
						   &s->far));
}

static int epoch_of(struct rig *r, const char *name, uint64_t *epoch)
{
	struct rcl_view view;
	int ret = rcl_view(&r->s, name, &view);

	*epoch = view.epoch;
	return ret;
}

static bool has_moved(struct rig *r, const char *name, uint64_t epoch)
{
	struct rcl_view view;

	return !rcl_view(&r->s, name, &view) && !view.standby_epoch &&
	       view.state == RCLINK_LINK_STATE_UP && view.epoch > epoch;
}

TEST_F_TIMEOUT(link, imports_go_on_where_the_link_is_rotated, TIMEOUT_S)
{
	struct share_rig *s = &self->s;
	struct rig *r = &s->r;
	struct genl_sock owner;
	int mrs = rcl_objects("mr");
	uint64_t epoch;
	int ms;

	ASSERT_EQ(0, share_offer_and_import(s));
	ASSERT_EQ(0, share_moves(s, s->memory, 0, 39));
	ASSERT_EQ(0, epoch_of(r, RIG_NEAR, &epoch));
	ASSERT_EQ(0, rcl_open(&owner));
	ASSERT_EQ(0, rig_rotate(&owner));
	for (ms = slow(DONE_MS); ms > 0; ms -= 5) {
		if (has_moved(r, RIG_NEAR, epoch) &&
		    has_moved(r, RIG_FAR, epoch))
			break;
		usleep(5000);
	}
	genl_close(&owner);
	ASSERT_LT(0, ms);
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 41));
	EXPECT_EQ(mrs + 2, rcl_objects("mr"));
	EXPECT_EQ(0, share_import(s));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 43));
}

static bool are_down(struct rig *r)
{
	struct rcl_view near, far;

	return !rcl_view(&r->s, RIG_NEAR, &near) &&
	       !rcl_view(&r->s, RIG_FAR, &far) &&
	       near.state == RCLINK_LINK_STATE_DOWN &&
	       far.state == RCLINK_LINK_STATE_DOWN;
}

/* The links fail and come up again: the region and its imports go on. */
static void fails_and_returns(struct __test_metadata *_metadata,
			      struct _test_data_link *self, const char *fail)
{
	struct share_rig *s = &self->s;
	struct rig *r = &s->r;
	long pinned;
	int ms;

	ASSERT_EQ(0, share_offer_and_import(s));
	ASSERT_EQ(0, share_moves(s, s->memory, 0, 45));
	pinned = rig_pinned();
	ASSERT_EQ(0, system(fail));
	for (ms = slow(BACK_MS); ms > 0 && !are_down(r); ms -= 5)
		usleep(5000);
	ASSERT_TRUE(are_down(r));
	EXPECT_EQ(0, rcl_objects("mr"));
	EXPECT_EQ(pinned, rig_pinned());
	ASSERT_EQ(0, system("lab_dev"));
	ASSERT_EQ(0, rcl_pair(&r->s, RIG_NEAR, RIG_FAR, RCLINK_LINK_STATE_UP));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 47));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 49));
	EXPECT_EQ(pinned, rig_pinned());
}

TEST_F_TIMEOUT(link, imports_go_on_after_a_failure, TIMEOUT_S)
{
	fails_and_returns(_metadata, self, "ip link set eth0 down");
}

TEST_F_TIMEOUT(link, imports_go_on_after_another_device_has_come, TIMEOUT_S)
{
	fails_and_returns(_metadata, self, "lab_dev del");
}

TEST_F_TIMEOUT(link, links_are_deleted_and_others_come, TIMEOUT_S)
{
	struct share_rig *s = &self->s;
	struct rig *r = &s->r;
	long pinned;

	ASSERT_EQ(0, share_offer_and_import(s));
	pinned = rig_pinned() - 2 * RIG_MEMORY / 1024;
	rig_close(r);
	ASSERT_EQ(0, rcl_del(&r->s, RIG_NEAR));
	ASSERT_EQ(0, rcl_del(&r->s, RIG_FAR));
	EXPECT_EQ(0, rcl_objects("mr"));
	EXPECT_EQ(0, rcl_objects("pd"));
	EXPECT_EQ(pinned, rig_pinned());
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 51));
}

TEST_HARNESS_MAIN
