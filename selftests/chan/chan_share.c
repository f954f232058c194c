// SPDX-License-Identifier: GPL-2.0
/* Exports to all links: of what memory, over which links, and by whom. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "far.h"
#include "fault.h"
#include "harness.h"
#include "share_rig.h"

#define DEVICE		"/dev/rclink"
#define PAGE		4096
#define LARGE		((16 << 20) + 777)
#define LARGE_AT	1235	/* in its first page */
#define EXTENT		(2 << 20)
#define GIANT		(256u << 20)	/* more keys than one answer has */
#define GIANT_TURN	(6 << 20)	/* mapped again and again for GIANT */
#define SLOTS		64
#define USER_MAX	1024	/* regions of a user in all files together */
#define STEPS_MAX	1000	/* more than a call allocates */
#define USER		1000
#define TIMEOUT_S	120
#define UNKNOWN		_IO('R', 0xff)	/* a call that does not exist */

FIXTURE(link)
{
	struct share_rig s;
};

FIXTURE_SETUP(link)
{
	ASSERT_EQ(0, share_begin(&self->s));
}

FIXTURE_TEARDOWN(link)
{
	share_end(&self->s);
}

static int set_owner(struct genl_sock *s, const char *link, uint32_t uid)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_SET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, link);
	genl_put_u32(&m, RCLINK_A_LINK_OWNER, uid);
	return genl_ask(s, &m, NULL, NULL);
}

/* Only the effective set, so that it can be undone. */
static void set_cap(unsigned int cap, bool on)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		abort();
	if (on)
		data[0].effective |= 1u << cap;
	else
		data[0].effective &= ~(1u << cap);
	if (syscall(SYS_capset, &head, data))
		abort();
}

/* Open a share as a user without CAP_NET_ADMIN who may open the device. */
static int share_as(uid_t uid, struct rclink_share **share)
{
	struct stat st;
	int ret;

	if (stat(DEVICE, &st) || chmod(DEVICE, 0666))
		return -errno;
	set_cap(CAP_NET_ADMIN, false);
	setfsuid(uid);
	ret = rclink_share(share);
	setfsuid(0);
	set_cap(CAP_NET_ADMIN, true);
	return chmod(DEVICE, st.st_mode & 07777) ? -errno : ret;
}

TEST_F(link, data_goes_over_both_links_both_ways)
{
	struct share_rig *s = &self->s;
	uint64_t *old = (uint64_t *)s->r.near_memory;
	uint64_t value = 5;

	ASSERT_EQ(0, share_offer_and_import(s));
	EXPECT_EQ(SHARE_LEN, s->near.len);
	EXPECT_EQ(SHARE_LEN, s->far.len);
	EXPECT_EQ(SHARE_RIGHTS, s->near.rights);
	EXPECT_EQ(0, share_moves(s, s->memory, 1, 1));

	memcpy(s->memory, &value, sizeof(value));
	ASSERT_EQ(0, rclink_fadd(s->r.near,
				 rclink_piece(s->r.near_region, 0, 8),
				 &s->near, 0, 7, RCLINK_SQE_SIGNALED, 0));
	EXPECT_EQ(0, rig_completes(s->r.near));
	EXPECT_EQ(5, *old);
	ASSERT_EQ(0, rclink_cas(s->r.far,
				rclink_piece(s->r.far_region, 0, 8),
				&s->far, 0, 12, 99, RCLINK_SQE_SIGNALED, 0));
	EXPECT_EQ(0, rig_completes(s->r.far));
	memcpy(&value, s->memory, sizeof(value));
	EXPECT_EQ(99, value);
	EXPECT_EQ(0, rig_moves(&s->r, 2));
}

