// SPDX-License-Identifier: GPL-2.0
/*
 * One struct rcl_device per RDMA device, from the ib_client's add to its
 * remove. Whoever builds on a device attaches a struct rcl_dev_user; remove
 * tells each of them and waits until the last one has detached, and until
 * nobody looks at the device any more. Nothing here knows what a user is.
 *
 * A device is queried without holding its locks, so one that is slow to answer,
 * or waits for the RTNL, holds up nobody who asks for another device.
 */
#include "device.h"

#include <linux/completion.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "event.h"
#include "policy.h"
#include "port.h"
#include "upcall.h"

struct rcl_device {
	struct ib_device *ib;
	struct list_head node;		/* under rcl_devices_lock */
	unsigned int number;		/* constant, larger than those before */
	struct ib_event_handler handler;
	struct completion idle;		/* the last holder left after remove */
	u32 max_inline;			/* constant */
	spinlock_t lock;		/* protects the rest */
	struct list_head users;
	unsigned int held;		/* by users and those who look at it */
	bool removing;
};

/* Protects the two below. */
static DEFINE_SPINLOCK(rcl_devices_lock);
static LIST_HEAD(rcl_devices);
static unsigned int rcl_devices_generation;

/**
 * rcl_dev_name - the name of a device
 * @ib: may be renamed meanwhile, which frees what dev_name() returns
 * @name: set
 *
 * Context: any.
 */
void rcl_dev_name(const struct ib_device *ib, char name[RCLINK_DEVICE_MAX + 1])
{
	BUILD_BUG_ON(RCLINK_DEVICE_MAX + 1 != IB_DEVICE_NAME_MAX);
	strscpy(name, ib->name, RCLINK_DEVICE_MAX + 1);
}

/* The first device after that number, which stays until rcl_dev_put(). */
static struct rcl_device *rcl_dev_get_behind(unsigned int number)
{
	struct rcl_device *rdev, *found = NULL;

	spin_lock(&rcl_devices_lock);
	list_for_each_entry(rdev, &rcl_devices, node) {
		if (rdev->number <= number ||
		    !rdma_dev_access_netns(rdev->ib, &init_net))
			continue;
		/* Whoever removes it must first take it off the list. */
		spin_lock(&rdev->lock);
		rdev->held++;
		spin_unlock(&rdev->lock);
		found = rdev;
		break;
	}
	spin_unlock(&rcl_devices_lock);
	return found;
}

static void rcl_dev_put(struct rcl_device *rdev)
{
	bool last;

	spin_lock(&rdev->lock);
	last = !--rdev->held && rdev->removing;
	spin_unlock(&rdev->lock);
	/* Once told, removal frees the device at once, lock and all. */
	if (last)
		complete(&rdev->idle);
}

/* Whoever leaves such a walk before its end must put the device. */
static struct rcl_device *rcl_dev_next(struct rcl_device *rdev)
{
	unsigned int number = rdev->number;

	rcl_dev_put(rdev);
	return rcl_dev_get_behind(number);
}

static void rcl_dev_tell(struct rcl_dev_user *user, u32 reason)
{
	user->up->fail(user->up, reason, 0, 0, RCL_QP_NONE);
}

static bool rcl_dev_gid_ok(const struct rcl_dev_user *user)
{
	union ib_gid gid;

	return !rdma_query_gid(user->ib, user->port, user->gid_index, &gid) &&
	       !memcmp(gid.raw, user->gid, sizeof(gid.raw));
}

static void rcl_dev_event_user(struct rcl_dev_user *user,
			       const struct ib_event *event)
{
	if (event->event == IB_EVENT_DEVICE_FATAL) {
		rcl_dev_tell(user, RCLINK_DOWN_REASON_DEVICE_FATAL);
		return;
	}
	if (event->element.port_num != user->port)
		return;

	switch (event->event) {
	case IB_EVENT_PORT_ERR:
		rcl_dev_tell(user, RCLINK_DOWN_REASON_PORT_DOWN);
		break;
	/* The core does not pass on the former for an InfiniBand port. */
	case IB_EVENT_GID_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		if (!rcl_dev_gid_ok(user))
			rcl_dev_tell(user, RCLINK_DOWN_REASON_GID_CHANGED);
		break;
	case IB_EVENT_LID_CHANGE:
		rcl_dev_tell(user, RCLINK_DOWN_REASON_GID_CHANGED);
		break;
	default:
		break;
	}
}

