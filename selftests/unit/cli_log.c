// SPDX-License-Identifier: GPL-2.0
/* A log that nobody reads does not hold up the daemon. */
#include "log.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

static char page[4096];

static int set_blocking(int fd, bool blocking)
{
	return fcntl(fd, F_SETFL, blocking ? 0 : O_NONBLOCK);
}

/* No EXPECT while stderr is the pipe: its message would go there. */
TEST(a_line_that_nobody_reads_is_left_out)
{
	char text[256] = "";
	int fds[2], old;

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(0, set_blocking(fds[1], false));
	while (write(fds[1], page, sizeof(page)) > 0)
		;
	ASSERT_EQ(0, set_blocking(fds[1], true));
	ASSERT_EQ(0, set_blocking(fds[0], false));
	old = dup(STDERR_FILENO);
	dup2(fds[1], STDERR_FILENO);
	rcd_log(LOG_ERR, "first");
	rcd_log(LOG_ERR, "second");
	while (read(fds[0], page, sizeof(page)) > 0)
		;
	rcd_log(LOG_ERR, "third");
	rcd_log(LOG_ERR, "fourth");
	dup2(old, STDERR_FILENO);
	EXPECT_LT(0, read(fds[0], text, sizeof(text) - 1));
	EXPECT_STREQ("<4>2 lines were left out, as nobody read them\n"
		     "<3>third\n<3>fourth\n", text);
	close(old);
	close(fds[0]);
	close(fds[1]);
}

TEST_HARNESS_MAIN
