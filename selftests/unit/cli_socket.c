// SPDX-License-Identifier: GPL-2.0
/* A socket to listen on, and what is said when there is none. */
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "fail.h"

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
	EXPECT_STREQ("'nowhere' is not an IP address", err);
}

TEST_HARNESS_MAIN
