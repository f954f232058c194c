// SPDX-License-Identifier: GPL-2.0
/* Opening channels; the test is the module. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "chan.h"

static int unmapped;	/* why the rings cannot be mapped; 0: they can */
static int accepted;	/* the file of the last channel */

typeof(int (const char *file, int flags, ...)) __real_open, __wrap_open;
typeof(int (int fd, unsigned long request, void *arg)) __wrap_ioctl;
typeof(void *(void *addr, size_t len, int prot, int flags, int fd,
	      off_t offset)) __real_mmap, __wrap_mmap;

int __wrap_open(const char *file, int flags, ...)
{
	if (strcmp(file, "/dev/rclink"))
		return __real_open(file, flags);
	return eventfd(0, EFD_CLOEXEC);
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	if (request != RCLINK_IOC_ACCEPT)
		return 0;
	accepted = eventfd(0, EFD_CLOEXEC);
	return accepted;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset)
{
	if (fd < 0)
		return __real_mmap(addr, len, prot, flags, fd, offset);
	errno = unmapped;
	return unmapped ? MAP_FAILED :
			  __real_mmap(NULL, len, prot,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/*
 * The first two would say that the channel can be accepted, or opened, later:
 * it is gone.
 */
TEST(a_channel_that_cannot_be_mapped_is_no_channel_to_come)
{
	static const struct {
		int error, ret;
	} why[] = {
		{ ENFILE, -ENOMEM }, { EAGAIN, -ENOMEM }, { ENOMEM, -ENOMEM },
		{ EPERM, -EPERM },
	};
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	unsigned int i;

	ASSERT_EQ(0, rclink_listen(&listener, "l", "s", 1, 0));
	for (i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		unmapped = why[i].error;
		EXPECT_EQ(why[i].ret, rclink_accept(listener, &chan));
		EXPECT_FALSE(is_open(accepted));
		EXPECT_EQ(why[i].ret, rclink_connect(&chan, "l", "s",
						     RCLINK_CONNECT_WAIT));
		EXPECT_EQ(why[i].ret, rclink_join(&chan, "g", "s", 0));
	}
	rclink_listener_close(listener);
}

TEST_HARNESS_MAIN
