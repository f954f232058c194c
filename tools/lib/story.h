/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link's record told as a story, and what to make of it. Pure: it knows only
 * what it is given.
 */
#ifndef RCL_STORY_H
#define RCL_STORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;
struct rcl_dev_info;
struct rcl_entry;
struct rcl_link_info;

struct rcl_story {
	const struct rcl_link_info *info;
	const struct rcl_entry *entries;	/* oldest first */
	size_t num;
	const struct rcl_dev_info *devs;	/* ports as they are now */
	size_t ndevs;
	uint64_t now;				/* ns, CLOCK_BOOTTIME */
	int64_t realtime;			/* CLOCK_REALTIME minus that */
};

/* Everything, including the sentences for people. */
struct json_object *rcl_story_doc(const struct rcl_story *story);

/* Print the sentences of doc; what repeats is told once. */
void rcl_story_print(FILE *to, struct json_object *doc);

#endif /* RCL_STORY_H */
