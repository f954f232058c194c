// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that ask the peer, again and again. None of them may fail because the
 * link is rotated meanwhile.
 *
 * usage: calls LINK listen	prints "listening"; takes all channels, and
 *				prints "torn" for one that ends without a
 *				message
 *        calls LINK import	looks the region up, and reads it; prints
 *				"found" the first time
 *        calls LINK open	opens a channel, sends a message, and closes it
 *        calls LINK fresh	the same, but first looks the region up, which
 *				must be there
 *        calls LINK ask	asks for a region that is not there, of many
 *				threads at once
 *
 * import, open and fresh print how often they did so when SIGTERM ends them.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define SERVICE		"calls"
#define CHANNELS_MAX	16
#define TIMEOUT_MS	20000
#define ASKERS		16
#define MAGIC		0x63616c6c73000001ull
#define BALLAST		(8 << 20)	/* takes its time to be registered */

static bool ended;

static void on_term(int signal)
{
	__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
}

static bool enough(void)
{
	return __atomic_load_n(&ended, __ATOMIC_RELAXED);
}

/* The first channel exports the region that all channels read. */
static int export_once(struct rclink_chan *chan)
{
	static uint64_t *magic;
	uint32_t region;
	int ret;

	if (magic)
		return 0;
	magic = memory(sizeof(*magic));
	*magic = MAGIC;
	ret = rclink_region(chan, memory(BALLAST), BALLAST, NULL, 0, &region);
	return ret ? ret : rclink_region(chan, magic, sizeof(*magic), SERVICE,
					 RCLINK_REGION_READ, &region);
}

/* Between two epochs a submission is refused with -EAGAIN. */
static int post_receive(struct rclink_chan *chan)
{
	int ret = rclink_recv(chan, rclink_none(), 1);

	while (!ret && (ret = rclink_submit(chan, 0, 0)) == -EAGAIN) {
		usleep(1000);
		ret = 0;
	}
	/* If the channel has ended, poll() tells later. */
	return ret < 0 && ret != -ECONNRESET ? ret : 0;
}

static int take(struct rclink_listener *listener, struct rclink_chan **chan)
{
	int ret = rclink_accept(listener, chan);

	if (!ret)
		ret = post_receive(*chan);
	return ret ? ret : export_once(*chan);
}

/* The peer has ended the channel, and must have sent its message before. */
static void end(struct rclink_chan *chan)
{
	struct rclink_dev_cqe cqe = { .status = 0 };

	if (rclink_reap(chan, &cqe, 1) != 1 || cqe.status) {
		puts("torn");
		fflush(stdout);
	}
	rclink_close(chan);
}

static int serve(const char *link)
{
	struct rclink_chan *chans[CHANNELS_MAX] = { NULL };
	struct pollfd fds[CHANNELS_MAX + 1];
	struct rclink_listener *listener;
	int i, ret;

	ret = rclink_listen(&listener, link, SERVICE, CHANNELS_MAX, 0);
	if (ret)
		return ret;
	puts("listening");
	fflush(stdout);
	fds[0].fd = rclink_listener_fd(listener);
	fds[0].events = POLLIN;
	for (i = 1; i <= CHANNELS_MAX; i++)
		fds[i] = (struct pollfd){ .fd = -1 };
	while (!ret && poll(fds, CHANNELS_MAX + 1, -1) > 0) {
		for (i = CHANNELS_MAX; i > 0 && !ret; i--) {
			if (fds[i].fd >= 0 && fds[i].revents & POLLHUP) {
				end(chans[i - 1]);
				fds[i].fd = -1;
			}
			if (fds[i].fd >= 0 || !(fds[0].revents & POLLIN))
				continue;
			ret = take(listener, &chans[i - 1]);
			fds[i].fd = ret ? -1 : rclink_fd(chans[i - 1]);
			fds[0].revents = 0;
		}
	}
	return ret;
}

static int look_up(struct rclink_chan *chan, struct rclink_remote *remote)
{
	int ret;

	/*
	 * The peer exports the region as soon as it has accepted the channel.
	 */
	do {
		ret = rclink_import(chan, SERVICE, remote);
	} while (ret == -ENOENT && !enough());
	return ret;
}

/* Submit what is queued, and wait for a completion. */
static int completes(struct rclink_chan *chan)
{
	struct rclink_dev_cqe cqe = { .status = 0 };
	int ret = 0;

	while (!ret && !rclink_reap(chan, &cqe, 1)) {
		ret = rclink_submit(chan, 1, TIMEOUT_MS);
		ret = ret == -EINTR || ret > 0 ? 0 : ret;
	}
	return ret ? ret : cqe.status ? -EIO : 0;
}

