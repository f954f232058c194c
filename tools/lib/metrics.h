/* SPDX-License-Identifier: GPL-2.0 */
/* Links and groups as metrics, in the text format that Prometheus reads. */
#ifndef RCL_METRICS_H
#define RCL_METRICS_H

#include <stddef.h>
#include <stdio.h>

struct rcl_group_info;
struct rcl_link_info;

/* What comes before the values of one. */
void rcl_metrics_head(FILE *to, const char *name, const char *type,
		      const char *help);

/*
 * Names and meanings stand in rclink(8). A link is told by the label "link", a
 * group by "group". No value tells a secret. To be looked at by ferror(to)
 * afterwards.
 */
void rcl_metrics_print(FILE *to, const struct rcl_link_info *infos, size_t num);
void rcl_metrics_print_groups(FILE *to, const struct rcl_group_info *infos,
			      size_t num);

#endif /* RCL_METRICS_H */
