// SPDX-License-Identifier: GPL-2.0
#include "tripwire.h"

#include <linux/printk.h>
#include <rdma/ib_verbs.h>

#include "reason.h"
#include "stats.h"

/**
 * rcl_tripwire_count - count what the device said about access
 * @stats: of the link
 * @reason: why something failed
 *
 * Context: the link's lock is held.
 */
void rcl_tripwire_count(struct rcl_stats *stats,
			const struct rcl_reason *reason)
{
	if (reason->reason == RCLINK_DOWN_REASON_ACCESS) {
		if (reason->vendor_err == IB_EVENT_QP_ACCESS_ERR)
			stats->qp_access_events++;
		else
			stats->qp_request_events++;
	}
	if (reason->reason != RCLINK_DOWN_REASON_COMPLETION)
		return;
	switch (reason->wc_status) {
	case IB_WC_LOC_PROT_ERR:
	case IB_WC_LOC_ACCESS_ERR:
		stats->local_access_errors++;
		break;
	case IB_WC_REM_ACCESS_ERR:
		stats->remote_access_errors++;
		break;
	}
}

/**
 * rcl_tripwire_is_access - did somebody try to access what they may not?
 * @reason: why something failed
 *
 * Return: true if so.
 */
bool rcl_tripwire_is_access(const struct rcl_reason *reason)
{
	return reason->reason == RCLINK_DOWN_REASON_ACCESS ||
	       (reason->reason == RCLINK_DOWN_REASON_COMPLETION &&
		(reason->wc_status == IB_WC_LOC_PROT_ERR ||
		 reason->wc_status == IB_WC_LOC_ACCESS_ERR ||
		 reason->wc_status == IB_WC_REM_ACCESS_ERR));
}

static bool rcl_tripwire_is(const struct rcl_reason *reason)
{
	switch (reason->reason) {
	case RCLINK_DOWN_REASON_UNAUTHENTICATED:
	case RCLINK_DOWN_REASON_OUT_OF_SEQUENCE:
	case RCLINK_DOWN_REASON_NOT_A_MESSAGE:
		return true;
	case RCLINK_DOWN_REASON_COMPLETION:
		if (reason->wc_status == IB_WC_WR_FLUSH_ERR)
			return true;
		fallthrough;
	default:
		return rcl_tripwire_is_access(reason);
	}
}

/**
 * rcl_tripwire_log - log the end of an epoch if an intruder may be why
 * @link: its name
 * @live: the link goes down; else it was the epoch that was to follow
 * @reason: why; reasons other than an intruder's are not logged
 *
 * Context: any.
 */
void rcl_tripwire_log(const char *link, bool live,
		      const struct rcl_reason *reason)
{
	if (rcl_tripwire_is(reason))
		pr_warn_ratelimited("link %s %s: %s: see `rclink why %s`\n",
				    link, live ? "goes down" :
						 "was not rotated",
				    rcl_reason_text(reason), link);
}

/**
 * rcl_tripwire_log_rotation - log that a link is to have another epoch
 * @link: its name
 * @access: access failed on a channel; else only the QP of one did
 *
 * Context: any.
 */
void rcl_tripwire_log_rotation(const char *link, bool access)
{
	pr_warn_ratelimited("link %s is to be rotated: %s: see `rclink why %s`\n",
			    link, access ? "access failed on a channel" :
					   "the QP of a channel failed", link);
}
