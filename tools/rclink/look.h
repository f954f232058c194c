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

/* All links, or the one of this name. 0, or as rcl_call_links(). */
int look_take(struct rcl_nl *nl, const char *name, struct look *l, char *err);
/* All groups at about the same moment. 0, or as rcl_call_groups(). */
int look_take_groups(struct rcl_nl *nl, struct look *l, char *err);
void look_free(struct look *l);

/* The same link at that moment, or NULL. */
const struct rcl_link_info *look_find(const struct look *l, uint32_t id);

/* The same group, or NULL. */
const struct rcl_group_info *look_find_group(const struct look *l, uint32_t id);

/* Bytes that channels of this end moved and received, since it was created. */
uint64_t look_moved(const struct rcl_link_info *info);

#endif /* LOOK_H */
