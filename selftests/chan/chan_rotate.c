// SPDX-License-Identifier: GPL-2.0
/*
 * A link of this host to itself is rotated while its far end has a message in
 * flight that nobody receives. So the near end, which has none in flight, waits
 * for a second with its channels still. In that second a test asks something of
 * the near end, and gives the rotation up or lets the link move.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "rig.h"

#define BALLAST		(16 << 20)	/* takes its time to be registered */
#define QUIET_MS	150		/* nothing completes for so long */
#define LIMIT_MS	slow(20000)
#define TRIES		10	/* for what must be done within that second */
#define ROUNDS		3
#define TIMEOUT_S	120

enum { BEFORE = 1, MESSAGE, BEHIND };

FIXTURE(link)
{
	struct rig r;
	struct genl_sock owner;		/* brings the next epoch up */
	uint64_t epoch;
	void *ballast;
	uint64_t number;		/* the last one written */
	pid_t opener;
	int says;			/* pipe with the result of the opener */
};

FIXTURE_SETUP(link)
{
	self->owner.fd = -1;
	self->says = -1;
	self->ballast = mmap(NULL, BALLAST, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->ballast);
	ASSERT_EQ(0, rig_begin(&self->r));
	self->r.values.timeout = 19;
	self->r.values.rnr_retry = 7;
	/* A heartbeat would wake the link for other reasons. */
	self->r.values.heartbeat = 0;
	self->r.values.recover = RCLINK_RECOVER_RESUME;
}

static void close_all(struct _test_data_link *self)
{
	if (self->opener > 0) {
		kill(self->opener, SIGKILL);
		waitpid(self->opener, NULL, 0);
	}
	self->opener = 0;
	if (self->says >= 0)
		close(self->says);
	self->says = -1;
	if (self->owner.fd >= 0)
		genl_close(&self->owner);
	self->owner.fd = -1;
	rig_close(&self->r);
}

FIXTURE_TEARDOWN(link)
{
	close_all(self);
	rig_end(&self->r);
	munmap(self->ballast, BALLAST);
}

static int post_receive(struct rclink_chan *chan)
{
	int ret = rclink_recv(chan, rclink_none(), 0);

	if (!ret)
		ret = rclink_submit(chan, 0, 0);
	return ret < 0 ? ret : 0;
}

static int post_message(struct rclink_chan *chan)
{
	int ret = rclink_send(chan, rclink_none(), RCLINK_SQE_SIGNALED,
			      MESSAGE);

	if (!ret)
		ret = rclink_submit(chan, 0, 0);
	return ret < 0 ? ret : 0;
}

/* The far end sends two messages; the near end has a receive for the first. */
static int keep_busy(struct rig *r)
{
	int ret = post_receive(r->near);

	if (!ret)
		ret = post_message(r->far);
	if (!ret)
		ret = rig_completes(r->far);
	if (!ret)
		ret = rig_completes(r->near);
	return ret ? ret : post_message(r->far);
}

static int write_number(struct _test_data_link *self, uint64_t tag)
{
	self->number++;
	return rclink_write(self->r.near,
			    rclink_bytes(&self->number, sizeof(self->number)),
			    &self->r.remote, 0, RCLINK_SQE_SIGNALED, tag);
}

static bool has_moved(struct _test_data_link *self)
{
	struct rcl_view view;

	return !rcl_view(&self->r.s, RIG_NEAR, &view) &&
	       view.epoch > self->epoch;
}

/*
 * Return: 0 if the last number is held back, so that the far end has the one
 * before; -ESTALE if this host was too slow, so that the link has moved.
 */
static int becomes_still(struct _test_data_link *self)
{
	struct rclink_dev_cqe cqe;
	int ret;

	do {
		if (has_moved(self))
			return -ESTALE;
		ret = write_number(self, BEFORE);
		if (!ret)
			ret = rclink_submit(self->r.near, 1, QUIET_MS);
		/* Unless the host only stood still, and it comes now. */
		if (ret == -ETIME)
			ret = rclink_submit(self->r.near, 1, QUIET_MS);
	} while (rclink_reap(self->r.near, &cqe, 1) == 1 && !cqe.status);
	return ret == -ETIME ? 0 : -EIO;
}

static void begin_once(struct __test_metadata *_metadata,
		       struct _test_data_link *self)
{
	struct rig *r = &self->r;
	struct rcl_view view;
	uint32_t region;

	close_all(self);
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, rclink_region(r->far, self->ballast, BALLAST, NULL, 0,
				   &region));
	ASSERT_EQ(0, keep_busy(r));
	ASSERT_EQ(0, rcl_view(&r->s, RIG_NEAR, &view));
	self->epoch = view.epoch;
	ASSERT_EQ(0, rcl_open(&self->owner));
	ASSERT_EQ(0, rig_rotate(&self->owner));
}

static void begin(struct __test_metadata *_metadata,
		  struct _test_data_link *self)
{
	int tries = TRIES;
	int ret;

