// SPDX-License-Identifier: GPL-2.0
/* Sockets to listen on, their errors, and the sockets of a stock peer. */
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "fail.h"
#include "process.h"
#include "stock_tcp.h"

#define PAUSE_US	100000	/* for a child to begin to wait */

static unsigned int rate = 1;	/* of the clock */

uint64_t rcl_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return rate * (now.tv_sec * NS_PER_S + now.tv_nsec);
}

TEST(a_port_that_is_taken_is_named)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	char err[RCL_ERR_LEN], want[RCL_ERR_LEN];
	int fd;

	fd = rcl_socket_listen("127.0.0.1", 0, err);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, getsockname(fd, (struct sockaddr *)&addr, &len));
	EXPECT_EQ(-EADDRINUSE, rcl_socket_listen("127.0.0.1",
						 ntohs(addr.sin_port), err));
	snprintf(want, sizeof(want),
		 "cannot listen on port %u: Address already in use; end what listens there, see `ss -ltnp`, or choose another port or address",
		 ntohs(addr.sin_port));
	EXPECT_STREQ(want, err);
	close(fd);
}

TEST(an_address_of_another_host_is_refused)
{
	char err[RCL_ERR_LEN];

	EXPECT_EQ(-EADDRNOTAVAIL, rcl_socket_listen("203.0.113.1", 7185, err));
	EXPECT_STREQ(err,
		     "cannot listen on port 7185: Cannot assign requested address; choose another port or address");
	EXPECT_EQ(-EINVAL, rcl_socket_listen("nowhere", 7185, err));
	EXPECT_NE(NULL, strstr(err, "'nowhere' is not an IP address; give"));
}

static const char said[] = "to and fro";

/* 0 if all of said comes in. */
static int get(int fd)
{
	char got[sizeof(said)], err[RCL_ERR_LEN];
	int ret = rcv_tcp_get(fd, got, sizeof(got), err);

	if (ret)
		puts(err);
	return ret || memcmp(said, got, sizeof(said));
}

static int dial(int port)
{
	char err[RCL_ERR_LEN];
	int fd = rcv_tcp_dial("127.0.0.1", port, err);

	if (fd < 0)
		puts(err);
	return fd < 0;
}

static pid_t begin(int (*wait)(int arg), int arg)
{
	pid_t pid = fork();

	if (!pid)
		exit(wait(arg));
	usleep(PAUSE_US);
	return pid;
}

/* Stop and continue a child, as Ctrl-Z and fg do. */
static void stop_and_go(pid_t pid)
{
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	kill(pid, SIGCONT);
	usleep(PAUSE_US);
}

static bool ends_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && !status;
}

TEST(who_was_stopped_goes_on_to_read)
{
	const struct timeval limit = { .tv_sec = 10 };
	int ends[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	ASSERT_EQ(0, setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit,
				sizeof(limit)));
	pid = begin(get, ends[0]);
	stop_and_go(pid);
	ASSERT_EQ(3, write(ends[1], said, 3));
	usleep(PAUSE_US);
	stop_and_go(pid);
	ASSERT_EQ(sizeof(said) - 3, write(ends[1], said + 3, sizeof(said) - 3));
	EXPECT_TRUE(ends_well(pid));
}

/* The queue is full, so the first SYN is dropped, and sent again. */
TEST(who_was_stopped_goes_on_to_connect)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int from = socket(AF_INET, SOCK_STREAM, 0);
	int first = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(addr);
	pid_t pid;

	ASSERT_EQ(0, bind(from, (struct sockaddr *)&addr, len));
	ASSERT_EQ(0, getsockname(from, (struct sockaddr *)&addr, &len));
	ASSERT_EQ(0, listen(from, 0));
	ASSERT_EQ(0, connect(first, (struct sockaddr *)&addr, len));
	pid = begin(dial, ntohs(addr.sin_port));
	stop_and_go(pid);
	close(accept(from, NULL, NULL));
	EXPECT_TRUE(ends_well(pid));
}

static int trickle(int fd)
{
	int i;

	for (i = 0; i < (int)sizeof(said); i++) {
		usleep(PAUSE_US);
		if (write(fd, said + i, 1) != 1)
			return 1;
	}
	return 0;
}

/* It has 10 s for all of it, not for each byte. */
TEST(a_peer_that_says_little_at_a_time_times_out)
{
	char got[sizeof(said)], err[RCL_ERR_LEN];
	int ends[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	rate = 20;
	pid = begin(trickle, ends[1]);
	EXPECT_EQ(-ETIMEDOUT, rcv_tcp_get(ends[0], got, sizeof(got), err));
	EXPECT_STREQ(err,
		     "the peer does not say its address: timed out; see what it says");
	EXPECT_TRUE(ends_well(pid));
}

TEST_HARNESS_MAIN
