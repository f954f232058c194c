// SPDX-License-Identifier: GPL-2.0
/*
 * A channel goes on in the next epoch, and the n-th verbs call after the link
 * was activated fails, at either end, for every n there is. On the debug
 * kernel, so does each allocation for the channel's imported regions. The
 * channel goes on all the same, or in another epoch if this one failed, or ends
 * at both ends. No message comes twice, and none is lost of which the sender
 * was told that it has arrived.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cut.h"
#include "far.h"
#include "fault.h"
#include "harness.h"
#include "sim.h"

#define N_MAX		1000		/* more than there are */
#define STEP_MS		slow(500)	/* then the link is checked */
#define TRIES		40
#define LIMIT_MS	slow(20000)
#define QUIET_MS	100
#define BACK_MS		8000		/* until deleted objects are gone */
#define TIMEOUT_S	600
#define ALL		100		/* completions, more than there are */
#define IMPORTS		3		/* regions that the near end imports */
#define REGIONS		40		/* more of them, of its own */
#define SLOW_MS		100		/* that each takes to end */
#define PAGE		4096
#define S		RCLINK_SQE_SIGNALED

enum { WRITTEN, SENT, STEPS };

static const struct cut_step steps[STEPS] = {
	[WRITTEN] = { RCLINK_OP_WRITE, S },
	[SENT] = { RCLINK_OP_SEND, S },
};

FIXTURE(channel)
{
	struct cut c;
	int others;			/* objects of other devices */
};

FIXTURE_VARIANT(channel)
{
	const char *device;
	int least;			/* calls that are needed, at least */
};

FIXTURE_VARIANT_ADD(channel, near) {
	.device = SIM_NEAR, .least = 5,
};

FIXTURE_VARIANT_ADD(channel, far) {
	.device = SIM_FAR, .least = 5,
};

FIXTURE_SETUP(channel)
{
	struct cut *c = &self->c;

	ASSERT_EQ(0, cut_begin(c));
	self->others = rcl_all_objects();
	c->step = steps;
	c->n = STEPS;
	c->r.flags = RCLINK_CHAN_REPLAY;
}

FIXTURE_TEARDOWN(channel)
{
	cut_end(&self->c);
}

static bool is_up(struct cut *c, const char *name)
{
	struct rcl_view view;

	return !rcl_view(&c->r.s, name, &view) &&
	       view.state == RCLINK_LINK_STATE_UP;
}

/* Take both ends down first: one may be up, unaware that the other is down. */
static void up_again(struct cut *c)
{
	if (!is_up(c, RIG_NEAR) || !is_up(c, RIG_FAR))
		if (!cut_ports_down(c))
			cut_up(c);
}

/* Reap the next completion of an operation, even if its channel goes down. */
static bool completes(struct cut *c, struct rclink_dev_cqe *cqe)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		while (rclink_reap(c->r.near, cqe, 1) == 1)
			if (cqe->op != RCLINK_OP_RECV)
				return true;
		up_again(c);
		rclink_submit(c->r.near, 1, STEP_MS);
	}
	return false;
}

/* One message goes each way, and nothing else arrives. */
static int moves(struct cut *c)
{
	struct rclink_dev_cqe cqe;
	int ret;

	ret = rclink_send(c->r.near, rclink_none(), S, 0);
	if (!ret)
		ret = rig_completes(c->r.near);
	if (!ret)
		ret = rig_completes(c->r.far);
	if (!ret)
		ret = rclink_send(c->r.far, rclink_none(), S, 0);
	if (!ret)
		ret = rig_completes(c->r.far);
	if (!ret)
		ret = rig_completes(c->r.near);
	if (!ret && rclink_reap(c->r.far, &cqe, 1))
		ret = -EALREADY;
	return ret;
}

/* Return: how many messages have arrived with the right data. */
static int arrived(struct cut *c)
{
	struct rclink_dev_cqe cqe;
	int n = 0;

	while (rclink_reap(c->r.far, &cqe, 1) == 1)
		n += !cqe.status && cqe.op == RCLINK_OP_RECV &&
		     cqe.len == CUT_SIZE &&
		     far_is(c->r.far_memory, 0, CUT_SIZE);
	return n;
}

static bool has_ended(struct rclink_chan *chan)
{
	return rclink_submit(chan, ALL, LIMIT_MS) == -ECONNRESET;
}

static bool was_refused(const struct rclink_dev_cqe *cqe)
{
	int i;

	for (i = 0; i < STEPS; i++)
		if (!strcmp("general error",
			    rclink_status_name(cqe[i].status)))
			return true;
	return false;
}

/*
 * Check the outcome when nothing fails any more. If the device refused an
 * operation, the near end was told so and nothing more is sent: it closes.
 */