	do {
		ASSERT_LT(0, tries--);
		begin_once(_metadata, self);
		ret = becomes_still(self);
	} while (ret == -ESTALE);
	ASSERT_EQ(0, ret);
}

static bool is_settled(struct rig *r, const char *name, uint64_t epoch,
		       bool moved)
{
	struct rcl_view view;

	return !rcl_view(&r->s, name, &view) && !view.standby_epoch &&
	       view.state == RCLINK_LINK_STATE_UP &&
	       (!moved || view.epoch > epoch);
}

/* Wait until both ends are up with one epoch each. */
static bool settles(struct _test_data_link *self, bool moved)
{
	struct rig *r = &self->r;
	int ms;

	for (ms = LIMIT_MS; ms > 0; ms -= 5) {
		if (is_settled(r, RIG_NEAR, self->epoch, moved) &&
		    is_settled(r, RIG_FAR, self->epoch, moved))
			return true;
		usleep(5000);
	}
	return false;
}

/* Give the rotation up. Return: false if the link had moved before. */
static bool is_given_up(struct __test_metadata *_metadata,
			struct _test_data_link *self)
{
	struct rcl_view near, far;

	genl_close(&self->owner);
	self->owner.fd = -1;
	EXPECT_TRUE(settles(self, false));
	EXPECT_EQ(0, rcl_view(&self->r.s, RIG_NEAR, &near));
	EXPECT_EQ(0, rcl_view(&self->r.s, RIG_FAR, &far));
	return near.epoch == self->epoch && far.epoch == self->epoch;
}

static void completes(struct __test_metadata *_metadata,
		      struct rclink_chan *chan, uint64_t tag)
{
	struct rclink_dev_cqe cqe = { 0 };

	EXPECT_LE(0, rclink_submit(chan, 1, LIMIT_MS));
	ASSERT_EQ(1, rclink_reap(chan, &cqe, 1)) TH_LOG("not %d", (int)tag);
	EXPECT_EQ(tag, cqe.user_data);
	EXPECT_EQ(0, cqe.status)
		TH_LOG("%s", rclink_status_name(cqe.status));
}

/* Open a channel, import a region, report the result, and stay open. */
static int be_opener(int to)
{
	struct rclink_remote remote;
	struct rclink_chan *chan;
	int fd = rig_device();
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ret = fd < 0 ? fd : rig_connect(fd, RCLINK_CONNECT_WAIT);
	if (!ret)
		ret = rclink_adopt(&chan, fd);
	if (!ret)
		ret = rclink_import(chan, RIG_REGION, &remote);
	if (write(to, &ret, sizeof(ret)) != sizeof(ret))
		return 1;
	for (;;)
		pause();
}

static int begin_to_open(struct _test_data_link *self)
{
	int fds[2];

	if (pipe(fds))
		return -errno;
	self->says = fds[0];
	self->opener = fork();
	if (!self->opener) {
		/* The rotation is given up when the last copy is closed. */
		genl_close(&self->owner);
		_exit(be_opener(fds[1]));
	}
	close(fds[1]);
	return self->opener < 0 ? -errno : 0;
}

static bool happens(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) == 1;
}

/* There is exactly one channel to accept, and it stays open. */
static void is_open(struct __test_metadata *_metadata,
		    struct _test_data_link *self)
{
	int result = -EIO;
	int fd;

	EXPECT_TRUE(happens(self->r.listener, POLLIN, LIMIT_MS));
	fd = rig_accept(&self->r);
	ASSERT_LE(0, fd);
	ASSERT_TRUE(happens(self->says, POLLIN, LIMIT_MS));
	ASSERT_EQ((ssize_t)sizeof(result),
		  read(self->says, &result, sizeof(result)));
	EXPECT_EQ(0, result) TH_LOG("%s", strerror(-result));
	EXPECT_FALSE(happens(fd, 0, QUIET_MS));
	EXPECT_EQ(-EAGAIN, rig_accept(&self->r));
	close(fd);
}

TEST_F_TIMEOUT(link, what_was_posted_goes_on_where_it_is_given_up, TIMEOUT_S)
{
	struct rig *r = &self->r;
	int tries = TRIES;
	int posted;

	do {
		ASSERT_LT(0, tries--);
		begin(_metadata, self);
		ASSERT_EQ(0, rclink_send(r->near, rclink_none(),
					 RCLINK_SQE_SIGNALED, MESSAGE));
		ASSERT_EQ(0, write_number(self, BEHIND));
		posted = rclink_submit(r->near, 0, 0);
	} while (!is_given_up(_metadata, self) || posted != 2);
	completes(_metadata, r->near, BEFORE);
	EXPECT_EQ(0, memcmp(r->far_memory, &(uint64_t){ self->number - 1 },
			    sizeof(self->number)));
	EXPECT_EQ(-ETIME, rclink_submit(r->near, 1, QUIET_MS));
	ASSERT_EQ(0, post_receive(r->far));
	completes(_metadata, r->near, MESSAGE);
	completes(_metadata, r->near, BEHIND);
	completes(_metadata, r->far, 0);
	EXPECT_EQ(0, memcmp(r->far_memory, &self->number,
			    sizeof(self->number)));
	ASSERT_EQ(0, post_receive(r->near));
	completes(_metadata, r->far, MESSAGE);
	completes(_metadata, r->near, 0);
}

