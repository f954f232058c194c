// SPDX-License-Identifier: GPL-2.0
/*
 * A process that waits for its peer, in the way that KIND names, until the
 * channel has ended.
 *
 * usage: blocked LINK listen KIND	prints "listening", and serves one
 *					channel
 *        blocked LINK KIND		prints "waits", and at the end "ended",
 *					the time in microseconds since 1970, the
 *					status of what was posted, and why
 *
 * KIND is
 *	recv	for a message that does not come
 *	sleep	the same, in poll()
 *	rnr	for the second SEND, for which the peer has no receive
 *	send	for one SEND after the other
 *	read	for one READ after the other
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define REGION	"blocked"
#define PAGE	4096
#define RECVS	16

struct blocked {
	const char *kind;
	struct rclink_chan *chan;
	uint32_t region;
	struct rclink_remote remote;
};

static bool is(const struct blocked *b, const char *kind)
{
	return !strcmp(b->kind, kind);
}

static void say_word(const char *word)
{
	puts(word);
	fflush(stdout);
}

/* The listening end posts the receives that the kind needs. */
static int serve(struct blocked *b)
{
	struct rclink_dev_cqe cqes[RECVS];
	/* Until the first receive the peer's kernel holds SENDs back. */
	int recvs = is(b, "send") ? RECVS : is(b, "rnr");
	int ret, n;

	for (;;) {
		for (ret = 0; recvs > 0 && !ret; recvs--)
			ret = rclink_recv(b->chan, rclink_none(), 0);
		if (!ret)
			ret = rclink_submit(b->chan, 1, 0);
		if (ret < 0)
			return ret;
		n = rclink_reap(b->chan, cqes, RECVS);
		recvs = is(b, "send") ? n : 0;
	}
}

static int listens(const char *link, struct blocked *b)
{
	struct rclink_listener *listener;
	int ret;

	ret = rclink_listen(&listener, link, b->kind, 1, 0);
	if (ret)
		return say("listen", ret);
	say_word("listening");
	ret = rclink_accept(listener, &b->chan);
	if (ret)
		return say("accept", ret);
	if (is(b, "read"))
		ret = rclink_region(b->chan, memory(PAGE), PAGE, REGION,
				    RCLINK_REGION_READ, &b->region);
	if (ret)
		return say("region", ret);
	return say("serve", serve(b));
}

/* The region may not be there yet. */
static int import(struct blocked *b)
{
	int ret;

	do
		ret = rclink_import(b->chan, REGION, &b->remote);
	while (ret == -ENOENT && !usleep(1000));
	return ret;
}

static int begin(struct blocked *b)
{
	int ret;

	if (!is(b, "read"))
		return 0;
	ret = rclink_region(b->chan, memory(PAGE), PAGE, NULL, 0, &b->region);
	return ret ? ret : import(b);
}

static int post(struct blocked *b)
{
	if (is(b, "read"))
		return rclink_read(b->chan, rclink_piece(b->region, 0, PAGE),
				   &b->remote, 0, RCLINK_SQE_SIGNALED, 0);
	if (is(b, "send") || is(b, "rnr"))
		return rclink_send(b->chan, rclink_none(), RCLINK_SQE_SIGNALED,
				   0);
	return rclink_recv(b->chan, rclink_none(), 0);
}

/* Wait for a completion, in poll() if the kind is "sleep". */
static int await(struct blocked *b)
{
	struct pollfd fd = { .fd = rclink_fd(b->chan), .events = POLLIN };
	int ret;

	if (!is(b, "sleep"))
		return rclink_submit(b->chan, 1, 0);
	ret = rclink_submit(b->chan, 0, 0);
	return ret < 0 || poll(&fd, 1, -1) > 0 ? ret : -errno;
}

/* Returns why it ended; *status is that of the last completion. */
static int waits(struct blocked *b, uint32_t *status)
{
	int left = is(b, "rnr") ? 1 : 0;	/* receives that the peer has */
	struct rclink_dev_cqe cqe;
	int ret;

	do {
		ret = post(b);
		if (ret)
			return ret;
		if (!left--)
			say_word("waits");
		ret = await(b);
		if (rclink_reap(b->chan, &cqe, 1) == 1)
			*status = cqe.status;
	} while (ret >= 0 && !*status);
	return ret < 0 ? ret : rclink_submit(b->chan, 1, 0);
}

static int connects(const char *link, struct blocked *b)
{
	uint32_t status = 0;
	struct timespec now;
	int ret;

	ret = rclink_connect(&b->chan, link, b->kind, RCLINK_CONNECT_WAIT);
	if (ret)
		return say("connect", ret);
	ret = begin(b);
	if (ret)
		return say("begin", ret);
	ret = waits(b, &status);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("ended %lld %s: %s\n",
	       now.tv_sec * 1000000LL + now.tv_nsec / 1000,
	       rclink_status_name(status), strerror(-ret));
	return 0;
}

int main(int argc, char **argv)
{
	struct blocked b = { .kind = argv[argc - 1] };

	if (argc == 4 && !strcmp(argv[2], "listen"))
		return !!listens(argv[1], &b);
	if (argc == 3)
		return !!connects(argv[1], &b);
	fputs("usage: blocked LINK [listen] KIND\n", stderr);
	return 2;
}
