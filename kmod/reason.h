/* SPDX-License-Identifier: GPL-2.0 */
/* Why a link is down, in words. */
#ifndef RCL_REASON_H
#define RCL_REASON_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

/**
 * struct rcl_reason - why an epoch ended
 * @reason: enum rclink_down_reason
 * @wc_status: enum ib_wc_status, with RCLINK_DOWN_REASON_COMPLETION and
 *	_NOT_A_MESSAGE
 * @vendor_err: of the device; enum ib_event_type with
 *	RCLINK_DOWN_REASON_QP_FATAL and _ACCESS
 * @mtu: of the path in bytes, with RCLINK_DOWN_REASON_MTU; 0: not known
 */
struct rcl_reason {
	u32 reason;
	u32 wc_status;
	u32 vendor_err;
	u32 mtu;
};

/**
 * enum rcl_weight - how well a note explains why an epoch ends
 * @RCL_WEIGHT_NONE: not at all; or the owner is gone, but it may be up by then
 * @RCL_WEIGHT_FLUSH: a consequence of something else
 * @RCL_WEIGHT_EVENT: the device reported that the QP failed, as some do where a
 *	completion explains it better
 * @RCL_WEIGHT_CAUSE: this is the cause
 */
enum rcl_weight {
	RCL_WEIGHT_NONE,
	RCL_WEIGHT_FLUSH,
	RCL_WEIGHT_EVENT,
	RCL_WEIGHT_CAUSE,
};

const char *rcl_reason_text(const struct rcl_reason *reason);
u32 rcl_reason_of(int ret);
int rcl_reason_errno(u32 reason);
bool rcl_reason_is_wish(u32 reason);
bool rcl_reason_is_leave(u32 reason);
enum rcl_weight rcl_reason_weight(const struct rcl_reason *why);

#endif /* RCL_REASON_H */
