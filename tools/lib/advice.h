/* SPDX-License-Identifier: GPL-2.0 */
/* What is behind a reason and what to do about it, all in one place. */
#ifndef RCL_ADVICE_H
#define RCL_ADVICE_H

#include <stdint.h>

struct rcl_advice {
	const char *cause;
	const char *todo;
};

/* For enum rclink_down_reason; never NULL, even for an unknown one. */
const struct rcl_advice *rcl_advice(uint32_t reason, uint32_t wc_status);

/* The same for why a group is down; never NULL either. */
const struct rcl_advice *rcl_group_advice(uint32_t reason);

/* As in enum ib_wc_status, without IB_WC_; NULL for an unknown one. */
const char *rcl_wc_name(uint32_t status);

#endif /* RCL_ADVICE_H */
