// SPDX-License-Identifier: GPL-2.0
#include "lease.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../kmod/endpoint.h"
#include "beat.h"
#include "epoch.h"
#include "objects.h"
#include "process.h"
#include "shown.h"

#define FETCH_MS	30000	/* for the peer to register its memory */
#define BUSY_MS		4	/* before the peer is asked again */

/* In a wr_id: generation and number of the QP, and the consumer's `what`. */
#define GENERATION_SHIFT	16
#define INDEX_SHIFT		8

static uint64_t now_ms(void)
{
	return rcl_now() / NS_PER_MS;
}

static uint32_t index_of(const struct rcv_epoch *ep,
			 const struct rcv_lease *lease)
{
	return lease - ep->lease;
}

static uint64_t wr_id(const struct rcv_epoch *ep,
		      const struct rcv_lease *lease, uint8_t what)
{
	return rcv_wr_id(RCV_WR_LEASE,
			 lease->generation << GENERATION_SHIFT |
			 index_of(ep, lease) << INDEX_SHIFT | what);
}

static bool gives_way(const struct rcv_epoch *ep)
{
	return ep->role != RCLINK_ROLE_INITIATOR;
}

static int ask(struct rcv_epoch *ep, struct rcv_lease *lease,
	       struct rcl_msg *msg)
{
	int ret;

	if (!rcv_ctrl_can_ask(&ep->ctrl))
		return -EAGAIN;
	msg->cookie = ++ep->lease_cookie;
	msg->index = index_of(ep, lease);
	ret = rcv_ctrl_send(&ep->ctrl, msg);
	if (!ret)
		lease->cookie = msg->cookie;
	return ret;
}

static void end_consumer(struct rcv_lease *lease, const char *why)
{
	const struct rcv_lease_ops *ops = lease->ops;
	void *ctx = lease->ctx;

	lease->ops = NULL;
	lease->ctx = NULL;
	lease->hears = false;
	lease->told = false;
	lease->want[0] = '\0';
	lease->import = 0;
	if (ctx)
		ops->ended(ctx, why);
}

/* A destroyed QP accesses nothing, and what it completed is ignored. */
void rcv_lease_close(struct rcv_epoch *ep, struct rcv_lease *lease,
		     const char *why)
{
	rcv_qp_destroy(lease->qp);
	lease->generation++;
	lease->state = RCV_LEASE_STOPPED;
	lease->failed = rcv_objects_renew(ep, 1 + index_of(ep, lease));
	end_consumer(lease, why);
}

void rcv_lease_open(struct rcv_epoch *ep, const char *service,
		    const struct rcv_lease_ops *ops, void *ctx)
{
	snprintf(ep->opening.service, sizeof(ep->opening.service), "%s",
		 service);
	ep->opening.ops = ops;
	ep->opening.ctx = ctx;
}

void rcv_lease_import(struct rcv_lease *lease, const char *name)
{
	snprintf(lease->want, sizeof(lease->want), "%s", name);
	lease->again = now_ms();
	lease->until = lease->again + FETCH_MS;
}

void rcv_lease_import_later(struct rcv_lease *lease, const char *name)
{
	rcv_lease_import(lease, name);
	lease->again += BUSY_MS;
}

int rcv_lease_recv(struct rcv_epoch *ep, struct rcv_lease *lease,
		   uint8_t what, const struct ibv_sge *sge)
{
	lease->hears = true;
	return rcv_qp_recv(lease->qp, wr_id(ep, lease, what), sge);
}

int rcv_lease_send(struct rcv_epoch *ep, struct rcv_lease *lease,
		   uint8_t what, struct ibv_send_wr *wr)
{
	wr->wr_id = wr_id(ep, lease, what);
	return rcv_qp_send(lease->qp, wr);
}

void rcv_lease_completed(struct rcv_epoch *ep, const struct rcv_wc *wc)
{
	uint32_t number = wc->wr_id;
	struct rcv_lease *lease =
		&ep->lease[number >> INDEX_SHIFT & UINT8_MAX];

	if ((lease->generation & UINT16_MAX) == number >> GENERATION_SHIFT &&
	    lease->ctx)
		lease->ops->completed(lease->ctx, wc);
}

