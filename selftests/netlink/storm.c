// SPDX-License-Identifier: GPL-2.0
/*
 * Make a link of this host and delete it, again and again: more events than
 * there is room for in the socket of a listener that does not read.
 *
 * usage: storm TIMES [half]
 *
 * With half, storm has a listener of its own. From "ready" on, its socket is at
 * least half full, but never full: a sender that may sleep yields to it.
 */
#include "rcl.h"

#include <linux/sock_diag.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ROOM	1048576		/* more than others send meanwhile */

static int begin_to_listen(struct genl_sock *events)
{
	static const int room = ROOM;
	int ret;

	ret = rcl_open(events);
	if (!ret)
		ret = genl_join(events);
	if (!ret)
		setsockopt(events->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room,
			   sizeof(room));
	return ret;
}

static unsigned int percent(const struct genl_sock *events)
{
	uint32_t mem[SK_MEMINFO_VARS];
	socklen_t len = sizeof(mem);

	if (getsockopt(events->fd, SOL_SOCKET, SO_MEMINFO, mem, &len))
		return 0;
	return 100ULL * mem[SK_MEMINFO_RMEM_ALLOC] / mem[SK_MEMINFO_RCVBUF];
}

static int stay_half_full(struct genl_sock *events)
{
	static bool said;
	struct genl_msg m;
	int ret = 0;

	if (!said && percent(events) > 50) {
		said = true;
		puts("ready");
		fflush(stdout);
	}
	while (!ret && percent(events) > 75)
		ret = genl_recv(events, &m, 0);
	return ret;
}

int main(int argc, char **argv)
{
	int i, ret, times = argc > 1 ? atoi(argv[1]) : 0;
	bool half = argc == 3 && !strcmp(argv[2], "half");
	struct genl_sock s, events;

	if (times < 1 || (argc > 2 && !half)) {
		fprintf(stderr, "usage: storm TIMES [half]\n");
		return 2;
	}
	ret = rcl_open(&s);
	if (!ret && half)
		ret = begin_to_listen(&events);
	for (i = 0; i < times && !ret; i++) {
		ret = rcl_new(&s, "storm");
		if (!ret)
			ret = rcl_del(&s, "storm");
		if (!ret && half)
			ret = stay_half_full(&events);
	}
	if (ret)
		fprintf(stderr, "storm: %s\n", strerror(-ret));
	return ret ? 1 : 0;
}
