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
	const struct rcl_nl_names *names;	/* of cmd's attributes */
	size_t size;
	/* Have both one name? NULL: a dump's parts do not go on by number. */
	bool (*same)(const void *a, const void *b);
	rcl_nl_fn *get;			/* arg: where to put it, of that size */
	void (*drop)(void *one);	/* what get() allocated, or NULL */
};

struct rcl_list {
	const struct rcl_list_kind *kind;
	void *infos;			/* to be freed */
	size_t num;
};

/*
 * The one called name, or all with NULL. If something comes or goes during each
 * try, a kind whose parts go on by number is listed nevertheless: the list then
 * has all that were there all the time, once each, and only the last of those
 * that had one name after another. Returns 0 or a negative errno with a
 * sentence in err; after an error the list is empty.
 */
int rcl_list_ask(struct rcl_list *list, struct rcl_nl *nl, const char *name,
		 char *err);

/* Add what msg asks for; put: the result of putting its attributes. */
int rcl_list_add(struct rcl_list *list, struct rcl_nl *nl, struct nl_msg *msg,
		 int put, char *err);

void rcl_list_clear(struct rcl_list *list);

#endif /* RCL_LIST_H */
