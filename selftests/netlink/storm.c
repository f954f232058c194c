// SPDX-License-Identifier: GPL-2.0
/*
 * Make a link of this host and delete it, again and again: more events than a
 * listener that does not listen has room for.
 *
 * usage: storm TIMES
 */
#include "rcl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int i, ret, times = argc > 1 ? atoi(argv[1]) : 0;
	struct genl_sock s;

	if (times < 1) {
		fprintf(stderr, "usage: storm TIMES\n");
		return 2;
	}
	ret = rcl_open(&s);
	for (i = 0; i < times && !ret; i++) {
		ret = rcl_new(&s, "storm");
		if (!ret)
			ret = rcl_del(&s, "storm");
	}
	if (ret)
		fprintf(stderr, "storm: %s\n", strerror(-ret));
	return ret ? 1 : 0;
}