TEST_F(link, it_is_pinned_once_and_registered_where_it_is_imported)
{
	struct share_rig *s = &self->s;
	long pinned = rig_pinned();
	int mrs = rcl_objects("mr");
	struct rclink_remote again;
	uint32_t last;

	ASSERT_EQ(0, share_offer(s, SHARE_RIGHTS));
	EXPECT_EQ(pinned + SHARE_LEN / 1024, rig_pinned());
	EXPECT_EQ(mrs, rcl_objects("mr"));
	ASSERT_EQ(0, rclink_import(s->r.near, SHARE_NAME, &s->near));
	EXPECT_EQ(mrs + 1, rcl_objects("mr"));
	ASSERT_EQ(0, rclink_import(s->r.far, SHARE_NAME, &s->far));
	ASSERT_EQ(0, rclink_import(s->r.far, SHARE_NAME, &again));
	EXPECT_EQ(mrs + 2, rcl_objects("mr"));
	EXPECT_EQ(pinned + SHARE_LEN / 1024, rig_pinned());
	EXPECT_EQ(0, share_moves(s, s->memory, 2, 3));
	ASSERT_EQ(0, rclink_share_withdraw(s->share, s->region));
	EXPECT_EQ(pinned, rig_pinned());
	EXPECT_EQ(mrs, rcl_objects("mr"));
	EXPECT_EQ(-ESTALE, rclink_share_withdraw(s->share, s->region));
	/* A stale handle does not end the next region in its slot, either. */
	last = s->region;
	ASSERT_EQ(0, share_offer(s, SHARE_RIGHTS));
	EXPECT_NE(last, s->region);
	EXPECT_EQ(-ESTALE, rclink_share_withdraw(s->share, last));
	EXPECT_EQ(0, rclink_share_withdraw(s->share, s->region));
}

TEST_F(link, locked_memory_counts_once)
{
	struct share_rig *s = &self->s;
	struct rlimit old, limit = { 0 };
	uint8_t *other = share_map(PAGE);
	uint32_t region;

	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, getrlimit(RLIMIT_MEMLOCK, &old));
	limit.rlim_cur = rig_pinned() * 1024 + SHARE_LEN;
	limit.rlim_max = old.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	set_cap(CAP_IPC_LOCK, false);
	EXPECT_EQ(0, share_offer_and_import(s));
	EXPECT_EQ(-EDQUOT, rclink_share_region(s->share, other, PAGE,
					       "other", SHARE_RIGHTS, &region));
	EXPECT_EQ(0, share_moves(s, s->memory, 1, 5));
	EXPECT_EQ(0, rclink_share_withdraw(s->share, s->region));
	EXPECT_EQ(0, rclink_share_region(s->share, other, PAGE, "other",
					 SHARE_RIGHTS, &region));
	set_cap(CAP_IPC_LOCK, true);
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &old));
	munmap(other, PAGE);
}

TEST_F(link, what_may_only_be_read_is_not_written)
{
	struct share_rig *s = &self->s;

	ASSERT_EQ(0, share_offer(s, RCLINK_REGION_READ));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(RCLINK_REGION_READ, s->near.rights);
	far_fill(s->memory, 7, RIG_MOVED);
	EXPECT_EQ(0, share_near_reads(s, 0, 7));
	EXPECT_EQ(0, share_far_reads(s, 0, 7));
	EXPECT_EQ(-EACCES, share_near_writes(s, 0, 8));
	EXPECT_EQ(-EACCES, share_far_writes(s, 0, 8));
	EXPECT_TRUE(far_is(s->memory, 7, RIG_MOVED));
	EXPECT_EQ(0, share_near_reads(s, 0, 7));
}

TEST_F(link, its_owner_must_have_a_right_to_the_link)
{
	struct share_rig *s = &self->s;
	struct genl_sock *nl = &s->r.s;

	rclink_share_close(s->share);
	ASSERT_EQ(0, share_as(USER, &s->share));
	ASSERT_EQ(0, share_offer(s, SHARE_RIGHTS));
	EXPECT_EQ(-ENOENT, rclink_import(s->r.near, SHARE_NAME, &s->near));
	EXPECT_EQ(-ENOENT, rclink_import(s->r.far, SHARE_NAME, &s->far));
	ASSERT_EQ(0, set_owner(nl, RIG_FAR, USER));
	EXPECT_EQ(0, rclink_import(s->r.near, SHARE_NAME, &s->near));
	EXPECT_EQ(-ENOENT, rclink_import(s->r.far, SHARE_NAME, &s->far));
	ASSERT_EQ(0, set_owner(nl, RIG_NEAR, USER));
	EXPECT_EQ(0, rclink_import(s->r.far, SHARE_NAME, &s->far));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 9));
	/* Imports go on, as channels that are open do. */
	ASSERT_EQ(0, set_owner(nl, RIG_FAR, 0));
	ASSERT_EQ(0, set_owner(nl, RIG_NEAR, 0));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 11));
	EXPECT_EQ(-ENOENT, rclink_import(s->r.near, SHARE_NAME, &s->near));
}

