// SPDX-License-Identifier: GPL-2.0
/*
 * Each verbs call of a channel's life fails once, at either end: the n-th, for
 * every n there is, from opening the channel until its QP has been leased
 * again; and so do its work requests, and the mappings of its memory for the
 * device, also in its next epoch. Each failure is reported, nothing is left
 * behind, and the next channel works. On simulated devices.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define N_MAX		1000	/* more than a round has calls */
#define PAGE		4096
#define BACK_MS		8000	/* until deleted objects are gone */
#define LATE_MS		300	/* until a QP has been leased again */
#define RIGHTS		(RCLINK_REGION_WRITE | RCLINK_REGION_READ | \
			 RCLINK_REGION_ATOMIC)
#define NEAR		SIM_NEAR
#define FAR		SIM_FAR
#define EXTRA		"extra"
#define SHARED		"shared"
#define EXTRA_SIZE	(33 * PAGE)	/* several registrations */
#define EXTRA_AT	(20 * PAGE)
#define LONG		(8UL << 20)

FIXTURE(channel)
{
	struct rig r;
	int others;		/* objects of other devices */
};

FIXTURE_VARIANT(channel)
{
	const char *device;
	const char *fault;
	int least;		/* so many rounds have to fail */
	const char *words;	/* of both devices; no more pages in a
				 * registration than a link needs
				 */
};

#define WORDS		"pages=16"
#define MAPS		WORDS " dma=2"	/* mapping can fail */

FIXTURE_VARIANT_ADD(channel, calls_near) {
	.device = NEAR, .fault = "any", .least = 10, .words = WORDS,
};

FIXTURE_VARIANT_ADD(channel, calls_far) {
	.device = FAR, .fault = "any", .least = 10, .words = WORDS,
};

FIXTURE_VARIANT_ADD(channel, sends_near) {
	.device = NEAR, .fault = "send", .least = 5, .words = WORDS,
};

FIXTURE_VARIANT_ADD(channel, sends_far) {
	.device = FAR, .fault = "send", .least = 3, .words = WORDS,
};

FIXTURE_VARIANT_ADD(channel, receives_far) {
	.device = FAR, .fault = "recv", .least = 1, .words = WORDS,
};

/* The slots of inline data, and each part of each region. */
FIXTURE_VARIANT_ADD(channel, maps_near) {
	.device = NEAR, .fault = "dma_map", .least = 2, .words = MAPS,
};

FIXTURE_VARIANT_ADD(channel, maps_far) {
	.device = FAR, .fault = "dma_map", .least = 2, .words = MAPS,
};

/*
 * An end that fails cannot always say so. The peer then learns of it from
 * the heartbeat, or from requests that nobody acknowledges.
 */
static int begin(struct rig *r, const char *words)
{
	int ret = rig_begin_sims(r, words);

	r->values.heartbeat = 500;
	r->values.recover = RCLINK_RECOVER_RESET;
	return ret;
}

FIXTURE_SETUP(channel)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, begin(r, variant->words));
	self->others = rcl_all_objects();
}

FIXTURE_TEARDOWN(channel)
{
	rig_end_sims(&self->r);
}

/* The far end imports the region and adds to a word of it. */
static int adds_to(struct rig *r, const char *name, uint64_t *addr)
{
	struct rclink_remote remote;
	int ret = rclink_import(r->far, name, &remote);

	/* If registering failed, the share is not found: import again. */
	if (ret == -ENOENT && !strcmp(name, SHARED))
		ret = rclink_import(r->far, name, &remote);
	if (!ret)
		ret = rclink_fadd(r->far, rclink_piece(r->far_region, 0, 8),
				  &remote, EXTRA_AT, 7, RCLINK_SQE_SIGNALED,
				  0);
	if (!ret)
		ret = rig_completes(r->far);
	if (!ret && addr[EXTRA_AT / sizeof(*addr)] != 7)
		ret = -EILSEQ;
	munmap(addr, EXTRA_SIZE);
	return ret ? ret : rclink_release(r->far, &remote);
}

