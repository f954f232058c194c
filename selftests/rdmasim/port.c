// SPDX-License-Identifier: GPL-2.0
/*
 * A device has one port or two; the first of two has no cable, and nothing
 * else. An InfiniBand port has what a subnet manager would give it (LID, SM
 * LID, partition keys, GID prefix), set by the test: the device advertises the
 * protocol without MADs, so the core asks for no special QPs. With sa=1,
 * however, it has QP1, and sa.c answers there. A RoCE port has a net device,
 * whose addresses become its GIDs.
 */
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "compat.h"
#include "sim.h"

#define SIM_GIDS_ROCE	32
#define SIM_GUID_OTHER	BIT_ULL(40)	/* of the port without a cable */

/* Protected by sim_wire. */
static LIST_HEAD(sim_devs);

void sim_port_init(struct sim_port *port, bool roce, u16 lid)
{
	port->roce = roce;
	port->state = roce ? IB_PORT_DOWN : IB_PORT_ACTIVE;
	port->lid = lid;
	port->sm_lid = roce ? 0 : 1;
	port->pkey[0] = 0xffff;
	port->prefix = 0xfe80000000000000ULL;
	/* Locally administered. */
	port->guid = 0x0200000000000000ULL | lid;
}

/* A driver may have no value for less than 256, and report 0. */
static enum ib_mtu sim_port_mtu(const struct sim_dev *dev)
{
	return dev->limits.mtu ? ib_mtu_int_to_enum(dev->limits.mtu) : 0;
}

static u32 sim_pkeys(const struct sim_dev *dev, u32 port)
{
	return dev->port.roce || port != dev->limits.port ? 1 : SIM_PKEYS;
}

int sim_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct sim_dev *dev = to_sim(ib);
	int ret = sim_fault_verb(&dev->faults, SIM_F_QUERY_PORT);

	if (ret)
		return ret;
	sim_fault_wait(&dev->faults, SIM_F_SLOW_PORT);
	attr->state = IB_PORT_DOWN;
	mutex_lock(&sim_wire);
	if (port == dev->limits.port) {
		attr->state = dev->port.state;
		attr->lid = dev->port.lid;
		attr->sm_lid = dev->port.sm_lid;
	}
	mutex_unlock(&sim_wire);
	attr->max_mtu = sim_port_mtu(dev);
	attr->active_mtu = attr->max_mtu;
	attr->phys_mtu = dev->limits.mtu;
	attr->gid_tbl_len = dev->port.roce ? SIM_GIDS_ROCE : 1;
	attr->ip_gids = dev->port.roce;
	attr->max_msg_sz = SIM_MAX_MSG;
	attr->pkey_tbl_len = sim_pkeys(dev, port);
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->phys_state = attr->state == IB_PORT_ACTIVE ?
			   IB_PORT_PHYS_STATE_LINK_UP :
			   IB_PORT_PHYS_STATE_DISABLED;
	return 0;
}

void sim_port_gid(const struct sim_port *port, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(port->prefix);
	gid->global.interface_id = cpu_to_be64(port->guid);
}

int sim_query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	struct sim_dev *dev = to_sim(ib);
	int ret = sim_fault_verb(&dev->faults, SIM_F_QUERY_GID);

	if (ret)
		return ret;
	mutex_lock(&sim_wire);
	sim_port_gid(&dev->port, gid);
	mutex_unlock(&sim_wire);
	if (port != dev->limits.port)
		gid->global.interface_id ^= cpu_to_be64(SIM_GUID_OTHER);
	return 0;
}

int sim_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	struct sim_dev *dev = to_sim(ib);
	int ret = sim_fault_verb(&dev->faults, SIM_F_QUERY_PKEY);

	if (ret)
		return ret;
	if (index >= SIM_PKEYS)
		return -EINVAL;
	mutex_lock(&sim_wire);
	*pkey = dev->port.pkey[index];
	mutex_unlock(&sim_wire);
	return 0;
}

int sim_port_immutable(struct ib_device *ib, u32 port,
		       struct ib_port_immutable *immutable)
{
	bool roce = to_sim(ib)->port.roce;

	immutable->core_cap_flags = roce ? RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP |
					   RDMA_CORE_CAP_ETH_AH :
					   RDMA_CORE_CAP_PROT_IB;
	if (to_sim(ib)->limits.iwarp)
		immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IWARP;
	if (to_sim(ib)->limits.grh)
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	/* The core makes QP1 where there is a CM. */
	if (to_sim(ib)->limits.sa) {
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_MAD |
					     RDMA_CORE_CAP_IB_CM |
					     RDMA_CORE_CAP_IB_SA;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	}
	immutable->gid_tbl_len = roce ? SIM_GIDS_ROCE : 1;
	immutable->pkey_tbl_len = sim_pkeys(to_sim(ib), port);
	return 0;
}