static int say_hello(struct rclink_chan *chan)
{
	int ret = rclink_send(chan, rclink_none(), RCLINK_SQE_SIGNALED, 1);

	return ret ? ret : completes(chan);
}

/* The keys of @remote must be those of the current epoch. */
static int read_it(struct rclink_chan *chan, uint64_t *to, uint32_t region,
		   const struct rclink_remote *remote)
{
	int ret;

	*to = 0;
	ret = rclink_read(chan, rclink_piece(region, 0, sizeof(*to)), remote, 0,
			  RCLINK_SQE_SIGNALED, 1);
	if (!ret)
		ret = completes(chan);
	return !ret && *to != MAGIC ? -EIO : ret;
}

/* This does not ask the peer: between two epochs it fails with -EAGAIN. */
static int enlist(struct rclink_chan *chan, void *addr, uint32_t *region)
{
	int ret;

	do {
		ret = rclink_region(chan, addr, sizeof(uint64_t), NULL, 0,
				    region);
	} while (ret == -EAGAIN && !enough());
	return ret;
}

static int imports(const char *link, unsigned long *times)
{
	uint64_t *to = memory(sizeof(*to));
	struct rclink_remote first, remote;
	struct rclink_chan *chan;
	uint32_t region;
	int ret;

	ret = rclink_connect(&chan, link, SERVICE, RCLINK_CONNECT_WAIT |
			     RCLINK_CHAN_REPLAY);
	if (!ret)
		ret = enlist(chan, to, &region);
	if (!ret)
		ret = say_hello(chan);
	if (!ret)
		ret = look_up(chan, &first);
	if (!ret) {
		puts("found");
		fflush(stdout);
	}
	while (!ret && !enough()) {
		ret = rclink_import(chan, SERVICE, &remote);
		/*
		 * Only now and then, or hardly any import would be under way.
		 */
		if (!ret && ++*times % 16 == 0)
			ret = read_it(chan, to, region, &remote);
		if (!ret)
			ret = rclink_release(chan, &remote);
	}
	return ret;
}

static int open_one(const char *link, bool looks)
{
	struct rclink_remote remote;
	struct rclink_chan *chan;
	int ret;

	ret = rclink_connect(&chan, link, SERVICE, RCLINK_CONNECT_WAIT);
	if (ret)
		return ret;
	if (looks)
		ret = rclink_import(chan, SERVICE, &remote);
	if (!ret)
		ret = say_hello(chan);
	rclink_close(chan);
	return ret;
}

static int opens(const char *link, bool looks, unsigned long *times)
{
	int ret = 0;

	while (!ret && !enough()) {
		ret = open_one(link, looks);
		*times += !ret;
	}
	return ret;
}

static void *asks(void *arg)
{
	struct rclink_remote remote;
	int ret = -ENOENT;

	while (ret == -ENOENT && !enough())
		ret = rclink_import(arg, "nothing", &remote);
	return (void *)(long)ret;
}

static int ask_all_the_time(const char *link)
{
	pthread_t asker[ASKERS];
	struct rclink_chan *chan;
	void *result;
	int ret, i;

	ret = rclink_connect(&chan, link, SERVICE, 0);
	if (!ret)
		ret = say_hello(chan);
	if (ret)
		return ret;
	for (i = 0; i < ASKERS; i++)
		if (pthread_create(&asker[i], NULL, asks, chan))
			return -EAGAIN;
	for (i = 0; i < ASKERS; i++) {
		pthread_join(asker[i], &result);
		if ((long)result != -ENOENT)
			ret = (long)result;
	}
	return ret;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_term };
	unsigned long times = 0;
	int ret;

	if (argc != 3) {
		fputs("usage: calls LINK {listen|import|open|fresh|ask}\n",
		      stderr);
		return 2;
	}
	if (!strcmp(argv[2], "listen"))
		return say("listen", serve(argv[1])), 1;
	sigaction(SIGTERM, &action, NULL);
	if (!strcmp(argv[2], "import"))
		ret = imports(argv[1], &times);
	else if (!strcmp(argv[2], "ask"))
		ret = ask_all_the_time(argv[1]);
	else
		ret = opens(argv[1], !strcmp(argv[2], "fresh"), &times);
	/* SIGTERM may have interrupted the call. */
	if (ret == -EINTR && enough())
		ret = 0;
	printf("times %lu\n", times);
	return ret ? say(argv[2], ret), 1 : 0;
}
