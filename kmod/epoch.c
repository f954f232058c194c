// SPDX-License-Identifier: GPL-2.0
#include "epoch.h"

#include <linux/atomic.h>
#include <linux/kmemleak.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "port.h"
#include "upcall.h"

#define RCL_EPOCH_MARKS	1	/* posted by a channel that comes to rest */

static const struct rcl_qp_size rcl_epoch_ctrl_size = {
	.send_wr = RCL_CTRL_SLOTS + RCL_CTRL_EXTRA_WR,
	.recv_wr = RCL_CTRL_SLOTS,
	.sge = 1,
};

/**
 * rcl_epoch_pool_size - what can be outstanding on a pooled QP
 * @ep: attached to its device
 *
 * A piece of an entry may span several extents of its region, so allow for more
 * pieces than an entry has, if the device can.
 *
 * Return: the sizes.
 */
struct rcl_qp_size rcl_epoch_pool_size(const struct rcl_epoch *ep)
{
	const struct ib_device_attr *attr = &ep->user.ib->attrs;
	int max = min(attr->max_send_sge, attr->max_recv_sge);

	return (struct rcl_qp_size){
		.send_wr = RCLINK_DEV_SENDS + RCL_EPOCH_MARKS,
		.recv_wr = RCLINK_DEV_RECVS,
		/* At least RCLINK_DEV_SGE_MAX: see rcl_port_lacks(). */
		.sge = min(max, RCLINK_DEV_PARTS_MAX),
	};
}

static void rcl_epoch_destroy_qps(struct rcl_epoch *ep, u32 n)
{
	while (n--)
		rcl_qp_destroy(&ep->qp[n]);
}

static void rcl_epoch_completion(struct rcl_qp *qp)
{
	qp->up->kick(qp->up);
}

static int rcl_epoch_create_qps(struct rcl_epoch *ep)
{
	const struct rcl_qp_size pool_size = rcl_epoch_pool_size(ep);
	/* One step for each epoch, so that control QPs are spread, too. */
	static atomic_t next;
	u32 first = atomic_inc_return(&next);
	int ret;
	u32 i;

	for (i = 0; i < ep->local.nqps; i++) {
		ep->qp[i].index = i;
		ep->qp[i].vector = first + i;
		ret = rcl_qp_create(&ep->qp[i], ep->pd,
				    i ? &pool_size : &rcl_epoch_ctrl_size,
				    i ? rcl_pool_event : rcl_epoch_completion,
				    ep->user.up);
		if (ret) {
			rcl_epoch_destroy_qps(ep, i);
			return ret;
		}
	}
	return 0;
}

/*
 * How many READs and atomics may be in flight; 0 while the peer is not known.
 * Some devices would round it up to a power of two, which the peer's device may
 * not allow for.
 */
static u32 rcl_epoch_initiate(const struct rcl_epoch *ep)
{
	u32 n = min(ep->local.rd_atomic, ep->remote.rd_atomic);

	return n ? rounddown_pow_of_two(n) : 0;
}

static void rcl_epoch_wiring(const struct rcl_epoch *ep,
			     struct rcl_qp_wiring *wiring)
{
	memset(wiring, 0, sizeof(*wiring));
	wiring->policy = &ep->policy;
	wiring->ah = &ep->ah;
	wiring->mtu = rcl_epoch_mtu(ep);
	wiring->port = ep->user.port;
	wiring->access = ep->access;
	wiring->initiate = rcl_epoch_initiate(ep);
	wiring->answer = ep->local.rd_atomic;
}

static int rcl_epoch_to_init(struct rcl_epoch *ep)
{
	struct rcl_qp_wiring wiring;
	int ret;
	u32 i;

	rcl_epoch_wiring(ep, &wiring);
	for (i = 0; i < ep->local.nqps; i++) {
		ret = rcl_qp_to_init(&ep->qp[i], &wiring);
		if (ret)
			return ret;
	}
	return rcl_ctrl_post(&ep->ctrl);
}

