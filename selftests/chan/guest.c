// SPDX-License-Identifier: GPL-2.0
/*
 * usage: guest [FD]: takes over the file of a channel, FD or one that comes
 * over the socket at stdin, and moves data over it. The far end is the program
 * far. Exits with 0 if all data arrived and, if the file came over the socket,
 * if guest itself may not open a channel.
 */
#include <sys/socket.h>

#include "common.h"
#include "far.h"
#include "near.h"

#define LINK	"l"
#define SEED	77

/* The file that is passed over a UNIX socket, or an error. */
static int receive(int from)
{
	char data, control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { .iov_base = &data, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	int fd;

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

int main(int argc, char **argv)
{
	struct rclink_chan *chan;
	struct near near;
	int fd, ret;

	fd = argc > 1 ? atoi(argv[1]) : receive(0);
	if (fd < 0)
		return say("no file", fd) != 0;
	ret = argc > 1 ? -EACCES : rclink_connect(&chan, LINK, FAR_SERVICE, 0);
	if (ret != -EACCES)
		return say("connect", ret) != 0;
	ret = rclink_adopt(&chan, fd);
	if (ret)
		return say("adopt", ret) != 0;
	ret = near_greet(&near, chan);
	if (!ret)
		ret = near_moves(&near, SEED);
	return ret && say("data", ret);
}
