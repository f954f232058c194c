// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations fail at both ends of a channel, whoever makes them. Channel and
 * link work, or end with a defined error; once nothing fails any more, they
 * work again. Needs the debug kernel.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "harness.h"
#include "rig.h"

#define PAGE		4096
#define NAME		"extra"
#define SLAB		"failslab"
#define PAGE_ALLOC	"fail_page_alloc"
#define RIGHTS		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)
#define STEPS_MAX	1000	/* more than any round allocates */
#define HANDLES		70	/* more than a channel has of one kind */
#define BACK_MS		10000	/* until a QP has been leased again */
#define SETTLE_MS	300	/* for work that others do later */
#define STORM_S		15
#define LINK_TRIES	2
#define SWEEP_S		900

FIXTURE(rig)
{
	struct rig r;
};

FIXTURE_SETUP(rig)
{
	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	ASSERT_EQ(0, rig_begin(&self->r));
}

FIXTURE_TEARDOWN(rig)
{
	rig_end(&self->r);
}

/* As rig_open() says it, or what it does. */
static bool is_defined(int ret)
{
	switch (ret) {
	case 0:
	case -ENOMEM:
	case -EAGAIN:		/* the peer has no memory, or no QP is left */
	case -ENOTCONN:		/* the link is down */
	case -ECONNRESET:	/* the other end, or its device */
	case -ENFILE:		/* rxe has no socket for a QP */
	case -EREMOTEIO:	/* a completion has an error status */
		return true;
	default:
		return false;
	}
}

static int finds(struct rig *r)
{
	struct rclink_remote remote;
	int ret = rclink_import(r->near, NAME, &remote);

	return ret ? ret : rclink_release(r->near, &remote);
}

/* Export memory of the kernel by the channel; the peer imports it. */
static int lends(struct rig *r)
{
	uint32_t region;
	void *addr;
	int gone, ret;

	ret = rclink_memory(r->far, &addr, PAGE, NAME, RIGHTS, &region);
	if (ret)
		return ret;
	ret = finds(r);
	munmap(addr, PAGE);
	gone = rclink_withdraw(r->far, region);
	return ret ? ret : gone;
}

/* The same by a share, which is registered when the peer imports it. */
static int shares(struct rig *r)
{
	struct rclink_share *share;
	uint32_t region;
	void *addr;
	int ret;

	ret = rclink_share(&share);
	if (ret)
		return ret;
	ret = rclink_share_memory(share, &addr, PAGE, NAME, RIGHTS, &region);
	if (!ret) {
		ret = finds(r);
		munmap(addr, PAGE);
	}
	rclink_share_close(share);
	/* If the other end cannot register it, it says that it is not there. */
	return ret == -ENOENT ? -ENOMEM : ret;
}

/* Open a channel, use it, close it; a link that goes down must say why. */
static int go_round(struct rig *r)
{
	struct rcl_view view;
	int ret;

	ret = rig_open(r);
	if (!ret)
		ret = rig_moves(r, 3);
	if (!ret)
		ret = lends(r);
	if (!ret)
		ret = shares(r);
	rig_close(r);
	if (is_defined(ret) && !rcl_view(&r->s, RIG_NEAR, &view) &&
	    view.state == RCLINK_LINK_STATE_DOWN && !view.reason)
		return -EPROTO;
	return ret;
}

/* Once nothing fails any more, all works, and no object is left behind. */
static void recovers(struct __test_metadata *_metadata, struct rig *r,
		     int objects)
{
	unsigned int i;

	for (i = 0; rig_link(r) && i < 3; i++)
		;
	EXPECT_EQ(0, rig_link(r));
	EXPECT_EQ(0, go_round(r));
	EXPECT_EQ(0, rcl_clean(&r->s));
	EXPECT_EQ(objects, rig_until_objects(objects, BACK_MS));
}

static bool happens(struct fault *f)
{
	int i;

	for (i = 0; fault_pending(f) && i < slow(SETTLE_MS); i += 10)
		usleep(10000);
	return !fault_pending(f);
}