/* The two ends search from opposite sides, so that they seldom meet. */
static struct rcv_lease *find_free(struct rcv_epoch *ep)
{
	uint32_t i, n = ep->policy.v[RCL_P_QPS];

	for (i = 0; i < n; i++) {
		struct rcv_lease *lease = &ep->lease[gives_way(ep) ?
						     n - 1 - i : i];

		if (lease->state == RCV_LEASE_FREE)
			return lease;
	}
	return NULL;
}

static int ask_open(struct rcv_epoch *ep)
{
	struct rcv_lease *lease = find_free(ep);
	struct rcl_msg msg = {
		.type = RCL_MSG_OPEN,
		.len = strlen(ep->opening.service),
		.data = (const uint8_t *)ep->opening.service,
	};
	int ret;

	if (!lease)
		return 0;
	ret = ask(ep, lease, &msg);
	if (ret)
		return ret;
	lease->ops = ep->opening.ops;
	lease->ctx = ep->opening.ctx;
	lease->state = RCV_LEASE_OPENING;
	ep->opening.ctx = NULL;
	return 0;
}

static int ask_recycle(struct rcv_epoch *ep, struct rcv_lease *lease)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_RECYCLE,
		.status = lease->failed ? RCL_MSG_FAILED : RCL_MSG_OK,
	};
	int ret;

	if (!lease->failed) {
		msg.qpn = lease->qp->qp->qp_num;
		msg.psn = lease->qp->psn;
	}
	ret = ask(ep, lease, &msg);
	if (!ret)
		lease->state = lease->failed ? RCV_LEASE_DEAD :
					       RCV_LEASE_RECYCLING;
	return ret;
}

static int ask_go(struct rcv_epoch *ep, struct rcv_lease *lease)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_GO,
		.status = lease->failed ? RCL_MSG_FAILED : RCL_MSG_OK,
	};
	int ret;

	ret = ask(ep, lease, &msg);
	if (!ret)
		lease->state = lease->failed ? RCV_LEASE_DEAD : RCV_LEASE_FREE;
	return ret;
}

static int ask_hears(struct rcv_epoch *ep, struct rcv_lease *lease)
{
	struct rcl_msg msg = { .type = RCL_MSG_HEARS };
	int ret = 0;

	if (lease->hears && !lease->told) {
		ret = ask(ep, lease, &msg);
		lease->told = !ret;
	}
	return ret;
}

static bool wants(const struct rcv_lease *lease)
{
	return lease->state == RCV_LEASE_OPEN && lease->want[0] &&
	       !lease->import;
}

static int ask_import(struct rcv_epoch *ep, struct rcv_lease *lease)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_IMPORT,
		.len = strlen(lease->want),
		.data = (const uint8_t *)lease->want,
	};
	int ret;

	if (!wants(lease) || now_ms() < lease->again)
		return 0;
	ret = ask(ep, lease, &msg);
	if (!ret)
		lease->import = msg.cookie;
	return ret;
}

static int ask_open_lease(struct rcv_epoch *ep, struct rcv_lease *lease)
{
	int ret = ask_hears(ep, lease);

	return ret ? ret : ask_import(ep, lease);
}

static bool is_owed(const struct rcv_epoch *ep, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < ep->policy.v[RCL_P_QPS]; i++)
		if (ep->lease[i].state == RCV_LEASE_ANSWERED &&
		    now >= ep->lease[i].owes)
			return true;
	return false;
}

/* A question for which there is no room waits for room, not for a time. */
uint64_t rcv_lease_due(const struct rcv_epoch *ep)
{
	bool room = rcv_ctrl_can_ask(&ep->ctrl);
	uint64_t due = 0, next;
	uint32_t i;

	for (i = 0; i < ep->policy.v[RCL_P_QPS]; i++) {
		const struct rcv_lease *lease = &ep->lease[i];

		next = 0;
		if (lease->state == RCV_LEASE_ANSWERED)
			next = lease->owes;
		else if (room && wants(lease))
			next = lease->again;
		if (next && (!due || next < due))
			due = next;
	}
	return due;
}

