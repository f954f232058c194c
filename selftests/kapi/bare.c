// SPDX-License-Identifier: GPL-2.0
/* Verbs without rclink: two QPs of one device that are wired to each other. */
#include <linux/delay.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "kapi.h"

#define BARE_WR		64
#define BARE_MS		1000	/* for the registration */

static int bare_init(struct bare *bare, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = bare->port,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

static int bare_rtr(struct bare *bare, struct ib_qp *qp, struct ib_qp *to,
		    u32 gid)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.dest_qp_num = to->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};
	const struct ib_gid_attr *sgid;
	struct ib_port_attr port;
	union ib_gid dgid;
	int ret;

	ret = ib_query_port(bare->ib, bare->port, &port);
	if (ret)
		return ret;
	sgid = rdma_get_gid_attr(bare->ib, bare->port, gid);
	if (IS_ERR(sgid))
		return PTR_ERR(sgid);
	dgid = sgid->gid;
	attr.path_mtu = port.active_mtu;
	attr.ah_attr.type = rdma_ah_find_type(bare->ib, bare->port);
	rdma_ah_set_port_num(&attr.ah_attr, bare->port);
	rdma_ah_set_dlid(&attr.ah_attr, port.lid);
	/* Both QPs are on one port: the destination address is its own. */
	if (attr.ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE)
		ret = rdma_read_gid_l2_fields(sgid, NULL,
					      attr.ah_attr.roce.dmac);
	rdma_move_grh_sgid_attr(&attr.ah_attr, &dgid, 0, 64, 0, sgid);
	if (!ret)
		ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV |
				   IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				   IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				   IB_QP_MIN_RNR_TIMER);
	rdma_destroy_ah_attr(&attr.ah_attr);
	return ret;
}

static int bare_rts(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 6,
		.rnr_retry = 6,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

static int bare_wire(struct bare *bare, u32 gid)
{
	int ret = 0;
	int i;

	for (i = 0; !ret && i < 2; i++)
		ret = bare_init(bare, bare->qp[i]);
	for (i = 0; !ret && i < 2; i++)
		ret = bare_rtr(bare, bare->qp[i], bare->qp[!i], gid);
	for (i = 0; !ret && i < 2; i++)
		ret = bare_rts(bare->qp[i]);
	return ret;
}

/* As rclink registers regions: looking up a key is a part of an operation. */
static int bare_register(struct bare *bare)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	struct ib_wc wc;
	int ret, i;

	bare->mr = ib_alloc_mr(bare->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(bare->mr))
		return PTR_ERR(bare->mr);
	ret = ib_map_mr_sg(bare->mr, &bare->sg, 1, NULL, PAGE_SIZE);
	if (ret != 1)
		return -EINVAL;
	wr.mr = bare->mr;
	wr.key = bare->mr->rkey;
	ret = ib_post_send(bare->qp[0], &wr.wr, NULL);
	if (ret)
		return ret;
	for (i = 0; i < BARE_MS; i++) {
		if (ib_poll_cq(bare->cq, 1, &wc) == 1)
			return wc.status ? -EIO : 0;
		usleep_range(1000, 2000);
	}
	return -ETIME;
}

static int bare_create(struct bare *bare)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = BARE_WR,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	int i;

	bare->pd = ib_alloc_pd(bare->ib, 0);
	if (IS_ERR(bare->pd))
		return PTR_ERR(bare->pd);
	bare->cq = ib_alloc_cq(bare->ib, NULL, 2 * BARE_WR + 2, 0,
			       IB_POLL_DIRECT);
	if (IS_ERR(bare->cq))
		return PTR_ERR(bare->cq);
	init.send_cq = bare->cq;
	init.recv_cq = bare->cq;
	for (i = 0; i < 2; i++) {
		bare->qp[i] = ib_create_qp(bare->pd, &init);
		if (IS_ERR(bare->qp[i]))
			return PTR_ERR(bare->qp[i]);
	}
	return 0;
}

static int bare_map(struct bare *bare)
{
	bare->buf = (void *)get_zeroed_page(GFP_KERNEL);
	if (!bare->buf)
		return -ENOMEM;
	sg_init_one(&bare->sg, bare->buf, PAGE_SIZE);
	return ib_dma_map_sg(bare->ib, &bare->sg, 1, DMA_BIDIRECTIONAL) == 1 ?
	       0 : -EIO;
}

/**
 * bare_open - make two QPs that are wired to each other
 * @bare: zeroed; filled in; to be closed even after a failure
 * @device: name of the device
 * @port: port of the device
 * @gid: GID index
 *
 * Return: 0, or a negative errno.
 */
int bare_open(struct bare *bare, const char *device, u32 port, u32 gid)
{
	bare->port = port;
	bare->ib = ib_device_get_by_name(device, RDMA_DRIVER_UNKNOWN);
	if (!bare->ib)
		return -ENODEV;
	return bare_create(bare) ? :
	       bare_wire(bare, gid) ? :
	       bare_map(bare) ? :
	       bare_register(bare);
}

/**
 * bare_close - free everything
 * @bare: after bare_open()
 */
void bare_close(struct bare *bare)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(bare->qp[i]))
			ib_destroy_qp(bare->qp[i]);
	if (!IS_ERR_OR_NULL(bare->mr))
		ib_dereg_mr(bare->mr);
	if (bare->buf && sg_dma_len(&bare->sg))
		ib_dma_unmap_sg(bare->ib, &bare->sg, 1, DMA_BIDIRECTIONAL);
	free_page((unsigned long)bare->buf);
	if (!IS_ERR_OR_NULL(bare->cq))
		ib_free_cq(bare->cq);
	if (!IS_ERR_OR_NULL(bare->pd))
		ib_dealloc_pd(bare->pd);
	if (bare->ib)
		ib_device_put(bare->ib);
}
