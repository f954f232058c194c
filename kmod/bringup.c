// SPDX-License-Identifier: GPL-2.0
/*
 * The steps by which an exchange brings an epoch up, requested by netlink. From
 * the hello on, the peer's kernel takes part, see life.c.
 *
 * Each step has three parts: the link's work item checks whether it is allowed,
 * the link's chore does what takes long and has the epoch to itself meanwhile,
 * and the work item publishes the result.
 */
#include "bringup.h"

#include <linux/sched/mm.h>
#include <rdma/ib_verbs.h>

#include "epoch.h"
#include "inbox.h"
#include "life.h"
#include "msg.h"
#include "path.h"
#include "state.h"

#define RCL_PREPARED_MS	30000	/* for the rest of the exchange */
#define RCL_HELLO_MS	10000	/* for the hello after activate */

/* Create the verbs objects of an epoch, with QPs in INIT. */
static int rcl_bringup_make(struct rcl_slot *slot, struct rcl_request *req)
{
	struct rcl_link *link = slot->link;
	struct rcl_policy policy;
	struct rcl_epoch *ep;
	bool agreed;
	int ret;

	rcl_link_read_policy(link, &policy);
	agreed = policy.v[RCL_P_GID_INDEX] == RCLINK_GID_INDEX_AUTO;
	ret = rcl_policy_narrow(&policy, &req->path, &req->why);
	if (ret)
		return ret;
	agreed &= policy.v[RCL_P_GID_INDEX] != RCLINK_GID_INDEX_AUTO;

	/* Nothing else changes link->counted meanwhile. */
	ep = rcl_epoch_create(&policy, link->counted + 1, &slot->up,
			      &link->stats, &req->why);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	if (agreed)
		ep->gid_reason = "agreed with the peer";
	ep->lock = &link->lock;
	ep->pool.link = link->name;
	ep->pool.exports = &link->exports;
	req->made = ep;
	return 0;
}

/* Find the path to the peer, and bring the QPs to RTR. */
static int rcl_bringup_reach(struct rcl_slot *slot, struct rcl_request *req)
{
	struct rcl_link *link = slot->link;
	struct rcl_epoch *ep = slot->epoch;
	int ret;

	ret = rcl_path_resolve(ep->sgid, &ep->policy, &req->end, &ep->ah,
			       &req->why);
	if (ret)
		return ret;
	spin_lock_irq(&link->lock);
	ep->remote = req->end;
	spin_unlock_irq(&link->lock);
	ret = rcl_epoch_connect(ep);
	if (!ret)
		return 0;
	req->why = "the device refused the peer's values (INIT to RTR)";
	req->broken = true;
	return ret;
}

/* Bring the QPs to RTS. */
static int rcl_bringup_open(struct rcl_slot *slot, struct rcl_request *req)
{
	int ret;

	ret = rcl_epoch_activate(slot->epoch, req->key, slot->role);
	req->broken = ret;
	return ret;
}

static int rcl_bringup_do(struct rcl_slot *slot, struct rcl_request *req)
{
	switch (req->kind) {
	case RCL_REQ_PREPARE:
		return rcl_bringup_make(slot, req);
	case RCL_REQ_CONNECT:
		return rcl_bringup_reach(slot, req);
	default:
		return rcl_bringup_open(slot, req);
	}
}

/**
 * rcl_bringup_chore - do what takes long for an epoch that is not up
 * @work: the chore of a link
 */
void rcl_bringup_chore(struct work_struct *work)
{
	struct rcl_link *link = container_of(work, struct rcl_link, chore);
	unsigned int noio = memalloc_noio_save();

	if (link->asked)
		link->asked->ret = rcl_bringup_do(link->busy, link->asked);
	else
		rcl_state_stop(link->busy);
	memalloc_noio_restore(noio);
	rcl_inbox_give_back(link);
}

static int rcl_bringup_may_activate(const struct rcl_epoch *ep,
				    struct rcl_request *req)
{
	if (!ep->ctrl.started)
		return 0;
	req->why = "the link has been activated already";
	return -EBUSY;
}

/* Only the socket that prepared the epoch may go on with it. */
static int rcl_bringup_owns(struct rcl_slot *slot, struct rcl_request *req)
{
	if (req->owner != slot->owner) {
		req->why = "another process is bringing this link up";
		return -EBUSY;
	}
	if (req->epoch != slot->epoch->number) {
		req->why = "epoch is not the one of the exchange under way";
		return -ESTALE;
	}
	return 0;
}

static int rcl_bringup_take(struct rcl_slot *slot, struct rcl_request *req)
{
	struct rcl_link *link = slot->link;
	bool asleep;

	spin_lock_irq(&link->lock);
	asleep = rcl_inbox_is_asleep();
	if (!asleep)
		slot->owner = req->owner;
	spin_unlock_irq(&link->lock);
	if (!asleep)
		return 0;
	/* Another path would be no better. */
	req->why =
		"this host sleeps, or was just copied: try again in a moment";
	return -EBUSY;
}

