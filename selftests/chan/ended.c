// SPDX-License-Identifier: GPL-2.0
/*
 * The peer ends a region, and its owner withdraws it before looking at the
 * completion that says so.
 *
 * usage: ended LINK listen	prints "listening"; "ended" when told so
 *        ended LINK connect	ends the region of the listener
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define SERVICE		"ended"
#define PAGE		4096
#define TIMEOUT_MS	20000

static int next(struct rclink_chan *chan, struct rclink_dev_cqe *cqe)
{
	int ret = rclink_submit(chan, 1, TIMEOUT_MS);

	if (ret < 0)
		return ret;
	return rclink_reap(chan, cqe, 1) == 1 && !cqe->status ? 0 : -EIO;
}

static int serve(struct rclink_chan *chan)
{
	uint32_t *flag = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t brief, other;
	struct rclink_dev_cqe cqe;
	int ret;

	if (flag == MAP_FAILED)
		return -errno;
	ret = rclink_recv(chan, rclink_none(), 0);
	if (!ret)
		ret = rclink_submit(chan, 0, 0);
	if (ret >= 0)
		ret = rclink_region(chan, flag, PAGE, "flag",
				    RCLINK_REGION_WRITE, &other);
	if (!ret)
		ret = rclink_region(chan, (char *)flag + PAGE, PAGE, "brief",
				    RCLINK_REGION_READ |
				    RCLINK_REGION_INVALIDATE, &brief);
	if (ret)
		return ret;
	/* The flag came after the message, which nobody has looked at. */
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(1000);
	ret = rclink_withdraw(chan, brief);
	if (!ret)
		ret = next(chan, &cqe);
	if (ret)
		return ret;
	if (!(cqe.flags & RCLINK_CQE_INVALIDATED) || cqe.imm != brief)
		return -EPROTO;
	puts("ended");
	fflush(stdout);
	return 0;
}

static int import(struct rclink_chan *chan, const char *name,
		  struct rclink_remote *remote)
{
	int ret;

	while ((ret = rclink_import(chan, name, remote)) == -ENOENT)
		usleep(1000);
	return ret;
}

static int end_it(struct rclink_chan *chan)
{
	struct rclink_remote flag, brief;
	struct rclink_dev_cqe cqe;
	uint32_t one = 1, region;
	int ret;

	ret = rclink_region(chan, &one, sizeof(one), NULL, 0, &region);
	if (!ret)
		ret = import(chan, "flag", &flag);
	if (!ret)
		ret = import(chan, "brief", &brief);
	if (!ret)
		ret = rclink_send_inv(chan, rclink_none(), &brief, 0, 0);
	if (!ret)
		ret = rclink_write(chan, rclink_piece(region, 0, sizeof(one)),
				   &flag, 0, RCLINK_SQE_SIGNALED, 1);
	if (!ret)
		ret = next(chan, &cqe);
	return ret;
}

static int run(const char *link, bool listens)
{
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	int ret;

	if (!listens) {
		ret = rclink_connect(&chan, link, SERVICE, RCLINK_CONNECT_WAIT);
		if (!ret)
			ret = end_it(chan);
		/* Wait until the other end is done. */
		if (!ret)
			rclink_submit(chan, 1, TIMEOUT_MS);
		return ret;
	}
	ret = rclink_listen(&listener, link, SERVICE, 1, RCLINK_CHAN_POLLED);
	if (ret)
		return ret;
	puts("listening");
	fflush(stdout);
	ret = rclink_accept(listener, &chan);
	return ret ? : serve(chan);
}

int main(int argc, char **argv)
{
	int ret;

	if (argc != 3 || (strcmp(argv[2], "listen") &&
			  strcmp(argv[2], "connect"))) {
		fputs("usage: ended LINK {listen | connect}\n", stderr);
		return 2;
	}
	ret = run(argv[1], !strcmp(argv[2], "listen"));
	return ret ? !!say(argv[2], ret) : 0;
}
