/* SPDX-License-Identifier: GPL-2.0 */
/* What an operator can say of a group, as words and their values. */
#ifndef RCL_GROUP_SETTING_H
#define RCL_GROUP_SETTING_H

#include <stdbool.h>

struct rcl_group_change;
struct rcl_group_info;

/*
 * Set word, as "mgid", of a group that was all 0 to begin with; "link" is a
 * list with blanks or commas, and adds to that of before. 0, or with a sentence
 * in err: -ENOENT no such word, -EEXIST it was given already, -EINVAL no such
 * value.
 */
int rcl_group_setting_parse(struct rcl_group_info *group, const char *word,
			    const char *value, char *err);

/*
 * What is to change, from a change that was all 0 to begin with: "link" and
 * "no-link", each a list that adds to that of before, and "owner", "group",
 * "mode". As above.
 */
int rcl_group_change_parse(struct rcl_group_change *change, const char *word,
			   const char *value, char *err);

/* Is the link on the list of those that get the key? */
bool rcl_group_lists(const struct rcl_group_info *group, const char *link);

#endif /* RCL_GROUP_SETTING_H */
