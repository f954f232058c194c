/* SPDX-License-Identifier: GPL-2.0 */
/* The links, as links.c and its parts, links_*.c, share them. */
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
	bool anew;			/* it is being made anew */
	bool other;			/* once it ends, its peer is another */
	bool ends;			/* waits for its end, or ... */
	struct rch_ask *ask;		/* ... the module is asked to end it */
	bool broken;			/* not in the module as configured */
	unsigned int refusals;		/* while it is up, in a row */
	uint64_t doomed;		/* epoch that is to end; 0: none */
	uint64_t former;		/* one set as configured before */
	uint32_t id;			/* in the module, 0: not known */
	bool up;
	bool asked;			/* to get another epoch than ... */
	uint64_t epoch;			/* ... this one, the last that was up */
	unsigned int vain;		/* exchanges that gave no other epoch */
	bool answering;
	bool outdated;			/* a change overtook the answer */
	bool queued;
	bool quiet;			/* the dial: no host has answered yet */
	bool reached;			/* the dial: the peer answers it */
	bool yields;			/* the dial ends without a failure */
	bool rotates;			/* the dial: began with the link up */
	bool superseded;		/* the last dial, by the peer's */
	struct rch_job *dial;
	struct event *timer;
	struct event *mend;		/* while it is up, and broken */
	struct event *patience;		/* until the dial is quiet */
	struct rch_bucket answers;
	unsigned int failures;
	struct rcd_tally tally;
	uint64_t begun;			/* ns, last exchange began; 0: never */
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
	struct turns ends;		/* waiting to end, see links_end.h */
	unsigned int asks;		/* to end links, under way */
	/* Told 0 or why not; if link->gone, it must free the link. */
	void (*ended)(struct rcd_link *link, int ret, const char *err);
	struct rcd_link_list list;
	struct rcd_link_list gone;	/* until they are deleted */
};

#endif /* RCD_LINKS_CORE_H */
