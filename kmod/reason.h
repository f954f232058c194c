/* SPDX-License-Identifier: GPL-2.0 */
/* Why a link is down, in words. */
#ifndef RCL_REASON_H
#define RCL_REASON_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

/**
 * struct rcl_reason - why an epoch ended
 * @reason: enum rclink_down_reason
 * @wc_status: enum ib_wc_status, with RCLINK_DOWN_REASON_COMPLETION
 * @vendor_err: of the device; with RCLINK_DOWN_REASON_QP_FATAL and _ACCESS enum
 *	ib_event_type
 * @mtu: of its path in bytes, with RCLINK_DOWN_REASON_MTU; 0: not known
 */
struct rcl_reason {
	u32 reason;
	u32 wc_status;
	u32 vendor_err;
	u32 mtu;
};

const char *rcl_reason_text(const struct rcl_reason *reason);
u32 rcl_reason_of(int ret);
bool rcl_reason_is_wish(u32 reason);

#endif /* RCL_REASON_H */