/**
 * rcl_bringup_begin - begin a step
 * @slot: in a state that allows the step
 * @req: PREPARE, CONNECT or ACTIVATE
 *
 * Context: the link's work item, while its chore is not under way.
 * Return: 0 if the chore is under way now, or a negative errno.
 */
int rcl_bringup_begin(struct rcl_slot *slot, struct rcl_request *req)
{
	int ret;

	if (req->kind == RCL_REQ_PREPARE)
		ret = rcl_bringup_take(slot, req);
	else
		ret = rcl_bringup_owns(slot, req);
	if (!ret && req->kind == RCL_REQ_CONNECT)
		ret = rcl_endpoint_check(&slot->epoch->local, &req->end,
					 slot->epoch->policy.v[RCL_P_LOOPBACK],
					 &req->why);
	if (!ret && req->kind == RCL_REQ_ACTIVATE)
		ret = rcl_bringup_may_activate(slot->epoch, req);
	if (!ret)
		rcl_state_send_off(slot, req);
	return ret;
}

/* If the epoch that was up went down meanwhile, this one takes its place. */
static void rcl_bringup_install(struct rcl_slot *slot,
				const struct rcl_request *req)
{
	struct rcl_epoch *ep = req->made;
	struct rcl_used *used = &slot->used;
	struct rcl_link *link = slot->link;

	spin_lock_irq(&link->lock);
	/* The peer may still have the epoch that has failed here. */
	slot->beside = req->rotate;
	if (slot == link->next && !link->live->epoch)
		swap(link->live, link->next);
	slot->epoch = ep;
	slot->number = ep->number;
	link->counted = ep->number;
	slot->role = 0;
	memset(slot->peer, 0, sizeof(slot->peer));
	memset(used, 0, sizeof(*used));
	rcl_dev_name(ep->user.ib, used->device);
	used->port = ep->user.port;
	used->link_layer = ep->local.link_layer;
	memcpy(used->gid, ep->local.gid, sizeof(used->gid));
	used->lid = ep->local.lid;
	used->gid_reason = ep->gid_reason;
	spin_unlock_irq(&link->lock);
	slot->proven = 0;
}

static void rcl_bringup_prepared(struct rcl_slot *slot,
				 struct rcl_request *req)
{
	if (req->ret) {
		rcl_state_forget(slot);
		return;
	}
	rcl_bringup_install(slot, req);
	req->epoch = slot->epoch->number;
	req->end = slot->epoch->local;
	rcl_state_set(slot, RCLINK_LINK_STATE_PREPARED, NULL);
	rcl_state_expect(slot, RCL_PREPARED_MS);
}

static void rcl_bringup_connected(struct rcl_slot *slot,
				  struct rcl_request *req)
{
	struct rcl_link *link = slot->link;
	struct rcl_epoch *ep = slot->epoch;

	if (req->ret && !req->broken)
		return;
	spin_lock_irq(&link->lock);
	ep->number = max(ep->number, ep->remote.epoch);
	slot->number = ep->number;
	link->counted = max(link->counted, ep->number);
	slot->role = req->role;
	strscpy(slot->peer, req->peer, sizeof(slot->peer));
	slot->used.mtu = rcl_epoch_mtu(ep);
	spin_unlock_irq(&link->lock);
	req->epoch = ep->number;
	if (!req->broken)
		rcl_state_set(slot, RCLINK_LINK_STATE_CONNECTED, NULL);
}

static void rcl_bringup_activated(struct rcl_slot *slot,
				  struct rcl_request *req)
{
	struct rcl_msg hello = {
		.type = RCL_MSG_HELLO,
		.cookie = RCL_MSG_VERSION,
	};

	if (!req->ret) {
		req->ret = rcl_ctrl_send(&slot->epoch->ctrl, &hello);
		req->broken = req->ret;
	}
	if (req->ret)
		req->why = "the device refused RTR to RTS, REG_MR or hello";
	else
		rcl_state_expect(slot, RCL_HELLO_MS);
}

/* The device may have reported the reason already. */
static void rcl_bringup_broken(struct rcl_slot *slot)
{
	const struct rcl_reason why = rcl_inbox_failure(slot);

	if (rcl_reason_weight(&why) == RCL_WEIGHT_NONE)
		rcl_state_down(slot, RCLINK_DOWN_REASON_LOCAL_ERROR);
	else
		rcl_state_fail(slot, &why);
}

/**
 * rcl_bringup_end - end a step
 * @slot: given back by the chore
 * @req: what the step was for; out: the result, or why it failed
 *
 * Context: may sleep.
 * Return: 0, or a negative errno; if the device refused, the epoch is down.
 */
int rcl_bringup_end(struct rcl_slot *slot, struct rcl_request *req)
{
	switch (req->kind) {
	case RCL_REQ_PREPARE:
		rcl_bringup_prepared(slot, req);
		break;
	case RCL_REQ_CONNECT:
		rcl_bringup_connected(slot, req);
		break;
	default:
		rcl_bringup_activated(slot, req);
		break;
	}
	if (req->broken)
		rcl_bringup_broken(slot);
	return req->ret;
}