static void rcl_dev_announce_port(const struct ib_device *ib, u32 port)
{
	char name[RCLINK_DEVICE_MAX + 1];

	rcl_dev_name(ib, name);
	rcl_event_send_dev(name, port);
}

/* Tells those who wait for a port that it may be worth a try. */
static void rcl_dev_announce(const struct ib_event *event)
{
	switch (event->event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_GID_CHANGE:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		rcl_dev_announce_port(event->device, event->element.port_num);
		break;
	default:
		break;
	}
}

/* In process context: the core calls it from a work item. */
static void rcl_dev_event(struct ib_event_handler *handler,
			  struct ib_event *event)
{
	struct rcl_device *rdev =
		container_of(handler, struct rcl_device, handler);
	struct rcl_dev_user *user;

	spin_lock(&rdev->lock);
	list_for_each_entry(user, &rdev->users, node)
		rcl_dev_event_user(user, event);
	spin_unlock(&rdev->lock);
	rcl_dev_announce(event);
}

static struct ib_client rcl_client;

static int rcl_dev_add(struct ib_device *ib)
{
	struct rcl_device *rdev;

	rdev = kzalloc(sizeof(*rdev), GFP_KERNEL);
	if (!rdev)
		return -ENOMEM;
	rdev->ib = ib;
	init_completion(&rdev->idle);
	spin_lock_init(&rdev->lock);
	INIT_LIST_HEAD(&rdev->users);
	rdev->max_inline = rcl_port_probe_inline(ib);
	INIT_IB_EVENT_HANDLER(&rdev->handler, ib, rcl_dev_event);
	ib_register_event_handler(&rdev->handler);
	ib_set_client_data(ib, &rcl_client, rdev);

	spin_lock(&rcl_devices_lock);
	rdev->number = ++rcl_devices_generation;
	list_add_tail(&rdev->node, &rcl_devices);
	spin_unlock(&rcl_devices_lock);
	rcl_dev_announce_port(ib, 0);
	return 0;
}

/* Links may have been waiting for a device of this name. */
static void rcl_dev_rename(struct ib_device *ib, void *client_data)
{
	rcl_dev_announce_port(ib, 0);
}

static void rcl_dev_remove(struct ib_device *ib, void *client_data)
{
	struct rcl_device *rdev = client_data;
	struct rcl_dev_user *user;
	bool wait;

	spin_lock(&rcl_devices_lock);
	list_del(&rdev->node);
	rcl_devices_generation++;
	spin_unlock(&rcl_devices_lock);

	ib_unregister_event_handler(&rdev->handler);
	spin_lock(&rdev->lock);
	rdev->removing = true;
	wait = rdev->held;
	list_for_each_entry(user, &rdev->users, node)
		rcl_dev_tell(user, RCLINK_DOWN_REASON_DEVICE_REMOVED);
	spin_unlock(&rdev->lock);

	if (wait)
		wait_for_completion(&rdev->idle);
	kfree(rdev);
}

static struct ib_client rcl_client = {
	.name = "rclink",
	.add = rcl_dev_add,
	.remove = rcl_dev_remove,
	.rename = rcl_dev_rename,
};

static bool rcl_dev_is_named(const struct rcl_device *rdev, const char *name)
{
	char now[RCLINK_DEVICE_MAX + 1];

	rcl_dev_name(rdev->ib, now);
	return !strcmp(now, name);
}

/* A policy names a port, or takes the first active port that can be used. */
static bool rcl_dev_fits(const struct rcl_policy *policy,
			 const struct rcl_port *info)
{
	if (policy->device[0] && policy->v[RCL_P_PORT])
		return true;
	return info->chosen >= 0 && info->state == IB_PORT_ACTIVE;
}

static int rcl_dev_read_port(const struct rcl_device *rdev, u32 port,
			     const struct rcl_gid_want *want,
			     struct rcl_port *info)
{
	int ret = rcl_port_read(rdev->ib, port, want, info);

