// SPDX-License-Identifier: GPL-2.0
#include "reason.h"

#include <linux/kernel.h>

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
		"a control message that was not authentic",
	[RCLINK_DOWN_REASON_PROTOCOL] = "the peer broke the control protocol",
	[RCLINK_DOWN_REASON_LOCAL_ERROR] = "a local call failed",
	[RCLINK_DOWN_REASON_PEER_SILENT] =
		"the peer fell silent: see that it runs and can be reached",
};

/* In the order of enum ib_wc_status, IBA 11.6.2. */
static const char * const wc_texts[] = {
	"success",
	"local length error",
	"local QP operation error",
	"local EE context operation error",
	"local protection error",
	"work request flushed",
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
	return texts[reason->reason];
}