/* Another region, of memory that the kernel allocates. */
static int adds(struct rig *r)
{
	uint32_t region;
	void *addr;
	int ret;

	ret = rclink_memory(r->near, &addr, EXTRA_SIZE, EXTRA, RIGHTS, &region);
	if (ret)
		return ret;
	ret = adds_to(r, EXTRA, addr);
	/* Even if the channel has ended, its region stays until now. */
	return rclink_withdraw(r->near, region) ? : ret;
}

/* A share, which is registered for a link when it is imported. */
static int shares(struct rig *r)
{
	struct rclink_share *share;
	uint32_t region;
	void *addr;
	int ret;

	ret = rclink_share(&share);
	if (ret)
		return ret;
	ret = rclink_share_memory(share, &addr, EXTRA_SIZE, SHARED, RIGHTS,
				  &region);
	if (!ret)
		ret = adds_to(r, SHARED, addr);
	rclink_share_close(share);
	return ret;
}

/* Is it a documented error, or what the device was told to return? */
static bool is_defined(int ret)
{
	switch (ret) {
	case 0:
	case -ENOMEM:
	case -EIO:		/* a registration did not complete */
	case -EAGAIN:		/* no QP is left, or the peer has no memory */
	case -ENOTCONN:		/* the link is down */
	case -ECONNRESET:	/* the other end */
	case -EREMOTEIO:	/* a completion, as its status says */
		return true;
	default:
		return false;
	}
}

/* The life of a channel; 0, or the error of the step that failed. */
static int live(struct rig *r)
{
	int ret;

	ret = rig_open(r);
	if (!ret)
		ret = rig_moves(r, 3);
	if (!ret)
		ret = rig_sends(r);
	if (!ret)
		ret = adds(r);
	if (!ret)
		ret = shares(r);
	rig_close(r);
	return ret;
}

static void nothing_is_left(struct __test_metadata *_metadata, struct rig *r,
			    int others, int n)
{
	ASSERT_EQ(0, rcl_clean(&r->s));
	ASSERT_EQ(others, rig_until_objects(others, BACK_MS))
		TH_LOG("%d: objects are left", n);
	ASSERT_EQ(0, sim_mapped_left(NEAR)) TH_LOG("%d: memory is mapped", n);
	ASSERT_EQ(0, sim_mapped_left(FAR)) TH_LOG("%d: memory is mapped", n);
	ASSERT_EQ(0, rig_pinned()) TH_LOG("%d: memory is pinned", n);
}

/* A new channel works, and then the links leave nothing behind. */
static void is_whole(struct __test_metadata *_metadata, struct rig *r,
		     int others, int n)
{
	int tries = 3;
	int ret;

	/* The link may be about to go down. */
	do {
		ret = rig_link(r);
		if (!ret)
			ret = live(r);
	} while (ret && --tries);
	ASSERT_EQ(0, ret) TH_LOG("%d: no channel", n);
	nothing_is_left(_metadata, r, others, n);
}

/* The fault may hit only after a round, as when the QP is leased again. */
static bool happens(const char *device, const char *fault, long end)
{
	int ms;

	for (ms = slow(LATE_MS); ms > 0; ms -= 5) {
		if (sim_seen(device, fault) >= end)
			return true;
		usleep(5000);
	}
	return false;
}

TEST_F_TIMEOUT(channel, one_fails, 300)
{
	const char *fault = variant->fault;
	int n, hits = 0, failed = 0;
	struct rig *r = &self->r;
	bool happened = true;
	long before;
	int ret;

	for (n = 1; happened && n < N_MAX; n++) {
		ASSERT_EQ(0, rig_link(r)) TH_LOG("%d: no link", n);
		before = sim_seen(variant->device, fault);
		ASSERT_EQ(0, sim_knob(variant->device, "fault", "%s %d", fault,
				      n));
		ret = live(r);
		happened = happens(variant->device, fault, before + n);
		ASSERT_EQ(0, sim_knob(variant->device, "fault", "%s 1 0",
				      fault));
		hits += happened;
		failed += ret != 0;
		EXPECT_TRUE(is_defined(ret)) TH_LOG("%s %d: %d", fault, n, ret);
		EXPECT_TRUE(happened || !ret)
			TH_LOG("%s: %d without any", fault, ret);
		is_whole(_metadata, r, self->others, n);
	}
	EXPECT_GT(N_MAX, n);
	TH_LOG("%s of %s: %d, %d of them needed", fault, variant->device, hits,
	       failed);
	EXPECT_LE(variant->least, failed);
}

