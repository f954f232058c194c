// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

void rcl_hold_stdio(void)
{
	int fd;

	/* From the lowest one up, because that is what open() takes. */
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null",
			     fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void rcl_hide_memory(void)
{
	/* RLIMIT_CORE would not do: a core_pattern with a pipe ignores it. */
	prctl(PR_SET_DUMPABLE, 0);
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

uint64_t rcl_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t rcl_since_boot(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

struct timeval rcl_timeval(uint64_t ns)
{
	return (struct timeval) {
		.tv_sec = ns / NS_PER_S,
		.tv_usec = ns % NS_PER_S / 1000,
	};
}