	if (ret)
		return ret;
	rcl_dev_name(rdev->ib, info->device);
	info->max_inline = rdev->max_inline;
	return 0;
}

/* Returns 1 if there is one; 0 if there is none, with @why set; or an errno. */
static int rcl_dev_pick_port(const struct rcl_device *rdev,
			     const struct rcl_policy *policy,
			     struct rcl_port *info, const char **why)
{
	const struct rcl_gid_want gid = rcl_policy_gid(policy);
	u32 want = policy->v[RCL_P_PORT];
	u32 port;
	int ret;

	rdma_for_each_port(rdev->ib, port) {
		if (want && port != want)
			continue;
		ret = rcl_dev_read_port(rdev, port, &gid, info);
		*why = ret == -ENOMEM ? "out of memory" :
		       "the port cannot be read";
		/* If none was named, try another, unless out of memory. */
		if (ret && ret != -ENOMEM && !(want && policy->device[0]))
			continue;
		if (ret)
			return ret;
		if (rcl_dev_fits(policy, info))
			return 1;
		*why = info->chosen < 0 ? info->why :
		       "device: no port of it is active: see `rclink dev`";
		rcl_port_release(info);
	}
	return 0;
}

static const char *rcl_dev_none(const struct rcl_policy *policy)
{
	if (policy->device[0])
		return "device: no such RDMA device: see `rclink dev`";
	if (policy->netdev[0])
		return "netdev, port, gid-index: no active port has those";
	if (!policy->v[RCL_P_PORT] &&
	    policy->v[RCL_P_GID_INDEX] == RCLINK_GID_INDEX_AUTO)
		return "no active port with a usable GID: see `rclink dev`";
	return "port, gid-index: no device has those on an active port";
}

/* The caller must put the device. */
static struct rcl_device *rcl_dev_pick(const struct rcl_policy *policy,
				       struct rcl_port *info, const char **why)
{
	const char *of_device = "device: it has no port";
	bool named = policy->device[0];
	struct rcl_device *rdev;
	int ret;

	for (rdev = rcl_dev_get_behind(0); rdev; rdev = rcl_dev_next(rdev)) {
		if (named && !rcl_dev_is_named(rdev, policy->device))
			continue;
		ret = rcl_dev_pick_port(rdev, policy, info, &of_device);
		if (ret > 0)
			return rdev;
		if (!ret && !named)
			continue;
		rcl_dev_put(rdev);
		*why = !ret && policy->v[RCL_P_PORT] ?
		       "port: the device has none of that number" : of_device;
		return ERR_PTR(ret ?: -ENODEV);
	}
	*why = rcl_dev_none(policy);
	return ERR_PTR(-ENODEV);
}

/**
 * rcl_dev_detach - no longer use a port
 * @user: attached; the device must not be touched afterwards
 *
 * Context: process context.
 */
void rcl_dev_detach(struct rcl_dev_user *user)
{
	struct rcl_device *rdev = user->rdev;

	spin_lock(&rdev->lock);
	list_del(&user->node);
	spin_unlock(&rdev->lock);
	rcl_dev_put(rdev);
}

static int rcl_dev_add_user(struct rcl_device *rdev, struct rcl_dev_user *user)
{
	int ret = -ENODEV;

	spin_lock(&rdev->lock);
	if (!rdev->removing) {
		list_add_tail(&user->node, &rdev->users);
		rdev->held++;
		ret = 0;
	}
	spin_unlock(&rdev->lock);
	return ret;
}

/*
 * The user is on the list now: an earlier change is seen here, a later one
 * reaches up->fail().
 */
static int rcl_dev_check_active(const struct rcl_dev_user *user,
				const struct rcl_port *info, const char **why)
{
	struct ib_port_attr attr;
	int ret;

	ret = ib_query_port(user->ib, user->port, &attr);
	if (ret) {
		*why = "the port cannot be read";
		return ret;
	}
	*why = "the port is not active: check the cable and `rclink dev`";
	if (attr.state != IB_PORT_ACTIVE)
		return -ENETDOWN;
	*why = "the port just got another LID: try again";
	if (info->link_layer == RCLINK_LINK_LAYER_INFINIBAND &&
	    attr.lid != info->lid)
		return -EAGAIN;
	*why = "the port just got another MTU: try again";
	return info->active_mtu &&
	       rcl_port_mtu(attr.active_mtu) == info->active_mtu ? 0 : -EAGAIN;
}

