// SPDX-License-Identifier: GPL-2.0
#include "self.h"

#include <linux/string.h>
#include <rdma/ib_cache.h>

#define LEN	100

static int ready(struct rig *rig)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct end *end = &rig->end[i];

		MUST(!end_to_init(end) && !end_to_rtr(end, NULL, 0, 0));
		MUST(!end_to_rts(end, 0));
	}
	return 0;
}

/* When the send completes, the datagram has arrived or been lost. */
static int tell(struct end *end, struct ib_ah *ah, u32 qpn, u32 qkey)
{
	struct ib_ud_wr wr = {
		.wr.opcode = IB_WR_SEND_WITH_IMM,
		.wr.ex.imm_data = cpu_to_be32(9),
		.ah = ah,
		.remote_qpn = qpn,
		.remote_qkey = qkey,
	};
	struct ib_wc wc;

	MUST(!end_post(end, &wr.wr, 0, LEN));
	MUST(!end_next(end, &wc) && !wc.status);
	return 0;
}

static int datagrams(struct rig *rig, struct ib_ah *ah)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	u32 qpn = b->qp->qp_num;
	struct ib_wc wc;

	memset(a->mem, 0x3c, LEN);
	/* Without a receive the datagram is lost, and nobody is told. */
	MUST(!tell(a, ah, qpn, SELF_QKEY));
	MUST(!end_recv(b, 0, LEN + SELF_GRH));
	MUST(!tell(a, ah, qpn, SELF_QKEY + 1));
	MUST(end_is_idle(b));
	MUST(!tell(a, ah, qpn, SELF_QKEY));
	MUST(!end_next(b, &wc) && !wc.status);
	MUST(wc.byte_len == LEN + SELF_GRH && wc.src_qp == a->qp->qp_num);
	MUST(wc.wc_flags == IB_WC_WITH_IMM && wc.slid == 1);
	MUST(wc.ex.imm_data == cpu_to_be32(9));
	MUST(!memcmp(a->mem, b->mem + SELF_GRH, LEN));
	MUST(!end_recv(b, 0, LEN + SELF_GRH - 1));
	MUST(!tell(a, ah, qpn, SELF_QKEY));
	MUST(!end_next(b, &wc) && wc.status == IB_WC_LOC_LEN_ERR);
	return 0;
}

int self_datagrams(struct rig *rig)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_ah *ah;
	int ret;

	MUST(!ready(rig));
	rdma_ah_set_port_num(&attr, SELF_PORT);
	rdma_ah_set_dlid(&attr, 2);
	ah = rdma_create_ah(rig->end[0].pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	MUST(!IS_ERR(ah));
	ret = datagrams(rig, ah);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return ret;
}

static union ib_gid group = { .raw = { 0xff, 0x12, [15] = 7 } };

static int among(struct rig *rig, struct ib_ah *ah)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_grh *grh = (struct ib_grh *)b->mem;
	union ib_gid gid;
	struct ib_wc wc;

	MUST(!rdma_query_gid(a->ib, SELF_PORT, 0, &gid));
	MUST(!end_recv(a, 0, LEN + SELF_GRH));
	MUST(!end_recv(b, 0, LEN + SELF_GRH));
	MUST(!tell(a, ah, 0xffffff, SELF_QKEY));
	MUST(end_is_idle(a));
	MUST(!end_next(b, &wc) && !wc.status);
	MUST(wc.wc_flags & IB_WC_GRH);
	MUST(!memcmp(&grh->dgid, &group, sizeof(group)));
	MUST(!memcmp(&grh->sgid, &gid, sizeof(gid)));
	return 0;
}

static int attached(struct rig *rig, struct ib_ah *ah)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	int ret;

	MUST(!ib_attach_mcast(a->qp, &group, 0xc001));
	MUST(!ib_attach_mcast(b->qp, &group, 0xc001));
	ret = among(rig, ah);
	MUST(!ib_detach_mcast(a->qp, &group, 0xc001));
	MUST(!ib_detach_mcast(b->qp, &group, 0xc001));
	if (ret)
		return ret;
	MUST(!end_recv(b, 0, LEN + SELF_GRH));
	MUST(!tell(a, ah, 0xffffff, SELF_QKEY));
	MUST(end_is_idle(b));
	return 0;
}

int self_group(struct rig *rig)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_ah *ah;
	int ret;

	MUST(!ready(rig));
	rdma_ah_set_port_num(&attr, SELF_PORT);
	rdma_ah_set_dlid(&attr, 0xc001);
	rdma_ah_set_grh(&attr, &group, 0, 0, 1, 0);
	ah = rdma_create_ah(rig->end[0].pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	MUST(!IS_ERR(ah));
	ret = attached(rig, ah);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return ret;
}
