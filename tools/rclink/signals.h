/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that end a command that runs until it is interrupted. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

#include <event2/event.h>

struct signals {
	struct event *event[2];
};

/*
 * Make SIGINT and SIGTERM call fn from now on. Returns false without memory.
 * Call signals_free() in any case, also if s is still all zero.
 */
bool signals_catch(struct signals *s, struct event_base *base,
		   event_callback_fn fn, void *arg);
void signals_free(struct signals *s);

/* An fn that leaves the loop of the event_base, which is its arg. */
void signals_stop(evutil_socket_t fd, short what, void *base);

#endif /* SIGNALS_H */