/**
 * rcl_dev_attach - begin to use a port
 * @user: its @up is set; everything else is filled in
 * @policy: names the device and port, or lets any be taken
 * @info: the port as it is now; to be given to rcl_port_release()
 * @why: set to a sentence when it is refused
 *
 * After success @user->up->fail() may be called, until rcl_dev_detach().
 *
 * Context: may sleep.
 * Return: 0, -ENODEV, -ENETDOWN for a port that is not active, -EAGAIN for one
 * that is just changing, -EINVAL, -EOPNOTSUPP, -ENODATA, -ENOMEM, or what
 * ib_query_port() says.
 */
int rcl_dev_attach(struct rcl_dev_user *user, const struct rcl_policy *policy,
		   struct rcl_port *info, const char **why)
{
	struct rcl_device *rdev = rcl_dev_pick(policy, info, why);
	int ret;

	if (IS_ERR(rdev))
		return PTR_ERR(rdev);
	ret = rcl_port_check(info, policy, why);
	if (ret)
		goto err_release;

	user->rdev = rdev;
	user->ib = rdev->ib;
	user->port = info->port;
	user->gid_index = info->gids[info->chosen].index;
	memcpy(user->gid, info->gids[info->chosen].value, sizeof(user->gid));
	user->mtu = info->active_mtu;
	*why = "device: it was just removed";
	ret = rcl_dev_add_user(rdev, user);
	if (ret)
		goto err_release;
	ret = rcl_dev_check_active(user, info, why);
	if (!ret)
		ret = rcl_port_check_mtu(info, policy, why);
	if (!ret)
		goto out_put;
	rcl_dev_detach(user);

err_release:
	rcl_port_release(info);
out_put:
	rcl_dev_put(rdev);
	return ret;
}

/**
 * rcl_dev_get_sgid - hold the GID that a user was promised
 * @user: attached
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep.
 * Return: the GID entry, to be given to rdma_put_gid_attr(), or -EAGAIN,
 * -ENODATA or -EINVAL as an error pointer when it has changed or is gone.
 */
const struct ib_gid_attr *rcl_dev_get_sgid(const struct rcl_dev_user *user,
					   const char **why)
{
	const struct ib_gid_attr *sgid;

	sgid = rdma_get_gid_attr(user->ib, user->port, user->gid_index);
	if (IS_ERR(sgid)) {
		*why = "the port's GID is gone: try again";
		return sgid;
	}
	if (memcmp(sgid->gid.raw, user->gid, sizeof(user->gid))) {
		*why = "the port's GID table just changed: try again";
		rdma_put_gid_attr(sgid);
		return ERR_PTR(-EAGAIN);
	}
	return sgid;
}

/**
 * rcl_dev_get_pkey - read the partition key of an InfiniBand port
 * @user: attached
 * @index: in its table
 * @pkey: set; left alone for other ports, which have none
 * @why: set to a sentence when it is refused
 *
 * With an empty entry every packet would vanish.
 *
 * Context: may sleep.
 * Return: 0, -ENODATA, or what ib_query_pkey() says.
 */
int rcl_dev_get_pkey(const struct rcl_dev_user *user, u32 index, u32 *pkey,
		     const char **why)
{
	u16 value;
	int ret;

	if (!rdma_protocol_ib(user->ib, user->port))
		return 0;
	*why = "the port cannot be read";
	/* Ask the device itself: the core's copy lags behind a change. */
	ret = ib_query_pkey(user->ib, user->port, index, &value);
	if (ret)
		return ret;
	*why = "pkey-index: the port has no partition key there";
	if (!(value & 0x7fff))
		return -ENODATA;
	*pkey = value;
	return 0;
}

/**
 * rcl_dev_check - would a link with this policy be possible on that port?
 * @policy: names a device
 * @port: number of a port of that device
 * @why: set to a sentence if not
 *
 * A port without a usable GID or link is fine: that can change until prepare.
 *
 * Context: may sleep.
 * Return: 0, -ENODEV, -EINVAL, -EOPNOTSUPP for what cannot change, -ENOMEM, or
 * what ib_query_port() says.
 */
