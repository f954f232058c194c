/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes, changes and takes over the groups of the configuration. They are the
 * kernel's, and stay when this process ends. Groups that are not configured are
 * left alone, except that they are rekeyed when a link gets another peer.
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
 * Follow this configuration from the next rcd_groups_look() on. Earlier groups
 * that are no longer in it are deleted. 0 or -ENOMEM with err.
 */
int rcd_groups_set(struct rcd_groups *all, const struct rcd_conf *conf,
		   char *err);

/* Make the module's groups so; the module must be loaded. */
void rcd_groups_look(struct rcd_groups *all);

/* An event of a group, whether it is one of these or not. */
void rcd_groups_heard(struct rcd_groups *all,
		      const struct rcl_group_info *event);

/*
 * The link is to have another peer, or none, and is no longer up with the old
 * one: the keys that peer knows must be of no use to it. One that it has made
 * is forgotten, with its group. Groups that are not configured are rekeyed,
 * too; that is tried once, and the result is logged.
 */
void rcd_groups_other(struct rcd_groups *all, const char *link);

/* Try refused groups again soon, as when a device came. */
void rcd_groups_hurry(struct rcd_groups *all);

#endif /* RCD_GROUPS_H */
