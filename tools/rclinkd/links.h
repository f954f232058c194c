/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The links of the configuration, and what is done to have them up: made,
 * watched, dialled again. They are the kernel's, and stay when this process
 * ends.
 */
#ifndef RCD_LINKS_H
#define RCD_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "job.h"

struct event_base;
struct rcd_conf;
struct rcd_links;
struct rcd_trust;
struct rch_call;

/* changed: a link went up or down, came or went, or a dial ended. */
struct rcd_links *rcd_links_new(struct event_base *base,
				void (*changed)(void *ctx), void *ctx,
				char *err);
void rcd_links_free(struct rcd_links *all);

/*
 * Follow this configuration, and dial by that trust, which must live until the
 * next call that succeeds. Links that are no longer in it are deleted.
 */
int rcd_links_set(struct rcd_links *all, const struct rcd_conf *conf,
		  const struct rcd_trust *trust, char *err);

/* For the listener, see there. */
bool rcd_links_know(const struct rcd_links *all, const char *identity);
int rcd_links_admit(struct rcd_links *all, const char *identity,
		    const char *wanted, char *link, char *err);
void rcd_links_answered(struct rcd_links *all, const struct rch_call *call,
			int result, const char *err);

struct rch_hub *rcd_links_hub(const struct rcd_links *all);

/* Dial nobody any more. */
void rcd_links_stop(struct rcd_links *all);

struct rcd_count {
	unsigned int links;
	unsigned int up;
	unsigned int dials;		/* under way */
};

struct rcd_count rcd_links_count(const struct rcd_links *all);

#endif /* RCD_LINKS_H */
