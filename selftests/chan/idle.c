// SPDX-License-Identifier: GPL-2.0
/*
 * usage: idle NEAR FAR CHANNELS: both ends of so many channels of a link of
 * this host to itself. Prints "ready" when they are open, and stays until it is
 * killed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define SERVICE	"idle"

int main(int argc, char **argv)
{
	unsigned int i, channels = argc == 4 ? atoi(argv[3]) : 0;
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	int ret;

	if (!channels)
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
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
