// SPDX-License-Identifier: GPL-2.0
/*
 * What a channel to a group refuses, and which limits it has. The group is g,
 * and this host keeps its key. Whether somebody listens does not matter, but
 * nobody else may send.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include <rclink.h>

#include "slow.h"

#define DEVICE	"/dev/rclink"
#define GROUP	"g"
#define SERVICE	"ops"
#define TOO_LONG "a-name-of-more-than-31-characters-1"
#define PAGE	4096
#define LIMIT	1048576
#define REGIONS	64
#define USERS	64

FIXTURE(group)
{
	struct rclink_chan *chan;
	void *memory;
	uint32_t region;
};

FIXTURE_SETUP(group)
{
	ASSERT_EQ(0, rclink_join(&self->chan, GROUP, SERVICE, 0));
	ASSERT_EQ(0, rclink_memory(self->chan, &self->memory, 2 * PAGE, NULL, 0,
				   &self->region));
}

FIXTURE_TEARDOWN(group)
{
	rclink_close(self->chan);
}

TEST_F(group, sends_what_has_room_and_refuses_more)
{
	uint32_t max = rclink_max_message(self->chan);
	const struct rclink_dev_sge two[2] = {
		{ .region = self->region, .len = max },
		{ .region = self->region, .len = 1, .offset = PAGE },
	};
	struct rclink_dev_cqe cqe;

	ASSERT_LT(200, max);
	ASSERT_GT(PAGE, max);
	ASSERT_EQ(0, rclink_send(self->chan, rclink_piece(self->region, 0, max),
				 RCLINK_SQE_SIGNALED, 7));
	ASSERT_EQ(1, rclink_submit(self->chan, 1, slow(10000)));
	ASSERT_EQ(1, rclink_reap(self->chan, &cqe, 1));
	EXPECT_EQ(0, cqe.status);
	EXPECT_EQ(7, cqe.user_data);
	EXPECT_EQ(max, cqe.len);
	EXPECT_EQ(RCLINK_OP_SEND, cqe.op);
	ASSERT_EQ(0, rclink_send(self->chan,
				 rclink_piece(self->region, 0, max + 1),
				 RCLINK_SQE_SIGNALED, 8));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(self->chan, 0, 0));
	EXPECT_EQ(0, rclink_reap(self->chan, &cqe, 1));
	/* In pieces, too. */
	ASSERT_EQ(0, rclink_send(self->chan, rclink_pieces(two, 2),
				 RCLINK_SQE_SIGNALED, 9));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(self->chan, 0, 0));
}

TEST_F(group, says_nothing_of_what_was_not_to_be_signaled)
{
	struct rclink_dev_cqe cqes[2];
	int i;

	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, rclink_send(self->chan, rclink_bytes("x", 1), 0,
					 1));
	ASSERT_EQ(0, rclink_send(self->chan, rclink_none(),
				 RCLINK_SQE_SIGNALED, 2));
	ASSERT_EQ(101, rclink_submit(self->chan, 1, slow(20000)));
	ASSERT_EQ(1, rclink_reap(self->chan, cqes, 2));
	EXPECT_EQ(2, cqes[0].user_data);
	EXPECT_EQ(0, cqes[0].status);
	EXPECT_EQ(0, cqes[0].len);
}