static void rcl_epoch_describe(struct rcl_epoch *ep,
			       const struct rcl_port *port)
{
	const u32 *v = ep->policy.v;
	struct rcl_endpoint *local = &ep->local;
	u32 i;

	local->link_layer = port->link_layer;
	memcpy(local->gid, ep->user.gid, sizeof(local->gid));
	local->lid = port->lid;
	local->mtu = v[RCL_P_MTU] ? : port->active_mtu;
	local->rd_atomic = v[RCL_P_RD_ATOMIC];
	local->atomics = port->atomics;
	local->masked_atomics = port->masked_atomics;
	local->epoch = ep->number;
	local->addr = ep->buffer.mr->iova;
	local->rkey = ep->buffer.mr->rkey;
	local->length = ep->buffer.length;
	for (i = 0; i < local->nqps; i++) {
		local->qp[i].qpn = ep->qp[i].qp->qp_num;
		local->qp[i].psn = ep->qp[i].psn;
	}
	ep->gid_reason = port->why;
}

static bool rcl_epoch_is_lost(const struct rcl_epoch *ep)
{
	bool lost = ep->reg.qp.lost;
	u32 i;

	for (i = 0; i < ep->local.nqps; i++)
		lost |= ep->qp[i].lost;
	return lost;
}

/*
 * If the device keeps a QP, whatever it may still write to or report on stays,
 * too, and so does the module, whose code is called then.
 */
static void rcl_epoch_lose(struct rcl_epoch *ep)
{
	pr_warn_ratelimited("%s keeps a QP of a link: its memory is lost, and this module cannot be unloaded\n",
			    ep->user.ib->name);
	rcl_seal_wipe(&ep->ctrl.seal);
	/* Nothing refers to it any more, which is intended. */
	kmemleak_not_leak(ep);
	__module_get(THIS_MODULE);
}

/* The QPs are gone, or lost. */
static void rcl_epoch_deallocate(struct rcl_epoch *ep)
{
	bool lost = rcl_epoch_is_lost(ep);

	rcl_buffer_destroy(&ep->buffer, lost);
	if (lost) {
		rcl_epoch_lose(ep);
		return;
	}
	rcl_pool_destroy(&ep->pool);
	rcl_ctrl_destroy(&ep->ctrl);
	ib_dealloc_pd(ep->pd);
}

static void rcl_epoch_free(struct rcl_epoch *ep)
{
	if (!rcl_epoch_is_lost(ep))
		kfree_sensitive(ep);
}

/* The QPs come last, to be destroyed before the memory that they may access. */
static int rcl_epoch_allocate(struct rcl_epoch *ep, struct rcl_stats *stats,
			      const char **why)
{
	int ret;

	*why = "no protection domain could be made: see `rdma resource`";
	ep->pd = ib_alloc_pd(ep->user.ib, 0);
	if (IS_ERR(ep->pd))
		return PTR_ERR(ep->pd);
	*why = "out of memory, or of what the device can map";
	ret = rcl_ctrl_create(&ep->ctrl, ep->user.ib, &ep->qp[0], stats);
	if (ret)
		goto err_dealloc_pd;
	*why = "the link buffer could not be registered: see `rdma resource`";
	ret = rcl_buffer_create(&ep->buffer, ep->pd,
				ep->policy.v[RCL_P_BUFFER_SIZE]);
	if (ret)
		goto err_destroy_ctrl;
	*why = "out of memory";
	ret = rcl_pool_create(&ep->pool, &ep->qp[1], ep->local.nqps - 1);
	if (ret)
		goto err_destroy_buffer;
	*why = "a queue pair could not be made: use fewer qps, or free some";
	ret = rcl_epoch_create_qps(ep);
	if (ret)
		goto err_deallocate;
	*why = "the device refused a queue pair's values (RESET to INIT)";
	ret = rcl_epoch_to_init(ep);
	if (ret)
		goto err_stop;
	return 0;

err_stop:
	rcl_epoch_stop(ep);
err_deallocate:
	rcl_epoch_deallocate(ep);
	return ret;
err_destroy_buffer:
	rcl_buffer_destroy(&ep->buffer, false);
err_destroy_ctrl:
	rcl_ctrl_destroy(&ep->ctrl);
err_dealloc_pd:
	ib_dealloc_pd(ep->pd);
	return ret;
}

