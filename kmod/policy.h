/* SPDX-License-Identifier: GPL-2.0 */
/* What an operator can set on a link: one table of values and their ranges. */
#ifndef RCL_POLICY_H
#define RCL_POLICY_H

#include <linux/bits.h>
#include <linux/types.h>

#include <uapi/linux/rclink.h>

#include "gid.h"
#include "policy-field.h"

#define RCL_HEARTBEAT_MS	200	/* the default interval */
#define RCL_RETRY_FOR_EVER	7	/* on some devices */

/* Who may open channels: this concerns neither a device nor an epoch. */
#define RCL_POLICY_ACCESS	(BIT(RCL_P_OWNER) | BIT(RCL_P_GROUP) | \
				 BIT(RCL_P_MODE))

/**
 * struct rcl_policy - policy of a link
 * @device: RDMA device, empty for the first one with an active port
 * @netdev: network device that has the GID, empty for any
 * @v: values by field; RCL_P_PORT and RCL_P_MTU are 0 until they are set
 */
struct rcl_policy {
	char device[RCLINK_DEVICE_MAX + 1];
	char netdev[RCL_IFNAME_LEN];
	u32 v[RCL_P_MAX];
};

/**
 * struct rcl_policy_change - the fields that a request sets
 * @mask: bit per field of @to that is set
 * @device: whether the device is set
 * @netdev: whether that is set
 * @to: the new values
 */
struct rcl_policy_change {
	u32 mask;
	bool device;
	bool netdev;
	struct rcl_policy to;
};

/* Do channels go on in the next epoch? */
static inline bool rcl_policy_resumes(const struct rcl_policy *policy)
{
	return policy->v[RCL_P_RECOVER] == RCLINK_RECOVER_RESUME;
}

/* Which GID may it use? That of @policy has to live as long. */
static inline struct rcl_gid_want
rcl_policy_gid(const struct rcl_policy *policy)
{
	return (struct rcl_gid_want){
		.index = policy->v[RCL_P_GID_INDEX],
		.netdev = policy->netdev,
	};
}

void rcl_policy_default(struct rcl_policy *policy);
int rcl_policy_check(const struct rcl_policy_change *change, const char **why);
int rcl_policy_agrees(const struct rcl_policy *policy, const char **why);
int rcl_policy_narrow(struct rcl_policy *policy,
		      const struct rcl_policy_change *path, const char **why);
void rcl_policy_apply(struct rcl_policy *policy,
		      const struct rcl_policy_change *change);
int rcl_policy_check_name(const char *name, const char **why);

#endif /* RCL_POLICY_H */
