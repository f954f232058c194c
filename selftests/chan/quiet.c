// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that are not signaled have no completion, neither when they have
 * been carried out nor when the link goes down afterwards.
 *
 * usage: quiet LINK listen	prints "listening", and "got" when all came
 *        quiet LINK connect	when the link is down: number of completions
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define SERVICE		"quiet"
#define MESSAGES	3	/* too few for the module to signal one */

static int receive(struct rclink_chan *chan)
{
	struct rclink_dev_cqe cqes[MESSAGES];
	int i, ret = 0, got = 0;

	for (i = 0; i < MESSAGES && !ret; i++)
		ret = rclink_recv(chan, rclink_none(), i);
	while (ret >= 0 && got < MESSAGES) {
		ret = rclink_submit(chan, 1, 0);
		if (ret >= 0)
			got += rclink_reap(chan, cqes, MESSAGES);
	}
	if (ret < 0)
		return say("receive", ret);
	puts("got");
	fflush(stdout);
	return 0;
}

static int send_all(struct rclink_chan *chan)
{
	int i, ret = 0;

	for (i = 0; i < MESSAGES && !ret; i++)
		ret = rclink_send(chan, rclink_none(), 0, i);
	if (!ret)
		ret = rclink_submit(chan, 0, 0);
	return ret < 0 ? say("send", ret) : 0;
}

static void wait_over(struct rclink_chan *chan)
{
	struct pollfd fd = { .fd = rclink_fd(chan) };

	while (!(fd.revents & POLLHUP))
		poll(&fd, 1, -1);
}

static int listens(const char *link)
{
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	int ret;

	ret = rclink_listen(&listener, link, SERVICE, 1, 0);
	if (ret)
		return say("listen", ret);
	puts("listening");
	fflush(stdout);
	ret = rclink_accept(listener, &chan);
	if (ret)
		return say("accept", ret);
	ret = receive(chan);
	if (!ret)
		wait_over(chan);
	return ret;
}

static int connects(const char *link)
{
	struct rclink_dev_cqe cqes[MESSAGES];
	struct rclink_chan *chan;
	int ret;

	ret = rclink_connect(&chan, link, SERVICE, RCLINK_CONNECT_WAIT);
	if (ret)
		return say("connect", ret);
	ret = send_all(chan);
	if (ret)
		return ret;
	wait_over(chan);
	printf("%d\n", rclink_reap(chan, cqes, MESSAGES));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[2], "listen"))
		return !!listens(argv[1]);
	if (argc == 3 && !strcmp(argv[2], "connect"))
		return !!connects(argv[1]);
	fputs("usage: quiet LINK {listen | connect}\n", stderr);
	return 2;
}
