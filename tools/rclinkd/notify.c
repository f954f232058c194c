// SPDX-License-Identifier: GPL-2.0
#include "notify.h"

#include <stdint.h>
#include <stdlib.h>

#include <event2/event.h>
#include <systemd/sd-daemon.h>

#include "process.h"

#define US_PER_S	1000000
#define EXTEND_US	(60 * US_PER_S)	/* of a start, for its next step */

struct rcd_notify {
	struct event *timer;
};

/* From the loop, because it is the loop that must be alive. */
static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	sd_notify(0, "WATCHDOG=1");
}

struct rcd_notify *rcd_notify_new(struct event_base *base)
{
	struct rcd_notify *n = calloc(1, sizeof(*n));
	struct timeval tv;
	uint64_t us;

	if (!n || sd_watchdog_enabled(0, &us) <= 0)
		return n;
	us /= 2;
	tv.tv_sec = us / US_PER_S;
	tv.tv_usec = us % US_PER_S;
	n->timer = event_new(base, -1, EV_PERSIST, on_timer, NULL);
	if (!n->timer || event_add(n->timer, &tv)) {
		rcd_notify_free(n);
		return NULL;
	}
	return n;
}

void rcd_notify_free(struct rcd_notify *n)
{
	if (!n)
		return;
	if (n->timer)
		event_free(n->timer);
	free(n);
}

void rcd_notify_alive(void)
{
	sd_notifyf(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=%d", EXTEND_US);
}

void rcd_notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void rcd_notify_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)(rcl_now() / NS_PER_US));
}

void rcd_notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void rcd_notify_status(unsigned int up, unsigned int links)
{
	sd_notifyf(0, "STATUS=%u of %u links up", up, links);
}