int rcl_dev_check(const struct rcl_policy *policy, u32 port, const char **why)
{
	struct rcl_device *rdev;
	struct rcl_port info;
	struct rcl_policy fixed = *policy;
	int ret;

	fixed.v[RCL_P_PORT] = port;
	fixed.v[RCL_P_GID_INDEX] = RCLINK_GID_INDEX_AUTO;
	fixed.netdev[0] = '\0';
	rdev = rcl_dev_pick(&fixed, &info, why);
	if (IS_ERR(rdev))
		return PTR_ERR(rdev);
	ret = info.chosen < 0 && !info.unfit ? 0 :
	      rcl_port_check(&info, policy, why);
	/* Whatever fails after this has reasons of its own. */
	if (!ret)
		*why = NULL;
	rcl_port_release(&info);
	rcl_dev_put(rdev);
	return ret;
}

/* The device with that name and port, held until rcl_dev_put(); or NULL. */
static struct rcl_device *rcl_dev_find(const char *device, u32 port)
{
	struct rcl_device *rdev;

	for (rdev = rcl_dev_get_behind(0); rdev; rdev = rcl_dev_next(rdev))
		if (rcl_dev_is_named(rdev, device) &&
		    rdma_is_port_valid(rdev->ib, port))
			break;
	return rdev;
}

/**
 * rcl_dev_find_port - look at one port
 * @device: name
 * @port: number
 * @info: filled in; to be given to rcl_port_release() after success
 *
 * Context: may sleep.
 * Return: 0, -ENODEV, -ENOMEM, or what ib_query_port() says.
 */
int rcl_dev_find_port(const char *device, u32 port, struct rcl_port *info)
{
	struct rcl_device *rdev = rcl_dev_find(device, port);
	int ret;

	if (!rdev)
		return -ENODEV;
	ret = rcl_dev_read_port(rdev, port, &rcl_gid_any, info);
	rcl_dev_put(rdev);
	return ret;
}

/**
 * rcl_dev_read_mtu - which MTU does a port have now?
 * @device: name
 * @port: number
 * @mtu: set, as by rcl_port_mtu()
 *
 * Context: may sleep.
 * Return: 0, -ENODEV, or what ib_query_port() says.
 */
int rcl_dev_read_mtu(const char *device, u32 port, u32 *mtu)
{
	struct rcl_device *rdev = rcl_dev_find(device, port);
	struct ib_port_attr attr;
	int ret;

	if (!rdev)
		return -ENODEV;
	ret = ib_query_port(rdev->ib, port, &attr);
	if (!ret)
		*mtu = rcl_port_mtu(attr.active_mtu);
	rcl_dev_put(rdev);
	return ret;
}

/**
 * rcl_dev_nth_port - look at the ports one after the other
 * @n: which one, over all devices
 * @info: filled in; to be given to rcl_port_release() after success
 *
 * Context: may sleep.
 * Return: 0, -ENOENT past the last one, -ENOMEM, or what ib_query_port() says.
 */
int rcl_dev_nth_port(unsigned int n, struct rcl_port *info)
{
	struct rcl_device *rdev;
	u32 port;
	int ret;

	for (rdev = rcl_dev_get_behind(0); rdev; rdev = rcl_dev_next(rdev)) {
		rdma_for_each_port(rdev->ib, port) {
			if (n--)
				continue;
			ret = rcl_dev_read_port(rdev, port, &rcl_gid_any, info);
			rcl_dev_put(rdev);
			return ret;
		}
	}
	return -ENOENT;
}

/**
 * rcl_dev_generation - has the set of devices changed?
 *
 * Return: a number that differs if it has.
 */
unsigned int rcl_dev_generation(void)
{
	return READ_ONCE(rcl_devices_generation);
}

/**
 * rcl_dev_init - learn of all devices, now and later
 *
 * Return: 0, or what ib_register_client() says.
 */
int rcl_dev_init(void)
{
	return ib_register_client(&rcl_client);
}

/**
 * rcl_dev_exit - forget all devices
 *
 * Context: no user is attached any more.
 */
void rcl_dev_exit(void)
{
	ib_unregister_client(&rcl_client);
}
