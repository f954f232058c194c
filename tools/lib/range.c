// SPDX-License-Identifier: GPL-2.0
#include "range.h"

#include "../../kmod/gid.h"
#include "../../kmod/policy.h"

int rcl_range_check(int field, uint32_t value, const char **why)
{
	struct rcl_policy_change change = { .mask = BIT(field) };

	change.to.v[field] = value;
	return rcl_policy_check(&change, why);
}

uint32_t rcl_range_default(int field)
{
	struct rcl_policy policy;

	rcl_policy_default(&policy);
	return policy.v[field];
}

int rcl_range_agree(uint32_t given, const uint32_t *v, const char **why)
{
	struct rcl_policy policy;
	int i;

	rcl_policy_default(&policy);
	for (i = 0; i < RCL_P_MAX; i++)
		if (given & BIT(i))
			policy.v[i] = v[i];
	return rcl_policy_agrees(&policy, why);
}

bool rcl_range_at_once(int field)
{
	return RCL_POLICY_ACCESS & BIT(field);
}

int rcl_range_name(const char *name, const char **why)
{
	return rcl_policy_check_name(name, why);
}

bool rcl_range_mgid(const uint8_t gid[RCLINK_GID_LEN])
{
	return rcl_gid_is_multicast(gid);
}