enum rdma_link_layer sim_link_layer(struct ib_device *ib, u32 port)
{
	return to_sim(ib)->port.roce ? IB_LINK_LAYER_ETHERNET :
				       IB_LINK_LAYER_INFINIBAND;
}

void sim_port_event(struct sim_dev *dev, enum ib_event_type type, u32 port)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = port,
		.event = type,
	};

	ib_dispatch_event(&event);
}

void sim_port_set_state(struct sim_dev *dev, enum ib_port_state state)
{
	bool changed;

	mutex_lock(&sim_wire);
	changed = dev->port.state != state;
	dev->port.state = state;
	mutex_unlock(&sim_wire);
	if (changed)
		sim_port_event(dev, state == IB_PORT_ACTIVE ?
			       IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
			       dev->limits.port);
}

void sim_fabric_add(struct sim_dev *dev)
{
	mutex_lock(&sim_wire);
	list_add_tail(&dev->node, &sim_devs);
	mutex_unlock(&sim_wire);
}

void sim_fabric_del(struct sim_dev *dev)
{
	mutex_lock(&sim_wire);
	list_del_init(&dev->node);
	mutex_unlock(&sim_wire);
}

/*
 * Does a packet with the address @av come in at @dev? From another subnet it
 * needs a GRH; but there is no router, to whose LID it would be sent first.
 */
bool sim_port_is_at(struct sim_dev *dev, const struct sim_port *from,
		    const struct sim_av *av)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid;
	bool here = false;

	if (!dev->port.roce) {
		sim_port_gid(&dev->port, &gid);
		return dev->port.lid == av->dlid &&
		       (av->grh ? !memcmp(&gid, &av->dgid, sizeof(gid)) :
				  dev->port.prefix == from->prefix);
	}
	attr = rdma_find_gid_by_port(&dev->ib, &av->dgid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP,
				     dev->limits.port, NULL);
	if (IS_ERR(attr))
		return false;
	rcu_read_lock();
	if (!IS_ERR(rdma_read_gid_attr_ndev_rcu(attr)))
		here = ether_addr_equal(rcu_dereference(attr->ndev)->dev_addr,
					av->dmac);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return here;
}

/* Return: the next active device of the same network; begin with NULL. */
struct sim_dev *sim_fabric_next(const struct sim_port *from,
				struct sim_dev *after)
{
	struct list_head *at = after ? &after->node : &sim_devs;
	struct sim_dev *dev;

	lockdep_assert_held(&sim_wire);
	if (from->state != IB_PORT_ACTIVE)
		return NULL;
	for (at = at->next; at != &sim_devs; at = at->next) {
		dev = list_entry(at, struct sim_dev, node);
		if (dev->port.roce == from->roce &&
		    dev->port.state == IB_PORT_ACTIVE)
			return dev;
	}
	return NULL;
}

struct sim_dev *sim_fabric_find(const struct sim_port *from,
				const struct sim_av *av)
{
	struct sim_dev *dev = NULL;

	while ((dev = sim_fabric_next(from, dev)))
		if (sim_port_is_at(dev, from, av))
			return dev;
	return NULL;
}

u16 sim_qp_pkey(const struct sim_qp *qp)
{
	return to_sim(qp->ib.device)->port.pkey[qp->attr.pkey_index];
}

/* The same partition, and not two limited members of it (IBA 10.9.3). */
bool sim_pkey_match(const struct sim_qp *qp, u16 pkey)
{
	u16 x = sim_qp_pkey(qp), y = pkey;

	return x & ~SIM_FULL_MEMBER && !((x ^ y) & ~SIM_FULL_MEMBER) &&
	       (x | y) & SIM_FULL_MEMBER;
}

void sim_av_fill(struct sim_av *av, const struct rdma_ah_attr *attr)
{
	memset(av, 0, sizeof(*av));
	av->sl = rdma_ah_get_sl(attr);
	av->grh = rdma_ah_get_ah_flags(attr) & IB_AH_GRH;
	if (av->grh) {
		av->dgid = attr->grh.dgid;
		if (attr->grh.sgid_attr)
			av->sgid = attr->grh.sgid_attr->gid;
	}
	if (attr->type == RDMA_AH_ATTR_TYPE_ROCE)
		ether_addr_copy(av->dmac, attr->roce.dmac);
	else
		av->dlid = rdma_ah_get_dlid(attr);
}
