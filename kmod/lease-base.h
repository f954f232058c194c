/* SPDX-License-Identifier: GPL-2.0 */
/* The beginning and end of a lease at one end, without the conversation. */
#ifndef RCL_LEASE_BASE_H
#define RCL_LEASE_BASE_H

#include <linux/types.h>

struct rcl_epoch;
struct rcl_lease;
struct rcl_lessee;
struct rcl_msg;
struct rcl_pool;

int rcl_lease_send(struct rcl_epoch *ep, struct rcl_lease *lease,
		   struct rcl_msg *msg);
void rcl_lease_set_open(struct rcl_lease *lease, struct rcl_epoch *ep);
int rcl_lease_begin(struct rcl_lease *lease, struct rcl_epoch *ep,
		    struct rcl_lessee *lessee);
int rcl_lease_rejoin(struct rcl_lease *lease, struct rcl_epoch *ep,
		     struct rcl_lessee *lessee);
void rcl_lease_let_go(struct rcl_epoch *ep, struct rcl_lease *lease, int why);
void rcl_lease_cancel(struct rcl_pool *pool, const struct rcl_lessee *lessee,
		      int why);
void rcl_lease_end(struct rcl_epoch *ep, struct rcl_lease *lease, int why);
void rcl_lease_die(struct rcl_epoch *ep, struct rcl_lease *lease);
bool rcl_lease_comes_back(const struct rcl_lease *lease);
void rcl_lease_expect(const struct rcl_epoch *ep, struct rcl_lease *lease);
u64 rcl_lease_owes(const struct rcl_epoch *ep);
void rcl_lease_keep_still(struct rcl_epoch *ep, bool still);
bool rcl_lease_all_decided(const struct rcl_epoch *ep);
bool rcl_lease_is_still(struct rcl_epoch *ep);

#endif /* RCL_LEASE_BASE_H */
