// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of a channel to a group: what a consumer may write there, what
 * comes in, and that there is room for each completion. The device, the group
 * and the memory of a process are made up.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/types.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define GFP_KERNEL_ACCOUNT	0
#define BIT(n)			(1UL << (n))
/* As the compiler has them. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* As the compiler has them. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
/* As the compiler has them. */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define strscpy(to, from, size)	snprintf(to, size, "%s", from)
#define mutex_init(m)		((m)->held = 0)
#define mutex_lock_interruptible(m)	(mutex_lock(m), 0)
#define __user

static void *kzalloc(size_t size, int flags)
{
	return calloc(1, size);
}

static void *kmalloc(size_t size, int flags)
{
	return malloc(size);
}

/* Include the files under test here, since they need the above. */
#include "../../kmod/group-hear.c"
#include "../../kmod/group-mem.c"
#include "../../kmod/group-chan.c"

#include "kselftest_harness.h"

#define MTU	1000
#define LEN	8192

unsigned long jiffies;

static struct rcl_group_hear hear;
static int send_ret, woken;	/* the latter: before the last send */
static u8 sent[RCL_MCAST_MTU];
static u32 sent_len, sends;
static char sent_to[RCLINK_DEV_SERVICE_LEN];
static unsigned int allocated;
/* A channel whose group is deleted during a send */
static struct rcl_group_chan *ending;
static struct rcl_group_chan *watched;
static __poll_t seen;

int rcl_group_use(const char *name, const struct cred *cred,
		  struct rcl_group_listener *listener, struct rcl_group **group)
{
	*group = NULL;
	return rcl_group_hear_enter(&hear, listener);
}

void rcl_group_unuse(struct rcl_group *group,
		     struct rcl_group_listener *listener)
{
	rcl_group_hear_leave(&hear, listener);
}

u32 rcl_group_max(const struct rcl_group *group, const char *service)
{
	return MTU;
}

int rcl_group_send(struct rcl_group *group, const char *service,
		   const u8 *data, u32 len)
{
	strcpy(sent_to, service);
	woken = watched->wait.woken;
	if (ending) {
		rcl_group_hear_close(&hear);
		seen = rcl_group_chan_poll(ending, NULL, NULL);
	}
	if (send_ret)
		return send_ret;
	memcpy(sent, data, len);
	sent_len = len;
	sends++;
	return 0;
}

u32 rcl_region_new_handle(u32 slot)
{
	static u32 generation;

	return ++generation << RCL_HANDLE_BITS | slot;
}

struct fake {
	struct rcl_memory memory;
	struct scatterlist sg;
};

static void fake_free(struct rcl_memory *memory)
{
	struct fake *fake = container_of(memory, struct fake, memory);

	free(fake->sg.addr);
	free(fake);
	allocated--;
}

/* Of exactly that size, so the sanitizer sees each access outside */
static struct rcl_memory *fake_new(u64 len)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	fake->sg.addr = calloc(1, len);
	fake->memory.sgt.sgl = &fake->sg;
	fake->memory.len = len;
	fake->memory.free = fake_free;
	allocated++;
	return &fake->memory;
}

struct rcl_memory *rcl_memory_take(const struct rclink_dev_region *arg,
				   bool allocate)
{
	return fake_new(arg->len);
}

u32 rcl_shm_slot(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff;
}

void *rcl_pages_new(size_t size)
{
	return calloc(1, size);
}

void rcl_pages_free(const void *addr)
{
	free((void *)addr);
}

int rcl_pages_map(struct vm_area_struct *vma, void *addr, size_t size)
{
	return 0;
}

int rcl_shm_map(struct file *file, u64 len, struct vm_area_struct *vma)
{
	return file ? 0 : -EINVAL;
}

struct file *get_file(struct file *file)
{
	return file;
}

FIXTURE(group)
{
	struct rcl_group_chan *chan;
	struct rclink_dev_shared *shared;
	u32 region;
	u8 *memory;
};

