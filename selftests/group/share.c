// SPDX-License-Identifier: GPL-2.0
/*
 * usage: share listen|connect LINK COUNT: one end of a channel, which exports
 * COUNT regions, named r000 and so on; number N has N + 1 bytes. Prints
 * "listening" if it listens, and "ready" when all are exported. SIGUSR1
 * withdraws r030. Runs until it is killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rclink.h>

#define SERVICE	"share"
#define GOES	30

static uint8_t memory[4096];

static void must(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "share: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static struct rclink_chan *listen_on(const char *link)
{
	struct rclink_listener *listener;
	struct rclink_chan *chan;

	must("listen", rclink_listen(&listener, link, SERVICE, 1, 0));
	say("listening");
	must("accept", rclink_accept(listener, &chan));
	return chan;
}

static uint32_t export_all(struct rclink_chan *chan, unsigned int count)
{
	uint32_t region, goes = 0;
	char name[16];
	unsigned int i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "r%03u", i);
		must(name, rclink_region(chan, memory, i + 1, name,
					 RCLINK_REGION_READ, &region));
		if (i == GOES)
			goes = region;
	}
	return goes;
}

int main(int argc, char **argv)
{
	unsigned int count = argc == 4 ? atoi(argv[3]) : 0;
	struct rclink_chan *chan;
	uint32_t goes;
	sigset_t set;
	int sig;

	if (argc != 4 || count > sizeof(memory))
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!strcmp(argv[1], "listen"))
		chan = listen_on(argv[2]);
	else
		must("connect", rclink_connect(&chan, argv[2], SERVICE,
					       RCLINK_CONNECT_WAIT));
	goes = export_all(chan, count);
	say("ready");
	while (!sigwait(&set, &sig))
		if (goes)
			must("withdraw", rclink_withdraw(chan, goes));
	return EXIT_FAILURE;
}
