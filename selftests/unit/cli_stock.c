// SPDX-License-Identifier: GPL-2.0
/*
 * Ping-pong with a stock peer that lets us wait. The test is that peer, and the
 * clock: time passes while a CQ is looked at, or waited for.
 */
#include "stock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include <kselftest_harness.h>

#include "fail.h"
#include "stock_tcp.h"
#include "verbs_fake.h"

#define MS	1000000ULL	/* ns */
#define SIZE	64

static const struct rcv_stock_dest peer = {
	.lid = 1, .qpn = 0x11, .gid = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
};

static bool plays;	/* sends a message each millisecond */

int rcv_tcp_dial(const char *host, uint16_t port, char *err)
{
	return open("/dev/null", O_RDONLY);
}

int rcv_tcp_answer(uint16_t port, void (*listening)(uint16_t port),
		   const char *(*give_up)(void *ctx), void *ctx, char *err)
{
	return -1;
}

int rcv_tcp_put(int fd, const void *buf, size_t len, char *err)
{
	return 0;
}

int rcv_tcp_get(int fd, void *buf, size_t len, char *err)
{
	rcv_stock_encode(&peer, buf);
	return 0;
}

typeof(poll) __wrap_poll;

int __wrap_poll(struct pollfd *fds, nfds_t num, int ms)
{
	if (!plays) {
		fake_now += ms * MS;
		return 0;
	}
	fake_now += MS;
	fake_arrive(&fake_ctrl, IBV_WC_SUCCESS, NULL, SIZE);
	return 1;
}

FIXTURE(rally)
{
	struct rcv_stock_result result;
	uint64_t begun;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(rally)
{
	self->begun = fake_now;
}

FIXTURE_TEARDOWN(rally)
{
}

static int begin(struct rcv_stock_result *result, bool events, char *err)
{
	const struct rcv_stock_args args = {
		.host = "peer", .device = "", .mtu = 1024, .size = SIZE,
		.iters = 100000, .depth = 10, .events = events,
	};

	return rcv_stock_run(&args, NULL, result, err);
}

TEST_F(rally, ends_when_nothing_comes_for_ten_seconds)
{
	EXPECT_EQ(-ETIMEDOUT, begin(&self->result, true, self->err));
	EXPECT_NE(NULL, strstr(self->err, "nothing completed for 10 s"));
	EXPECT_EQ(10000 * MS, fake_now - self->begun);
}

static const char removed[] = "the RDMA device was removed";

/* Otherwise the removal would wait for this process. */
TEST_F(rally, polls_no_device_that_was_removed)
{
	fake_mute = true;
	fake_gone = true;
	EXPECT_EQ(-ENODEV, begin(&self->result, false, self->err));
	EXPECT_STREQ(removed, self->err);
}

TEST_F(rally, waits_for_no_device_that_was_removed)
{
	fake_gone = true;
	EXPECT_EQ(-ENODEV, begin(&self->result, true, self->err));
	EXPECT_STREQ(removed, self->err);
	EXPECT_EQ(1000 * MS, fake_now - self->begun);
}

/* It works until the process has closed it. */
TEST_F(rally, leaves_a_device_that_was_removed_and_works)
{
	fake_gone = true;
	plays = true;
	EXPECT_EQ(-ENODEV, begin(&self->result, true, self->err));
	EXPECT_STREQ(removed, self->err);
	EXPECT_EQ(1000 * MS, fake_now - self->begun);
}

/* An errno of a provider should be positive, but may be negative. */
TEST_F(rally, does_not_take_a_failure_to_post_for_progress)
{
	static const int failures[] = { ENOSPC, -ENOSPC };
	size_t i;

	for (i = 0; i < 2; i++) {
		fake_no_send = failures[i];
		EXPECT_EQ(-ENOSPC, begin(&self->result, false, self->err));
		EXPECT_STREQ("cannot post a send: No space left on device",
			     self->err);
		fake_no_send = 0;
		fake_no_recv = failures[i];
		EXPECT_EQ(-ENOSPC, begin(&self->result, false, self->err));
		EXPECT_NE(NULL, strstr(self->err,
				       "post receive 1: No space left"));
		fake_no_recv = 0;
	}
}

TEST_HARNESS_MAIN
