/* SPDX-License-Identifier: GPL-2.0 */
/* What ends a command that goes on until it is interrupted. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

#include <event2/event.h>

struct signals {
	struct event *event[2];
};

/*
 * SIGINT and SIGTERM call fn from now on. False without memory; signals_free()
 * it in any case, also if it is still all zero.
 */
bool signals_catch(struct signals *s, struct event_base *base,
		   event_callback_fn fn, void *arg);
void signals_free(struct signals *s);

/* An fn, whose arg is the event_base: it leaves its loop. */
void signals_stop(evutil_socket_t fd, short what, void *base);

#endif /* SIGNALS_H */
