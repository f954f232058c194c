// SPDX-License-Identifier: GPL-2.0
/* Devices come and go, and tell their capabilities. */
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "compat.h"
#include "sim.h"

/*
 * The core wants a number from each driver; when it looks for a device,
 * RDMA_DRIVER_UNKNOWN means any. This is of a driver that the kernel no longer
 * has.
 */
#define SIM_DRIVER	RDMA_DRIVER_NES

struct sim_pd {
	struct ib_pd ib;
};

static const struct sim_limits sim_defaults = {
	.qps = 4096,
	.cqes = 16384,
	.mrs = 65536,
	.pages = SIM_MR_PAGES,
	.sges = SIM_MAX_SGE,
	.sizes = PAGE_MASK & SIM_24BIT_MAX,
	.atomics = 2,
	.mtu = 4096,
	.port = 1,
	.mcast = 1,
};

static int sim_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	const struct sim_limits *limits = &to_sim(ib)->limits;

	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = limits->sizes;
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SYS_IMAGE_GUID;
	attr->sys_image_guid = ib->node_guid;
	attr->max_qp = limits->qps;
	attr->max_qp_wr = limits->cqes;
	attr->max_send_sge = limits->sges;
	attr->max_recv_sge = limits->sges;
	attr->max_sge_rd = limits->sges;
	attr->max_cq = limits->qps * 2;
	attr->max_cqe = limits->cqes;
	attr->max_mr = limits->mrs;
	attr->max_pd = limits->qps;
	attr->max_qp_rd_atom = 16;
	attr->max_qp_init_rd_atom = 16;
	attr->max_res_rd_atom = 16 * limits->qps;
	attr->atomic_cap = limits->atomics ? IB_ATOMIC_HCA : IB_ATOMIC_NONE;
	attr->masked_atomic_cap = limits->atomics > 1 ? IB_ATOMIC_HCA :
							IB_ATOMIC_NONE;
	attr->max_mcast_grp = limits->qps;
	attr->max_mcast_qp_attach = limits->qps;
	attr->max_total_mcast_qp_attach = limits->qps;
	attr->max_ah = limits->qps;
	attr->max_srq = limits->qps;
	attr->max_srq_wr = limits->cqes;
	attr->max_srq_sge = limits->sges;
	attr->max_fast_reg_page_list_len = limits->pages;
	attr->max_pkeys = SIM_PKEYS;
	return 0;
}

static int sim_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return sim_fault_verb(&to_sim(pd->device)->faults, SIM_F_ALLOC_PD);
}

static int sim_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	sim_mr_forget_pd(pd);
	return 0;
}

/* The device is registered, but nobody knows it yet. */
static int sim_enable(struct ib_device *ib)
{
	sim_knobs_add(to_sim(ib));
	sim_fabric_add(to_sim(ib));
	return 0;
}

static void sim_dealloc(struct ib_device *ib)
{
	struct sim_dev *dev = to_sim(ib);

	sim_fabric_del(dev);
	sim_knobs_del(dev);
	sim_mr_end_stuck(dev);
	sim_qp_end_stuck(dev);
	sim_dma_del(dev);
	WARN_ON(!xa_empty(&dev->qps) || !xa_empty(&dev->mrs) ||
		!list_empty(&dev->groups));
	xa_destroy(&dev->qps);
	xa_destroy(&dev->mrs);
}

static const struct ib_device_ops sim_ops = {
	.owner = THIS_MODULE,
	.driver_id = SIM_DRIVER,
	.alloc_mr = sim_alloc_mr,
	.alloc_pd = sim_alloc_pd,
	.create_ah = sim_create_ah,
	.create_cq = sim_create_cq,
	.create_qp = sim_create_qp,
	.create_srq = sim_create_srq,
	.dealloc_driver = sim_dealloc,
	.dealloc_pd = sim_dealloc_pd,
	.dereg_mr = sim_dereg_mr,
	.destroy_ah = sim_destroy_ah,
	.destroy_cq = sim_destroy_cq,
	.destroy_qp = sim_destroy_qp,
	.destroy_srq = sim_destroy_srq,
	.enable_driver = sim_enable,
	.get_dma_mr = sim_get_dma_mr,
	.get_link_layer = sim_link_layer,
	.get_port_immutable = sim_port_immutable,
	.map_mr_sg = sim_map_mr_sg,
	.modify_qp = sim_modify_qp,
	.modify_srq = sim_modify_srq,
	.poll_cq = sim_poll_cq,
	.post_recv = sim_post_recv,
	.post_send = sim_post_send,
	.post_srq_recv = sim_post_srq_recv,
	.query_ah = sim_query_ah,
	.query_device = sim_query_device,
	.query_gid = sim_query_gid,
	.query_pkey = sim_query_pkey,
	.query_port = sim_query_port,
	.query_qp = sim_query_qp,
	.query_srq = sim_query_srq,
	.reg_user_mr = sim_reg_user_mr,
	.req_notify_cq = sim_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, sim_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, sim_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, sim_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, sim_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, sim_srq, ib),
};

static const struct ib_device_ops sim_mcast_ops = {
	.attach_mcast = sim_attach_mcast,
	.detach_mcast = sim_detach_mcast,
};

