// SPDX-License-Identifier: GPL-2.0
/* usage: take LINK SERVICE: listens, and says of each channel that it came. */
#include <stdio.h>
#include <string.h>

#include <rclink.h>

int main(int argc, char **argv)
{
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	int ret;

	if (argc != 3)
		return 2;
	setlinebuf(stdout);
	ret = rclink_listen(&listener, argv[1], argv[2], 1, 0);
	if (!ret)
		puts("listening");
	while (!ret) {
		ret = rclink_accept(listener, &chan);
		if (ret)
			break;
		puts("took");
		rclink_close(chan);
	}
	fprintf(stderr, "take: %s\n", strerror(-ret));
	return 1;
}
