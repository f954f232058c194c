// SPDX-License-Identifier: GPL-2.0
/*
 * Sends one message after the other to a service of the peer, such as that of
 * echo.c, and prints the answers:
 *	example LINK SERVICE TEXT...
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rclink.h>

#define HALF 2048

static char memory[2 * HALF];

static int try(const char *what, int ret)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
	return ret;
}

/* The receive is posted first, so that the answer cannot come too early. */
static void talk(struct rclink_chan *chan, uint32_t region, const char *text)
{
	struct rclink_dev_cqe cqe[2];
	uint32_t len = strlen(text);
	int i, n, ret;

	if (len > HALF)
		errx(2, "a text has %d bytes at most", HALF);
	memcpy(memory, text, len);
	try("receive", rclink_recv(chan, rclink_piece(region, HALF, HALF), 0));
	try("send", rclink_send(chan, rclink_piece(region, 0, len),
				RCLINK_SQE_SIGNALED, 0));
	do {
		ret = rclink_submit(chan, 2, 10000);
	} while (ret == -EINTR);
	/* Completions say more than how the channel has ended. */
	n = try("reap", rclink_reap(chan, cqe, 2));
	for (i = 0; i < n; i++) {
		if (cqe[i].status)
			errx(1, "%s: %s", rclink_op_name(cqe[i].op),
			     rclink_status_name(cqe[i].status));
		/* Its length would be that of data that is elsewhere. */
		if (cqe[i].flags & RCLINK_CQE_WRITTEN)
			errx(1, "the peer has written, and not sent");
		if (cqe[i].op == RCLINK_OP_RECV)
			printf("%.*s\n", (int)cqe[i].len, memory + HALF);
	}
	try("submit", ret);
}

int main(int argc, char **argv)
{
	struct rclink_chan *chan;
	uint32_t region;
	int i;

	if (argc < 4) {
		fputs("usage: example LINK SERVICE TEXT...\n", stderr);
		return 2;
	}
	try("connect", rclink_connect(&chan, argv[1], argv[2],
				      RCLINK_CONNECT_WAIT));
	try("region", rclink_region(chan, memory, sizeof(memory), NULL, 0,
				    &region));
	for (i = 3; i < argc; i++)
		talk(chan, region, argv[i]);
	rclink_close(chan);
	if (fflush(stdout))
		err(1, "stdout");
	return 0;
}
