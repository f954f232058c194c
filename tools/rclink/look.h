/* SPDX-License-Identifier: GPL-2.0 */
/* The links and groups at some moment, and what moved between two. */
#ifndef LOOK_H
#define LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "group.h"
#include "link.h"

struct look {
	struct rcl_link_info *infos;
	size_t num;
	struct rcl_group_info *groups;
	size_t ngroups;
	uint64_t ns;	/* when, by rcl_now() */
};

/* Get all links, or the one of this name. Returns as rcl_call_links(). */
int look_take(struct rcl_nl *nl, const char *name, struct look *l, char *err);
/* Get all groups, at about that moment. Returns as rcl_call_groups(). */
int look_take_groups(struct rcl_nl *nl, struct look *l, char *err);
void look_free(struct look *l);

/* The same link at that moment, or NULL. */
const struct rcl_link_info *look_find(const struct look *l, uint32_t id);

/* The same group, or NULL. */
const struct rcl_group_info *look_find_group(const struct look *l, uint32_t id);

/* Bytes that channels of this end moved and received in the life of a link. */
uint64_t look_moved(const struct rcl_link_info *info);

#endif /* LOOK_H */