/* A pooled QP on which a verbs call failed stays unused in this epoch. */
static bool all_dead(const struct rcv_epoch *ep)
{
	uint32_t i;

	for (i = 0; i < ep->policy.v[RCL_P_QPS]; i++)
		if (ep->lease[i].state != RCV_LEASE_DEAD)
			return false;
	return true;
}

int rcv_lease_continue(struct rcv_epoch *ep)
{
	uint32_t i;
	int ret = 0;

	if (all_dead(ep))
		return -EIO;
	if (is_owed(ep, now_ms()))
		return -ETIMEDOUT;
	for (i = 0; i < ep->policy.v[RCL_P_QPS] && !ret; i++) {
		struct rcv_lease *lease = &ep->lease[i];

		if (lease->state == RCV_LEASE_STOPPED)
			ret = ask_recycle(ep, lease);
		else if (lease->state == RCV_LEASE_READY)
			ret = ask_go(ep, lease);
		else if (lease->state == RCV_LEASE_OPEN)
			ret = ask_open_lease(ep, lease);
	}
	if (!ret && ep->opening.ctx)
		ret = ask_open(ep);
	return ret == -EAGAIN ? 0 : ret;
}

static const struct rcv_service *find_service(const struct rcv_epoch *ep,
					      const char *name)
{
	const struct rcv_service *const *at;

	for (at = ep->services; at && *at; at++)
		if (!strcmp((*at)->name, name))
			return *at;
	return NULL;
}

static uint8_t accept_lease(struct rcv_epoch *ep, struct rcv_lease *lease,
			    const char *name)
{
	const struct rcv_service *service = find_service(ep, name);

	if (!service)
		return RCL_MSG_REFUSED;
	lease->ctx = service->accept(ep);
	if (!lease->ctx)
		return RCL_MSG_BUSY;
	lease->ops = service->ops;
	lease->state = RCV_LEASE_OPEN;
	lease->ops->attached(lease->ctx, lease);
	return RCL_MSG_OK;
}

/* Its consumer is to get another lease. */
static void open_again(struct rcv_epoch *ep, struct rcv_lease *lease)
{
	ep->opening.ops = lease->ops;
	ep->opening.ctx = lease->ctx;
	lease->ctx = NULL;
}

static int on_open(struct rcv_epoch *ep, struct rcv_lease *lease,
		   const struct rcl_msg *msg, struct rcl_msg *answer)
{
	char name[RCV_LEASE_NAME];

	if (rcl_msg_get_name(msg, name, sizeof(name)))
		return -EPROTO;
	if (lease->state == RCV_LEASE_OPENING && gives_way(ep)) {
		open_again(ep, lease);
		lease->state = RCV_LEASE_FREE;
	}
	switch (lease->state) {
	case RCV_LEASE_FREE:
		answer->status = accept_lease(ep, lease, name);
		return 0;
	case RCV_LEASE_OPENING:
		answer->status = RCL_MSG_BUSY;
		return 0;
	case RCV_LEASE_DEAD:
		answer->status = RCL_MSG_FAILED;
		return 0;
	default:
		return -EPROTO;
	}
}

static bool id_is_good(const struct rcl_msg *msg)
{
	return rcl_qpn_is_usable(msg->qpn) && msg->psn <= RCL_24BIT_MAX;
}

static int on_recycle(struct rcv_epoch *ep, struct rcv_lease *lease,
		      const struct rcl_msg *msg, struct rcl_msg *answer)
{
	uint32_t i = 1 + index_of(ep, lease);

	if (!msg->status && !id_is_good(msg))
		return -EPROTO;
	if (lease->state == RCV_LEASE_OPEN)
		rcv_lease_close(ep, lease, "the peer ended the channel");
	if (lease->state == RCV_LEASE_RECYCLING && !gives_way(ep)) {
		answer->status = RCL_MSG_BUSY;
		return 0;
	}
	if (lease->state != RCV_LEASE_STOPPED &&
	    lease->state != RCV_LEASE_RECYCLING &&
	    lease->state != RCV_LEASE_DEAD)
		return -EPROTO;
	if (msg->status || lease->failed || lease->state == RCV_LEASE_DEAD ||
	    rcv_objects_rewire(ep, i, msg->qpn, msg->psn)) {
		answer->status = RCL_MSG_FAILED;
		lease->state = RCV_LEASE_DEAD;
		return 0;
	}
	answer->qpn = lease->qp->qp->qp_num;
	answer->psn = lease->qp->psn;
	lease->state = RCV_LEASE_ANSWERED;
	lease->owes = now_ms() + rcv_beat_limit(ep);
	return 0;
}

