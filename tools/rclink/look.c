// SPDX-License-Identifier: GPL-2.0
#include "look.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "process.h"

int look_take(struct rcl_nl *nl, const char *name, struct look *l, char *err)
{
	l->ns = rcl_now();
	return rcl_call_links(nl, name, &l->infos, &l->num, err);
}

int look_take_groups(struct rcl_nl *nl, struct look *l, char *err)
{
	return rcl_call_groups(nl, NULL, &l->groups, &l->ngroups, err);
}

void look_free(struct look *l)
{
	free(l->infos);
	free(l->groups);
	memset(l, 0, sizeof(*l));
}

const struct rcl_link_info *look_find(const struct look *l, uint32_t id)
{
	size_t i;

	for (i = 0; i < l->num; i++)
		if (l->infos[i].id == id)
			return &l->infos[i];
	return NULL;
}

const struct rcl_group_info *look_find_group(const struct look *l, uint32_t id)
{
	size_t i;

	for (i = 0; i < l->ngroups; i++)
		if (l->groups[i].id == id)
			return &l->groups[i];
	return NULL;
}

uint64_t look_moved(const struct rcl_link_info *info)
{
	return info->counter[RCLINK_A_STATS_CHAN_BYTES] +
	       info->counter[RCLINK_A_STATS_CHAN_RECV_BYTES];
}