TEST_F(link, a_name_is_one_user_s_once)
{
	struct share_rig *s = &self->s;
	struct rclink_share *other = NULL;
	uint32_t region, theirs;

	/* USER has no right to any link yet. */
	ASSERT_EQ(0, share_as(USER, &other));
	ASSERT_EQ(0, rclink_share_region(other, s->memory, PAGE, SHARE_NAME,
					 SHARE_RIGHTS, &theirs));
	ASSERT_EQ(0, share_offer_and_import(s));
	EXPECT_EQ(SHARE_LEN, s->near.len);
	EXPECT_EQ(-EEXIST, rclink_share_region(s->share, s->memory, PAGE,
					       SHARE_NAME, SHARE_RIGHTS,
					       &region));
	EXPECT_EQ(-EEXIST, rclink_share_region(other, s->memory, PAGE,
					       SHARE_NAME, SHARE_RIGHTS,
					       &region));
	/* Now USER's region is found, which is the older one. */
	ASSERT_EQ(0, set_owner(&s->r.s, RIG_FAR, USER));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(PAGE, s->near.len);
	EXPECT_EQ(SHARE_LEN, s->far.len);
	rclink_share_close(other);
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(SHARE_LEN, s->near.len);
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 13));
}

TEST_F(link, a_link_s_own_region_comes_first)
{
	struct share_rig *s = &self->s;
	uint32_t own;

	ASSERT_EQ(0, share_offer_and_import(s));
	ASSERT_EQ(0, rclink_region(s->r.far, s->r.far_memory, PAGE, SHARE_NAME,
				   RCLINK_REGION_READ, &own));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 15));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(PAGE, s->near.len);
	EXPECT_EQ(RCLINK_REGION_READ, s->near.rights);
	EXPECT_EQ(SHARE_LEN, s->far.len);
	ASSERT_EQ(0, rclink_withdraw(s->r.far, own));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(SHARE_LEN, s->near.len);
	/* The same if the link's own region is there first. */
	ASSERT_EQ(0, rclink_share_withdraw(s->share, s->region));
	ASSERT_EQ(0, rclink_region(s->r.far, s->r.far_memory, PAGE, SHARE_NAME,
				   RCLINK_REGION_READ, &own));
	ASSERT_EQ(0, share_offer(s, SHARE_RIGHTS));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(PAGE, s->near.len);
	EXPECT_EQ(SHARE_LEN, s->far.len);
}

TEST_F(link, many_registrations)
{
	struct share_rig *s = &self->s;
	uint8_t *m = share_map(LARGE + PAGE);
	int mrs = rcl_objects("mr");
	uint32_t region;

	ASSERT_NE(NULL, m);
	m += LARGE_AT;
	ASSERT_EQ(0, rclink_share_region(s->share, m, LARGE, SHARE_NAME,
					 SHARE_RIGHTS, &region));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(LARGE, s->near.len);
	EXPECT_EQ(0, share_moves(s, m, 0, 17));
	EXPECT_EQ(0, share_moves(s, m, EXTENT - LARGE_AT - 4321, 19));
	EXPECT_EQ(0, share_moves(s, m, LARGE - RIG_MOVED, 21));
	EXPECT_EQ(-EINVAL, share_near_writes(s, LARGE - RIG_MOVED + 1, 23));
	ASSERT_EQ(0, rclink_share_withdraw(s->share, region));
	EXPECT_EQ(mrs, rcl_objects("mr"));
	munmap(m - LARGE_AT, LARGE + PAGE);
}

