// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "call.h"
#include "conf.h"
#include "process.h"
#include "range.h"

/*
 * What is not configured must be as in a new link. The heartbeat of a new link
 * is a parameter of the module, so any value will do.
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

/* Who may use the link, and what needs another epoch to change. */
struct change {
	struct rcl_policy access;
	struct rcl_policy epoch;
};

static void find_changes(const struct rcl_policy *policy,
			 const struct rcl_policy *now, struct change *change)
{
	struct rcl_policy *to;
	uint32_t value;
	int field;

	memset(change, 0, sizeof(*change));
	if (strcmp(policy->device, now->device)) {
		memcpy(change->epoch.device, policy->device,
		       sizeof(change->epoch.device));
		change->epoch.device_given = true;
	}
	if (strcmp(policy->netdev, now->netdev)) {
		memcpy(change->epoch.netdev, policy->netdev,
		       sizeof(change->epoch.netdev));
		change->epoch.netdev_given = true;
	}
	for (field = 0; field < RCL_P_MAX; field++) {
		if (!wanted(policy, field, &value) || value == now->v[field])
			continue;
		to = rcl_range_at_once(field) ? &change->access :
						&change->epoch;
		to->given |= 1u << field;
		to->v[field] = value;
	}
}

static bool is_any(const struct rcl_policy *change)
{
	return change->given || change->device_given || change->netdev_given;
}

bool rcd_kernel_ends(const struct rcl_policy *old, const struct rcl_policy *new)
{
	struct rcl_policy now = *old;
	struct change change;
	int field;

	for (field = 0; field < RCL_P_MAX; field++)
		wanted(old, field, &now.v[field]);
	find_changes(new, &now, &change);
	return is_any(&change.epoch);
}

/*
 * The module takes all of a request or nothing, so these are two: access must
 * not wait for a device.
 */
static int set(struct rcl_nl *nl, const char *name, const struct change *change,
	       char *err)
{
	int ret = 0;

	if (is_any(&change->access))
		ret = rcl_call_set(nl, name, &change->access, err);
	if (!ret && is_any(&change->epoch))
		ret = rcl_call_set(nl, name, &change->epoch, err);
	return ret;
}

static bool is_peer(const struct rcd_link_conf *conf, const char *peer)
{
	return conf->dns[0] ? !strcasecmp(conf->dns, peer) :
			      !strcmp(conf->pin, peer);
}

/* Is it another peer's, or was it? One that is down may have had none. */
static bool is_others(const struct rcd_link_conf *conf,
		      const struct rcl_link_info *info)
{
	if (is_peer(conf, info->peer))
		return false;
	return info->state == RCLINK_LINK_STATE_UP ||
	       (info->state == RCLINK_LINK_STATE_DOWN && info->peer[0]);
}

int rcd_kernel_apply(struct rcl_nl *nl, const struct rcd_link_conf *conf,
		     const struct rcl_link_info *info, enum rcd_end *end,
		     char *err)
{
	struct change change;
	int ret;

	*end = RCD_STAYS;
	if (!info)
		return rcl_call_new(nl, conf->name, &conf->policy, err);
	find_changes(&conf->policy, &info->policy, &change);
	ret = set(nl, conf->name, &change, err);
	if (is_any(&change.epoch) && !ret)
		*end = RCD_ENDS;
	/* With another peer it cannot stay in any case. */
	if (is_others(conf, info))
		*end = RCD_ENDS_NOW;
	return ret;
}

/* When the epoch came up, or its oldest entry in the record; 0: none. */
static uint64_t began(const struct rcl_entry *entries, size_t num,
		      uint64_t epoch)
{
	uint64_t first = 0;
	size_t i;

	for (i = 0; i < num; i++) {
		if (entries[i].epoch != epoch)
			continue;
		if (entries[i].to == RCLINK_LINK_STATE_UP)
			return entries[i].time;
		if (!first)
			first = entries[i].time;
	}
	return first;
}

uint64_t rcd_kernel_age(struct rcl_nl *nl, const char *name, uint64_t epoch)
{
	struct rcl_entry *entries;
	char ignored[RCL_ERR_LEN];
	uint64_t since, now;
	size_t num;

	if (!nl || rcl_call_record(nl, name, &entries, &num, ignored))
		return 0;
	since = began(entries, num, epoch);
	free(entries);
	now = rcl_since_boot();
	return since && since < now ? now - since : 0;
}
