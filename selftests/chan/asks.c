// SPDX-License-Identifier: GPL-2.0
/*
 * usage: asks [FD]: asks for a channel to a service that nobody has, over the
 * open file FD of the device, or over one that it opens itself. Its exit status
 * is the errno of the answer, or 0 if it has the right to open channels; 1 if
 * the device cannot be opened.
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
