// SPDX-License-Identifier: GPL-2.0
/* usage: offer NAME: a page is exported to all links under it, for good. */
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define PAGE	4096

int main(int argc, char **argv)
{
	struct rclink_share *share;
	uint32_t region;
	int ret;

	if (argc != 2)
		return 2;
	ret = rclink_share(&share);
	if (!ret)
		ret = rclink_share_region(share, memory(PAGE), PAGE, argv[1],
					  RCLINK_REGION_READ, &region);
	if (ret)
		return say(argv[1], ret) != 0;
	for (;;)
		pause();
}
