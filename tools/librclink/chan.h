/* SPDX-License-Identifier: GPL-2.0 */
/* What the library's files know about a channel. */
#ifndef RCLINK_CHAN_H
#define RCLINK_CHAN_H

#include "rclink.h"

struct rclink_chan {
	int fd;
	struct rclink_dev_shared *shared;	/* the rings */
	struct rclink_dev_group_shared *group;	/* the same mapping, or NULL */
};

struct rclink_listener {
	int fd;
};

struct rclink_share {
	int fd;
};

#endif /* RCLINK_CHAN_H */
