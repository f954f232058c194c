/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes and watches the links of the configuration, and dials them again to
 * keep them up. They are the kernel's, and stay when this process ends.
 */
#ifndef RCD_LINKS_H
#define RCD_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"

struct event_base;
struct rcd_conf;
struct rcd_links;
struct rcd_trust;
struct rch_call;

struct rcd_links_ops {
	/* A link went up or down, came or went, or a dial ended. */
	void (*changed)(void *ctx);
	/*
	 * All links were looked at: by rcd_links_set(), when the module was
	 * loaded again, or because events were lost.
	 */
	void (*looked)(void *ctx);
	/* What could not be done may be possible now, see job.h. */
	void (*device)(void *ctx);
	/* A link is down, and its peer is to be somebody else, or nobody. */
	void (*other)(void *ctx, const char *link);
	/* An event of a group. */
	void (*group)(void *ctx, const struct rcl_group_info *info);
};

struct rcd_links *rcd_links_new(struct event_base *base,
				const struct rcd_links_ops *ops, void *ctx,
				char *err);
void rcd_links_free(struct rcd_links *all);

/*
 * Follow this configuration, and dial by that trust, which must live until the
 * next call that succeeds. Links that are no longer in it are deleted.
 */
int rcd_links_set(struct rcd_links *all, const struct rcd_conf *conf,
		  struct rcd_trust *trust, char *err);

/* For the listener, see listener.h. */
bool rcd_links_know(const struct rcd_links *all, const char *identity,
		    const char *name);
int rcd_links_admit(struct rcd_links *all, const struct rcx_ids *ids,
		    const char *wanted, char *name, char *err);
void rcd_links_answered(struct rcd_links *all, const struct rch_call *call,
			int result, const char *err);

struct rch_hub *rcd_links_hub(const struct rcd_links *all);

/* Dial nobody any more. */
void rcd_links_stop(struct rcd_links *all);

struct rcd_count {
	unsigned int links;
	unsigned int up;
	unsigned int dials;		/* under way */
	unsigned int answers;		/* under way */
	uint64_t refused;		/* callers that got no link */
};

struct rcd_count rcd_links_count(const struct rcd_links *all);

/* How an exchange ended. One given up did not fail: see rclinkd(8). */
enum rcd_outcome { RCD_UP, RCD_FAILED, RCD_GIVEN_UP, RCD_OUTCOMES };

struct rcd_tally {
	uint64_t dialled[RCD_OUTCOMES];
	uint64_t answered[RCD_OUTCOMES];
};

struct rcd_link_state {
	char name[RCLINK_NAME_MAX + 1];
	unsigned int failures;		/* see rclinkd(8) */
	double waits;			/* s until it is dialled, or 0 */
	struct rcd_tally tally;
};

/* The state of all links, to be freed. NULL without memory. */
struct rcd_link_state *rcd_links_states(const struct rcd_links *all,
					size_t *num);

#endif /* RCD_LINKS_H */
