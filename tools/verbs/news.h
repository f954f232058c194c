/* SPDX-License-Identifier: GPL-2.0 */
/* What a device reports by itself, and which of it ends an epoch: pure. */
#ifndef RCV_NEWS_H
#define RCV_NEWS_H

#include <stdbool.h>
#include <stdint.h>

struct ibv_async_event;
struct ibv_qp;

struct rcv_watched {
	const struct ibv_qp *ctrl;	/* the control QP */
	uint32_t port;
	bool gid_holds;		/* the GID is still where it was chosen */
	bool gone;		/* the device was removed */
	bool vague;		/* "access" is said of other failures, too */
};

/* enum rclink_down_reason, as the module sees it; _NONE: the epoch goes on. */
uint32_t rcv_news_reason(const struct rcv_watched *watched,
			 const struct ibv_async_event *event);

#endif /* RCV_NEWS_H */