/* Channels that are to go on in the next epoch. */
FIXTURE(epoch)
{
	struct rig r;
	int others;		/* objects of other devices */
	int links, channels;	/* that failed */
};

FIXTURE_VARIANT(epoch)
{
	const char *device;
	const char *link;	/* on that device */
};

FIXTURE_VARIANT_ADD(epoch, maps_near) {
	.device = NEAR, .link = RIG_NEAR,
};

FIXTURE_VARIANT_ADD(epoch, maps_far) {
	.device = FAR, .link = RIG_FAR,
};

FIXTURE_SETUP(epoch)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, begin(r, MAPS));
	self->others = rcl_all_objects();
	r->values.recover = RCLINK_RECOVER_RESUME;
}

FIXTURE_TEARDOWN(epoch)
{
	rig_end_sims(&self->r);
}

static int until_both_down(struct rig *r)
{
	int ret = rcl_until(&r->s, RIG_NEAR, RCLINK_LINK_STATE_DOWN, BACK_MS);

	return ret ? ret : rcl_until(&r->s, RIG_FAR, RCLINK_LINK_STATE_DOWN,
				     BACK_MS);
}

/* As an exchange does it, at whose end an epoch that is not up is given up. */
static int next_epoch(void)
{
	struct genl_sock owner;
	int ret = rcl_open(&owner);

	if (ret)
		return ret;
	ret = rcl_pair(&owner, RIG_NEAR, RIG_FAR, RCLINK_LINK_STATE_UP);
	genl_close(&owner);
	return ret;
}

/* Open a channel, then end the epoch, which the channel outlives. */
static void is_parted(struct __test_metadata *_metadata, struct rig *r)
{
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, rig_moves(r, 1));
	ASSERT_EQ(0, sim_knob(NEAR, "up", "0"));
	ASSERT_EQ(0, until_both_down(r));
	ASSERT_EQ(0, sim_knob(NEAR, "up", "1"));
}

/* A link that cannot have its memory does not cost its channels theirs. */
static void goes_on_later(struct __test_metadata *_metadata, struct rig *r)
{
	ASSERT_EQ(0, until_both_down(r));
	ASSERT_EQ(0, next_epoch());
	EXPECT_EQ(0, rig_moves(r, 2));
}

/*
 * The n-th mapping in the next epoch fails: that of the link, which does not
 * come up, or that of the channel, which ends. Return: whether there is one.
 */
static bool one_map_fails(struct __test_metadata *_metadata,
			  struct _test_data_epoch *self, const char *device,
			  const char *link, int n)
{
	struct rig *r = &self->r;
	bool happened;
	long before;
	int ret;

	is_parted(_metadata, r);
	before = sim_seen(device, "dma_map");
	ASSERT_EQ(0, sim_knob(device, "fault", "dma_map %d", n));
	ret = next_epoch();
	if (ret) {
		self->links++;
		EXPECT_EQ(-EIO, ret) TH_LOG("%d", n);
		happened = sim_seen(device, "dma_map") >= before + n;
		goes_on_later(_metadata, r);
	} else {
		ret = rig_moves(r, 3);
		happened = sim_seen(device, "dma_map") >= before + n;
		self->channels += happened;
		EXPECT_EQ(happened ? -ECONNRESET : 0, ret) TH_LOG("%d", n);
		EXPECT_EQ(happened, rcl_faults(&r->s, link,
					       RCLINK_DOWN_REASON_LOCAL_ERROR))
			TH_LOG("%d", n);
	}
	ASSERT_EQ(0, sim_knob(device, "fault", "dma_map 1 0"));
	rig_close(r);
	nothing_is_left(_metadata, r, self->others, n);
	return happened;
}

