// SPDX-License-Identifier: GPL-2.0
/* Opening and closing what belongs to a channel; the test is the module. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kselftest_harness.h>
#include <sanitizer/asan_interface.h>

#include "chan.h"

static int unmapped;	/* why the rings cannot be mapped; 0: they can */
static int accepted;	/* the file of the last channel */

typeof(int (const char *file, int flags, ...)) __real_open, __wrap_open;
typeof(int (int fd, unsigned long request, void *arg)) __wrap_ioctl;
typeof(void *(void *addr, size_t len, int prot, int flags, int fd,
	      off_t offset)) __real_mmap, __wrap_mmap;

/*
 * Like the real one, it is where a thread is cancelled. The sanitizer does not
 * see the frames that this leaves.
 */
int __wrap_open(const char *file, int flags, ...)
{
	if (strcmp(file, "/dev/rclink"))
		return __real_open(file, flags);
	__asan_handle_no_return();
	pthread_testcancel();
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

static struct rclink_chan *chan;
static struct rclink_listener *listener;
static struct rclink_share *share;

static void close_all(void)
{
	rclink_close(chan);
	rclink_listener_close(listener);
	rclink_share_close(share);
}

static void listen_to_it(void)
{
	if (!rclink_listen(&listener, "l", "s", 1, 0))
		rclink_listener_close(listener);
}

static void share_with_it(void)
{
	if (!rclink_share(&share))
		rclink_share_close(share);
}

static void *be_cancelled(void *arg)
{
	void (*meanwhile)(void) = arg;

	pthread_cancel(pthread_self());
	meanwhile();
	return NULL;
}

static int do_while_cancelled(void (*what)(void))
{
	pthread_t thread;

	return pthread_create(&thread, NULL, be_cancelled, what) ||
	       pthread_join(thread, NULL);
}

TEST(a_thread_that_is_cancelled_closes_all_the_same)
{
	int fd[3];

	ASSERT_EQ(0, rclink_connect(&chan, "l", "s", 0));
	ASSERT_EQ(0, rclink_listen(&listener, "l", "s", 1, 0));
	ASSERT_EQ(0, rclink_share(&share));
	fd[0] = rclink_fd(chan);
	fd[1] = rclink_listener_fd(listener);
	fd[2] = share->fd;
	ASSERT_EQ(0, do_while_cancelled(close_all));
	EXPECT_FALSE(is_open(fd[0]));
	EXPECT_FALSE(is_open(fd[1]));
	EXPECT_FALSE(is_open(fd[2]));
}

/* What it leaves in memory is looked for when this test ends. */
TEST(a_thread_that_is_cancelled_leaves_nothing_half_open)
{
	EXPECT_EQ(0, do_while_cancelled(listen_to_it));
	EXPECT_EQ(0, do_while_cancelled(share_with_it));
}

TEST_HARNESS_MAIN
