/* SPDX-License-Identifier: GPL-2.0 */
/* The ways out of this host that a link may use: a pure choice. */
#ifndef RCH_PATHS_H
#define RCH_PATHS_H

#include <stddef.h>

struct rcl_dev_info;
struct rcl_link_info;
struct rcx_paths;

/*
 * Of all ports that are active and that the link's policy allows: one GID of
 * each port and network, better kinds first, then others as far as there is
 * room. May be none.
 */
void rch_paths(const struct rcl_link_info *link,
	       const struct rcl_dev_info *devs, size_t ndevs,
	       struct rcx_paths *paths);

#endif /* RCH_PATHS_H */
