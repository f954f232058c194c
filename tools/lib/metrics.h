/* SPDX-License-Identifier: GPL-2.0 */
/* Links and groups as metrics, in the text format that Prometheus reads. */
#ifndef RCL_METRICS_H
#define RCL_METRICS_H

#include <stddef.h>
#include <stdio.h>

struct rcl_group_info;
struct rcl_link_info;

/* What comes before the values of a metric. */
void rcl_metrics_head(FILE *to, const char *name, const char *type,
		      const char *help);

/*
 * rclink(8) lists names and meanings. The label "link" names a link, "group" a
 * group. No value reveals a secret. The caller checks ferror(to) afterwards.
 */
void rcl_metrics_print(FILE *to, const struct rcl_link_info *infos, size_t num);
void rcl_metrics_print_groups(FILE *to, const struct rcl_group_info *infos,
			      size_t num);

#endif /* RCL_METRICS_H */
