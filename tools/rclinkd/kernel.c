// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <string.h>
#include <strings.h>

#include "call.h"
#include "conf.h"
#include "range.h"

/*
 * What is not configured is as in a new link. The heartbeat of that is a
 * parameter of the module, so whatever there is will do.
 */
static bool wanted(const struct rcl_policy *policy, int field, uint32_t *value)
{
	if (policy->given & 1u << field) {
		*value = policy->v[field];
		return true;
	}
	*value = rcl_range_default(field);
	return field != RCL_P_HEARTBEAT;
}

static bool find_changes(const struct rcl_policy *policy,
			 const struct rcl_policy *now,
			 struct rcl_policy *change)
{
	bool ends = false;
	uint32_t value;
	int field;

	memset(change, 0, sizeof(*change));
	if (strcmp(policy->device, now->device)) {
		memcpy(change->device, policy->device, sizeof(change->device));
		change->device_given = true;
		ends = true;
	}
	for (field = 0; field < RCL_P_MAX; field++) {
		if (!wanted(policy, field, &value) || value == now->v[field])
			continue;
		change->given |= 1u << field;
		change->v[field] = value;
		ends |= !rcl_range_at_once(field);
	}
	return ends;
}

static bool is_peer(const struct rcd_link_conf *conf, const char *peer)
{
	return conf->dns[0] ? !strcasecmp(conf->dns, peer) :
			      !strcmp(conf->pin, peer);
}

int rcd_kernel_apply(struct rcl_nl *nl, const struct rcd_link_conf *conf,
		     const struct rcl_link_info *info, bool *ends, char *err)
{
	struct rcl_policy change;
	bool other;
	int ret = 0;

	*ends = false;
	if (!info)
		return rcl_call_new(nl, conf->name, &conf->policy, err);
	other = find_changes(&conf->policy, &info->policy, &change);
	if (change.given || change.device_given)
		ret = rcl_call_set(nl, conf->name, &change, err);
	/* With another peer it cannot stay, whatever else. */
	*ends = !is_peer(conf, info->peer) || (other && !ret);
	return ret;
}