FIXTURE_SETUP(group)
{
	struct rclink_dev_region arg = { .len = LEN, .addr = 1 };

	memset(&hear, 0, sizeof(hear));
	rcl_group_hear_init(&hear);
	send_ret = 0;
	sends = 0;
	ending = NULL;
	self->chan = rcl_group_chan_open("g", "s", NULL);
	ASSERT_FALSE(IS_ERR(self->chan));
	watched = self->chan;
	self->shared = &self->chan->shared->shared;
	ASSERT_EQ(0, rcl_group_chan_region(self->chan, &arg, false));
	self->region = arg.handle;
	self->memory = self->chan->mem.memory[0]->sgt.sgl->addr;
}

FIXTURE_TEARDOWN(group)
{
	rcl_group_chan_close(self->chan);
	EXPECT_EQ(0, allocated);
	EXPECT_EQ(0, hear.n);
}

static struct rclink_dev_sqe *next_entry(struct rclink_dev_shared *s)
{
	struct rclink_dev_sqe *sqe = &s->sqe[s->sq.tail++ % RCLINK_DEV_DEPTH];

	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

static void queue(struct _test_data_group *self, u8 op, u32 offset, u32 len,
		  u64 user_data)
{
	struct rclink_dev_sqe *sqe = next_entry(self->shared);

	sqe->op = op;
	sqe->user_data = user_data;
	sqe->num_sge = 1;
	sqe->sge[0].region = self->region;
	sqe->sge[0].offset = offset;
	sqe->sge[0].len = len;
}

static int submit(struct _test_data_group *self, u32 *taken)
{
	return rcl_group_chan_submit(self->chan, RCLINK_DEV_DEPTH, taken);
}

static const u8 gid[16] = { 1, 2, 3 };

static void tell_service(const char *service, const void *data, u32 len,
			 u32 sender)
{
	struct rcl_heard heard = {
		.service = service, .service_len = strlen(service),
		.data = data, .len = len, .sender = sender, .gid = gid,
	};

	rcl_group_hear_tell(&hear, &heard);
}

static void tell(const void *data, u32 len, u32 sender)
{
	tell_service("s", data, len, sender);
}

static const struct rclink_dev_cqe *cqe_at(struct _test_data_group *self, u32 i)
{
	return &self->shared->cqe[i % RCLINK_DEV_CQ_DEPTH];
}

TEST_F(group, sends_what_the_pieces_have)
{
	struct rclink_dev_sqe *sqe;
	u32 taken, i;

	for (i = 0; i < LEN; i++)
		self->memory[i] = i * 7;
	sqe = next_entry(self->shared);
	sqe->op = RCLINK_OP_SEND;
	sqe->flags = RCLINK_SQE_SIGNALED;
	sqe->num_sge = 2;
	sqe->user_data = 5;
	sqe->sge[0] = (struct rclink_dev_sge){ LEN - 3, self->region, 3 };
	sqe->sge[1] = (struct rclink_dev_sge){ 100, self->region, 4 };
	ASSERT_EQ(0, submit(self, &taken));
	EXPECT_EQ(1, taken);
	EXPECT_EQ(1, self->shared->sq.head);
	ASSERT_EQ(7, sent_len);
	EXPECT_STREQ("s", sent_to);
	EXPECT_EQ(0, memcmp(sent, self->memory + LEN - 3, 3));
	EXPECT_EQ(0, memcmp(sent + 3, self->memory + 100, 4));
	EXPECT_EQ(1, self->shared->cq.tail);
	EXPECT_EQ(5, cqe_at(self, 0)->user_data);
	EXPECT_EQ(7, cqe_at(self, 0)->len);
	EXPECT_EQ(0, cqe_at(self, 0)->status);
}

TEST_F(group, refuses_what_is_not_right)
{
	static const struct {
		u8 op, flags, num_sge;
		u32 offset, len;
		int ret;
	} wrong[] = {
		{ RCLINK_OP_SEND, 0, 1, 0, MTU + 1, -EMSGSIZE },
		{ RCLINK_OP_SEND, 0, 1, 1, LEN, -EINVAL },
		{ RCLINK_OP_SEND, 0, 1, LEN + 1, 0, -EINVAL },
		{ RCLINK_OP_SEND, 0, 5, 0, 1, -EINVAL },
		{ RCLINK_OP_SEND, 0x10, 1, 0, 1, -EINVAL },
		{ RCLINK_OP_SEND, RCLINK_SQE_INLINE, 1, 0, 1, -EINVAL },
		{ RCLINK_OP_SEND, 0, 2, 0, 1, -ESTALE },
		{ RCLINK_OP_RECV, RCLINK_SQE_SIGNALED, 1, 0, 1, -EINVAL },
		{ RCLINK_OP_RECV, 0, 1, LEN - 1, 2, -EINVAL },
		{ RCLINK_OP_SEND_IMM, 0, 1, 0, 1, -EOPNOTSUPP },
		{ RCLINK_OP_WRITE, 0, 1, 0, 1, -EOPNOTSUPP },
		{ RCLINK_OP_CAS, 0, 1, 0, 8, -EOPNOTSUPP },
		{ RCLINK_OP_MAX, 0, 1, 0, 1, -EINVAL },
		{ 255, 0, 1, 0, 1, -EINVAL },
	};
	u32 i, taken;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct rclink_dev_sqe *sqe = next_entry(self->shared);

		sqe->op = wrong[i].op;
		sqe->flags = wrong[i].flags;
		sqe->num_sge = wrong[i].num_sge;
		sqe->sge[0].region = self->region;
		sqe->sge[0].offset = wrong[i].offset;
		sqe->sge[0].len = wrong[i].len;
		EXPECT_EQ(wrong[i].ret, submit(self, &taken))
			TH_LOG("number %u", i);
		EXPECT_EQ(0, taken);
		self->shared->sq.tail--;
	}
	EXPECT_EQ(0, sends);
	EXPECT_EQ(0, self->shared->cq.tail);
}

