// SPDX-License-Identifier: GPL-2.0
#include "paths.h"

#include <stdbool.h>
#include <string.h>

#include "link.h"
#include "path.h"

#define V4_NETWORK_LEN	15	/* of a GID: the usual /24 */
#define V6_NETWORK_LEN	8

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
	if (policy->netdev[0] && strcmp(policy->netdev, gid->netdev))
		return false;
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

/* Nothing tells the prefix length of an IPv4 network. */
static bool same_network(const struct rcl_path *a, const struct rcl_path *b)
{
	enum rcx_gid_kind kind = rcx_gid_kind(a);
	size_t len = kind == RCX_GID_IPV4 ? V4_NETWORK_LEN : V6_NETWORK_LEN;

	return kind == rcx_gid_kind(b) && a->vlan == b->vlan &&
	       a->port == b->port && !strcmp(a->device, b->device) &&
	       !memcmp(a->gid, b->gid, len);
}

static bool has_network(const struct rcx_paths *paths,
			const struct rcl_path *path)
{
	uint32_t i;

	for (i = 0; i < paths->num; i++)
		if (same_network(&paths->path[i], path))
			return true;

	return false;
}

struct choice {
	const struct rcl_policy *policy;
	enum rcx_gid_kind kind;
	bool any;		/* else only of networks not there yet */
};

/* Add the first path of this port that is not there yet. */
static bool add_path(const struct choice *choice,
		     const struct rcl_dev_info *dev, struct rcx_paths *paths)
{
	struct rcl_path path;
	size_t i;

	if (paths->num == RCX_PATHS_MAX || !may_use_port(choice->policy, dev))
		return false;
	for (i = 0; i < dev->ngids; i++) {
		if (!may_use_gid(choice->policy, &dev->gids[i]))
			continue;
		path = path_of(choice->policy, dev, &dev->gids[i]);
		/* A path that no message can carry would spoil them all. */
		if (!rcx_path_is_good(&path) ||
		    rcx_gid_kind(&path) != choice->kind || has(paths, &path) ||
		    (!choice->any && has_network(paths, &path)))
			continue;
		paths->path[paths->num++] = path;
		return true;
	}

	return false;
}

/* No port gets another path before each has its first. */
static void add_paths(const struct choice *choice,
		      const struct rcl_dev_info *devs, size_t ndevs,
		      struct rcx_paths *paths)
{
	bool added = true;
	size_t i;

	while (added) {
		added = false;
		for (i = 0; i < ndevs; i++)
			added |= add_path(choice, &devs[i], paths);
	}
}

static unsigned int count_left(const struct rcl_policy *policy,
			       const struct rcl_dev_info *devs, size_t ndevs,
			       const struct rcx_paths *paths)
{
	unsigned int left = 0;
	struct rcl_path path;
	size_t i, j;

	for (i = 0; i < ndevs; i++) {
		if (!may_use_port(policy, &devs[i]))
			continue;
		for (j = 0; j < devs[i].ngids; j++) {
			path = path_of(policy, &devs[i], &devs[i].gids[j]);
			left += may_use_gid(policy, &devs[i].gids[j]) &&
				rcx_path_is_good(&path) && !has(paths, &path);
		}
	}

	return left;
}

void rch_paths(const struct rcl_link_info *link,
	       const struct rcl_dev_info *devs, size_t ndevs,
	       struct rcx_paths *paths)
{
	struct choice choice = { .policy = &link->policy };
	int kind, any;

	memset(paths, 0, sizeof(*paths));
	for (any = 0; any < 2; any++) {
		choice.any = any;
		for (kind = RCX_GID_BEST; kind >= 0; kind--) {
			choice.kind = kind;
			add_paths(&choice, devs, ndevs, paths);
		}
	}
	paths->left = count_left(&link->policy, devs, ndevs, paths);
}
