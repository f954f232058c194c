/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups of the configuration, and what is done to have them: made,
 * changed, taken over. They are the kernel's, and stay when this process ends;
 * those that are not configured are nobody's business here, but for their key
 * where a link has another peer.
 */
#ifndef RCD_GROUPS_H
#define RCD_GROUPS_H

struct event_base;
struct rcd_conf;
struct rcd_groups;
struct rcl_group_info;
struct rch_hub;

/* NULL with err. */
struct rcd_groups *rcd_groups_new(struct event_base *base,
				  const struct rch_hub *hub, char *err);
void rcd_groups_free(struct rcd_groups *all);

/*
 * Follow this configuration from the next rcd_groups_look() on. Groups of
 * before that are no longer in it are deleted. 0 or -ENOMEM with err.
 */
int rcd_groups_set(struct rcd_groups *all, const struct rcd_conf *conf,
		   char *err);

/* Have the module's groups be so; the module is there. */
void rcd_groups_look(struct rcd_groups *all);

/* An event of a group, be it one of these or not. */
void rcd_groups_heard(struct rcd_groups *all,
		      const struct rcl_group_info *event);

/*
 * That link had a peer that is to be another one, or none, and is not up with
 * it any more: what it knows of keys must be of no use to it. So it is, too,
 * with groups that are not configured; for those it is tried once, and said.
 */
void rcd_groups_other(struct rcd_groups *all, const char *link);

/* A device came, say: those that were refused are tried soon. */
void rcd_groups_hurry(struct rcd_groups *all);

#endif /* RCD_GROUPS_H */
