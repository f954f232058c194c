// SPDX-License-Identifier: GPL-2.0
/* usage: late LINK: the far end of chan_late, a process for each service. */
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"
#include "late.h"

#define PAGE	4096

struct late {
	const char *service;
	struct rclink_listener *go;
	struct rclink_chan *chan;
	uint32_t *page;		/* for messages, and for WRITEs of the peer */
	uint32_t region, exported;
};

static int say_number(struct late *l, uint32_t number)
{
	int ret = rclink_send(l->chan, rclink_bytes(&number, sizeof(number)),
			      0, 0);

	return ret ? ret : rclink_submit(l->chan, 0, 0);
}

/* Post all receives at once; reports how many messages came in order. */
static int receive(struct late *l)
{
	struct rclink_dev_cqe cqe;
	uint32_t i, right = 0;
	int ret = 0;

	for (i = 0; !ret && i < LATE_MESSAGES; i++)
		ret = rclink_recv(l->chan, rclink_piece(l->region, i * 4, 4),
				  i);
	for (i = 0; ret >= 0 && i < LATE_MESSAGES; i++) {
		ret = rclink_submit(l->chan, 1, 0);
		if (ret < 0 || rclink_reap(l->chan, &cqe, 1) != 1)
			return ret;
		right += !cqe.status && cqe.user_data == i && l->page[i] == i;
	}
	return ret < 0 ? ret : say_number(l, right);
}

static int withdraw(struct late *l)
{
	return strcmp(l->service, LATE_NEVER) ? 0 :
	       rclink_withdraw(l->chan, l->exported);
}

/* Wait until the near end connects to @go, or closes. */
static int be_late(struct late *l)
{
	struct pollfd fds[] = {
		{ .fd = rclink_fd(l->chan) },
		{ .fd = rclink_listener_fd(l->go), .events = POLLIN },
	};
	struct rclink_chan *go;
	int ret;

	if (poll(fds, 2, -1) < 0)
		return -errno;
	if (fds[0].revents)
		return 0;
	ret = rclink_accept(l->go, &go);
	if (ret)
		return ret;
	ret = withdraw(l);
	rclink_close(go);
	return ret;
}

static int serve(struct late *l)
{
	struct rclink_dev_cqe cqe;
	int ret;

	ret = rclink_region(l->chan, l->page, PAGE, NULL, 0, &l->region);
	if (!ret)
		ret = say_number(l, LATE_HELLO);
	if (ret >= 0)
		ret = rclink_region(l->chan, l->page, PAGE, l->service,
				    RCLINK_REGION_WRITE, &l->exported);
	if (!ret)
		ret = be_late(l);
	if (ret || !strcmp(l->service, LATE_GONE))
		return ret;
	if (!strcmp(l->service, LATE_SLOW))
		ret = receive(l);
	/* Until the near end closes. */
	while (ret >= 0) {
		ret = rclink_submit(l->chan, 1, 0);
		rclink_reap(l->chan, &cqe, 1);
	}
	return ret == -ECONNRESET ? 0 : ret;
}

static int run(const char *link, const char *service)
{
	struct late l = { .service = service, .page = memory(PAGE) };
	struct rclink_listener *listener;
	char go[LATE_SERVICE_LEN];
	int ret;

	snprintf(go, sizeof(go), "%s" LATE_GO, service);
	ret = rclink_listen(&listener, link, service, 8, 0);
	if (!ret)
		ret = rclink_listen(&l.go, link, go, 1, 0);
	if (ret)
		return say("listen", ret);
	printf("%s: listening\n", service);
	fflush(stdout);
	for (;;) {
		ret = rclink_accept(listener, &l.chan);
		if (ret)
			return say("accept", ret);
		ret = serve(&l);
		if (ret)
			say(service, ret);
		rclink_close(l.chan);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (!fork())
		return run(argv[1], LATE_NEVER) != 0;
	if (!fork())
		return run(argv[1], LATE_GONE) != 0;
	return run(argv[1], LATE_SLOW) != 0;
}