static void is_right(struct __test_metadata *_metadata, struct cut *c,
		     const struct rclink_dev_cqe *cqe)
{
	bool arrives = !cqe[SENT].status;
	int ret;

	if (!cqe[WRITTEN].status)
		EXPECT_EQ(CUT_AFTER, *cut_word(c, WRITTEN));
	if (arrives)
		EXPECT_LE(0, rclink_submit(c->r.far, 1, LIMIT_MS));
	ret = arrived(c);
	EXPECT_LE(arrives, ret);
	EXPECT_GE(1, ret);
	/* A later message of the link itself may have failed. */
	usleep(QUIET_MS * 1000);
	up_again(c);
	ret = moves(c);
	if (!ret)
		return;
	if (was_refused(cqe)) {
		rclink_close(c->r.near);
		c->r.near = NULL;
	} else {
		EXPECT_TRUE(has_ended(c->r.near));
	}
	EXPECT_TRUE(has_ended(c->r.far));
	EXPECT_GE(1 - arrives, arrived(c));
}

/* Operations complete in order, but a refused one completes at once. */
static void all_complete(struct __test_metadata *_metadata, struct cut *c,
			 struct rclink_dev_cqe *cqe)
{
	struct rclink_dev_cqe one;
	int i;

	for (i = 0; i < STEPS; i++)
		cqe[i].user_data = STEPS;
	for (i = 0; i < STEPS; i++) {
		ASSERT_TRUE(completes(c, &one)) TH_LOG("not %d", i);
		ASSERT_GT(STEPS, one.user_data);
		if (!i && one.user_data)
			EXPECT_STREQ("general error",
				     rclink_status_name(one.status));
		EXPECT_EQ(STEPS, cqe[one.user_data].user_data);
		cqe[one.user_data] = one;
	}
}

static bool fails_at(struct __test_metadata *_metadata, struct cut *c,
		     const char *device, int n)
{
	struct rclink_dev_cqe cqe[STEPS];
	bool failed;
	long before;

	ASSERT_EQ(0, cut_open(c, RCLINK_RECOVER_RESUME));
	cut_clear(c);
	ASSERT_EQ(0, cut_down(c, 1));
	cut_clear(c);
	ASSERT_EQ(0, cut_connect(c));
	before = sim_seen(device, "any");
	ASSERT_EQ(0, sim_knob(device, "fault", "any %d", n));
	cut_activate(c, STEP_MS);
	all_complete(_metadata, c, cqe);
	ASSERT_EQ(0, sim_knob(device, "fault", "any 1 0"));
	failed = sim_seen(device, "any") >= before + n;
	is_right(_metadata, c, cqe);
	cut_close(c);
	return failed;
}

TEST_F_TIMEOUT(channel, goes_on_or_ends, TIMEOUT_S)
{
	struct cut *c = &self->c;
	int n = 1;

	while (fails_at(_metadata, c, variant->device, n)) {
		ASSERT_EQ(KSFT_PASS, _metadata->exit_code) TH_LOG("%d", n);
		ASSERT_GT(N_MAX, n++);
	}
	TH_LOG("%s: %d calls", variant->device, n - 1);
	EXPECT_LE(variant->least, n);
	ASSERT_EQ(0, rcl_clean(&c->r.s));
	EXPECT_EQ(self->others, rig_until_objects(self->others, BACK_MS));
	EXPECT_EQ(0, rig_pinned());
}

/* The peer ended the channel, so this end has no local error on record. */
TEST_F_TIMEOUT(channel, ends_where_the_peer_withdraws_its_region, TIMEOUT_S)
{
	struct cut *c = &self->c;
	struct rclink_dev_cqe cqe;

	ASSERT_EQ(0, cut_open(c, RCLINK_RECOVER_RESUME));
	cut_clear(c);
	ASSERT_EQ(0, cut_down(c, 0));
	ASSERT_EQ(0, rclink_withdraw(c->r.far, c->words_region));
	ASSERT_EQ(0, cut_up(c));
	EXPECT_TRUE(has_ended(c->r.near));
	ASSERT_EQ(1, rclink_reap(c->r.near, &cqe, 1));
	EXPECT_EQ((uint64_t)WRITTEN, cqe.user_data);
	EXPECT_STREQ("local protection error", rclink_status_name(cqe.status));
	EXPECT_EQ(0, rcl_faults(&c->r.s, RIG_NEAR,
				RCLINK_DOWN_REASON_LOCAL_ERROR));
}

FIXTURE(imports)
{
	struct cut c;
	struct fault f;
};

FIXTURE_SETUP(imports)
{
	struct cut *c = &self->c;

	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	ASSERT_EQ(0, cut_begin(c));
	c->step = steps;
	c->n = STEPS;
	c->r.flags = RCLINK_CHAN_REPLAY;
	ASSERT_EQ(0, fault_init_below(&self->f, "failslab", "rcl_chan_fetch"));
}

FIXTURE_TEARDOWN(imports)
{
	cut_end(&self->c);
}