TEST_F(group, inline_data_is_64_bytes_at_most)
{
	struct rclink_dev_sqe *sqe = next_entry(self->shared);
	u32 taken;

	sqe->op = RCLINK_OP_SEND;
	sqe->flags = RCLINK_SQE_INLINE;
	sqe->len = RCLINK_DEV_INLINE_MAX + 1;
	memset(sqe->inline_data, 'x', sizeof(sqe->inline_data));
	EXPECT_EQ(-EINVAL, submit(self, &taken));
	sqe->len = RCLINK_DEV_INLINE_MAX;
	EXPECT_EQ(0, submit(self, &taken));
	EXPECT_EQ(RCLINK_DEV_INLINE_MAX, sent_len);
	EXPECT_EQ('x', sent[RCLINK_DEV_INLINE_MAX - 1]);
	EXPECT_EQ(0, self->shared->cq.tail);
}

TEST_F(group, hears_into_its_receives_in_order)
{
	u32 taken;

	queue(self, RCLINK_OP_RECV, 0, 10, 1);
	queue(self, RCLINK_OP_RECV, 100, 10, 2);
	ASSERT_EQ(0, submit(self, &taken));
	tell("0123456789", 10, 3);
	tell("abc", 3, RCL_GROUP_NOBODY);
	tell("missed", 6, 3);
	EXPECT_EQ(2, self->shared->cq.tail);
	EXPECT_EQ(0, memcmp(self->memory, "0123456789\0", 11));
	EXPECT_EQ(0, memcmp(self->memory + 100, "abc\0", 4));
	EXPECT_EQ(1, cqe_at(self, 0)->user_data);
	EXPECT_EQ(10, cqe_at(self, 0)->len);
	EXPECT_EQ(3, cqe_at(self, 0)->imm);
	EXPECT_EQ(RCLINK_CQE_SENDER, cqe_at(self, 0)->flags);
	EXPECT_EQ(0, memcmp(gid, self->chan->shared->source[0], 16));
	EXPECT_EQ(2, cqe_at(self, 1)->user_data);
	EXPECT_EQ(0, cqe_at(self, 1)->flags);
	EXPECT_EQ(1, hear.missed);
}

TEST_F(group, hears_its_service_alone)
{
	static const char *const others[] = { "", "t", "ss", "S", "s " };
	u32 i, taken;

	queue(self, RCLINK_OP_RECV, 0, 10, 1);
	ASSERT_EQ(0, submit(self, &taken));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		tell_service(others[i], "no", 2, 3);
	EXPECT_EQ(0, self->shared->cq.tail);
	EXPECT_EQ(0, hear.missed);
	tell("yes", 3, 3);
	EXPECT_EQ(1, self->shared->cq.tail);
	EXPECT_EQ(0, memcmp(self->memory, "yes", 3));
}

