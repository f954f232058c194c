/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What devices count, and nobody else sees: packets that their QPs did not
 * expect. It is read from sysfs every 15 s, for the ports that links use.
 */
#ifndef RCD_HWCOUNT_H
#define RCD_HWCOUNT_H

#include <stdio.h>

struct event_base;
struct rcd_hwcount;
struct rcd_links;

/* Starts at once. NULL with err. */
struct rcd_hwcount *rcd_hwcount_new(struct event_base *base,
				    const struct rcd_links *links, char *err);
void rcd_hwcount_free(struct rcd_hwcount *all);

/* Print what was read last, as metrics. */
void rcd_hwcount_print(const struct rcd_hwcount *all, FILE *to);

#endif /* RCD_HWCOUNT_H */
