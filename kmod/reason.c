// SPDX-License-Identifier: GPL-2.0
#include "reason.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#define RCL_WC_FLUSHED	5	/* IB_WC_WR_FLUSH_ERR, IBA 11.6.2 */

#define RCL_TOO_LARGE(packets) \
	packets " do not come through: lower mtu of this link, or raise that of the switches"

static const char * const texts[] = {
	[RCLINK_DOWN_REASON_NONE] = "",
	[RCLINK_DOWN_REASON_DISCONNECTED] = "disconnected on this host",
	[RCLINK_DOWN_REASON_PEER_DISCONNECTED] = "disconnected by the peer",
	[RCLINK_DOWN_REASON_OWNER_GONE] =
		"the process that prepared the link went away",
	[RCLINK_DOWN_REASON_TIMED_OUT] = "the peer did not answer in time",
	[RCLINK_DOWN_REASON_COMPLETION] = "a work request failed",
	[RCLINK_DOWN_REASON_QP_FATAL] = "fatal QP error reported by the device",
	[RCLINK_DOWN_REASON_DEVICE_FATAL] =
		"fatal device error reported by the device",
	[RCLINK_DOWN_REASON_PORT_DOWN] = "the port went down",
	[RCLINK_DOWN_REASON_GID_CHANGED] = "the port's GID or LID changed",
	[RCLINK_DOWN_REASON_DEVICE_REMOVED] = "the RDMA device was removed",
	[RCLINK_DOWN_REASON_UNAUTHENTICATED] =
		"a control message came in that was not authentic",
	[RCLINK_DOWN_REASON_PROTOCOL] = "the peer broke the control protocol",
	[RCLINK_DOWN_REASON_LOCAL_ERROR] = "a local call failed",
	[RCLINK_DOWN_REASON_PEER_SILENT] =
		"the peer fell silent: see that it runs and can be reached",
	[RCLINK_DOWN_REASON_OUT_OF_SEQUENCE] =
		"a control message came in twice, or one was lost",
	[RCLINK_DOWN_REASON_NOT_A_MESSAGE] =
		"something else than a control message came in",
	[RCLINK_DOWN_REASON_ACCESS] =
		"a request came in that has no right here",
	[RCLINK_DOWN_REASON_OTHER_VERSION] =
		"the peer's module is of a version that this one cannot talk to",
	[RCLINK_DOWN_REASON_REPLACED] =
		"one end gave this epoch up: it had lost it, was about to sleep or to lose its device, was set otherwise, took another link in its place, or who brought it up there was gone",
	[RCLINK_DOWN_REASON_MTU] =
		RCL_TOO_LARGE("packets as large as the path MTU"),
	[RCLINK_DOWN_REASON_SUBNET_MANAGER] =
		"the subnet manager refuses the group, is not heard, or began anew",
	[RCLINK_DOWN_REASON_MTU_CHANGED] =
		"the port has another MTU than when the group was joined",
	[RCLINK_DOWN_REASON_SLEEP] = "this host was about to sleep",
	[RCLINK_DOWN_REASON_SNAPSHOT] =
		"this virtual machine was copied, or taken back to a snapshot",
};

/* In the order of enum ib_wc_status, IBA 11.6.2. */
static const char * const wc_texts[] = {
	"success",
	"local length error",
	"local QP operation error",
	"local EE context operation error",
	"local protection error",
	"the queue pair failed, and the device does not say why",
	"memory window bind error",
	"bad response",
	"local access error",
	"remote invalid request",
	"remote access error",
	"remote operation error",
	"retry exceeded: the peer did not acknowledge",
	"RNR retry exceeded: the peer had no receive posted",
	"local RDD violation",
	"remote invalid RD request",
	"remote aborted",
	"invalid EE context number",
	"invalid EE context state",
	"fatal error",
	"response timeout",
	"general error",
};