TEST_F(group, a_receive_that_cannot_says_so)
{
	struct rclink_dev_region arg = { .len = 16, .addr = 1 };
	u32 taken;

	ASSERT_EQ(0, rcl_group_chan_region(self->chan, &arg, false));
	queue(self, RCLINK_OP_RECV, 0, 2, 1);
	queue(self, RCLINK_OP_RECV, 0, 16, 2);
	self->shared->sqe[1].sge[0].region = arg.handle;
	queue(self, RCLINK_OP_RECV, 0, 16, 3);
	ASSERT_EQ(0, submit(self, &taken));
	ASSERT_EQ(0, rcl_group_chan_withdraw(self->chan, arg.handle));
	EXPECT_EQ(-ESTALE, rcl_group_chan_withdraw(self->chan, arg.handle));
	tell("abc", 3, 0);
	EXPECT_EQ(1, self->shared->cq.tail);
	EXPECT_EQ(IB_WC_LOC_LEN_ERR, cqe_at(self, 0)->status);
	EXPECT_EQ(0, self->memory[0]);
	tell("def", 3, 0);
	EXPECT_EQ(3, self->shared->cq.tail);
	EXPECT_EQ(IB_WC_LOC_PROT_ERR, cqe_at(self, 1)->status);
	EXPECT_EQ(2, cqe_at(self, 1)->user_data);
	EXPECT_EQ(0, cqe_at(self, 2)->status);
	EXPECT_EQ(0, memcmp(self->memory, "def", 3));
	EXPECT_EQ(0, hear.missed);
}

TEST_F(group, who_waits_hears_of_a_send_before_the_next_one)
{
	u32 taken;

	send_ret = -ENETDOWN;
	queue(self, RCLINK_OP_SEND, 0, 1, 1);
	queue(self, RCLINK_OP_SEND, 0, 1, 2);
	submit(self, &taken);
	EXPECT_EQ(1, woken);
}

TEST_F(group, room_is_kept_for_each_that_may_complete)
{
	u32 i, taken;

	for (i = 0; i < RCLINK_DEV_RECVS + 1; i++)
		queue(self, RCLINK_OP_RECV, 0, 1, 7);
	EXPECT_EQ(-EBUSY, submit(self, &taken));
	EXPECT_EQ(RCLINK_DEV_RECVS, taken);
	self->shared->sq.tail--;
	send_ret = -ENETDOWN;
	for (i = 0; i < 3; i++) {
		while (self->shared->sq.tail - self->shared->sq.head <
		       RCLINK_DEV_DEPTH)
			queue(self, RCLINK_OP_SEND, 0, 1, 8);
		submit(self, &taken);
	}
	EXPECT_EQ(RCLINK_DEV_CQ_DEPTH - RCLINK_DEV_RECVS,
		  self->shared->cq.tail);
	EXPECT_EQ(IB_WC_WR_FLUSH_ERR, cqe_at(self, 0)->status);
	for (i = 0; i < RCLINK_DEV_RECVS; i++)
		tell("x", 1, 0);
	EXPECT_EQ(RCLINK_DEV_CQ_DEPTH, self->shared->cq.tail);
	/* No completion was overwritten. */
	for (i = 0; i < RCLINK_DEV_CQ_DEPTH; i++)
		EXPECT_EQ(i < RCLINK_DEV_CQ_DEPTH - RCLINK_DEV_RECVS ? 8 : 7,
			  cqe_at(self, i)->user_data);
	EXPECT_EQ(-EBUSY, submit(self, &taken));
	self->shared->cq.head++;
	EXPECT_EQ(-EBUSY, submit(self, &taken));
	EXPECT_EQ(1, taken);
}

TEST_F(group, what_waits_for_the_device_stays_queued)
{
	static const int why[] = { -EBUSY, -EINTR, -EMSGSIZE };
	u32 i, taken;

	queue(self, RCLINK_OP_SEND, 0, 1, 8);
	for (i = 0; i < ARRAY_SIZE(why); i++) {
		send_ret = why[i];
		EXPECT_EQ(why[i], submit(self, &taken));
		EXPECT_EQ(0, taken);
		EXPECT_EQ(0, self->shared->sq.head);
		EXPECT_EQ(0, self->shared->cq.tail);
	}
	send_ret = 0;
	EXPECT_EQ(0, submit(self, &taken));
	EXPECT_EQ(1, taken);
}

