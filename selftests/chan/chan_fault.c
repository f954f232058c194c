// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations and copies below each call of /dev/rclink fail: the call says so
 * or works, nothing of it is left, and the channel still moves data. Needs the
 * debug kernel.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "harness.h"
#include "rig.h"

#define PAGE		4096
#define PAGES		200	/* more than one table of pieces takes */
#define LEN		(PAGES * PAGE)
#define NAME		"extra"
#define COPIES		"fail_usercopy"
#define SLAB		"failslab"
#define PAGE_ALLOC	"fail_page_alloc"
#define RIGHTS		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)
#define STEPS_MAX	1000	/* more than any call allocates */
#define TIMES		10
#define HANDLES		70	/* more than there are of one kind */
#define BACK_MS		10000	/* until a QP has been leased again */
#define SETTLE_MS	300	/* for what is left to others */
#define STORM_S		15
#define LINK_TRIES	2
#define SWEEP_S		900

/* What a call works on, beside the rig. */
struct work {
	struct rig *r;
	int fd;			/* of an open device or channel, or -1 */
	uint8_t *memory;
	struct rclink_dev_region region;
	struct rclink_remote remote;
	struct rclink_dev_submit submit;
	void *shared;
	int result;		/* file that the call has made, or -1 */
};

/* Each returns 0 or a negative errno; before and after have no faults. */
struct call {
	const char *word;
	int (*before)(struct work *w);
	int (*run)(struct work *w);
	int (*after)(struct work *w, int ret);
	bool copies;		/* has an argument in memory */
	int other;		/* errno that the device may give */
	const char *below;	/* function of the kernel, instead of modules */
};

static int nothing(struct work *w)
{
	(void)w;
	return 0;
}

static int close_all(struct work *w, int ret)
{
	struct rig none = { .listener = w->r->listener };

	(void)ret;
	if (w->fd >= 0)
		close(w->fd);
	if (w->result >= 0)
		close(w->result);
	w->fd = -1;
	w->result = -1;
	rig_close(&none);
	return 0;
}

static int before_device(struct work *w)
{
	w->fd = rig_device();
	return w->fd < 0 ? w->fd : 0;
}

static int before_channel(struct work *w)
{
	int ret = before_device(w);

	return ret ? ret : rig_connect(w->fd, RCLINK_CONNECT_WAIT);
}

static int run_listen(struct work *w)
{
	return rig_listen(w->fd, "other");
}

static int run_connect(struct work *w)
{
	return rig_connect(w->fd, RCLINK_CONNECT_WAIT);
}

static int run_accept(struct work *w)
{
	w->result = rig_accept(w->r);
	return w->result < 0 ? w->result : 0;
}

/* Who could not accept has the channel still waiting for him. */
static int after_accept(struct work *w, int ret)
{
	int again = ret ? run_accept(w) : 0;

	close_all(w, 0);
	return again;
}

/* Somewhere else each time, so that page tables are needed. */
static int run_mmap(struct work *w)
{
	static uintptr_t where = 1UL << 44;

	where += 1UL << 40;
	w->shared = mmap((void *)where, sizeof(struct rclink_dev_shared),
			 PROT_READ | PROT_WRITE, MAP_SHARED,
			 rclink_fd(w->r->near), 0);
	return w->shared == MAP_FAILED ? -errno : 0;
}

static int after_mmap(struct work *w, int ret)
{
	if (!ret)
		munmap(w->shared, sizeof(struct rclink_dev_shared));
	return 0;
}

/*
 * Pages that do not follow one another in memory, in the order in which they
 * were touched; and one that has not been.
 */
static int before_region(struct work *w)
{
	unsigned int i;

	w->memory = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->memory == MAP_FAILED)
		return -errno;
	madvise(w->memory, LEN, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES - 1; i += 2)
		w->memory[i * PAGE] = 1;
	for (i = 1; i < PAGES - 1; i += 2)
		w->memory[i * PAGE] = 1;
	w->region = (struct rclink_dev_region){
		.name = NAME, .rights = RIGHTS, .len = LEN,
		.addr = (uintptr_t)w->memory,
	};
	return 0;
}

static int run_region(struct work *w)
{
	return rig_region(rclink_fd(w->r->near), &w->region);
}

static int after_region(struct work *w, int ret)
{
	if (!ret)
		ret = rig_withdraw(rclink_fd(w->r->near), w->region.handle);
	else
		ret = 0;
	munmap(w->memory, LEN);
	return ret;
}

static int before_withdraw(struct work *w)
{
	int ret = before_region(w);

	return ret ? ret : run_region(w);
}