static struct sim_dev *sim_dev_alloc(const struct sim_limits *limits,
				     bool roce, u16 lid)
{
	struct sim_dev *dev = ib_alloc_device(sim_dev, ib);

	if (!dev)
		return NULL;
	dev->limits = *limits;
	sim_port_init(&dev->port, roce, lid);
	INIT_LIST_HEAD(&dev->node);
	INIT_LIST_HEAD(&dev->groups);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC);
	/* Different devices seldom use the same numbers. */
	dev->next_qpn = get_random_u32() & SIM_24BIT_MAX;
	dev->next_key = get_random_u32() & SIM_24BIT_MAX;
	sim_fault_init(&dev->faults);
	strscpy(dev->ib.node_desc, "rdmasim", sizeof(dev->ib.node_desc));
	dev->ib.node_type = RDMA_NODE_IB_CA;
	dev->ib.node_guid = cpu_to_be64(dev->port.guid);
	dev->ib.phys_port_cnt = limits->port;
	dev->ib.num_comp_vectors = num_possible_cpus();
	ib_set_device_ops(&dev->ib, &sim_ops);
	if (limits->mcast)
		ib_set_device_ops(&dev->ib, &sim_mcast_ops);
	return dev;
}

/* Does the net device let the port on it be active? */
static bool sim_netdev_up(const struct net_device *netdev)
{
	return netif_running(netdev) && netif_carrier_ok(netdev);
}

static int sim_dev_bind(struct sim_dev *dev, const char *name)
{
	struct net_device *netdev = dev_get_by_name(&init_net, name);
	int ret;

	if (!netdev)
		return -ENODEV;
	ret = ib_device_set_netdev(&dev->ib, netdev, dev->limits.port);
	dev->port.state = sim_netdev_up(netdev) ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	if (!dev->port.roce)
		dev->wire = netdev->ifindex;
	dev_put(netdev);
	return ret;
}

static int sim_limit_parse(struct sim_limits *limits, char *word)
{
	const struct {
		const char *name;
		u32 *value;
		u32 max;
	} known[] = {
		{ "qps", &limits->qps, 65536 },
		{ "cqes", &limits->cqes, 65536 },
		{ "mrs", &limits->mrs, 65536 },
		{ "pages", &limits->pages, 65536 },
		{ "sges", &limits->sges, SIM_MAX_SGE },
		{ "sizes", &limits->sizes, U32_MAX },
		{ "atomics", &limits->atomics, 2 },
		{ "mtu", &limits->mtu, 4096 },
		{ "dma", &limits->dma, 2 },
		{ "sa", &limits->sa, 1 },
		{ "iwarp", &limits->iwarp, 1 },
		{ "grh", &limits->grh, 1 },
		{ "port", &limits->port, SIM_MAX_PORT },
		{ "mcast", &limits->mcast, 1 },
	};
	char *value = strchr(word, '=');
	int i, ret;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(word, known[i].name))
			continue;
		ret = kstrtou32(value, 0, known[i].value);
		return ret ? : *known[i].value > known[i].max ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* See main.c. */
int sim_dev_new(char *text)
{
	char *name = strsep(&text, " "), *kind = strsep(&text, " ");
	char *where = strsep(&text, " "), *word, *netdev;
	struct sim_limits limits = sim_defaults;
	struct sim_dev *dev;
	u16 lid = 0;
	bool roce;
	int ret;

	if (!where || strlen(name) >= IB_DEVICE_NAME_MAX ||
	    strchr(name, '%') || strchr(name, '/'))
		return -EINVAL;
	roce = !strcmp(kind, "roce");
	if (!roce && (strcmp(kind, "ib") || kstrtou16(where, 0, &lid)))
		return -EINVAL;
	netdev = roce ? where : NULL;
	while ((word = strsep(&text, " "))) {
		ret = 0;
		if (!roce && strstarts(word, "wire="))
			netdev = word + strlen("wire=");
		else if (*word)
			ret = sim_limit_parse(&limits, word);
		if (ret)
			return ret;
	}
	if (!roce && netdev)
		limits.mtu = min_t(u32, limits.mtu, SIM_WIRE_MTU);
	if ((limits.mtu && limits.mtu < 256) || hweight32(limits.mtu) > 1 ||
	    roce + limits.sa + limits.iwarp > 1 || !limits.port ||
	    (limits.sa && limits.port > 1))
		return -EINVAL;
	dev = sim_dev_alloc(&limits, roce, lid);
	if (!dev)
		return -ENOMEM;
	ret = sim_dma_add(dev);
	if (!ret && netdev)
		ret = sim_dev_bind(dev, netdev);
	if (!ret)
		ret = ib_register_device(&dev->ib, name, dev->parent ?
					 &dev->parent->dev : NULL);
	if (!ret)
		return 0;
	sim_dma_del(dev);
	ib_dealloc_device(&dev->ib);
	return ret;
}

/* Remove a device with all that is under way; its users are told. */
int sim_dev_del(const char *name)
{
	struct ib_device *ib = ib_device_get_by_name(name, SIM_DRIVER);

	if (!ib)
		return -ENODEV;
	ib_unregister_device_and_put(ib);
	return 0;
}

static int sim_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct ib_device *ib = ib_device_get_by_netdev(netdev, SIM_DRIVER);

	if (!ib)
		return NOTIFY_DONE;
	if (event == NETDEV_UNREGISTER)
		ib_unregister_device_queued(ib);
	else if (event == NETDEV_UP || event == NETDEV_DOWN ||
		 event == NETDEV_CHANGE)
		sim_port_set_state(to_sim(ib), sim_netdev_up(netdev) ?
				   IB_PORT_ACTIVE : IB_PORT_DOWN);
	ib_device_put(ib);
	return NOTIFY_DONE;
}

static struct notifier_block sim_netdev_nb = {
	.notifier_call = sim_netdev_event,
};

int sim_dev_init(void)
{
	return register_netdevice_notifier(&sim_netdev_nb);
}

/* No device is made any more. */
void sim_dev_exit(void)
{
	ib_unregister_driver(SIM_DRIVER);
	unregister_netdevice_notifier(&sim_netdev_nb);
}
