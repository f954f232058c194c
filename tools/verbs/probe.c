// SPDX-License-Identifier: GPL-2.0
#include "probe.h"

#include "cq.h"
#include "fail.h"
#include "hca.h"

#define INLINE_MAX	512

static uint32_t try_inline(struct ibv_pd *pd, struct ibv_cq *cq)
{
	uint32_t bytes, granted;
	struct ibv_qp *qp;

	for (bytes = INLINE_MAX; bytes; bytes /= 2) {
		struct ibv_qp_init_attr attr = {
			.send_cq = cq,
			.recv_cq = cq,
			.qp_type = IBV_QPT_RC,
			.cap = {
				.max_send_wr = 1,
				.max_recv_wr = 1,
				.max_send_sge = 1,
				.max_recv_sge = 1,
				.max_inline_data = bytes,
			},
		};

		qp = ibv_create_qp(pd, &attr);
		if (!qp)
			continue;
		granted = attr.cap.max_inline_data;
		ibv_destroy_qp(qp);
		return granted;
	}
	return 0;
}

void rcv_probe(struct rcv_hca *hca, struct rcv_probe *probe)
{
	char ignored[RCL_ERR_LEN];
	struct ibv_pd *pd;
	struct rcv_cq cq;

	*probe = (struct rcv_probe){ 0 };
	if (!rcv_cq_create(&cq, hca->ctx, 2, RCV_CQ_STAMPS, ignored)) {
		probe->stamps = cq.stamps && rcv_hca_has_clock(hca);
		rcv_cq_destroy(&cq);
	}
	pd = ibv_alloc_pd(hca->ctx);
	if (!pd)
		return;
	if (!rcv_cq_create(&cq, hca->ctx, 2, 0, ignored)) {
		probe->max_inline = try_inline(pd, cq.cq);
		rcv_cq_destroy(&cq);
	}
	ibv_dealloc_pd(pd);
}