TEST_F_TIMEOUT(epoch, one_fails, 300)
{
	int n;

	for (n = 1; n < N_MAX; n++)
		if (!one_map_fails(_metadata, self, variant->device,
				   variant->link, n))
			break;
	EXPECT_GT(N_MAX, n);
	TH_LOG("dma_map of %s: %d of links, %d of channels", variant->device,
	       self->links, self->channels);
	/* Slots of both directions and the buffer; inline data and a region. */
	EXPECT_LE(3, self->links);
	EXPECT_LE(2, self->channels);
}

#define VERBS	3

static void count_verbs(long seen[2][VERBS])
{
	static const char *const verbs[VERBS] = {
		"create_cq", "create_qp", "modify_qp",
	};
	int i;

	for (i = 0; i < VERBS; i++) {
		seen[0][i] = sim_seen(NEAR, verbs[i]);
		seen[1][i] = sim_seen(FAR, verbs[i]);
	}
}

/* All that takes long was done when the link came up. */
TEST(a_channel_is_opened_with_the_qps_that_there_are)
{
	long before[2][VERBS], after[2][VERBS];
	int fd[2], i;
	struct rig r;

	ASSERT_EQ(0, begin(&r, ""));
	ASSERT_EQ(0, rig_link(&r));
	count_verbs(before);
	fd[0] = rig_device();
	ASSERT_LE(0, fd[0]);
	ASSERT_EQ(0, rig_connect(fd[0], 0));
	fd[1] = rig_accept(&r);
	ASSERT_LE(0, fd[1]);
	count_verbs(after);
	for (i = 0; i < VERBS; i++) {
		EXPECT_LT(0, before[0][i]);
		EXPECT_EQ(before[0][i], after[0][i]);
		EXPECT_EQ(before[1][i], after[1][i]);
	}
	close(fd[0]);
	close(fd[1]);
	rig_end_sims(&r);
}

/* EAGAIN would mean that the channel is suspended. */
TEST(a_driver_that_has_nothing_left_suspends_no_channel)
{
	static const char * const calls[] = { "create_qp", "alloc_mr" };
	struct rig r;
	int i;

	ASSERT_EQ(0, begin(&r, ""));
	ASSERT_EQ(0, rig_link(&r));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sim_knob(NEAR, "fault", "%s 1 1 %d", calls[i],
				      -EAGAIN));
		EXPECT_EQ(-EIO, rig_open(&r)) TH_LOG("%s", calls[i]);
		rig_close(&r);
	}
	EXPECT_EQ(0, rig_open(&r));
	rig_end_sims(&r);
}

/* A driver that claims more pages for a registration than it can take. */
FIXTURE(boast)
{
	struct rig r;
};

FIXTURE_SETUP(boast)
{
	ASSERT_EQ(0, begin(&self->r, "pages=65536"));
	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
}

FIXTURE_TEARDOWN(boast)
{
	rig_end_sims(&self->r);
}

TEST_F(boast, a_region_takes_as_many_as_work)
{
	const uint64_t at = LONG - PAGE;
	struct rclink_remote remote;
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rclink_memory(r->far, &m, LONG, EXTRA, RIGHTS, &region));
	ASSERT_EQ(0, rclink_import(r->near, EXTRA, &remote));
	far_fill(r->near_memory, 9, PAGE);
	ASSERT_EQ(0, rclink_write(r->near, rclink_piece(r->near_region, 0,
							PAGE),
				  &remote, at, RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(r->near));
	EXPECT_TRUE(far_is((uint8_t *)m + at, 9, PAGE));
	munmap(m, LONG);
}

TEST_HARNESS_MAIN
