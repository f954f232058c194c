// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for a channel to a service, and sends back what comes until it ends, as
 * for example.c:
 *	echo LINK SERVICE
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rclink.h>

static char memory[4096];

static int no(const char *what, int ret)
{
	fprintf(stderr, "echo: %s: %s\n", what, strerror(-ret));
	return EXIT_FAILURE;
}

/* The next completion; less than 0 for the end, or one that failed. */
static int next(struct rclink_chan *chan, struct rclink_dev_cqe *cqe)
{
	int ret;

	do {
		ret = rclink_submit(chan, 1, 0);
	} while (ret == -EINTR);
	if (rclink_reap(chan, cqe, 1) == 1)
		return cqe->status ? -1 : 0;
	return ret < 0 ? ret : -1;
}

/* A message is sent back before there is room for another one. */
static int echo(struct rclink_chan *chan, uint32_t region)
{
	struct rclink_dev_cqe cqe;
	int ret;

	for (;;) {
		ret = rclink_recv(chan,
				  rclink_piece(region, 0, sizeof(memory)), 0);
		if (ret)
			return no("cannot receive", ret);
		if (next(chan, &cqe))
			return EXIT_SUCCESS;
		ret = rclink_send(chan, rclink_piece(region, 0, cqe.len),
				  RCLINK_SQE_SIGNALED, 0);
		if (ret)
			return no("cannot send", ret);
		if (next(chan, &cqe))
			return EXIT_SUCCESS;
	}
}

int main(int argc, char **argv)
{
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	uint32_t region;
	int ret;

	if (argc != 3) {
		fputs("usage: echo LINK SERVICE\n", stderr);
		return 2;
	}
	ret = rclink_listen(&listener, argv[1], argv[2], 1, 0);
	if (!ret)
		ret = rclink_accept(listener, &chan);
	if (ret)
		return no("no channel", ret);
	ret = rclink_region(chan, memory, sizeof(memory), NULL, 0, &region);
	if (ret)
		return no("region", ret);
	ret = echo(chan, region);
	rclink_close(chan);
	rclink_listener_close(listener);
	return ret;
}