static int on_go(struct rcv_epoch *ep, struct rcv_lease *lease,
		 const struct rcl_msg *msg)
{
	if (lease->state != RCV_LEASE_ANSWERED)
		return -EPROTO;
	if (msg->status || rcv_objects_go(ep, 1 + index_of(ep, lease)))
		lease->state = RCV_LEASE_DEAD;
	else
		lease->state = RCV_LEASE_FREE;
	return 0;
}

static int on_import(struct rcv_epoch *ep, const struct rcv_lease *lease,
		     const struct rcl_msg *msg, struct rcl_msg *answer)
{
	const struct rcv_shown *shown = NULL;
	char name[RCV_LEASE_NAME];

	if (rcl_msg_get_name(msg, name, sizeof(name)))
		return -EPROTO;
	if (lease->ctx && lease->state == RCV_LEASE_OPEN && lease->ops->find)
		shown = lease->ops->find(lease->ctx, name);
	answer->offset = 0;
	if (!shown)
		answer->status = RCL_MSG_REFUSED;
	else
		rcv_shown_put(shown, msg->first, ep->lease_data, answer);
	return 0;
}

/* A process keeps no group keys. */
static int on_group(struct rcv_epoch *ep, const struct rcl_msg *msg,
		    struct rcl_msg *answer)
{
	char name[RCLINK_NAME_MAX + 1];

	if (rcl_msg_get_name(msg, name, sizeof(name)))
		return -EPROTO;
	answer->status = RCL_MSG_REFUSED;
	return rcv_ctrl_send(&ep->ctrl, answer);
}

int rcv_lease_question(struct rcv_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.type = msg->type + 1,
		.cookie = msg->cookie,
		.index = msg->index,
	};
	struct rcv_lease *lease;
	int ret = 0;

	if (msg->type == RCL_MSG_GROUP)
		return on_group(ep, msg, &answer);
	if (msg->index >= ep->policy.v[RCL_P_QPS])
		return -EPROTO;
	lease = &ep->lease[msg->index];
	if (msg->type == RCL_MSG_OPEN)
		ret = on_open(ep, lease, msg, &answer);
	else if (msg->type == RCL_MSG_RECYCLE)
		ret = on_recycle(ep, lease, msg, &answer);
	else if (msg->type == RCL_MSG_GO)
		ret = on_go(ep, lease, msg);
	else if (msg->type == RCL_MSG_IMPORT)
		ret = on_import(ep, lease, msg, &answer);
	else
		answer.status = RCL_MSG_REFUSED;	/* none is resumed */
	/* Otherwise it has ended here, and the peer is about to learn it. */
	if (msg->type == RCL_MSG_HEARS && lease->state == RCV_LEASE_OPEN &&
	    !msg->deaf && lease->ops->heard)
		lease->ops->heard(lease->ctx);
	return ret ? ret : rcv_ctrl_send(&ep->ctrl, &answer);
}

static const char *refusal(uint8_t status)
{
	if (status == RCL_MSG_REFUSED)
		return "nobody listens on this service; start the other end";
	return "that service is busy, or has no memory; try later";
}

static int on_opened(struct rcv_epoch *ep, struct rcv_lease *lease,
		     const struct rcl_msg *msg)
{
	if (lease->state != RCV_LEASE_OPENING)
		return -EPROTO;
	lease->state = RCV_LEASE_OPEN;
	if (msg->status == RCL_MSG_OK) {
		lease->ops->attached(lease->ctx, lease);
		return 0;
	}
	if (msg->status == RCL_MSG_FAILED) {
		lease->state = RCV_LEASE_DEAD;
		open_again(ep, lease);
		return 0;
	}
	lease->state = RCV_LEASE_FREE;
	end_consumer(lease, refusal(msg->status));
	return 0;
}