TEST_F(group, waits_for_what_makes_room)
{
	u32 i, taken;

	for (i = 0; i < RCLINK_DEV_RECVS + 1; i++)
		queue(self, RCLINK_OP_RECV, 0, 1, 7);
	EXPECT_TRUE(rcl_group_chan_may_submit(self->chan));
	EXPECT_EQ(-EBUSY, submit(self, &taken));
	EXPECT_FALSE(rcl_group_chan_may_submit(self->chan));
	tell("x", 1, 0);
	EXPECT_TRUE(rcl_group_chan_may_submit(self->chan));
	EXPECT_EQ(0, submit(self, &taken));
	EXPECT_EQ(1, taken);
	/* A consumer with a completion to reap does not wait for room. */
	queue(self, RCLINK_OP_RECV, 0, 1, 7);
	EXPECT_EQ(-EBUSY, submit(self, &taken));
	EXPECT_TRUE(rcl_group_chan_may_submit(self->chan));
	self->shared->cq.head++;
	EXPECT_EQ(-EBUSY, submit(self, &taken));
	EXPECT_FALSE(rcl_group_chan_may_submit(self->chan));
	rcl_group_hear_close(&hear);
	EXPECT_FALSE(rcl_group_chan_may_submit(self->chan));
}

TEST_F(group, ends_with_the_group)
{
	struct rclink_dev_region arg = { .len = 16, .addr = 1 };
	u32 i, taken;

	for (i = 0; i < 3; i++)
		queue(self, RCLINK_OP_RECV, 0, 1, i);
	ASSERT_EQ(0, submit(self, &taken));
	EXPECT_EQ(-ETIME, rcl_group_chan_wait(self->chan, 1, 5));
	tell("x", 1, 0);
	EXPECT_EQ(0, rcl_group_chan_wait(self->chan, 1, 5));
	rcl_group_hear_close(&hear);
	tell("y", 1, 0);
	EXPECT_TRUE(rcl_group_chan_is_over(self->chan));
	EXPECT_EQ(3, rcl_group_chan_ready(self->chan));
	EXPECT_EQ(IB_WC_WR_FLUSH_ERR, cqe_at(self, 1)->status);
	EXPECT_EQ(1, cqe_at(self, 1)->user_data);
	EXPECT_EQ(2, cqe_at(self, 2)->user_data);
	EXPECT_EQ(0, rcl_group_chan_wait(self->chan, 3, 0));
	EXPECT_EQ(-ESHUTDOWN, rcl_group_chan_wait(self->chan, 4, 0));
	EXPECT_EQ(-ESHUTDOWN, submit(self, &taken));
	queue(self, RCLINK_OP_SEND, 0, 1, 8);
	EXPECT_EQ(-ESHUTDOWN, submit(self, &taken));
	EXPECT_EQ(0, sends);
	EXPECT_EQ(-ESHUTDOWN, rcl_group_chan_region(self->chan, &arg, false));
	EXPECT_EQ(-ESHUTDOWN, PTR_ERR(rcl_group_chan_open("g", "s", NULL)));
}

static struct rclink_dev_ring *reaped;

static void reap(void)
{
	reaped->head = reaped->tail;
}

/* Another thread may reap what a waiter is woken for, before that goes on. */
TEST_F(group, a_wait_that_has_succeeded_does_not_time_out)
{
	u32 taken;

	queue(self, RCLINK_OP_RECV, 0, 1, 1);
	ASSERT_EQ(0, submit(self, &taken));
	tell("x", 1, 0);
	reaped = &self->shared->cq;
	self->chan->wait.then = reap;
	EXPECT_EQ(0, rcl_group_chan_wait(self->chan, 1, 0));
	EXPECT_EQ(1, reaped->head);
	EXPECT_EQ(-ETIME, rcl_group_chan_wait(self->chan, 1, 5));
}

static const __poll_t ended = EPOLLHUP | EPOLLERR;

