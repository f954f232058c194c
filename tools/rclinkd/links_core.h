/* SPDX-License-Identifier: GPL-2.0 */
/* What links.c does, with links_end.c, and links_state.c tells of. */
#ifndef RCD_LINKS_CORE_H
#define RCD_LINKS_CORE_H

#include <sys/queue.h>

#include "bucket.h"
#include "conf.h"
#include "links.h"

struct rcd_link {
	LIST_ENTRY(rcd_link) node;
	TAILQ_ENTRY(rcd_link) turn;
	TAILQ_ENTRY(rcd_link) end;
	struct rcd_links *all;
	struct rcd_link_conf conf;
	bool gone;			/* no longer configured */
	bool stale;			/* to be made anew */
	bool anew;			/* it is made anew just now */
	bool other;			/* from its end on, its peer is */
	bool ends;			/* waits for its end, or ... */
	struct rch_ask *ask;		/* ... the module is asked for it */
	bool broken;			/* the module does not have it so ... */
	unsigned int refusals;		/* ... while it is up: in a row */
	uint64_t doomed;		/* epoch that is to end; 0: none */
	uint32_t id;			/* in the module, 0: not known */
	bool up;
	bool asked;			/* for another epoch than ... */
	uint64_t epoch;			/* ... this one, the last that was up */
	unsigned int vain;		/* exchanges that gave it no other */
	bool answering;
	bool outdated;			/* what is answered, by a change */
	bool queued;
	bool quiet;			/* the dial: no host has answered yet */
	bool reached;			/* by the dial: the peer answers it */
	bool yields;			/* the dial ends without a failure */
	bool rotates;			/* the dial: it began while it was up */
	struct rch_job *dial;
	struct event *timer;
	struct event *mend;		/* while it is up, and broken */
	struct event *patience;		/* until the dial is quiet */
	struct rch_bucket answers;
	unsigned int failures;
	struct rcd_tally tally;
	uint64_t begun;			/* ns, its last exchange; 0: never */
	uint64_t up_since;
};

TAILQ_HEAD(turns, rcd_link);
LIST_HEAD(rcd_link_list, rcd_link);

struct rcd_links {
	struct event_base *base;
	struct rch_hub *hub;
	struct rcd_trust *trust;
	struct rch_peers *peers;
	const struct rcd_links_ops *ops;
	void *ctx;
	bool stopping;
	uint64_t refused;
	struct turns turns;
	struct turns ends;		/* they wait to, see links_end.h */
	unsigned int asks;		/* for the end of links, under way */
	/* 0 or why not; link->gone: it is to be freed. */
	void (*ended)(struct rcd_link *link, int ret, const char *err);
	struct rcd_link_list list;
	struct rcd_link_list gone;	/* until they are deleted */
};

#endif /* RCD_LINKS_CORE_H */