static const char *rcl_reason_mtu_text(u32 mtu)
{
	switch (mtu) {
	case 256:
		return RCL_TOO_LARGE("packets of 256 bytes");
	case 512:
		return RCL_TOO_LARGE("packets of 512 bytes");
	case 1024:
		return RCL_TOO_LARGE("packets of 1024 bytes");
	case 2048:
		return RCL_TOO_LARGE("packets of 2048 bytes");
	case 4096:
		return RCL_TOO_LARGE("packets of 4096 bytes");
	default:
		return texts[RCLINK_DOWN_REASON_MTU];
	}
}

/**
 * rcl_reason_text - a reason in words
 * @reason: of the link
 *
 * Return: a constant string, empty for RCLINK_DOWN_REASON_NONE.
 */
const char *rcl_reason_text(const struct rcl_reason *reason)
{
	if (reason->reason == RCLINK_DOWN_REASON_COMPLETION &&
	    reason->wc_status < ARRAY_SIZE(wc_texts))
		return wc_texts[reason->wc_status];
	if (reason->reason == RCLINK_DOWN_REASON_MTU)
		return rcl_reason_mtu_text(reason->mtu);
	return texts[reason->reason];
}

/**
 * rcl_reason_of - the reason for which an errno ends an epoch
 * @ret: from the handling of control messages
 *
 * Return: enum rclink_down_reason.
 */
u32 rcl_reason_of(int ret)
{
	switch (ret) {
	case -ECONNRESET:
		return RCLINK_DOWN_REASON_PEER_DISCONNECTED;
	case -EREMCHG:
		return RCLINK_DOWN_REASON_REPLACED;
	case -EPROTO:
		return RCLINK_DOWN_REASON_PROTOCOL;
	case -EPROTONOSUPPORT:
		return RCLINK_DOWN_REASON_OTHER_VERSION;
	case -EHOSTDOWN:
		return RCLINK_DOWN_REASON_PEER_SILENT;
	case -ETIMEDOUT:
		return RCLINK_DOWN_REASON_TIMED_OUT;
	default:
		return RCLINK_DOWN_REASON_LOCAL_ERROR;
	}
}

/**
 * rcl_reason_errno - how does a channel that was open in the epoch end?
 * @reason: enum rclink_down_reason
 *
 * Return: -ENODEV when the device is gone, else -ECONNRESET.
 */
int rcl_reason_errno(u32 reason)
{
	return reason == RCLINK_DOWN_REASON_DEVICE_REMOVED ? -ENODEV :
	       -ECONNRESET;
}

/**
 * rcl_reason_is_wish - did somebody want the link to go down?
 * @reason: enum rclink_down_reason
 *
 * Return: true if so.
 */
bool rcl_reason_is_wish(u32 reason)
{
	return reason == RCLINK_DOWN_REASON_DISCONNECTED ||
	       reason == RCLINK_DOWN_REASON_PEER_DISCONNECTED;
}

/**
 * rcl_reason_is_leave - does this end leave, with a QP that still works?
 * @reason: enum rclink_down_reason
 *
 * A device that is being removed works until all its clients have let it go,
 * unless it was pulled out: then the peer is told in vain, for 0.2 s.
 *
 * Return: true if so.
 */
bool rcl_reason_is_leave(u32 reason)
{
	return reason == RCLINK_DOWN_REASON_SLEEP ||
	       reason == RCLINK_DOWN_REASON_DEVICE_REMOVED;
}

/**
 * rcl_reason_weight - how much does a note explain?
 * @why: the note
 *
 * Return: one of enum rcl_weight.
 */
enum rcl_weight rcl_reason_weight(const struct rcl_reason *why)
{
	switch (why->reason) {
	case RCLINK_DOWN_REASON_NONE:
	case RCLINK_DOWN_REASON_OWNER_GONE:
		return RCL_WEIGHT_NONE;
	case RCLINK_DOWN_REASON_COMPLETION:
		return why->wc_status == RCL_WC_FLUSHED ?
			       RCL_WEIGHT_FLUSH : RCL_WEIGHT_CAUSE;
	case RCLINK_DOWN_REASON_QP_FATAL:
	case RCLINK_DOWN_REASON_ACCESS:
		return RCL_WEIGHT_EVENT;
	default:
		return RCL_WEIGHT_CAUSE;
	}
}