static int run_withdraw(struct work *w)
{
	return rig_withdraw(rclink_fd(w->r->near), w->region.handle);
}

/* What was not withdrawn is still there. */
static int after_withdraw(struct work *w, int ret)
{
	return after_region(w, !ret);
}

/* Memory that the kernel allocates. */
static int before_memory(struct work *w)
{
	w->region = (struct rclink_dev_region){
		.name = NAME, .rights = RIGHTS, .len = LEN,
	};
	return 0;
}

static int run_memory(struct work *w)
{
	return rig_memory(rclink_fd(w->r->near), &w->region);
}

static int after_memory(struct work *w, int ret)
{
	return ret ? 0 : run_withdraw(w);
}

static int run_import(struct work *w)
{
	return rclink_import(w->r->near, RIG_REGION, &w->remote);
}

static int run_release(struct work *w)
{
	return rclink_release(w->r->near, &w->remote);
}

static int after_import(struct work *w, int ret)
{
	return ret ? 0 : run_release(w);
}

/* What was not given back is still there. */
static int after_release(struct work *w, int ret)
{
	return ret ? run_release(w) : 0;
}

static int before_submit(struct work *w)
{
	w->submit = (struct rclink_dev_submit){
		.count = 1, .wait = 1, .timeout_ms = 10000,
	};
	memset(w->r->far_memory, 0, RIG_MOVED);
	memset(w->r->near_memory, 0x5a, RIG_MOVED);
	return rclink_write(w->r->near, rclink_piece(w->r->near_region, 0,
						     RIG_MOVED),
			    &w->r->remote, 0, RCLINK_SQE_SIGNALED, 0);
}

static int run_submit(struct work *w)
{
	return ioctl(rclink_fd(w->r->near), RCLINK_IOC_SUBMIT, &w->submit) ?
	       -errno : 0;
}

/* Taken or not, it is done once. */
static int after_submit(struct work *w, int ret)
{
	struct rclink_dev_cqe cqe;

	(void)ret;
	ret = rig_completes(w->r->near);
	if (!ret && rclink_reap(w->r->near, &cqe, 1))
		ret = -EALREADY;
	if (!ret && memcmp(w->r->near_memory, w->r->far_memory, RIG_MOVED))
		ret = -EILSEQ;
	return ret;
}

static int before_epoll(struct work *w)
{
	w->fd = epoll_create1(EPOLL_CLOEXEC);
	return w->fd < 0 ? -errno : 0;
}

static int run_epoll(struct work *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(w->fd, EPOLL_CTL_ADD, rclink_fd(w->r->near), &event) ?
	       -errno : 0;
}

static int run_close(struct work *w)
{
	int ret = close(w->fd) ? -errno : 0;

	w->fd = -1;
	return ret;
}

FIXTURE(channel)
{
	struct rig r;
	struct work w;
};

FIXTURE_VARIANT(channel)
{
	struct call call;
};

FIXTURE_VARIANT_ADD(channel, open) {
	.call = { "open", nothing, before_device, close_all },
};

FIXTURE_VARIANT_ADD(channel, listen) {
	.call = { "listen", before_device, run_listen, close_all, true },
};

FIXTURE_VARIANT_ADD(channel, connect) {
	.call = { "connect", before_device, run_connect, close_all, true },
};

FIXTURE_VARIANT_ADD(channel, accept) {
	.call = { "accept", before_channel, run_accept, after_accept },
};

FIXTURE_VARIANT_ADD(channel, mmap) {
	.call = { "mmap", nothing, run_mmap, after_mmap,
		  .below = "remap_vmalloc_range_partial" },
};

FIXTURE_VARIANT_ADD(channel, region) {
	/* rxe opens a socket for each QP */
	.call = { "region", before_region, run_region, after_region,
		  true, -ENFILE },
};

FIXTURE_VARIANT_ADD(channel, memory) {
	.call = { "memory", before_memory, run_memory, after_memory,
		  true, -ENFILE },
};

FIXTURE_VARIANT_ADD(channel, withdraw) {
	.call = { "withdraw", before_withdraw, run_withdraw, after_withdraw,
		  true },
};

FIXTURE_VARIANT_ADD(channel, import) {
	.call = { "import", nothing, run_import, after_import, true },
};

FIXTURE_VARIANT_ADD(channel, release) {
	.call = { "release", run_import, run_release, after_release, true },
};

FIXTURE_VARIANT_ADD(channel, submit) {
	.call = { "submit", before_submit, run_submit, after_submit, true },
};

