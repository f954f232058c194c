/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a group, why it is so, and what to do about it, in sentences.
 * Pure: it knows only what it is given.
 */
#ifndef RCL_GROUP_STORY_H
#define RCL_GROUP_STORY_H

#include <stddef.h>
#include <stdio.h>

struct json_object;
struct rcl_dev_info;
struct rcl_group_info;
struct rcl_link_info;

struct rcl_group_story {
	const struct rcl_group_info *info;
	const struct rcl_link_info *links;	/* all of this host */
	size_t nlinks;
	const struct rcl_dev_info *devs;	/* ports as they are now */
	size_t ndevs;
};

/* Everything, with the sentences for a person. */
struct json_object *rcl_group_story_doc(const struct rcl_group_story *story);

/* The sentences of doc. */
void rcl_group_story_print(FILE *to, struct json_object *doc);

#endif /* RCL_GROUP_STORY_H */