TEST_F(group, has_no_other_operations)
{
	const struct rclink_remote far = { .handle = 1, .len = PAGE };
	struct rclink_data one = rclink_piece(self->region, 0, 8);
	struct rclink_chan *chan = self->chan;

	EXPECT_EQ(0, rclink_send_imm(chan, one, 1, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_send_inv(chan, one, &far, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_write(chan, one, &far, 0, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_write_imm(chan, one, &far, 0, 1, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_read(chan, one, &far, 0, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_cas(chan, one, &far, 0, 1, 2, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_fadd(chan, one, &far, 0, 1, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_mcas(chan, one, &far, 0, 1, 2, 3, 4, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	EXPECT_EQ(0, rclink_mfadd(chan, one, &far, 0, 1, 2, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, rclink_submit(chan, 0, 0));
	/* And the channel goes on. */
	EXPECT_EQ(0, rclink_send(chan, one, 0, 0));
	EXPECT_EQ(1, rclink_submit(chan, 0, 0));
}

TEST_F(group, has_no_memory_for_a_peer)
{
	struct rclink_remote far;
	uint32_t region;

	EXPECT_EQ(-EOPNOTSUPP, rclink_region(self->chan, self->memory, PAGE,
					     "name", RCLINK_REGION_READ,
					     &region));
	EXPECT_EQ(-EOPNOTSUPP, rclink_import(self->chan, "name", &far));
	EXPECT_EQ(-EOPNOTSUPP, rclink_dmabuf(self->chan, 0, 0, PAGE, NULL, 0,
					     &region));
	EXPECT_EQ(-EOPNOTSUPP, rclink_release(self->chan, &far));
}

TEST_F(group, has_bounds_for_memory)
{
	uint32_t region, last = self->region;
	int i;

	EXPECT_EQ(-EMSGSIZE, rclink_region(self->chan, self->memory, LIMIT + 1,
					   NULL, 0, &region));
	EXPECT_EQ(-EINVAL, rclink_region(self->chan, self->memory, 0, NULL, 0,
					 &region));
	EXPECT_EQ(-EINVAL, rclink_region(self->chan, (void *)-1L, 2, NULL, 0,
					 &region));
	EXPECT_EQ(-EFAULT, rclink_region(self->chan, (void *)PAGE, 2, NULL, 0,
					 &region));
	for (i = 1; i < REGIONS; i++)
		ASSERT_EQ(0, rclink_region(self->chan, self->memory, 8, NULL, 0,
					   &last));
	EXPECT_EQ(-ENOSPC, rclink_region(self->chan, self->memory, 8, NULL, 0,
					 &region));
	EXPECT_EQ(0, rclink_withdraw(self->chan, last));
	EXPECT_EQ(-ESTALE, rclink_withdraw(self->chan, last));
	EXPECT_EQ(0, rclink_region(self->chan, self->memory, 8, NULL, 0,
				   &region));
	ASSERT_EQ(0, rclink_send(self->chan, rclink_piece(last, 0, 1), 0, 0));
	EXPECT_EQ(-ESTALE, rclink_submit(self->chan, 0, 0));
	ASSERT_EQ(0, rclink_recv(self->chan, rclink_piece(last, 0, 1), 0));
	EXPECT_EQ(-ESTALE, rclink_submit(self->chan, 0, 0));
	ASSERT_EQ(0, rclink_send(self->chan, rclink_piece(region, 1, 8), 0, 0));
	EXPECT_EQ(-EINVAL, rclink_submit(self->chan, 0, 0));
	ASSERT_EQ(0, rclink_recv(self->chan, rclink_piece(region, 9, 1), 0));
	EXPECT_EQ(-EINVAL, rclink_submit(self->chan, 0, 0));
}

/* Only a message that comes in makes room for another receive. */
TEST_F(group, takes_so_many_receives)
{
	struct pollfd fd = {
		.fd = rclink_fd(self->chan),
		.events = POLLOUT,
	};
	int i;

	for (i = 0; i < RCLINK_DEV_RECVS + 1; i++)
		ASSERT_EQ(0, rclink_recv(self->chan,
					 rclink_piece(self->region, 0, 1), i));
	EXPECT_EQ(1, poll(&fd, 1, 0));
	EXPECT_EQ(RCLINK_DEV_RECVS, rclink_submit(self->chan, 0, 0));
	EXPECT_EQ(-EBUSY, rclink_submit(self->chan, 0, 0));
	EXPECT_EQ(0, poll(&fd, 1, 0));
}

/* Room in the ring is kept for a receive that may still complete. */
TEST_F(group, does_not_let_the_ring_overflow)
{
	struct rclink_dev_cqe cqes[RCLINK_DEV_CQ_DEPTH];
	int i, n = 0, ret;

	ASSERT_EQ(0, rclink_recv(self->chan, rclink_piece(self->region, 0, 1),
				 0));
	ASSERT_EQ(1, rclink_submit(self->chan, 0, 0));
	do {
		for (i = 0; i < 100; i++)
			ASSERT_EQ(0, rclink_send(self->chan, rclink_none(),
						 RCLINK_SQE_SIGNALED, 1));
		ret = rclink_submit(self->chan, 0, 0);
		ASSERT_LT(0, ret);
		n += ret;
	} while (ret == 100);
	EXPECT_EQ(RCLINK_DEV_CQ_DEPTH - 1, n);
	EXPECT_EQ(-EBUSY, rclink_submit(self->chan, 0, 0));
	EXPECT_EQ(n, rclink_reap(self->chan, cqes, RCLINK_DEV_CQ_DEPTH));
	EXPECT_EQ(6 * 100 - n, rclink_submit(self->chan, 0, 0));
}

TEST_F(group, waits_no_longer_than_it_is_told)
{
	ASSERT_EQ(0, rclink_recv(self->chan, rclink_piece(self->region, 0, 1),
				 0));
	EXPECT_EQ(-ETIME, rclink_submit(self->chan, 1, 50));
}

TEST_F(group, is_all_that_its_file_is)
{
	struct rclink_dev_service s = { .link = "l", .service = "s" };
	struct rclink_dev_group g = { .group = GROUP, .service = SERVICE };
	int fd = rclink_fd(self->chan);

	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_JOIN, &g));
	EXPECT_EQ(EISCONN, errno);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_CONNECT, &s));
	EXPECT_EQ(EISCONN, errno);
	s.backlog = 1;
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_LISTEN, &s));
	EXPECT_EQ(EISCONN, errno);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_ACCEPT));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(group, can_be_passed_on)
{
	struct rclink_chan *other;
	struct rclink_dev_cqe cqe;
	int fd = dup(rclink_fd(self->chan));

	ASSERT_EQ(0, rclink_adopt(&other, fd));
	EXPECT_EQ(rclink_max_message(self->chan), rclink_max_message(other));
	ASSERT_EQ(0, rclink_send(other, rclink_piece(self->region, 0, 5),
				 RCLINK_SQE_SIGNALED, 3));
	ASSERT_EQ(1, rclink_submit(other, 1, slow(10000)));
	ASSERT_EQ(1, rclink_reap(other, &cqe, 1));
	EXPECT_EQ(3, cqe.user_data);
	rclink_close(other);
}

TEST(names_and_flags_are_checked)
{
	struct rclink_chan *chan;

	EXPECT_EQ(-ENODEV, rclink_join(&chan, "nobody", SERVICE, 0));
	EXPECT_EQ(-EINVAL, rclink_join(&chan, "", SERVICE, 0));
	EXPECT_EQ(-EINVAL, rclink_join(&chan, TOO_LONG, SERVICE, 0));
	EXPECT_EQ(-EINVAL, rclink_join(&chan, GROUP, "", 0));
	EXPECT_EQ(-EINVAL, rclink_join(&chan, GROUP, TOO_LONG, 0));
	EXPECT_EQ(-EINVAL, rclink_join(&chan, GROUP, SERVICE, 1));
	EXPECT_EQ(-EINVAL, rclink_join(&chan, GROUP, SERVICE,
				       RCLINK_CHAN_POLLED));
}

/* Names that the library would not let through. */
TEST(the_kernel_checks_names_itself)
{
	struct rclink_dev_group g = { .group = GROUP };
	int fd = open(DEVICE, O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_JOIN, &g));
	EXPECT_EQ(EINVAL, errno);
	memset(g.service, 'x', sizeof(g.service));
	EXPECT_EQ(-1, ioctl(fd, RCLINK_IOC_JOIN, &g));
	EXPECT_EQ(EINVAL, errno);
	g.service[sizeof(g.service) - 1] = 0;
	EXPECT_EQ(0, ioctl(fd, RCLINK_IOC_JOIN, &g));
	close(fd);
}

TEST(the_name_of_a_service_takes_room)
{
	struct rclink_chan *a, *b;

	ASSERT_EQ(0, rclink_join(&a, GROUP, "a", 0));
	ASSERT_EQ(0, rclink_join(&b, GROUP, "a-longer-one", 0));
	EXPECT_EQ(rclink_max_message(a), rclink_max_message(b) + 11);
	rclink_close(a);
	rclink_close(b);
}

TEST(so_many_may_use_it)
{
	struct rclink_chan *chan[USERS], *more;
	int i, ret = 0;

	for (i = 0; i < USERS && !ret; i++)
		ret = rclink_join(&chan[i], GROUP, SERVICE, 0);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(USERS, i);
	EXPECT_EQ(-ENOSPC, rclink_join(&more, GROUP, SERVICE, 0));
	rclink_close(chan[--i]);
	EXPECT_EQ(0, rclink_join(&chan[i++], GROUP, SERVICE, 0));
	while (i--)
		rclink_close(chan[i]);
}

/* Join in a child that has these IDs, and lacks a capability unless 0. */
static int try_as(unsigned int uid, unsigned int gid, int cap)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	struct rclink_chan *chan;
	pid_t pid = fork();
	int status;

	if (pid) {
		waitpid(pid, &status, 0);
		return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
	}
	if (syscall(SYS_capget, &head, data))
		_exit(EIO);
	data[cap / 32].effective &= ~(1u << cap % 32);
	if ((cap && syscall(SYS_capset, &head, data)) ||
	    setgroups(0, NULL) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		_exit(EIO);
	_exit(-rclink_join(&chan, GROUP, SERVICE, 0));
}

/* The group has owner 1000, group 2000, mode 0640. */
TEST(the_right_is_as_to_a_file)
{
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	EXPECT_EQ(0, try_as(1000, 1000, 0));
	EXPECT_EQ(-EACCES, try_as(3000, 2000, 0));
	EXPECT_EQ(-EACCES, try_as(3000, 3000, 0));
	EXPECT_EQ(-EACCES, try_as(0, 0, CAP_NET_ADMIN));
	EXPECT_EQ(0, try_as(0, 0, 0));
	ASSERT_EQ(0, chmod(DEVICE, 0600));
}

TEST(the_right_is_that_of_who_opened_the_device)
{
	struct rclink_dev_group g = { .group = GROUP, .service = SERVICE };
	int fd = open(DEVICE, O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setresuid(3000, 3000, 3000));
	EXPECT_EQ(0, ioctl(fd, RCLINK_IOC_JOIN, &g));
	close(fd);
}

TEST_HARNESS_MAIN
