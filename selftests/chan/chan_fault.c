// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations and copies below each call of /dev/rclink fail: the call reports
 * it or works, leaves nothing behind, and the channel still moves data. Needs
 * the debug kernel.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"
#include "harness.h"
#include "rig.h"
#include "udmabuf.h"

#define PAGE		4096
#define PAGES		200	/* more than fit in one table of pieces */
#define LEN		(PAGES * PAGE)
#define NAME		"extra"
#define GROUP		"g"
#define COPIES		"fail_usercopy"
#define RIGHTS		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)
#define STEPS_MAX	1000	/* more than any call allocates */
#define TIMES		10
#define BACK_MS		10000	/* for a join, or until objects are gone */
#define SWEEP_S		900

/* The objects that a call works on, besides those of the rig. */
struct work {
	struct rig *r;
	int fd;			/* of an open device or channel, or -1 */
	uint8_t *memory;
	struct rclink_dev_region region;
	struct rclink_remote remote;
	struct rclink_dev_submit submit;
	void *shared;
	int result;		/* file that the call has opened, or -1 */
	struct udmabuf dmabuf;
	struct rclink_chan *chan;	/* to the group, or NULL */
};

/* Functions return 0 or a negative errno; faults are injected into run only. */
struct call {
	const char *word;
	int (*before)(struct work *w);
	int (*run)(struct work *w);
	int (*after)(struct work *w, int ret);
	bool copies;		/* has an argument in memory */
	int other;		/* errno that the device may give */
	int refused;		/* what it returns without a fault */
	bool group;		/* needs the group */
	unsigned long request;	/* fault_chan.sh looks whether all have one */
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

static int run_share(struct work *w)
{
	return ioctl(w->fd, RCLINK_IOC_SHARE) < 0 ? -errno : 0;
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

/* After a failed accept, the channel still waits to be accepted. */
static int after_accept(struct work *w, int ret)
{
	int again = ret ? run_accept(w) : 0;

	close_all(w, 0);
	return again;
}

/* Map at a new address each time, so that page tables are allocated. */
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
 * Touch the even pages first and then the odd ones, so that neighbours are not
 * adjacent in physical memory. The last page stays untouched.
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

/* After a failed withdraw, the region is still there. */
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

/* After a failed release, the imported region is still there. */
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

/* Whether the call failed or not, the write is done exactly once. */
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

static int before_share(struct work *w)
{
	int ret = before_device(w);

	return ret ? ret : run_share(w);
}

/* The region of a share, whose file is no channel to a peer. */
static int before_share_region(struct work *w)
{
	int ret = before_share(w);

	return ret ? ret : before_region(w);
}

static int before_share_memory(struct work *w)
{
	int ret = before_share(w);

	return ret ? ret : before_memory(w);
}

static int run_own_region(struct work *w)
{
	return rig_region(w->fd, &w->region);
}

static int run_own_memory(struct work *w)
{
	return rig_memory(w->fd, &w->region);
}

static int after_own_region(struct work *w, int ret)
{
	munmap(w->memory, LEN);
	return close_all(w, ret);
}

static int run_join(struct work *w)
{
	struct rclink_dev_group g = { .group = GROUP, .service = RIG_SERVICE };

	return ioctl(w->fd, RCLINK_IOC_JOIN, &g) ? -errno : 0;
}

/* A group has no peer that could be given rights. */
static int before_group(struct work *w)
{
	int ret = before_device(w);

	w->region.name[0] = '\0';
	w->region.rights = 0;
	return ret ? ret : run_join(w);
}

static int before_group_region(struct work *w)
{
	int ret = before_region(w);

	return ret ? ret : before_group(w);
}

static int before_group_memory(struct work *w)
{
	int ret = before_memory(w);

	return ret ? ret : before_group(w);
}

static int before_group_send(struct work *w)
{
	int ret = rclink_join(&w->chan, GROUP, RIG_SERVICE, 0);

	w->submit = (struct rclink_dev_submit){
		.count = 1, .wait = 1, .timeout_ms = 10000,
	};
	return ret ? ret : rclink_send(w->chan, rclink_bytes("x", 1),
				       RCLINK_SQE_SIGNALED, 0);
}

static int run_group_send(struct work *w)
{
	return ioctl(rclink_fd(w->chan), RCLINK_IOC_SUBMIT, &w->submit) ?
	       -errno : 0;
}

/* Whether the call failed or not, the message is sent exactly once. */
static int after_group_send(struct work *w, int ret)
{
	struct rclink_dev_cqe cqe;

	(void)ret;
	ret = rig_completes(w->chan);
	if (!ret && rclink_reap(w->chan, &cqe, 1))
		ret = -EALREADY;
	rclink_close(w->chan);
	w->chan = NULL;
	return ret;
}

static int before_dmabuf(struct work *w)
{
	return udmabuf_new(&w->dmabuf, LEN);
}

/* It runs until it is refused for a device without DMA (chan_exporter: with) */
static int run_dmabuf(struct work *w)
{
	struct rclink_dev_dmabuf arg = {
		.name = NAME, .rights = RIGHTS, .len = LEN,
		.fd = w->dmabuf.fd,
	};

	return ioctl(rclink_fd(w->r->near), RCLINK_IOC_DMABUF, &arg) ?
	       -errno : 0;
}

static int after_dmabuf(struct work *w, int ret)
{
	(void)ret;
	udmabuf_end(&w->dmabuf);
	return udmabuf_attached() ? -EBUSY : 0;
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
	.call = { "listen", before_device, run_listen, close_all, true,
		  .request = RCLINK_IOC_LISTEN },
};

FIXTURE_VARIANT_ADD(channel, connect) {
	.call = { "connect", before_device, run_connect, close_all, true,
		  .request = RCLINK_IOC_CONNECT },
};

FIXTURE_VARIANT_ADD(channel, accept) {
	.call = { "accept", before_channel, run_accept, after_accept,
		  .request = RCLINK_IOC_ACCEPT },
};

FIXTURE_VARIANT_ADD(channel, mmap) {
	.call = { "mmap", nothing, run_mmap, after_mmap },
};

FIXTURE_VARIANT_ADD(channel, region) {
	/* rxe opens a socket for each QP */
	.call = { "region", before_region, run_region, after_region,
		  true, -ENFILE,
		  .request = RCLINK_IOC_REGION },
};

FIXTURE_VARIANT_ADD(channel, memory) {
	.call = { "memory", before_memory, run_memory, after_memory,
		  true, -ENFILE,
		  .request = RCLINK_IOC_MEMORY },
};

FIXTURE_VARIANT_ADD(channel, withdraw) {
	.call = { "withdraw", before_withdraw, run_withdraw, after_withdraw,
		  true,
		  .request = RCLINK_IOC_WITHDRAW },
};

FIXTURE_VARIANT_ADD(channel, import) {
	.call = { "import", nothing, run_import, after_import, true,
		  .request = RCLINK_IOC_IMPORT },
};

FIXTURE_VARIANT_ADD(channel, release) {
	.call = { "release", run_import, run_release, after_release, true,
		  .request = RCLINK_IOC_RELEASE },
};

FIXTURE_VARIANT_ADD(channel, submit) {
	.call = { "submit", before_submit, run_submit, after_submit, true,
		  .request = RCLINK_IOC_SUBMIT },
};

FIXTURE_VARIANT_ADD(channel, share) {
	.call = { "share", before_device, run_share, close_all,
		  .request = RCLINK_IOC_SHARE },
};

FIXTURE_VARIANT_ADD(channel, share_region) {
	.call = { "share's region", before_share_region, run_own_region,
		  after_own_region, true },
};

FIXTURE_VARIANT_ADD(channel, share_memory) {
	.call = { "share's memory", before_share_memory, run_own_memory,
		  close_all, true },
};

FIXTURE_VARIANT_ADD(channel, join) {
	.call = { "join", before_device, run_join, close_all, true,
		  .group = true, .request = RCLINK_IOC_JOIN },
};

FIXTURE_VARIANT_ADD(channel, group_region) {
	.call = { "group's region", before_group_region, run_own_region,
		  after_own_region, true, .group = true },
};

FIXTURE_VARIANT_ADD(channel, group_memory) {
	.call = { "group's memory", before_group_memory, run_own_memory,
		  close_all, true, .group = true },
};

FIXTURE_VARIANT_ADD(channel, group_send) {
	.call = { "send to a group", before_group_send, run_group_send,
		  after_group_send, true, .group = true },
};

FIXTURE_VARIANT_ADD(channel, dmabuf) {
	.call = { "dmabuf", before_dmabuf, run_dmabuf, after_dmabuf, true,
		  .refused = -EOPNOTSUPP, .request = RCLINK_IOC_DMABUF },
};

FIXTURE_VARIANT_ADD(channel, epoll) {
	.call = { "epoll", before_epoll, run_epoll, close_all },
};

FIXTURE_VARIANT_ADD(channel, close) {
	.call = { "close", before_channel, run_close, close_all },
};

static int new_group(struct rig *r)
{
	struct rclink_chan *chan;
	uint8_t mgid[RCLINK_GID_LEN];
	struct genl_msg m;
	uint32_t mlid;
	int ret, ms;

	rcl_group_at(mgid, &mlid);
	genl_begin(&m, &r->s, RCLINK_CMD_GROUP_ADD);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, GROUP);
	genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
	genl_put_u32(&m, RCLINK_A_GROUP_MLID, mlid);
	genl_put_str(&m, RCLINK_A_GROUP_LINK, RIG_NEAR);
	ret = genl_ask(&r->s, &m, NULL, NULL);
	/* until the link has joined the group */
	for (ms = slow(BACK_MS); !ret && ms > 0; ms -= 10) {
		if (!rclink_join(&chan, GROUP, RIG_SERVICE, 0)) {
			rclink_close(chan);
			return 0;
		}
		usleep(10000);
	}
	return ret ? ret : -ETIMEDOUT;
}

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
	if (variant->call.group)
		ASSERT_EQ(0, new_group(r));
}

FIXTURE_TEARDOWN(channel)
{
	if (variant->call.group)
		EXPECT_EQ(0, rcl_named(&self->r.s, RCLINK_CMD_GROUP_DEL, GROUP,
				       NULL));
	rig_end(&self->r);
}

/* Return: whether there was an n-th allocation or copy to fail. */
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
	EXPECT_TRUE(ret == call->refused ||
		    (happened && (ret == -ENOMEM || ret == -EFAULT ||
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

	ASSERT_EQ(0, fault_nth_setup());
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
	/* the channel still works, and no verbs object is left over */
	EXPECT_EQ(0, rig_moves(&self->r, 2));
	EXPECT_EQ(objects, rig_until_objects(objects, BACK_MS));
}

TEST_HARNESS_MAIN
