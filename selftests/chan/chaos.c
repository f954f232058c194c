// SPDX-License-Identifier: GPL-2.0
/*
 * Messages, WRITEs and atomics on many channels, both ways, while others make
 * the link fail.
 *
 * usage: chaos LINK listen CHANNELS [SERVICE]
 *        chaos LINK connect CHANNELS SECONDS [SERVICE]
 *
 * SIGTERM makes the end that connects stop before SECONDS are over. Between
 * SIGUSR1 and SIGUSR2 there are no atomics: where packets are lost, not every
 * device keeps what atomics promise.
 *
 * The end that listens prints "listening". Both print "begun", and when all
 * channels have ended in order, or one has failed, a line of sums: WORD NUMBER
 * pairs. The exit code is 0 if each message has arrived once, in order, and
 * whole.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chaos.h"
#include "common.h"

#define CHANNELS_MAX	16
#define END_S		180	/* for pending operations and a recovery */
#define OPEN_TRIES	300
#define PAUSE_US	100000	/* else an emulated host can do nothing else */

static struct chaos_chan chans[CHANNELS_MAX];
static unsigned int num;
static bool enough;

static void on_term(int signal)
{
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
}

static void on_user(int signal)
{
	__atomic_store_n(&chaos_atomics, signal == SIGUSR2, __ATOMIC_RELAXED);
}

/* Try again for a while if the link is down: it may come back. */
static int open_one(struct rclink_chan **chan, const char *link,
		    const char *service)
{
	int tries = 0;
	int ret;

	do {
		ret = rclink_connect(chan, link, service, RCLINK_CONNECT_WAIT |
				     RCLINK_CHAN_REPLAY);
	} while (ret == -ENOTCONN && tries++ < OPEN_TRIES &&
		 !usleep(PAUSE_US));
	return ret;
}

static int open_all(const char *link, const char *service, bool listens)
{
	struct rclink_listener *listener = NULL;
	char name[RCLINK_DEV_REGION_LEN];
	unsigned int i;
	int ret = 0;

	if (listens) {
		ret = rclink_listen(&listener, link, service, num,
				    RCLINK_CHAN_REPLAY);
		if (!ret)
			puts("listening");
		fflush(stdout);
	}
	for (i = 0; i < num && !ret; i++) {
		if (listens)
			ret = rclink_accept(listener, &chans[i].chan);
		else
			ret = open_one(&chans[i].chan, link, service);
		snprintf(name, sizeof(name), "%.16s%u", service, i);
		if (!ret && chaos_begin(&chans[i], name))
			return -1;
	}
	rclink_listener_close(listener);
	return ret ? say("open", ret) : 0;
}

/* Return: how many channels are not over yet. */
static unsigned int go_on(struct pollfd *fds)
{
	unsigned int i, left = 0;

	for (i = 0; i < num; i++) {
		struct chaos_chan *c = &chans[i];

		if (fds[i].fd < 0)
			continue;
		if (fds[i].revents & (POLLIN | POLLOUT | POLLHUP) ||
		    c->stopping != c->ending)
			chaos_go_on(c);
		if (chaos_is_over(c)) {
			fds[i].fd = -1;
			continue;
		}
		if (c->ended)
			c->stopping = true;
		fds[i].events = POLLIN | (c->blocked ? POLLOUT : 0);
		left++;
	}
	return left;
}

static int run(long seconds)
{
	struct pollfd fds[CHANNELS_MAX];
	time_t end = time(NULL) + seconds;
	unsigned int i;

	for (i = 0; i < num; i++) {
		fds[i].fd = rclink_fd(chans[i].chan);
		fds[i].revents = POLLIN;
	}
	while (go_on(fds)) {
		if (__atomic_load_n(&enough, __ATOMIC_RELAXED) && seconds &&
		    end > time(NULL))
			end = time(NULL);
		if (seconds && time(NULL) >= end)
			for (i = 0; i < num; i++)
				chans[i].stopping = true;
		if (seconds && time(NULL) >= end + END_S) {
			fputs("chaos: channels do not end\n", stderr);
			return -1;
		}
		poll(fds, num, 200);
		usleep(PAUSE_US);
	}
	return 0;
}

static void print_sum(const char *word, uint64_t sum)
{
	printf("%s %llu ", word, (unsigned long long)sum);
}

static bool print_sums(void)
{
	struct chaos_sums all = { 0 };
	uint64_t counter = 0, longest = 0;
	bool ok = true;
	unsigned int i;

	for (i = 0; i < num; i++) {
		const struct chaos_sums *s = &chans[i].sums;

		all.sent += s->sent;
		all.received += s->received;
		all.lost += s->lost;
		all.duplicated += s->duplicated;
		all.corrupt += s->corrupt;
		all.fadds += s->fadds;
		all.unknown += s->unknown;
		all.suspended += s->suspended;
		counter += chaos_counter(&chans[i]);
		if (chans[i].longest > longest)
			longest = chans[i].longest;
		ok &= !chans[i].failed;
	}
	print_sum("sent", all.sent);
	print_sum("received", all.received);
	print_sum("lost", all.lost);
	print_sum("duplicated", all.duplicated);
	print_sum("corrupt", all.corrupt);
	print_sum("fadds", all.fadds);
	print_sum("unknown", all.unknown);
	print_sum("counter", counter);
	print_sum("suspended", all.suspended);
	print_sum("outage_ms", longest / 1000000);
	puts("");
	return ok && !all.lost && !all.duplicated && !all.corrupt;
}

int main(int argc, char **argv)
{
	bool listens = argc > 3 && !strcmp(argv[2], "listen");
	int words = listens ? 4 : 5;
	const char *service = argc > words ? argv[words] : "chaos";
	long seconds = !listens && argc > 4 ? atol(argv[4]) : 0;
	bool ok;

	if (argc < words || argc > words + 1 ||
	    (!listens && (strcmp(argv[2], "connect") || seconds < 1))) {
		fputs("usage: chaos LINK listen N [SERVICE]\n"
		      "       chaos LINK connect N SECONDS [SERVICE]\n",
		      stderr);
		return 2;
	}
	num = atoi(argv[3]);
	if (!num || num > CHANNELS_MAX)
		return 2;
	signal(SIGTERM, on_term);
	signal(SIGUSR1, on_user);
	signal(SIGUSR2, on_user);
	if (open_all(argv[1], service, listens))
		return 1;
	puts("begun");
	fflush(stdout);
	ok = !run(seconds);
	ok &= print_sums();
	return ok ? 0 : 1;
}