FIXTURE_VARIANT_ADD(channel, epoll) {
	.call = { "epoll", before_epoll, run_epoll, close_all },
};

FIXTURE_VARIANT_ADD(channel, close) {
	.call = { "close", before_channel, run_close, close_all },
};

FIXTURE_SETUP(channel)
{
	struct rig *r = &self->r;

	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	self->w = (struct work){ .r = r, .fd = -1, .result = -1 };
	ASSERT_EQ(0, rig_begin(r));
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, rig_moves(r, 1));
}

FIXTURE_TEARDOWN(channel)
{
	rig_end(&self->r);
}

/* Return: whether there was an n-th one to fail. */
static bool fails_at(struct __test_metadata *_metadata, struct work *w,
		     const struct call *call, unsigned int n)
{
	long pinned = rig_pinned();
	bool happened;
	int ret;

	ASSERT_EQ(0, call->before(w))
		TH_LOG("%s %u: not ready", call->word, n);
	fault_nth(n);
	ret = call->run(w);
	happened = !fault_nth(0);
	EXPECT_TRUE(!ret || (happened && (ret == -ENOMEM || ret == -EFAULT ||
					  ret == call->other)))
		TH_LOG("%s %u: %d", call->word, n, ret);
	EXPECT_EQ(0, call->after(w, ret))
		TH_LOG("%s %u, which gave %d: undone", call->word, n, ret);
	EXPECT_EQ(pinned, rig_pinned())
		TH_LOG("%s %u: VmPin", call->word, n);
	return happened;
}

static void one_by_one(struct __test_metadata *_metadata, struct work *w,
		       const struct call *call)
{
	unsigned int n;

	ASSERT_EQ(0, fault_nth_setup(call->below));
	for (n = 1; n < STEPS_MAX; n++)
		if (!fails_at(_metadata, w, call, n))
			break;
	EXPECT_GT(STEPS_MAX, n);
	EXPECT_LT(1, n);
	printf("# %s: %u\n", call->word, n - 1);
}

static void all_copies(struct __test_metadata *_metadata, struct work *w,
		       const struct call *call)
{
	unsigned int i;
	int ret;

	ASSERT_EQ(0, fault_percent_setup(COPIES));
	for (i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, call->before(w));
		ASSERT_EQ(0, fault_percent(COPIES, 100));
		ret = call->run(w);
		ASSERT_EQ(0, fault_percent(COPIES, 0));
		EXPECT_EQ(-EFAULT, ret);
		EXPECT_EQ(0, call->after(w, ret));
	}
}

TEST_F_TIMEOUT(channel, each_allocation_and_copy_may_fail, SWEEP_S)
{
	int objects = rcl_all_objects();

	one_by_one(_metadata, &self->w, &variant->call);
	if (variant->call.copies)
		all_copies(_metadata, &self->w, &variant->call);
	/* the channel is as it was, and so is what there is of all things */
	EXPECT_EQ(0, rig_moves(&self->r, 2));
	EXPECT_EQ(objects, rig_until_objects(objects, BACK_MS));
}

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
	case -EREMOTEIO:	/* a completion, as its status says */
		return true;
	default:
		return false;
	}
}

/* Open, move, close; the link may go down, but says why. */
static int go_round(struct rig *r)
{
	struct rcl_view view;
	int ret;

	ret = rig_open(r);
	if (!ret)
		ret = rig_moves(r, 3);
	rig_close(r);
	if (is_defined(ret) && !rcl_view(&r->s, RIG_NEAR, &view) &&
	    view.state == RCLINK_LINK_STATE_DOWN && !view.reason)
		return -EPROTO;
	return ret;
}

/* As good as new, once nothing fails any more; and then there is nothing. */
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

/* So that the failure that is armed happens, and the count is known. */
static void drain(struct genl_sock *s, struct fault *f)
{
	struct rcl_end end;

	while (fault_pending(f)) {
		rcl_new(s, "drain");
		rcl_prepare(s, "drain", &end);
		rcl_del(s, "drain");
	}
}

static bool happens(struct fault *f)
{
	unsigned int i;

	for (i = 0; fault_pending(f) && i < SETTLE_MS; i += 10)
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
		drain(&r->s, &f);
		fault_disarm(&f);
		EXPECT_TRUE(is_defined(ret))
			TH_LOG("%s %u: %d", knob, k, ret);
	}
	EXPECT_GT(STEPS_MAX, k);
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

/* What fails may keep the link from ever coming up: then it does so without. */
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
	while (time(NULL) < end) {
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
