// SPDX-License-Identifier: GPL-2.0
#include "number.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <linux/rclink.h>

struct number {
	SLIST_ENTRY(number) node;
	char link[RCLINK_NAME_MAX + 1];
	uint64_t last;
};

/* At most one per link, and never freed. */
static SLIST_HEAD(, number) numbers = SLIST_HEAD_INITIALIZER(numbers);

static struct number *find(const char *link)
{
	struct number *n;

	SLIST_FOREACH(n, &numbers, node)
		if (!strcmp(n->link, link))
			return n;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	strcpy(n->link, link);
	SLIST_INSERT_HEAD(&numbers, n, node);
	return n;
}

uint64_t rcv_number_next(const char *link)
{
	struct number *n = find(link);

	return n ? ++n->last : 0;
}

void rcv_number_agreed(const char *link, uint64_t number)
{
	struct number *n = find(link);

	if (n && number > n->last)
		n->last = number;
}
