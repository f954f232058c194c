/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses the ways out of this host that a link may use. A pure function. */
#ifndef RCH_PATHS_H
#define RCH_PATHS_H

#include <stddef.h>

struct rcl_dev_info;
struct rcl_link_info;
struct rcx_paths;

/*
 * For all active ports that the link's policy allows: one GID per port and
 * network, better kinds first, then others as far as there is room. May find
 * none.
 */
void rch_paths(const struct rcl_link_info *link,
	       const struct rcl_dev_info *devs, size_t ndevs,
	       struct rcx_paths *paths);

#endif /* RCH_PATHS_H */
