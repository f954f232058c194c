// SPDX-License-Identifier: GPL-2.0
#include "policy.h"

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>

/* These may also be 0, although that is below their minimum. */
#define RCL_P_MAY_BE_0	(BIT(RCL_P_PORT) | BIT(RCL_P_MTU) | \
			 BIT(RCL_P_HEARTBEAT))

struct rcl_range {
	u32 def;
	u32 min;
	u32 max;
	const char *why;
};

/*
 * timeout 14 is 67 ms per try; retry 7 never ends on some devices;
 * min_rnr_timer 12 is 0.64 ms (IBA 9.7.5.2.8), while 0 would be 655 ms. The
 * peer is asked when an interval is over: with one miss it never would be.
 */
static const struct rcl_range ranges[RCL_P_MAX] = {
	[RCL_P_PORT] = { 0, 1, 255, "port must be 1 to 255, or auto" },
	[RCL_P_GID_INDEX] = { RCLINK_GID_INDEX_AUTO, 0, U32_MAX, NULL },
	[RCL_P_MTU] = { 0, 256, 4096,
		"mtu must be 256, 512, 1024, 2048 or 4096, or auto" },
	[RCL_P_QPS] = { 4, 1, RCLINK_QPS_MAX, "qps must be 1 to 64" },
	[RCL_P_TIMEOUT] = { 14, 1, 31, "timeout must be 1 to 31" },
	[RCL_P_RETRY] = { 6, 0, 7, "retry must be 0 to 7" },
	[RCL_P_RNR_RETRY] = { 6, 0, 7, "rnr-retry must be 0 to 7" },
	[RCL_P_MIN_RNR_TIMER] = { 12, 0, 31, "min-rnr-timer must be 0 to 31" },
	[RCL_P_RD_ATOMIC] = { 4, 1, 255, "rd-atomic must be 1 to 255" },
	[RCL_P_SL] = { 0, 0, 15, "sl must be 0 to 15" },
	[RCL_P_TRAFFIC_CLASS] = { 0, 0, 255, "traffic-class must be 0 to 255" },
	[RCL_P_HOP_LIMIT] = { 0, 0, 255, "hop-limit must be 0 to 255" },
	[RCL_P_FLOW_LABEL] = { 0, 0, 0xfffff,
		"flow-label must be 0 to 1048575" },
	[RCL_P_PKEY_INDEX] = { 0, 0, 65535, "pkey-index must be 0 to 65535" },
	[RCL_P_BUFFER_SIZE] = { 65536, 4096, 1048576,
		"buffer-size must be 4096 to 1048576" },
	[RCL_P_LOOPBACK] = { 0, 0, 1, "loopback must be 0 or 1" },
	[RCL_P_OWNER] = { 0, 0, U32_MAX - 1, "owner must be 0 to 4294967294" },
	[RCL_P_GROUP] = { 0, 0, U32_MAX - 1, "group must be 0 to 4294967294" },
	[RCL_P_MODE] = { 0600, 0, 0666,
		"mode must be 0 to 0666 in octal, of r and w only" },
	[RCL_P_HEARTBEAT] = { RCL_HEARTBEAT_MS, 10, 60000,
		"heartbeat must be 0, for none, or 10 to 60000 ms" },
	[RCL_P_MISSES] = { 3, 2, 100, "misses must be 2 to 100" },
	[RCL_P_RECOVER] = { RCLINK_RECOVER_RESET, RCLINK_RECOVER_RESET,
		RCLINK_RECOVER_RESUME,
		"recover must be 0 (reset) or 1 (resume)" },
};

/**
 * rcl_policy_default - set what a link has when the operator says nothing
 * @policy: to fill in
 */
void rcl_policy_default(struct rcl_policy *policy)
{
	int i;

	memset(policy, 0, sizeof(*policy));
	for (i = 0; i < RCL_P_MAX; i++)
		policy->v[i] = ranges[i].def;
}

static bool rcl_policy_allows(int field, u32 v)
{
	const struct rcl_range *r = &ranges[field];

	if (!v && (RCL_P_MAY_BE_0 & BIT(field)))
		return true;
	if (v < r->min || v > r->max)
		return false;
	if (field == RCL_P_MTU)
		return !(v & (v - 1));
	return field != RCL_P_MODE || !(v & ~0666);
}

