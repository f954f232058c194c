// SPDX-License-Identifier: GPL-2.0
#include "paths.h"

#include <stdbool.h>
#include <string.h>

#include "link.h"
#include "path.h"

static bool is_set(const struct rcl_policy *policy, enum rcl_policy_field field,
		   uint32_t open)
{
	return policy->given & 1u << field && policy->v[field] != open;
}

static bool may_use_port(const struct rcl_policy *policy,
			 const struct rcl_dev_info *dev)
{
	if (policy->device[0] && strcmp(policy->device, dev->name))
		return false;
	if (is_set(policy, RCL_P_PORT, 0) && policy->v[RCL_P_PORT] != dev->port)
		return false;

	return dev->port_state == RCL_PORT_ACTIVE &&
	       dev->link_layer != RCLINK_LINK_LAYER_IWARP;
}

static bool may_use_gid(const struct rcl_policy *policy,
			const struct rcl_gid_info *gid)
{
	if (is_set(policy, RCL_P_GID_INDEX, RCLINK_GID_INDEX_AUTO))
		return gid->index == policy->v[RCL_P_GID_INDEX];

	return gid->usable;
}

static struct rcl_path path_of(const struct rcl_policy *policy,
			       const struct rcl_dev_info *dev,
			       const struct rcl_gid_info *gid)
{
	struct rcl_path path = {
		.port = dev->port,
		.link_layer = dev->link_layer,
		.gid_type = gid->type,
		.gid_index = gid->index,
		.mtu = is_set(policy, RCL_P_MTU, 0) ? policy->v[RCL_P_MTU] :
						      dev->active_mtu,
		.vlan = gid->vlan,
	};

	memcpy(path.device, dev->name, sizeof(path.device));
	memcpy(path.gid, gid->gid, sizeof(path.gid));

	return path;
}

/* A bridge and its port may have the same link-local address. */
static bool has(const struct rcx_paths *paths, const struct rcl_path *path)
{
	uint32_t i;

	for (i = 0; i < paths->num; i++)
		if (rcx_path_same(&paths->path[i], path))
			return true;

	return false;
}

static void add_paths(const struct rcl_policy *policy,
		      const struct rcl_dev_info *dev, enum rcx_gid_kind kind,
		      struct rcx_paths *paths)
{
	struct rcl_path path;
	size_t i;

	if (!may_use_port(policy, dev))
		return;
	for (i = 0; i < dev->ngids && paths->num < RCX_PATHS_MAX; i++) {
		if (!may_use_gid(policy, &dev->gids[i]))
			continue;
		path = path_of(policy, dev, &dev->gids[i]);
		if (rcx_gid_kind(&path) == kind && !has(paths, &path))
			paths->path[paths->num++] = path;
	}
}

void rch_paths(const struct rcl_link_info *link,
	       const struct rcl_dev_info *devs, size_t ndevs,
	       struct rcx_paths *paths)
{
	int kind;
	size_t i;

	memset(paths, 0, sizeof(*paths));
	for (kind = RCX_GID_BEST; kind >= 0; kind--)
		for (i = 0; i < ndevs; i++)
			add_paths(&link->policy, &devs[i], kind, paths);
}
