// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for a channel to a service, such as that of example.c, and sends back
 * what arrives until it ends:
 *	echo LINK SERVICE
 */
#include <err.h>
#include <errno.h>
#include <string.h>

#include <rclink.h>

#define HALF 2048
#define FLUSHED 5	/* IBV_WC_WR_FLUSH_ERR */

static char memory[2 * HALF];

static void try(const char *what, int ret)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

/*
 * Waits for n completions; returns the length of the message among them, or
 * less than 0 when the channel ends.
 */
static int next(struct rclink_chan *chan, int n)
{
	struct rclink_dev_cqe cqe[2];
	int i, ret, len = -1;

	do {
		ret = rclink_submit(chan, n, 0);
	} while (ret == -EINTR);
	/* What was in flight when the peer closed is flushed. */
	if (ret != -ECONNRESET && ret != -ENODEV)
		try("submit", ret);
	if (rclink_reap(chan, cqe, n) != n)
		return -1;
	for (i = 0; i < n; i++) {
		if (cqe[i].status == FLUSHED)
			return -1;
		if (cqe[i].status)
			errx(1, "%s: %s", rclink_op_name(cqe[i].op),
			     rclink_status_name(cqe[i].status));
		if (cqe[i].flags & RCLINK_CQE_WRITTEN)
			errx(1, "the peer has written, and not sent");
		if (cqe[i].op == RCLINK_OP_RECV)
			len = cqe[i].len;
	}
	return len;
}

/*
 * A peer that has its answer may send again at once. So another receive, for
 * the other half, is posted before the answer: the device would not wait.
 */
static void echo(struct rclink_chan *chan, uint32_t region)
{
	uint32_t at = 0;
	int len;

	try("receive", rclink_recv(chan, rclink_piece(region, at, HALF), 0));
	for (len = next(chan, 1); len >= 0; len = next(chan, 2)) {
		try("receive", rclink_recv(chan, rclink_piece(region, HALF - at,
							      HALF), 0));
		try("send", rclink_send(chan, rclink_piece(region, at, len),
					RCLINK_SQE_SIGNALED, 0));
		at = HALF - at;
	}
}

int main(int argc, char **argv)
{
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	uint32_t region;

	if (argc != 3)
		errx(2, "usage: echo LINK SERVICE");
	try("listen", rclink_listen(&listener, argv[1], argv[2], 1, 0));
	try("accept", rclink_accept(listener, &chan));
	try("region", rclink_region(chan, memory, sizeof(memory), NULL, 0,
				    &region));
	echo(chan, region);
	rclink_close(chan);
	rclink_listener_close(listener);
	return 0;
}
