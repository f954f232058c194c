// SPDX-License-Identifier: GPL-2.0
#include "signals.h"

#include <signal.h>

bool signals_catch(struct signals *s, struct event_base *base,
		   event_callback_fn fn, void *arg)
{
	static const int numbers[] = { SIGINT, SIGTERM };
	int i;

	for (i = 0; i < 2; i++) {
		s->event[i] = evsignal_new(base, numbers[i], fn, arg);
		if (!s->event[i] || event_add(s->event[i], NULL))
			return false;
	}
	return true;
}

void signals_free(struct signals *s)
{
	int i;

	for (i = 0; i < 2; i++)
		if (s->event[i])
			event_free(s->event[i]);
}

void signals_stop(evutil_socket_t fd, short what, void *base)
{
	(void)fd;
	(void)what;
	event_base_loopbreak(base);
}