/**
 * rcl_epoch_create - allocate an epoch, its QPs in INIT with receives posted
 * @policy: of the link
 * @number: number of the epoch, by own count
 * @up: told what happens to it
 * @stats: of the link
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep; the link's chore.
 * Return: the epoch, or an ERR_PTR of rcl_dev_attach(), of a verbs call or
 * -ENOMEM.
 */
struct rcl_epoch *rcl_epoch_create(const struct rcl_policy *policy, u64 number,
				   struct rcl_upcall *up,
				   struct rcl_stats *stats, const char **why)
{
	u32 nqps = 1 + policy->v[RCL_P_QPS];
	struct rcl_epoch *ep;
	struct rcl_port port;
	int ret;
	u32 i;

	*why = "out of memory";
	ep = kzalloc(struct_size(ep, qp, nqps), GFP_KERNEL);
	if (!ep)
		return ERR_PTR(-ENOMEM);
	ep->policy = *policy;
	ep->number = number;
	ep->local.nqps = nqps;
	ep->user.up = up;
	rcl_reg_init(&ep->reg);

	ret = rcl_dev_attach(&ep->user, policy, &port, why);
	if (ret)
		goto err_free;
	ep->sgid = rcl_dev_get_sgid(&ep->user, why);
	if (IS_ERR(ep->sgid)) {
		ret = PTR_ERR(ep->sgid);
		goto err_detach;
	}
	ret = rcl_dev_get_pkey(&ep->user, policy->v[RCL_P_PKEY_INDEX],
			       &ep->local.pkey, why);
	if (ret)
		goto err_put_sgid;
	for (i = 0; i < nqps; i++)
		ep->qp[i].max_inline = min_t(u32, port.max_inline,
					     RCLINK_DEV_INLINE_MAX);
	ep->access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	if (port.atomics)
		ep->access |= IB_ACCESS_REMOTE_ATOMIC;
	ret = rcl_epoch_allocate(ep, stats, why);
	if (ret)
		goto err_put_sgid;
	rcl_epoch_describe(ep, &port);
	rcl_port_release(&port);
	return ep;

err_put_sgid:
	rdma_put_gid_attr(ep->sgid);
err_detach:
	rcl_port_release(&port);
	rcl_dev_detach(&ep->user);
err_free:
	rcl_epoch_free(ep);
	return ERR_PTR(ret);
}

/**
 * rcl_epoch_connect - move all QPs from INIT to RTR
 * @ep: its @remote and @ah are set
 *
 * Context: may sleep; the link's chore.
 * Return: 0, or what ib_modify_qp() says; then the epoch is useless.
 */
