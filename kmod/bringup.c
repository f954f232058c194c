// SPDX-License-Identifier: GPL-2.0
/*
 * The steps by which an exchange brings an epoch up, asked for by netlink, in
 * the link's work item. From the hello on the peer's kernel has its part in it,
 * see life.c.
 */
#include "bringup.h"

#include <rdma/ib_verbs.h>

#include "epoch.h"
#include "inbox.h"
#include "life.h"
#include "msg.h"
#include "path.h"
#include "state.h"

#define RCL_PREPARED_MS	30000	/* for the rest of the exchange */
#define RCL_HELLO_MS	10000	/* for the hello after activate */
#define RCL_RESOLVE_MS	2000	/* for the peer's neighbour entry */

/**
 * rcl_bringup_prepare - make the verbs objects of an epoch, QPs in INIT
 * @slot: without an epoch
 * @req: PREPARE; out: epoch, local end, or why not
 *
 * Context: may sleep.
 * Return: 0, or a negative errno.
 */
int rcl_bringup_prepare(struct rcl_slot *slot, struct rcl_request *req)
{
	static const struct rcl_reason none;
	struct rcl_link *link = slot->link;
	struct rcl_policy policy;
	struct rcl_epoch *ep;
	bool agreed;
	int ret;

	spin_lock_irq(&link->lock);
	policy = link->policy;
	spin_unlock_irq(&link->lock);
	agreed = policy.v[RCL_P_GID_INDEX] == RCLINK_GID_INDEX_AUTO;
	ret = rcl_policy_narrow(&policy, &req->path, &req->why);
	if (ret)
		return ret;
	agreed &= policy.v[RCL_P_GID_INDEX] != RCLINK_GID_INDEX_AUTO;

	ep = rcl_epoch_create(&policy, link->counted + 1, &slot->up,
			      &link->stats, &req->why);
	if (IS_ERR(ep)) {
		rcl_state_forget_failure(slot);
		return PTR_ERR(ep);
	}

	spin_lock_irq(&link->lock);
	slot->epoch = ep;
	slot->number = ep->number;
	link->counted = ep->number;
	slot->owner = req->owner;
	slot->role = 0;
	memset(slot->peer, 0, sizeof(slot->peer));
	memset(&slot->used, 0, sizeof(slot->used));
	strscpy(slot->used.device, dev_name(&ep->user.ib->dev),
		sizeof(slot->used.device));
	slot->used.port = ep->user.port;
	slot->used.link_layer = ep->local.link_layer;
	memcpy(slot->used.gid, ep->local.gid, sizeof(slot->used.gid));
	slot->used.lid = ep->local.lid;
	slot->used.gid_reason = agreed ? "agreed with the peer" :
					 ep->gid_reason;
	spin_unlock_irq(&link->lock);
	slot->proven = 0;

	req->epoch = ep->number;
	req->end = ep->local;
	rcl_state_set(slot, RCLINK_LINK_STATE_PREPARED, &none);
	rcl_state_expect(slot, RCL_PREPARED_MS);
	return 0;
}

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

/*
 * The epoch that is up shares the work item, and its peer must not miss us.
 * Most likely that has the same policy.
 */
static unsigned int rcl_bringup_resolve_ms(const struct rcl_slot *slot)
{
	const struct rcl_slot *live = slot->link->live;
	const u32 *v;

	if (slot == live || !live->epoch)
		return RCL_RESOLVE_MS;
	v = live->epoch->policy.v;
	if (!v[RCL_P_HEARTBEAT])
		return RCL_RESOLVE_MS;
	return min_t(u32, RCL_RESOLVE_MS,
		     v[RCL_P_HEARTBEAT] * (v[RCL_P_MISSES] - 1) / 2);
}

/**
 * rcl_bringup_connect - take the peer's end, bring the QPs to RTR
 * @slot: prepared
 * @req: CONNECT; out: the agreed epoch, or why not
 *
 * Context: may sleep, while a neighbour is resolved.
 * Return: 0, or a negative errno; the epoch is down then if the device refused.
 */
int rcl_bringup_connect(struct rcl_slot *slot, struct rcl_request *req)
{
	static const struct rcl_reason none;
	struct rcl_link *link = slot->link;
	struct rcl_epoch *ep = slot->epoch;
	int ret;

	ret = rcl_bringup_owns(slot, req);
	if (ret)
		return ret;
	ret = rcl_endpoint_check(&ep->local, &req->end,
				 ep->policy.v[RCL_P_LOOPBACK], &req->why);
	if (ret)
		return ret;
	ret = rcl_path_resolve(ep->sgid, &ep->policy, &ep->local, &req->end,
			       rcl_bringup_resolve_ms(slot), &ep->ah,
			       &req->why);
	if (ret)
		return ret;

	spin_lock_irq(&link->lock);
	ep->remote = req->end;
	ep->mtu = min(ep->local.mtu, ep->remote.mtu);
	ep->number = max(ep->number, ep->remote.epoch);
	slot->number = ep->number;
	link->counted = max(link->counted, ep->number);
	slot->role = req->role;
	strscpy(slot->peer, req->peer, sizeof(slot->peer));
	slot->used.mtu = ep->mtu;
	spin_unlock_irq(&link->lock);

	ret = rcl_epoch_connect(ep);
	if (ret) {
		req->why = "the device refused the peer's values (INIT to RTR)";
		rcl_state_down(slot, RCLINK_DOWN_REASON_LOCAL_ERROR, 0);
		return ret;
	}
	req->epoch = ep->number;
	rcl_state_set(slot, RCLINK_LINK_STATE_CONNECTED, &none);
	return 0;
}

/**
 * rcl_bringup_activate - bring the QPs to RTS, say hello
 * @slot: connected
 * @req: ACTIVATE
 *
 * Context: may sleep.
 * Return: 0, or a negative errno; the epoch is down then if the device refused.
 */
int rcl_bringup_activate(struct rcl_slot *slot, struct rcl_request *req)
{
	struct rcl_msg hello = {
		.type = RCL_MSG_HELLO,
		.cookie = RCL_MSG_VERSION,
	};
	struct rcl_link *link = slot->link;
	struct rcl_epoch *ep = slot->epoch;
	int ret;

	ret = rcl_bringup_owns(slot, req);
	if (ret)
		return ret;
	if (ep->ctrl.started) {
		req->why = "the link has been activated already";
		return -EBUSY;
	}
	ep->lock = &link->lock;
	ep->pool.link = link->name;
	ep->pool.exports = &link->exports;
	ep->pool.role = slot->role;
	ret = rcl_epoch_activate(ep, req->key, slot->role);
	if (!ret)
		ret = rcl_ctrl_send(&ep->ctrl, &hello);
	if (ret) {
		req->why = "the device refused RTR to RTS, REG_MR or hello";
		rcl_state_down(slot, RCLINK_DOWN_REASON_LOCAL_ERROR, 0);
		return ret;
	}
	rcl_state_expect(slot, RCL_HELLO_MS);
	return 0;
}
