// SPDX-License-Identifier: GPL-2.0
/*
 * Sends a message to a service of the peer, as that of echo.c, and prints the
 * answer:
 *	example LINK SERVICE TEXT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rclink.h>

enum { ANSWER = 1, MESSAGE = 2 };

static char memory[4096];

static int no(const char *what, int ret)
{
	fprintf(stderr, "example: %s: %s\n", what, strerror(-ret));
	return EXIT_FAILURE;
}

/* A receive for the answer comes first, so that it cannot come too early. */
static int talk(struct rclink_chan *chan, const char *text)
{
	uint32_t region, half = sizeof(memory) / 2, len = strlen(text);
	struct rclink_dev_cqe cqe;
	int ret;

	ret = rclink_region(chan, memory, sizeof(memory), NULL, 0, &region);
	if (ret)
		return no("region", ret);
	len = len < half ? len : half;
	memcpy(memory, text, len);
	ret = rclink_recv(chan, rclink_piece(region, half, half), ANSWER);
	if (!ret)
		ret = rclink_send(chan, rclink_piece(region, 0, len), 0,
				  MESSAGE);
	if (ret)
		return no("cannot queue", ret);
	do {
		ret = rclink_submit(chan, 1, 10000);
	} while (ret == -EINTR);
	if (ret < 0)
		return no("submit", ret);
	ret = rclink_reap(chan, &cqe, 1);
	if (ret != 1)
		return no("reap", ret < 0 ? ret : -EIO);
	if (cqe.status) {
		fprintf(stderr, "example: %s: %s\n", rclink_op_name(cqe.op),
			rclink_status_name(cqe.status));
		return EXIT_FAILURE;
	}
	printf("%.*s\n", (int)cqe.len, memory + half);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct rclink_chan *chan;
	int ret;

	if (argc != 4) {
		fputs("usage: example LINK SERVICE TEXT\n", stderr);
		return 2;
	}
	ret = rclink_connect(&chan, argv[1], argv[2], RCLINK_CONNECT_WAIT);
	if (ret)
		return no("connect", ret);
	ret = talk(chan, argv[3]);
	rclink_close(chan);
	return ret;
}