static int on_recycled(struct rcv_epoch *ep, struct rcv_lease *lease,
		       const struct rcl_msg *msg)
{
	uint32_t i = 1 + index_of(ep, lease);

	if (lease->state != RCV_LEASE_RECYCLING)
		return -EPROTO;
	if (msg->status == RCL_MSG_FAILED) {
		lease->state = RCV_LEASE_DEAD;
		return 0;
	}
	if (msg->status || !id_is_good(msg))
		return -EPROTO;
	lease->failed = rcv_objects_rewire(ep, i, msg->qpn, msg->psn) ||
			rcv_objects_go(ep, i);
	lease->state = RCV_LEASE_READY;
	return 0;
}

/* The peer is registering it because it was asked. */
static void ask_again(struct rcv_epoch *ep, struct rcv_lease *lease)
{
	lease->import = 0;
	lease->again = now_ms() + BUSY_MS;
	if (lease->again > lease->until)
		rcv_lease_close(ep, lease,
				"the peer does not get its memory registered; try later");
}

static int imported(struct rcv_epoch *ep, struct rcv_lease *lease,
		    const struct rcl_msg *msg)
{
	struct rcv_shown shown;

	if (msg->status == RCL_MSG_BUSY) {
		ask_again(ep, lease);
		return 0;
	}
	if (!msg->status && rcv_shown_get(msg, &shown))
		return -EPROTO;
	lease->import = 0;
	lease->want[0] = '\0';
	lease->ops->imported(lease->ctx, msg->status ? NULL : &shown);
	return 0;
}

static int on_imported(struct rcv_epoch *ep, const struct rcl_msg *msg)
{
	uint32_t i;

	for (i = 0; i < ep->policy.v[RCL_P_QPS]; i++)
		if (ep->lease[i].import && ep->lease[i].import == msg->cookie)
			return imported(ep, &ep->lease[i], msg);
	/* It was for a lease that has ended meanwhile. */
	return msg->cookie && msg->cookie <= ep->lease_cookie ? 0 : -EPROTO;
}

/* See the module's rcl_lease_is_late(). */
static bool is_late(const struct rcv_epoch *ep, const struct rcv_lease *lease,
		    const struct rcl_msg *msg)
{
	return msg->type == RCL_MSG_GONE || msg->type == RCL_MSG_HEARD ||
	       lease->state == RCV_LEASE_DEAD ||
	       (msg->status == RCL_MSG_BUSY && gives_way(ep) &&
		(msg->cookie != lease->cookie ||
		 (lease->state != RCV_LEASE_OPENING &&
		  lease->state != RCV_LEASE_RECYCLING)));
}

int rcv_lease_answer(struct rcv_epoch *ep, const struct rcl_msg *msg)
{
	struct rcv_lease *lease;

	if (msg->type == RCL_MSG_IMPORTED)
		return on_imported(ep, msg);
	if (msg->index >= ep->policy.v[RCL_P_QPS])
		return -EPROTO;
	lease = &ep->lease[msg->index];
	if (is_late(ep, lease, msg))
		return 0;
	if (msg->cookie != lease->cookie)
		return -EPROTO;
	return msg->type == RCL_MSG_OPENED ? on_opened(ep, lease, msg) :
					     on_recycled(ep, lease, msg);
}

void rcv_lease_end_all(struct rcv_epoch *ep, const char *why)
{
	const struct rcv_lease_ops *ops = ep->opening.ops;
	void *ctx = ep->opening.ctx;
	uint32_t i;

	ep->opening.ctx = NULL;
	if (ctx)
		ops->ended(ctx, why);
	for (i = 0; i < ep->policy.v[RCL_P_QPS]; i++) {
		if (!ep->lease[i].ctx)
			continue;
		rcv_qp_destroy(ep->lease[i].qp);
		ep->lease[i].state = RCV_LEASE_DEAD;
		end_consumer(&ep->lease[i], why);
	}
}
