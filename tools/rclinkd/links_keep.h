/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps one link up, and gives it new keys. */
#ifndef RCD_LINKS_KEEP_H
#define RCD_LINKS_KEEP_H

#include <stdint.h>

struct rcd_link;
struct rcd_link_conf;
struct rcd_links;
struct rcl_link_info;
struct rcl_nl;

/* NULL: it is not loaded. */
struct rcl_nl *rcd_links_module(const struct rcd_links *all);

/* Add a link to the list; NULL without memory. */
struct rcd_link *rcd_link_new(struct rcd_links *all,
			      const struct rcd_link_conf *conf);
/* From whichever list it is in. */
void rcd_link_free(struct rcd_link *link);

/* Schedule what is missing to have it up, or with new keys. */
void rcd_link_want(struct rcd_link *link);

/* Wait no longer for its turn; rcd_link_rest(): nor for its timers. */
void rcd_link_unqueue(struct rcd_link *link);
void rcd_link_rest(struct rcd_link *link);

/* End the dial, for a reason that is no failure. */
void rcd_link_yield(struct rcd_link *link, const char *reason);

/* Make it as configured; info: as the module has it, NULL for not at all. */
void rcd_link_adopt(struct rcd_link *link, const struct rcl_link_info *info);

/* As the module says. */
void rcd_link_up(struct rcd_link *link, uint64_t epoch);
void rcd_link_down(struct rcd_link *link, const char *reason);

/* Somebody wants another epoch, now, or as soon as that works. */
void rcd_link_rotate(struct rcd_link *link);

/* An exchange, from here or there, brought this epoch up. */
void rcd_link_exchanged(struct rcd_link *link, uint64_t epoch, uint64_t ns,
			const char *how);

/* See struct rcd_links. */
void rcd_link_ended(struct rcd_link *link, int ret, const char *err);

#endif /* RCD_LINKS_KEEP_H */
