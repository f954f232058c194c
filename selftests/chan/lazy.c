// SPDX-License-Identifier: GPL-2.0
/*
 * usage: lazy regions NEAR FAR SECONDS MS
 *		registers and withdraws memory with a channel of this host to
 *		itself; prints how often, how often it took longer than MS, and
 *		the longest time
 *        lazy crowd NEAR FAR THREADS
 *		that many threads do so with one channel, and more memory, until
 *		the process is killed
 *        lazy listen LINK TIMES
 *		opens TIMES listeners for one service, then opens and closes one
 *		more, again and again, until it is killed
 *        lazy wait LINK
 *		listens, and accepts nothing, until it is killed
 *        lazy connect LINK TIMES
 *		opens and closes TIMES channels, one after another
 *
 * All but the last print "ready" first.
 */
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define SERVICE	"lazy"
#define LEN	(16 * 4096)
#define CROWD_LEN	(2048 * 4096)

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static int open_channel(const char *near, const char *far,
			struct rclink_chan **chan)
{
	struct rclink_listener *listener;
	struct rclink_chan *other;
	char service[32];
	int ret;

	/* Two such processes may run at once. */
	snprintf(service, sizeof(service), "%s%d", SERVICE, getpid());
	ret = rclink_listen(&listener, far, service, 1, 0);
	if (!ret)
		ret = rclink_connect(chan, near, service, RCLINK_CONNECT_WAIT);
	return ret ? ret : rclink_accept(listener, &other);
}

static int regions(const char *near, const char *far, int seconds, int most)
{
	double end, begun, took, longest = 0;
	void *addr = memory(LEN);
	struct rclink_chan *chan;
	unsigned int n = 0, late = 0;
	uint32_t region;
	int ret;

	ret = open_channel(near, far, &chan);
	if (ret)
		return say("a channel", ret);
	ready();
	end = now_ms() + seconds * 1e3;
	while (!ret && now_ms() < end) {
		begun = now_ms();
		ret = rclink_region(chan, addr, LEN, NULL, 0, &region);
		if (!ret)
			ret = rclink_withdraw(chan, region);
		took = now_ms() - begun;
		longest = took > longest ? took : longest;
		late += took > most;
		n++;
	}
	if (ret)
		return say("a region", ret);
	printf("%u times, %u late, %.0f ms at most\n", n, late, longest);
	return 0;
}

static void *crowd_addr;

static void *crowds(void *chan)
{
	uint32_t region;
	int ret;

	for (;;) {
		ret = rclink_region(chan, crowd_addr, CROWD_LEN, NULL, 0,
				    &region);
		if (!ret)
			ret = rclink_withdraw(chan, region);
		/* There are more threads than a channel may have regions. */
		if (ret && ret != -ENOSPC)
			exit(say("a region", ret) != 0);
	}
}

static int crowd(const char *near, const char *far, int threads)
{
	struct rclink_chan *chan;
	pthread_t thread;
	int ret;

	ret = open_channel(near, far, &chan);
	if (ret)
		return say("a channel", ret);
	crowd_addr = memory(CROWD_LEN);
	while (threads--) {
		ret = -pthread_create(&thread, NULL, crowds, chan);
		if (ret)
			return say("a thread", ret);
	}
	/* Wait until all threads run. */
	sleep(1);
	ready();
	return pause();
}

static int listens(const char *link, int times)
{
	struct rclink_listener *listener;
	bool said = false;
	int ret;

	while (times--) {
		ret = rclink_listen(&listener, link, SERVICE, 1, 0);
		if (ret)
			return say("listen", ret);
	}
	for (;;) {
		ret = rclink_listen(&listener, link, SERVICE, 1, 0);
		if (ret)
			return say("one more", ret);
		rclink_listener_close(listener);
		if (!said)
			ready();
		said = true;
	}
}

static int waits(const char *link)
{
	struct rclink_listener *listener;
	int ret;

	ret = rclink_listen(&listener, link, SERVICE, RCLINK_DEV_BACKLOG_MAX,
			    0);
	if (ret)
		return say("listen", ret);
	ready();
	return pause();
}

static int connects(const char *link, int times)
{
	struct rclink_chan *chan;
	int ret;

	while (times--) {
		ret = rclink_connect(&chan, link, SERVICE, RCLINK_CONNECT_WAIT);
		if (ret)
			return say("connect", ret);
		rclink_close(chan);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "regions"))
		return regions(argv[2], argv[3], atoi(argv[4]),
			       atoi(argv[5])) != 0;
	if (argc == 5 && !strcmp(argv[1], "crowd"))
		return crowd(argv[2], argv[3], atoi(argv[4])) != 0;
	if (argc == 4 && !strcmp(argv[1], "listen"))
		return listens(argv[2], atoi(argv[3])) != 0;
	if (argc == 3 && !strcmp(argv[1], "wait"))
		return waits(argv[2]) != 0;
	if (argc == 4 && !strcmp(argv[1], "connect"))
		return connects(argv[2], atoi(argv[3])) != 0;
	return 2;
}
