/* SPDX-License-Identifier: GPL-2.0 */
/* Do packets as large as the path MTU come through? */
#ifndef RCL_PROBE_H
#define RCL_PROBE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct rcl_epoch;

/**
 * struct rcl_probe - the large packet of an epoch
 * @cqe: of its work request
 * @posted: posted, and not completed yet
 * @through: the first one has arrived
 * @due: when to send the next one, in jiffies; while the link is up
 *
 * All of it belongs to the link's work item, or to its chore.
 */
struct rcl_probe {
	struct ib_cqe cqe;
	bool posted;
	bool through;
	u64 due;
};

int rcl_probe_post(struct rcl_epoch *ep);
int rcl_probe_again(struct rcl_epoch *ep);
bool rcl_probe_is_lost(const struct rcl_epoch *ep);

#endif /* RCL_PROBE_H */