int rcl_epoch_connect(struct rcl_epoch *ep)
{
	struct rcl_qp_wiring wiring;
	int ret;
	u32 i;

	rcl_epoch_wiring(ep, &wiring);
	for (i = 0; i < ep->local.nqps; i++) {
		ret = rcl_qp_to_rtr(&ep->qp[i], &wiring, &ep->remote.qp[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rcl_epoch_activate - move all QPs from RTR to RTS, open buffer and seal
 * @ep: connected
 * @key: of the control channel
 * @role: enum rclink_role of this end
 *
 * Context: may sleep; the link's chore.
 * Return: 0, or the errno of the verbs call; then the epoch is useless.
 */
int rcl_epoch_activate(struct rcl_epoch *ep, const u8 *key, u32 role)
{
	struct rcl_qp_wiring wiring;
	int ret;
	u32 i;

	rcl_epoch_wiring(ep, &wiring);
	for (i = 0; i < ep->local.nqps; i++) {
		ret = rcl_qp_to_rts(&ep->qp[i], &wiring);
		if (ret)
			return ret;
	}
	/* Before anything is sent: see rcl_qp_register(). */
	ret = rcl_qp_register(&ep->qp[0], ep->buffer.mr,
			      ep->access | IB_ACCESS_LOCAL_WRITE);
	if (ret)
		return ret;
	ep->pool.role = role;
	rcl_reg_start(&ep->reg, ep->pd, &wiring, ep->user.up);
	rcl_ctrl_start(&ep->ctrl, key, role, ep->number);
	return 0;
}

/**
 * rcl_epoch_renew - the first step of a pooled QP on its way back to the pool
 * @ep: of a link that is up
 * @i: which QP, stopped
 *
 * Context: may sleep.
 * Return: 0 when the QP is in INIT, its new numbers in @local, or the errno of
 * the verbs call.
 */
int rcl_epoch_renew(struct rcl_epoch *ep, u32 i)
{
	const struct rcl_qp_size size = rcl_epoch_pool_size(ep);
	struct rcl_qp *qp = &ep->qp[i];
	struct rcl_qp_wiring wiring;
	int ret;

	ret = rcl_qp_renew(qp, &size);
	if (ret)
		return ret;
	spin_lock_irq(ep->lock);
	ep->local.qp[i].qpn = qp->qp->qp_num;
	ep->local.qp[i].psn = qp->psn;
	spin_unlock_irq(ep->lock);
	rcl_epoch_wiring(ep, &wiring);
	return rcl_qp_to_init(qp, &wiring);
}

/**
 * rcl_epoch_rewire - the second step: INIT to RTR
 * @ep: of a link that is up
 * @i: which QP
 * @remote: the peer's new numbers
 *
 * Context: may sleep; the link's work item.
 * Return: 0, or what ib_modify_qp() says.
 */
int rcl_epoch_rewire(struct rcl_epoch *ep, u32 i,
		     const struct rcl_qp_id *remote)
{
	struct rcl_qp_wiring wiring;

	spin_lock_irq(ep->lock);
	ep->remote.qp[i] = *remote;
	spin_unlock_irq(ep->lock);
	rcl_epoch_wiring(ep, &wiring);
	return rcl_qp_to_rtr(&ep->qp[i], &wiring, remote);
}

/**
 * rcl_epoch_go - the third step: RTR to RTS
 * @ep: of a link that is up
 * @i: which QP
 *
 * Context: may sleep; the link's work item.
 * Return: 0, or what ib_modify_qp() says.
 */
int rcl_epoch_go(struct rcl_epoch *ep, u32 i)
{
	struct rcl_qp_wiring wiring;

	rcl_epoch_wiring(ep, &wiring);
	return rcl_qp_to_rts(&ep->qp[i], &wiring);
}

/**
 * rcl_epoch_drain - end all traffic
 * @ep: nobody posts to it any more; to be followed by rcl_epoch_stop()
 *
 * Context: may sleep.
 */
void rcl_epoch_drain(struct rcl_epoch *ep)
{
	unsigned long end;
	u32 i;

	rcl_reg_stop(&ep->reg);
	/* All at once: one time limit in case the device flushes nothing. */
	end = rcl_qp_drain_end(ep->pool.stuck);
	for (i = 0; i < ep->local.nqps; i++)
		rcl_qp_end(&ep->qp[i]);
	for (i = 0; i < ep->local.nqps; i++)
		rcl_qp_stop(&ep->qp[i], end);
}

/**
 * rcl_epoch_stop - end all traffic, and the QPs
 * @ep: nobody posts to it any more
 *
 * A drain fails on a device that is in a fatal state; only a QP that is gone is
 * sure to access no memory. Afterwards no completion handler of this epoch
 * runs, and the peer can reach nothing.
 *
 * Context: may sleep.
 */
void rcl_epoch_stop(struct rcl_epoch *ep)
{
	rcl_epoch_drain(ep);
	rcl_epoch_destroy_qps(ep, ep->local.nqps);
}

/**
 * rcl_epoch_destroy - the mirror of rcl_epoch_create()
 * @ep: stopped; is freed, unless the device keeps a QP
 *
 * Context: may sleep.
 */
void rcl_epoch_destroy(struct rcl_epoch *ep)
{
	rcl_epoch_deallocate(ep);
	rdma_put_gid_attr(ep->sgid);
	rcl_dev_detach(&ep->user);
	rcl_epoch_free(ep);
}