TEST_F(group, ends_when_what_is_being_sent_has_completed)
{
	u32 taken;

	ending = self->chan;
	send_ret = -ENETDOWN;
	queue(self, RCLINK_OP_SEND, 0, 1, 8);
	EXPECT_EQ(-ESHUTDOWN, submit(self, &taken));
	EXPECT_EQ(1, taken);
	EXPECT_EQ(0, seen);
	EXPECT_EQ(1, self->shared->cq.tail);
	EXPECT_EQ(ended | EPOLLIN | EPOLLRDNORM,
		  rcl_group_chan_poll(self->chan, NULL, NULL));
}

/* No entry was taken, but those who wait for the end have to look again. */
TEST_F(group, ends_when_what_was_being_sent_was_interrupted)
{
	u32 taken;

	ending = self->chan;
	send_ret = -EINTR;
	queue(self, RCLINK_OP_SEND, 0, 1, 8);
	EXPECT_EQ(-EINTR, submit(self, &taken));
	EXPECT_EQ(0, taken);
	EXPECT_EQ(0, seen);
	EXPECT_EQ(2, self->chan->wait.woken);
	EXPECT_EQ(ended, rcl_group_chan_poll(self->chan, NULL, NULL));
}

TEST_F(group, as_many_hear_as_there_is_room_for)
{
	struct rcl_group_chan *more[RCL_GROUP_LISTENERS];
	int i;

	for (i = 1; i < RCL_GROUP_LISTENERS; i++)
		more[i] = rcl_group_chan_open("g", "s", NULL);
	EXPECT_EQ(-ENOSPC, PTR_ERR(rcl_group_chan_open("g", "s", NULL)));
	EXPECT_EQ(RCL_GROUP_LISTENERS, hear.n);
	/* Each of these had a receive, which has completed. */
	for (i = 1; i < RCL_GROUP_LISTENERS; i++) {
		more[i]->posted = 1;
		more[i]->done = 1;
	}
	tell("x", 1, 0);
	EXPECT_EQ(RCL_GROUP_LISTENERS - 1, hear.missed);
	for (i = 1; i < RCL_GROUP_LISTENERS; i++)
		rcl_group_chan_close(more[i]);
}

TEST_F(group, who_only_sends_misses_nothing)
{
	u32 taken;

	queue(self, RCLINK_OP_SEND, 0, 1, 1);
	ASSERT_EQ(0, submit(self, &taken));
	tell("x", 1, 0);
	EXPECT_EQ(0, hear.missed);
	queue(self, RCLINK_OP_RECV, 0, 1, 2);
	ASSERT_EQ(0, submit(self, &taken));
	tell("y", 1, 0);
	EXPECT_EQ(0, hear.missed);
	tell("z", 1, 0);
	EXPECT_EQ(1, hear.missed);
}

/* Random words in all that the consumer may write */
TEST_F(group, a_hostile_ring_harms_itself)
{
	u32 *words = (u32 *)self->shared;
	u32 i, j, taken, seed = 1;
	u8 data[MTU] = { 0 };

	for (i = 0; i < 20000; i++) {
		for (j = 0; j < 8; j++) {
			seed = seed * 1664525 + 1013904223;
			words[seed % (sizeof(*self->shared) / 4)] =
				seed >> (seed % 29);
		}
		/* Mostly valid entries */
		if (i % 3)
			self->shared->sq.tail = self->chan->sq_head + 3;
		for (j = 0; j < 3; j++) {
			u32 at = (self->chan->sq_head + j) % RCLINK_DEV_DEPTH;
			struct rclink_dev_sqe *sqe = &self->shared->sqe[at];

			seed = seed * 1664525 + 1013904223;
			sqe->op = seed >> 31 ? RCLINK_OP_RECV : RCLINK_OP_SEND;
			sqe->flags = 0;
			sqe->pad = 0;
			sqe->compare_mask = 0;
			sqe->swap_mask = 0;
			sqe->num_sge = 1 + (seed >> 29 & 3);
			sqe->sge[0].region = self->region;
			sqe->sge[0].len = seed % (MTU + 100);
			sqe->sge[0].offset = (seed >> 8) % LEN;
			sqe->sge[1] = sqe->sge[0];
		}
		submit(self, &taken);
		tell(data, seed % MTU, seed % 64);
		rcl_group_chan_ready(self->chan);
		if (!(i % 4))
			self->shared->cq.head = self->chan->filled;
	}
	EXPECT_LT(100, sends);
	EXPECT_LT(100, self->chan->done);
}

TEST_HARNESS_MAIN