/**
 * rcl_policy_check - check the given values without knowing the device
 * @change: from the operator
 * @why: set to a sentence about the first wrong one when it is refused
 *
 * Return: 0, or -EINVAL.
 */
int rcl_policy_check(const struct rcl_policy_change *change, const char **why)
{
	int i;

	for (i = 0; i < RCL_P_MAX; i++) {
		if ((change->mask & BIT(i)) &&
		    !rcl_policy_allows(i, change->to.v[i])) {
			*why = ranges[i].why;
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * rcl_policy_agrees - do the values of a policy go together?
 * @policy: each of its values passed rcl_policy_check()
 * @why: set to a sentence when they do not
 *
 * Return: 0, or -EINVAL.
 */
int rcl_policy_agrees(const struct rcl_policy *policy, const char **why)
{
	if (policy->v[RCL_P_RETRY] == RCL_RETRY_FOR_EVER &&
	    !policy->v[RCL_P_HEARTBEAT]) {
		*why = "retry 7 never gives up: set heartbeat, or retry 6";
		return -EINVAL;
	}
	return 0;
}

/**
 * rcl_policy_apply - set the given values
 * @policy: to change
 * @change: passed rcl_policy_check()
 */
void rcl_policy_apply(struct rcl_policy *policy,
		      const struct rcl_policy_change *change)
{
	int i;

	for (i = 0; i < RCL_P_MAX; i++)
		if (change->mask & BIT(i))
			policy->v[i] = change->to.v[i];
	if (change->device)
		memcpy(policy->device, change->to.device,
		       sizeof(policy->device));
	if (change->netdev)
		memcpy(policy->netdev, change->to.netdev,
		       sizeof(policy->netdev));
}

static bool rcl_policy_differs(const struct rcl_policy *policy,
			       const struct rcl_policy_change *path, int field,
			       u32 open)
{
	return (path->mask & BIT(field)) && policy->v[field] != open &&
	       policy->v[field] != path->to.v[field];
}

/* In a path, a wildcard would be no choice. */
static const char *rcl_policy_refuse_path(const struct rcl_policy *policy,
					  const struct rcl_policy_change *path)
{
	if (path->device && !path->to.device[0])
		return "device must not be empty in a path";
	if ((path->mask & BIT(RCL_P_PORT)) && !path->to.v[RCL_P_PORT])
		return "port must not be 0 in a path";
	if (path->device && policy->device[0] &&
	    strcmp(policy->device, path->to.device))
		return "device: the link is set to another one";
	if (rcl_policy_differs(policy, path, RCL_P_PORT, 0))
		return "port: the link is set to another one";
	if (rcl_policy_differs(policy, path, RCL_P_GID_INDEX,
			       RCLINK_GID_INDEX_AUTO))
		return "gid-index: the link is set to another one";
	return NULL;
}

/**
 * rcl_policy_narrow - choose among what a policy leaves open
 * @policy: changed after success
 * @path: device, port and GID index, or some of them
 * @why: set to a sentence when it is refused
 *
 * Return: 0, or -EINVAL.
 */
int rcl_policy_narrow(struct rcl_policy *policy,
		      const struct rcl_policy_change *path, const char **why)
{
	int ret;

	ret = rcl_policy_check(path, why);
	if (ret)
		return ret;
	*why = rcl_policy_refuse_path(policy, path);
	if (*why)
		return -EINVAL;
	rcl_policy_apply(policy, path);
	return 0;
}

/**
 * rcl_policy_check_name - is this a name for a link?
 * @name: NUL-terminated
 * @why: set to a sentence when it is refused
 *
 * Return: 0, or -EINVAL.
 */
int rcl_policy_check_name(const char *name, const char **why)
{
	const char *c;

	for (c = name; *c; c++) {
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= '0' && *c <= '9'))
			continue;
		if (c > name && (*c == '_' || *c == '.' || *c == '-'))
			continue;
		break;
	}
	if (c == name || *c || c - name > RCLINK_NAME_MAX) {
		*why = "name must be 1 to 31 of A-Z a-z 0-9, then also _ . -";
		return -EINVAL;
	}
	return 0;
}
