/* SPDX-License-Identifier: GPL-2.0 */
/* Make the module's link match the configuration. */
#ifndef RCD_KERNEL_H
#define RCD_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

struct rcd_link_conf;
struct rcl_link_info;
struct rcl_nl;
struct rcl_policy;

/* What becomes of the epoch, the last one if the link is down. */
enum rcd_end {
	RCD_STAYS,
	RCD_ENDS,		/* it is not as configured */
	RCD_ENDS_NOW,		/* it is another peer's */
};

/* Does an epoch with the old settings have to end for the new ones? */
bool rcd_kernel_ends(const struct rcl_policy *old,
		     const struct rcl_policy *new);

/*
 * info: the link as it is, NULL to make one. 0, or a negative errno with a
 * sentence in err.
 */
int rcd_kernel_apply(struct rcl_nl *nl, const struct rcd_link_conf *conf,
		     const struct rcl_link_info *info, enum rcd_end *end,
		     char *err);

/*
 * ns since this epoch of the link came up, as far as the link's record says; 0
 * without a module.
 */
uint64_t rcd_kernel_age(struct rcl_nl *nl, const char *name, uint64_t epoch);

#endif /* RCD_KERNEL_H */
