// SPDX-License-Identifier: GPL-2.0
/*
 * Loaded into a QEMU before its libraries: what it accepts does not block. Its
 * -netdev stream makes only the socket of a client so; the main thread of a
 * server waited in a write, and its whole guest with it, while the other guest
 * took no packets.
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	return syscall(SYS_accept4, fd, addr, len, flags | SOCK_NONBLOCK);
}
