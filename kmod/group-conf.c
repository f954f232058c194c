// SPDX-License-Identifier: GPL-2.0
#include "group-conf.h"

#include <linux/errno.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "gid.h"
#include "policy.h"
#include "port.h"

#define RCL_CONF_TRIES	3

/**
 * rcl_group_conf_check_links - are the link names valid, each given once?
 * @links: as given by the operator
 * @why: set to a sentence if not
 *
 * Return: 0 or -EINVAL.
 */
int rcl_group_conf_check_links(const struct rcl_keeper_links *links,
			       const char **why)
{
	u32 i;

	for (i = 0; i < links->n; i++) {
		if (rcl_policy_check_name(links->name[i], why)) {
			*why = "link: no link can have that name";
			return -EINVAL;
		}
		if (rcl_keeper_find(links, links->name[i]) != i) {
			*why = "link: there twice";
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * rcl_group_conf_check_access - are these valid rights for a group?
 * @access: as given by the operator
 * @why: set to a sentence if not
 *
 * Return: 0 or -EINVAL.
 */
int rcl_group_conf_check_access(const struct rcl_access *access,
				const char **why)
{
	if (access->mode & ~0666)
		*why = "mode: only r and w, 0 to 0666 in octal";
	else if (access->owner == U32_MAX || access->group == U32_MAX)
		*why = "owner, group: 4294967295 is nobody";
	else
		return 0;
	return -EINVAL;
}

/**
 * rcl_group_conf_check - does a configuration make sense?
 * @conf: as given by the operator
 * @links: links that may have the key, as given by the operator
 * @why: set to a sentence if not
 *
 * Return: 0 or -EINVAL.
 */
int rcl_group_conf_check(const struct rcl_group_conf *conf,
			 const struct rcl_keeper_links *links, const char **why)
{
	const struct rcl_mcast_addr *addr = &conf->addr;
	int ret;

	ret = rcl_policy_check_name(conf->name, why);
	if (!ret && conf->from[0] && rcl_policy_check_name(conf->from, why)) {
		*why = "from: no link can have that name";
		ret = -EINVAL;
	}
	if (!ret)
		ret = rcl_group_conf_check_links(links, why);
	if (!ret)
		ret = rcl_group_conf_check_access(&conf->access, why);
	if (ret)
		return ret;
	if (conf->from[0] && links->n)
		*why = "from, link: who gets a key does not give it; keep one";
	else if (conf->from[0] && conf->qkey_given)
		*why = "qkey: it comes with the key from who keeps that one";
	else if (!rcl_gid_is_multicast(addr->gid))
		*why = "mgid: no multicast address, as 239.1.2.3 or ff15::1 is";
	else if (addr->lid && (addr->lid < be16_to_cpu(IB_MULTICAST_LID_BASE) ||
			       addr->lid >= be16_to_cpu(IB_LID_PERMISSIVE)))
		*why = "mlid: no multicast LID, which begin at 0xc000";
	else
		return 0;
	return -EINVAL;
}

/* A RoCE packet has one IP header for both its addresses. */
static bool rcl_group_conf_fits(const struct rcl_group_conf *conf,
				const struct rcl_port *port, const u8 *gid)
{
	return port->link_layer != RCLINK_LINK_LAYER_ROCE ||
	       rcl_gid_is_v4(gid) == rcl_gid_is_v4(conf->addr.gid);
}

/*
 * Links prefer IPv4; a group takes the kind that its address is of, and of that
 * the GID that it would get on a port with no other kind: members on different
 * networks do not hear each other.
 */
static int rcl_group_conf_find_gid(const struct rcl_group_conf *conf,
				   const struct rcl_port *port,
				   struct rcl_policy *policy, const char **why)
{
	unsigned int rank, best = 0;
	u32 i;

	strscpy(policy->device, port->device, sizeof(policy->device));
	policy->v[RCL_P_PORT] = port->port;
	for (i = 0; conf->gid_index == RCLINK_GID_INDEX_AUTO &&
	     i < port->ngids; i++) {
		if (!rcl_gid_is_usable(&port->gids[i], true) ||
		    !rcl_group_conf_fits(conf, port, port->gids[i].value))
			continue;
		rank = rcl_gid_rank(port->gids[i].value);
		if (rank > best) {
			best = rank;
			policy->v[RCL_P_GID_INDEX] = port->gids[i].index;
		}
	}
	if (best)
		return 0;
	*why = conf->gid_index == RCLINK_GID_INDEX_AUTO ?
	       "mgid: the port has no GID of the same kind, IPv4 or 6" :
	       "gid-index: that GID is not of the same kind as mgid, IPv4 or 6";
	return -EADDRNOTAVAIL;
}

static int rcl_group_conf_check_lid(const struct rcl_group_conf *conf,
				    const struct rcl_port *port,
				    const char **why)
{
	const struct rcl_mcast_addr *addr = &conf->addr;

	if (port->link_layer == RCLINK_LINK_LAYER_ROCE) {
		if (!addr->lid)
			return 0;
		*why = "mlid: a RoCE port has none";
	} else if (rcl_gid_is_v4(addr->gid)) {
		*why = "mgid: on InfiniBand it begins with ff";
	} else if (port->sa && addr->lid) {
		*why = "mlid: the port's subnet manager says it";
	} else if (!port->sa && !addr->lid) {
		*why = "mlid: an InfiniBand port needs the group's";
	} else {
		return 0;
	}
	return -EINVAL;
}

/* The GID that the last try found may have changed: it is checked again. */
static int rcl_group_conf_try(const struct rcl_group_conf *conf,
			      struct rcl_dev_user *user,
			      struct rcl_policy *policy, const char **why)
{
	bool fits = false;
	struct rcl_port port;
	int ret;

	ret = rcl_dev_attach(user, policy, &port, why);
	if (ret)
		return ret;
	*why = "device: its driver has no multicast";
	ret = user->ib->ops.attach_mcast ?
	      rcl_group_conf_check_lid(conf, &port, why) : -EOPNOTSUPP;
	if (!ret)
		fits = rcl_group_conf_fits(conf, &port, user->gid);
	if (!ret && !fits)
		ret = rcl_group_conf_find_gid(conf, &port, policy, why);
	rcl_port_release(&port);
	if (fits)
		return 0;
	rcl_dev_detach(user);
	if (!ret)
		*why = "the port's GID table just changed: try again";
	return ret ? : -EAGAIN;
}

/* The first may find a better GID, and the port may change during either. */
static int rcl_group_conf_try_often(const struct rcl_group_conf *conf,
				    struct rcl_dev_user *user,
				    struct rcl_policy *policy, const char **why)
{
	int ret = -EAGAIN;
	int i;

	policy->v[RCL_P_GID_INDEX] = conf->gid_index;
	for (i = 0; i < RCL_CONF_TRIES && ret == -EAGAIN; i++)
		ret = rcl_group_conf_try(conf, user, policy, why);
	return ret;
}

/* Skips ports that cannot be read at all: a later one may do. */
static int rcl_group_conf_try_each(const struct rcl_group_conf *conf,
				   struct rcl_dev_user *user)
{
	struct rcl_policy policy = {};
	struct rcl_port port;
	const char *ignored;
	unsigned int n;
	int ret;

	for (n = 0; (ret = rcl_dev_nth_port(n, &port)) != -ENOENT; n++) {
		if (ret)
			continue;
		rcl_port_release(&port);
		if ((conf->device[0] && strcmp(conf->device, port.device)) ||
		    (conf->port && conf->port != port.port))
			continue;
		strscpy(policy.device, port.device, sizeof(policy.device));
		policy.v[RCL_P_PORT] = port.port;
		if (!rcl_group_conf_try_often(conf, user, &policy, &ignored))
			return 0;
	}
	return ret;
}

static bool rcl_group_conf_is_unfit(int ret)
{
	return ret == -EINVAL || ret == -EADDRNOTAVAIL || ret == -EAGAIN ||
	       ret == -EOPNOTSUPP;
}

/* A port that cannot be read just now may be active. */
static bool rcl_group_conf_is_active(const struct rcl_group_port *last)
{
	struct rcl_port port;
	bool active;
	int ret;

	if (!last->device[0])
		return false;
	ret = rcl_dev_find_port(last->device, last->port, &port);
	if (ret)
		return ret != -ENODEV;
	active = port.state == IB_PORT_ACTIVE;
	rcl_port_release(&port);
	return active;
}

/**
 * rcl_group_conf_attach - begin to use the port of a group
 * @conf: checked
 * @last: port that it last joined on: another one may lead to other members, so
 *	this one is taken while it is active, whether it is fit just now or not
 * @user: as for rcl_dev_attach()
 * @why: set to a sentence when it is refused; if more than one port may be used
 *	and none is fit, what the first one lacks
 *
 * Context: may sleep.
 * Return: 0, -EADDRNOTAVAIL or -EINVAL when the port does not suit the group's
 * address, -EOPNOTSUPP when it has no multicast, -EAGAIN when its GIDs just
 * changed, or what rcl_dev_attach() returns.
 */
int rcl_group_conf_attach(const struct rcl_group_conf *conf,
			  const struct rcl_group_port *last,
			  struct rcl_dev_user *user, const char **why)
{
	bool back = rcl_group_conf_is_active(last);
	struct rcl_policy policy = {};
	int ret;

	strscpy(policy.device, back ? last->device : conf->device,
		sizeof(policy.device));
	policy.v[RCL_P_PORT] = back ? last->port : conf->port;
	ret = rcl_group_conf_try_often(conf, user, &policy, why);
	if (back || !rcl_group_conf_is_unfit(ret) ||
	    (conf->device[0] && conf->port))
		return ret;
	/* That was the first active port; another one may be fit. */
	return rcl_group_conf_try_each(conf, user) ? ret : 0;
}
