// SPDX-License-Identifier: GPL-2.0
/*
 * usage: idle NEAR FAR CHANNELS [memory|region]: open both ends of CHANNELS
 * channels of a link of this host to itself. Prints "ready" when they are open,
 * and stays until it is killed. With "memory", the last channel has memory of
 * the kernel mapped; SIGUSR1 prints "still mine" if the memory has what was
 * last written, and writes to it again. With "region", the last channel has a
 * region registered, in as many pieces as possible.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define SERVICE	"idle"
#define LEN	(4 * 4096)
#define PAGE	4096
#define PAGES	8192		/* a power of two */
#define STRIDE	3001		/* odd: reaches each page */

static unsigned char *mapped;

static void use(int signal)
{
	static const char mine[] = "still mine\n", no[] = "not mine\n";
	static unsigned char mark;
	bool right = mapped[0] == mark && !memcmp(mapped, mapped + 1, LEN - 1);

	memset(mapped, ++mark, LEN);
	if (write(STDOUT_FILENO, right ? mine : no,
		  right ? sizeof(mine) - 1 : sizeof(no) - 1) < 0)
		_exit(EXIT_FAILURE);
}

static int map_memory(struct rclink_chan *chan)
{
	uint32_t region;
	void *addr;
	int ret;

	ret = rclink_memory(chan, &addr, LEN, SERVICE, RCLINK_REGION_WRITE,
			    &region);
	mapped = addr;
	signal(SIGUSR1, use);
	return ret;
}

/* No page is adjacent in physical memory to the next one. */
static int register_pages(struct rclink_chan *chan)
{
	unsigned char *addr = memory(PAGES * PAGE);
	uint32_t region;
	unsigned int i;

	/* EINVAL: a kernel without huge pages. */
	if (madvise(addr, PAGES * PAGE, MADV_NOHUGEPAGE) && errno != EINVAL)
		return -errno;
	for (i = 0; i < PAGES; i++)
		addr[(i * STRIDE % PAGES) * PAGE] = 1;
	return rclink_region(chan, addr, PAGES * PAGE, SERVICE,
			     RCLINK_REGION_READ, &region);
}

static int has(struct rclink_chan *chan, const char *what)
{
	if (!what)
		return 0;
	return strcmp(what, "region") ? map_memory(chan) : register_pages(chan);
}

int main(int argc, char **argv)
{
	unsigned int i, channels = argc >= 4 ? atoi(argv[3]) : 0;
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	int ret;

	if (!channels || argc > 5 ||
	    (argc == 5 && strcmp(argv[4], "memory") &&
	     strcmp(argv[4], "region")))
		return 2;
	ret = rclink_listen(&listener, argv[2], SERVICE, 1, 0);
	if (ret)
		return say("listen", ret) != 0;
	for (i = 0; i < channels; i++) {
		ret = rclink_connect(&chan, argv[1], SERVICE,
				     RCLINK_CONNECT_WAIT);
		if (!ret)
			ret = rclink_accept(listener, &chan);
		if (ret)
			return say("a channel", ret) != 0;
	}
	ret = has(chan, argv[4]);
	if (ret)
		return say("memory", ret) != 0;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