/* The same memory is mapped many times in a row. */
static uint8_t *map_giant(void)
{
	uint8_t *m = mmap(NULL, GIANT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	int fd = memfd_create("giant", MFD_CLOEXEC);
	size_t at, len = GIANT_TURN;

	if (m == MAP_FAILED || fd < 0 || ftruncate(fd, GIANT_TURN))
		return MAP_FAILED;
	for (at = 0; at < GIANT; at += len) {
		if (len > GIANT - at)
			len = GIANT - at;
		if (mmap(m + at, len, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) ==
		    MAP_FAILED)
			return MAP_FAILED;
	}
	close(fd);
	return m;
}

TEST_F_TIMEOUT(link, more_keys_than_an_answer_has_room_for, TIMEOUT_S)
{
	struct share_rig *s = &self->s;
	uint8_t *m = map_giant();
	uint32_t region;

	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rclink_share_region(s->share, m, GIANT, SHARE_NAME,
					 SHARE_RIGHTS, &region));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(0, share_moves(s, m, 1, 25));
	EXPECT_EQ(0, share_moves(s, m, GIANT - RIG_MOVED, 27));
	/* A kill that comes early ends it early, too. */
	ASSERT_EQ(0, rclink_share_withdraw(s->share, region));
	munmap(m, GIANT);
}

TEST_F(link, memory_of_the_kernel_outlives_the_region_in_who_has_it_mapped)
{
	struct share_rig *s = &self->s;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rclink_share_memory(s->share, &m, SHARE_LEN,
					 SHARE_NAME, SHARE_RIGHTS, &region));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(0, share_moves(s, m, 0, 29));
	ASSERT_EQ(0, munmap(m, SHARE_LEN));
	EXPECT_EQ(0, share_moves(s, NULL, 0, 31));
	ASSERT_EQ(0, rclink_share_withdraw(s->share, region));
	ASSERT_EQ(0, rclink_share_memory(s->share, &m, SHARE_LEN,
					 SHARE_NAME, SHARE_RIGHTS, &region));
	ASSERT_EQ(0, share_import(s));
	EXPECT_EQ(0, share_moves(s, m, 0, 33));
	rclink_share_close(s->share);
	s->share = NULL;
	EXPECT_TRUE(far_is(m, 34, RIG_MOVED));
	munmap(m, SHARE_LEN);
}

/* On a share: wrong arguments, and calls that a share does not have. */
TEST_F(link, what_makes_no_sense_is_refused)
{
	struct share_rig *s = &self->s;
	struct rclink_dev_region arg = {
		.name = SHARE_NAME, .rights = SHARE_RIGHTS, .len = PAGE,
		.addr = (uintptr_t)s->memory,
	};
	struct rclink_dev_service service = {
		.link = RIG_NEAR, .service = RIG_SERVICE,
	};
	struct rclink_dev_submit submit = { .count = 1 };
	struct rclink_dev_region bad;
	struct rclink_chan *chan;
	int fd = rig_device();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, RCLINK_IOC_SHARE));
	bad = arg;
	bad.name[0] = 0;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad = arg;
	memset(bad.name, 'x', sizeof(bad.name));
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad = arg;
	bad.rights = 0;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad.rights = SHARE_RIGHTS | RCLINK_REGION_INVALIDATE;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad.rights = ~0u;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad = arg;
	bad.len = 0;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad.len = UINT64_MAX - bad.addr + 1;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad.len = UINT64_MAX - bad.addr;
	EXPECT_EQ(-EMSGSIZE, rig_region(fd, &bad));
	bad = arg;
	EXPECT_EQ(-EINVAL, rig_memory(fd, &bad));
	bad.addr = 0;
	bad.len = PAGE + 1;
	EXPECT_EQ(-EINVAL, rig_memory(fd, &bad));
	EXPECT_EQ(0, rig_region(fd, &arg));
	EXPECT_EQ(-ESTALE, rig_withdraw(fd, arg.handle + 1));

	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_SHARE));
	EXPECT_EQ(EISCONN, errno);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_CONNECT, &service));
	EXPECT_EQ(EISCONN, errno);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_ACCEPT));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_IMPORT, &arg));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_SUBMIT, &submit));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(-1, ioctl(fd, UNKNOWN));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-EINVAL, rclink_adopt(&chan, fd));
	EXPECT_EQ(-1, ioctl(rclink_fd(s->r.near), RCLINK_IOC_SHARE));
	EXPECT_EQ(EISCONN, errno);
	close(fd);
}

