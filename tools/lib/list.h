/* SPDX-License-Identifier: GPL-2.0 */
/* One, or all, of the things of a kind that the module has. */
#ifndef RCL_LIST_H
#define RCL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nl.h"

struct rcl_list_kind {
	uint8_t cmd;
	int (*put_name)(struct nl_msg *msg, const char *name);
	const struct rcl_nl_names *names;	/* of what has the name */
	size_t size;
	bool numbered;			/* each dump goes on behind the last */
	rcl_nl_fn *get;			/* arg: where to, of that size */
	void (*drop)(void *one);	/* what get() allocated, or NULL */
};

struct rcl_list {
	const struct rcl_list_kind *kind;
	void *infos;			/* to be freed */
	size_t num;
};

/*
 * The one called name, or with NULL all. Where something comes or goes each
 * time, what is numbered is listed nevertheless: that has each that was there
 * all the time, once. Returns 0 or a negative errno with a sentence in err; the
 * list is empty then.
 */
int rcl_list_ask(struct rcl_list *list, struct rcl_nl *nl, const char *name,
		 char *err);

/* One more, that msg asks for; put: what it said to its last attribute. */
int rcl_list_add(struct rcl_list *list, struct rcl_nl *nl, struct nl_msg *msg,
		 int put, char *err);

void rcl_list_clear(struct rcl_list *list);

#endif /* RCL_LIST_H */
