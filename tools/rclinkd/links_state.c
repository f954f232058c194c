// SPDX-License-Identifier: GPL-2.0
#include "links_core.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#define US_PER_S	1000000

struct rch_hub *rcd_links_hub(const struct rcd_links *all)
{
	return all->hub;
}

struct rcd_count rcd_links_count(const struct rcd_links *all)
{
	struct rcd_count count = {
		.refused = all->refused,
	};
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node) {
		count.links++;
		count.up += link->up;
		count.dials += !!link->dial;
		count.answers += link->answering;
	}
	return count;
}

/*
 * Seconds until link is to be dialled, to come up or to rotate; 0 if no dial is
 * waiting. Without a host to dial, the timer is for another look.
 */
static double waits(const struct rcd_link *link)
{
	struct timeval due, now;

	if (!link->conf.host[0] ||
	    !event_pending(link->timer, EV_TIMEOUT, &due))
		return 0;
	/* By the same clock as due, one that nobody sets. */
	event_base_gettimeofday_cached(link->all->base, &now);
	if (evutil_timercmp(&due, &now, <))
		return 0;
	evutil_timersub(&due, &now, &due);
	return due.tv_sec + (double)due.tv_usec / US_PER_S;
}

struct rcd_link_state *rcd_links_states(const struct rcd_links *all,
					size_t *num)
{
	struct rcd_link_state *states;
	struct rcd_link *link;
	size_t i = 0;

	*num = rcd_links_count(all).links;
	states = calloc(*num + 1, sizeof(*states));
	if (!states)
		return NULL;
	LIST_FOREACH(link, &all->list, node) {
		strcpy(states[i].name, link->conf.name);
		states[i].failures = link->failures;
		states[i].waits = waits(link);
		states[i++].tally = link->tally;
	}
	return states;
}