TEST_F_TIMEOUT(link, what_was_posted_goes_on_where_the_link_moves, TIMEOUT_S)
{
	struct rig *r = &self->r;

	begin(_metadata, self);
	ASSERT_TRUE(settles(self, true));
	completes(_metadata, r->near, BEFORE);
	EXPECT_EQ(0, memcmp(r->far_memory, &self->number,
			    sizeof(self->number)));
	ASSERT_EQ(0, post_receive(r->near));
	completes(_metadata, r->far, MESSAGE);
	completes(_metadata, r->near, 0);
}

TEST_F_TIMEOUT(link, a_channel_is_opened_when_it_is_given_up, TIMEOUT_S)
{
	int tries = TRIES;
	bool early;

	do {
		ASSERT_LT(0, tries--);
		begin(_metadata, self);
		ASSERT_EQ(0, begin_to_open(self));
		early = happens(self->r.listener, POLLIN, QUIET_MS);
	} while (!is_given_up(_metadata, self));
	EXPECT_FALSE(early);
	is_open(_metadata, self);
}

TEST_F_TIMEOUT(link, a_channel_is_opened_when_the_link_has_moved, TIMEOUT_S)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		begin(_metadata, self);
		ASSERT_EQ(0, begin_to_open(self));
		ASSERT_TRUE(settles(self, true));
		is_open(_metadata, self);
	}
}

/*
 * The near end has answered the hello, so the peer may be in the next epoch.
 * The owner gives that epoch up all the same, and prepares another one. Return:
 * 0 if both succeed.
 */
static int replace_next(struct _test_data_link *self)
{
	struct rcl_view view;
	struct rcl_end end;
	int ret;

	ret = rcl_view(&self->r.s, RIG_NEAR, &view);
	if (!ret)
		ret = rcl_replace(&self->owner, RIG_NEAR, view.standby_epoch,
				  NULL);
	return ret ? ret : rcl_prepare_beside(&self->owner, RIG_NEAR, &end);
}

TEST_F_TIMEOUT(link, what_was_posted_goes_on_where_it_is_replaced, TIMEOUT_S)
{
	struct rig *r = &self->r;
	int tries = TRIES;
	int ret;

	do {
		ASSERT_LT(0, tries--);
		begin(_metadata, self);
		ret = replace_next(self);
	} while (has_moved(self));
	EXPECT_EQ(0, ret);
	completes(_metadata, r->near, BEFORE);
	EXPECT_EQ(0, memcmp(r->far_memory, &self->number,
			    sizeof(self->number)));
	EXPECT_TRUE(is_given_up(_metadata, self));
}

/* Set the number of pooled QPs of the next epoch, at both ends. */
static int set_qps(struct genl_sock *s, uint32_t qps)
{
	static const char * const name[] = { RIG_NEAR, RIG_FAR };
	struct genl_msg m;
	int ret = 0;
	int i;

	for (i = 0; !ret && i < 2; i++) {
		genl_begin(&m, s, RCLINK_CMD_LINK_SET);
		genl_put_str(&m, RCLINK_A_LINK_NAME, name[i]);
		genl_put_u32(&m, RCLINK_A_LINK_QPS, qps);
		ret = genl_ask(s, &m, NULL, NULL);
	}
	return ret;
}

TEST_F_TIMEOUT(link, a_channel_without_a_place_in_the_pool_ends, TIMEOUT_S)
{
	struct rig *r = &self->r;
	struct rclink_dev_cqe cqe;
	struct rcl_view view;
	int near, far;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	near = rig_device();
	ASSERT_LE(0, near);
	ASSERT_EQ(0, rig_connect(near, RCLINK_CONNECT_WAIT));
	far = rig_accept(r);
	ASSERT_LE(0, far);
	ASSERT_EQ(0, set_qps(&r->s, 1));
	ASSERT_EQ(0, rcl_view(&r->s, RIG_NEAR, &view));
	self->epoch = view.epoch;
	ASSERT_EQ(0, rcl_open(&self->owner));
	ASSERT_EQ(0, rig_rotate(&self->owner));
	ASSERT_TRUE(settles(self, true));
	EXPECT_TRUE(happens(near, POLLHUP, LIMIT_MS));
	EXPECT_TRUE(happens(far, POLLHUP, LIMIT_MS));
	EXPECT_EQ(1, rcl_faults(&r->s, RIG_NEAR,
				RCLINK_DOWN_REASON_LOCAL_ERROR));
	EXPECT_EQ(1, rcl_faults(&r->s, RIG_FAR,
				RCLINK_DOWN_REASON_LOCAL_ERROR));
	EXPECT_EQ(0, rig_moves(r, 7));
	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
	close(near);
	close(far);
}

TEST_HARNESS_MAIN
