// SPDX-License-Identifier: GPL-2.0
/*
 * usage: asks [FD]: asks the device for a channel to a service that nobody
 * has, over its file FD, which somebody else opened, or one that it opens. What
 * it was told is its exit status, an errno; 0 says that it had the right.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <rclink.h>

int main(int argc, char **argv)
{
	struct rclink_dev_service s = { .link = "l", .service = "nobody" };
	int fd;

	fd = argc > 1 ? atoi(argv[1]) : open("/dev/rclink", O_RDWR | O_CLOEXEC);
	if (fd < 0 || !ioctl(fd, RCLINK_IOC_CONNECT, &s))
		return EXIT_FAILURE;
	return errno == ECONNREFUSED ? 0 : errno;
}