/* A call that the module does not know is ENOTTY before all else. */
TEST(calls_on_a_file_that_is_nothing)
{
	struct rclink_dev_submit submit = { .count = 0 };
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_SUBMIT, &submit));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(-1, ioctl(fd, UNKNOWN));
	EXPECT_EQ(ENOTTY, errno);
	close(fd);
}

/* Whichever allocation fails, the call reports it and keeps nothing. */
TEST_F_TIMEOUT(link, a_failure_below_it_leaves_nothing, TIMEOUT_S)
{
	struct share_rig *s = &self->s;
	long pinned = rig_pinned();
	bool happened = true;
	unsigned int n;
	int ret;

	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	ASSERT_EQ(0, fault_nth_setup());
	for (n = 1; happened && n < STEPS_MAX; n++) {
		fault_nth(n);
		ret = share_offer(s, SHARE_RIGHTS);
		happened = !fault_nth(0);
		EXPECT_TRUE(!ret || (happened && (ret == -ENOMEM ||
						  ret == -EFAULT)))
			TH_LOG("%u: %d", n, ret);
		if (!ret)
			ASSERT_EQ(0, rclink_share_withdraw(s->share,
							   s->region));
		EXPECT_EQ(pinned, rig_pinned());
	}
	EXPECT_GT(STEPS_MAX, n);
	EXPECT_LT(2, n);
	ASSERT_EQ(0, share_offer_and_import(s));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 55));
}

TEST_F(link, so_many_at_a_time)
{
	struct share_rig *s = &self->s;
	uint32_t regions[SLOTS], i;
	char name[16];

	for (i = 0; i < SLOTS; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		ASSERT_EQ(0, rclink_share_region(s->share, s->memory,
						 PAGE, name, SHARE_RIGHTS,
						 &regions[i]));
	}
	EXPECT_EQ(-ENOSPC, share_offer(s, SHARE_RIGHTS));
	ASSERT_EQ(0, rclink_share_withdraw(s->share, regions[7]));
	ASSERT_EQ(0, share_offer_and_import(s));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 53));
}

TEST_F_TIMEOUT(link, so_many_of_a_user, TIMEOUT_S)
{
	struct rclink_share *share[USER_MAX / SLOTS], *more = NULL;
	struct share_rig *s = &self->s;
	uint32_t region, i;
	char name[16];

	for (i = 0; i < USER_MAX; i++) {
		if (i % SLOTS == 0)
			ASSERT_EQ(0, share_as(USER, &share[i / SLOTS]));
		snprintf(name, sizeof(name), "n%u", i);
		ASSERT_EQ(0, rclink_share_region(share[i / SLOTS], s->memory,
						 PAGE, name, SHARE_RIGHTS,
						 &region));
	}
	ASSERT_EQ(0, share_as(USER, &more));
	EXPECT_EQ(-ENOSPC, rclink_share_region(more, s->memory, PAGE, "more",
					       SHARE_RIGHTS, &region));
	/* Another user still has room, and finds the own region. */
	ASSERT_EQ(0, share_offer_and_import(s));
	EXPECT_EQ(0, share_moves(s, s->memory, 0, 54));
	for (i = 0; i < USER_MAX / SLOTS; i++)
		rclink_share_close(share[i]);
	EXPECT_EQ(0, rclink_share_region(more, s->memory, PAGE, "more",
					 SHARE_RIGHTS, &region));
	rclink_share_close(more);
}

TEST_HARNESS_MAIN