static void sweep(struct __test_metadata *_metadata, struct rig *r,
		  const char *knob)
{
	int objects = rcl_all_objects();
	bool happened = true;
	struct fault f;
	unsigned int k;
	int ret;

	ASSERT_EQ(0, fault_init(&f, knob));
	for (k = 1; happened && k < STEPS_MAX; k++) {
		ASSERT_EQ(0, rig_link(r));
		fault_arm(&f, k);
		ret = go_round(r);
		happened = happens(&f);
		fault_drain(&r->s, &f);
		fault_disarm(&f);
		EXPECT_TRUE(is_defined(ret))
			TH_LOG("%s %u: %d", knob, k, ret);
	}
	EXPECT_GT(STEPS_MAX, k);
	EXPECT_LT(2, k);
	printf("# %u of %s\n", k - 2, knob);
	recovers(_metadata, r, objects);
}

TEST_F_TIMEOUT(rig, each_slab_allocation_at_both_ends_may_fail, SWEEP_S)
{
	sweep(_metadata, &self->r, SLAB);
}

TEST_F_TIMEOUT(rig, each_page_allocation_at_both_ends_may_fail, SWEEP_S)
{
	sweep(_metadata, &self->r, PAGE_ALLOC);
}

static int set_both(unsigned int percent)
{
	int ret = fault_percent(SLAB, percent);

	return ret ? ret : fault_percent(PAGE_ALLOC, percent);
}

/* If failures keep the link from coming up, bring it up without failures. */
static int link_in_storm(struct __test_metadata *_metadata, struct rig *r,
			 unsigned int percent)
{
	unsigned int tries = 0;

	while (rig_link(r) && ++tries < LINK_TRIES)
		;
	if (tries == LINK_TRIES) {
		ASSERT_EQ(0, set_both(0));
		EXPECT_EQ(0, rig_link(r));
		ASSERT_EQ(0, set_both(percent));
	}
	return tries;
}

static void storm(struct __test_metadata *_metadata, struct rig *r,
		  unsigned int percent)
{
	unsigned int failed = 0, rounds = 0, whole = 0;
	int objects = rcl_all_objects();
	time_t end = time(NULL) + STORM_S;
	int ret;

	ASSERT_EQ(0, fault_percent_setup(SLAB));
	ASSERT_EQ(0, fault_percent_setup(PAGE_ALLOC));
	ASSERT_EQ(0, set_both(percent));
	/* The harness's timeout ends this if no page allocation ever fails. */
	while (time(NULL) < end ||
	       (percent >= 10 && !fault_fired(PAGE_ALLOC))) {
		failed += link_in_storm(_metadata, r, percent);
		ret = go_round(r);
		rounds++;
		whole += !ret;
		EXPECT_TRUE(is_defined(ret))
			TH_LOG("round %u: %d", rounds, ret);
	}
	ASSERT_EQ(0, set_both(0));
	printf("# %u %%: %u of %u rounds whole, %u times no link\n", percent,
	       whole, rounds, failed);
	printf("# %lu of slabs and %lu of pages failed\n", fault_fired(SLAB),
	       fault_fired(PAGE_ALLOC));
	EXPECT_LT(0, fault_fired(SLAB));
	/* few pages are allocated */
	if (percent >= 10)
		EXPECT_LT(0, fault_fired(PAGE_ALLOC));
	recovers(_metadata, r, objects);
}

TEST_F_TIMEOUT(rig, one_allocation_of_a_hundred_may_fail, SWEEP_S)
{
	storm(_metadata, &self->r, 1);
}

TEST_F_TIMEOUT(rig, one_allocation_of_ten_may_fail, SWEEP_S)
{
	storm(_metadata, &self->r, 10);
}

/* The argument can be read, but not written. */
TEST_F(rig, no_handle_is_lost_where_a_result_cannot_be_written)
{
	struct rclink_dev_region *page;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
	fd = rclink_fd(self->r.near);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	page[0] = (struct rclink_dev_region){ .name = RIG_REGION };
	page[1] = (struct rclink_dev_region){
		.name = NAME, .rights = RIGHTS, .len = PAGE,
		.addr = (uintptr_t)self->r.near_memory,
	};
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_READ));
	for (i = 0; i < HANDLES; i++) {
		EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_IMPORT, &page[0]));
		EXPECT_EQ(EFAULT, errno);
		EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_REGION, &page[1]));
		EXPECT_EQ(EFAULT, errno);
	}
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, ioctl(fd, RCLINK_IOC_IMPORT, &page[0]));
	EXPECT_EQ(0, ioctl(fd, RCLINK_IOC_REGION, &page[1]));
	EXPECT_EQ(0, rig_moves(&self->r, 4));
	munmap(page, PAGE);
}

TEST_HARNESS_MAIN