/* The status of the first operation; it comes late if the channel ended. */
static int written(struct cut *c)
{
	struct rclink_dev_cqe cqe;
	int i;

	for (i = 0; i < TRIES; i++) {
		rclink_submit(c->r.near, 1, STEP_MS);
		while (rclink_reap(c->r.near, &cqe, 1) == 1)
			if (cqe.op != RCLINK_OP_RECV)
				return cqe.status;
		usleep(QUIET_MS * 1000);
	}
	return -ETIMEDOUT;
}

/* Write to the first imported region when the second operation is complete. */
static int writes(struct cut *c)
{
	struct rig *r = &c->r;
	int ret = rig_completes(r->near);

	if (!ret)
		ret = rclink_write(r->near,
				   rclink_piece(r->near_region, 0, CUT_SIZE),
				   &r->remote, 0, S, 0);
	return ret ? ret : rig_completes(r->near);
}

/* The channel ends before the local error is on record, so wait for it. */
static bool is_on_record(struct cut *c)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		if (rcl_faults(&c->r.s, RIG_NEAR,
			       RCLINK_DOWN_REASON_LOCAL_ERROR) == 1)
			return true;
		usleep(QUIET_MS * 1000);
	}
	return false;
}

/* Import until the armed failure has happened, so that the count is known. */
static void drain(struct cut *c, struct fault *f)
{
	struct rclink_remote remote;

	while (fault_pending(f))
		if (!rclink_import(c->r.near, RIG_REGION, &remote))
			rclink_release(c->r.near, &remote);
}

/* The peer withdraws nothing. Return: false if there is no allocation @k. */
static bool is_fetched_or_ends(struct __test_metadata *_metadata,
			       struct cut *c, struct fault *f, int k,
			       int *ended)
{
	bool happened;
	int status;

	ASSERT_EQ(0, cut_open(c, RCLINK_RECOVER_RESUME));
	cut_clear(c);
	ASSERT_EQ(0, cut_down(c, 0));
	ASSERT_EQ(0, cut_connect(c));
	fault_arm(f, k);
	EXPECT_EQ(0, cut_activate(c, LIMIT_MS));
	status = written(c);
	happened = !fault_pending(f);
	if (status) {
		++*ended;
		EXPECT_TRUE(happened) TH_LOG("allocation %d: %d", k, status);
		EXPECT_TRUE(is_on_record(c)) TH_LOG("allocation %d", k);
	} else {
		EXPECT_EQ(0, writes(c)) TH_LOG("allocation %d", k);
		drain(c, f);
	}
	fault_disarm(f);
	cut_close(c);
	/* Delete the links with their records. */
	ASSERT_EQ(0, rcl_clean(&c->r.s));
	return happened;
}

TEST_F_TIMEOUT(imports, without_memory_for_them_a_channel_ends, TIMEOUT_S)
{
	int ended = 0, k = 1;

	while (is_fetched_or_ends(_metadata, &self->c, &self->f, k, &ended)) {
		ASSERT_EQ(KSFT_PASS, _metadata->exit_code) TH_LOG("%d", k);
		ASSERT_GT(N_MAX, k++);
	}
	TH_LOG("%d allocations, %d of them needed", k - 1, ended);
	/* That of each request is needed; that of keys is tried twice. */
	EXPECT_LE(IMPORTS, ended);
}

FIXTURE(closed)
{
	struct cut c;
};

FIXTURE_SETUP(closed)
{
	ASSERT_EQ(0, cut_begin(&self->c));
	self->c.step = steps;
	self->c.n = STEPS;
}

FIXTURE_TEARDOWN(closed)
{
	cut_end(&self->c);
}

/* Its regions are registered again before the peer says that it has closed. */
TEST_F_TIMEOUT(closed, it_is_heard_of_before_registrations_end, TIMEOUT_S)
{
	struct cut *c = &self->c;
	uint32_t region;
	int64_t begin;
	void *m;
	int i;

	ASSERT_EQ(0, cut_open(c, RCLINK_RECOVER_RESUME));
	for (i = 0; i < REGIONS; i++) {
		ASSERT_EQ(0, rclink_memory(c->r.near, &m, PAGE, NULL, 0,
					   &region));
		munmap(m, PAGE);
	}
	ASSERT_EQ(0, cut_down(c, 0));
	rclink_close(c->r.far);
	c->r.far = NULL;
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "slow_mr 1 %d %d", REGIONS,
			      slow(SLOW_MS)));
	begin = rcl_now_ms();
	ASSERT_EQ(0, cut_up(c));
	/* Receives complete, and then nothing more. */
	EXPECT_EQ(-ECONNRESET, rclink_submit(c->r.near, ALL, LIMIT_MS));
	EXPECT_GT(REGIONS * slow(SLOW_MS) / 2, rcl_now_ms() - begin);
}

TEST_HARNESS_MAIN
