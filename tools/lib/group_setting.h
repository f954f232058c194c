/* SPDX-License-Identifier: GPL-2.0 */
/* What an operator can say about a group, as words and their values. */
#ifndef RCL_GROUP_SETTING_H
#define RCL_GROUP_SETTING_H

#include <stdbool.h>

struct rcl_group_change;
struct rcl_group_info;

/*
 * Set word, such as "mgid", of a group that was all 0 to begin with; "link" is
 * a list separated by blanks or commas, and adds to earlier ones. Returns 0, or
 * with a sentence in err: -ENOENT: no such word; -EEXIST: given already;
 * -EINVAL: no such value.
 */
int rcl_group_setting_parse(struct rcl_group_info *group, const char *word,
			    const char *value, char *err);

/*
 * Set what is to change, in a change that was all 0 to begin with: "link" and
 * "no-link", each a list that adds to earlier ones, and "owner", "group",
 * "mode". Returns as above.
 */
int rcl_group_change_parse(struct rcl_group_change *change, const char *word,
			   const char *value, char *err);

/* Is the link on the list of those that get the key? */
bool rcl_group_lists(const struct rcl_group_info *group, const char *link);

#endif /* RCL_GROUP_SETTING_H */
