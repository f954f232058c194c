// SPDX-License-Identifier: GPL-2.0
#include "rc.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "fail.h"

#define MASK_24	0xffffffU

int rcv_qp_create(struct rcv_qp *qp, struct ibv_pd *pd, struct ibv_cq *cq,
		  const struct rcv_qp_size *size, char *err)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = size->sends,
			.max_recv_wr = size->recvs,
			.max_send_sge = size->sges,
			.max_recv_sge = size->sges,
		},
	};

	qp->mw = NULL;
	if (getrandom(&qp->psn, sizeof(qp->psn), 0) != sizeof(qp->psn))
		return rcl_fail(err, -EIO, "cannot draw a random PSN");
	qp->psn &= MASK_24;
	errno = 0;
	qp->qp = ibv_create_qp(pd, &attr);
	if (!qp->qp)
		return rcl_fail(err, -rcl_errno(),
				"cannot create a QP for %u sends and %u receives: %s; `rclink dev --verbs` has the device's limits",
				size->sends, size->recvs,
				strerror(rcl_errno()));
	return 0;
}

static int modify(struct rcv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  const char *step, char *err)
{
	int ret;

	ret = ibv_modify_qp(qp->qp, attr, mask | IBV_QP_STATE);
	if (!ret)
		return 0;
	return rcl_fail(err, -ret, "the device refused %s: %s%s", step,
			strerror(ret), attr->qp_state == IBV_QPS_RTR ?
			"; does `ping` reach the peer's address?" : "");
}

int rcv_qp_to_init(struct rcv_qp *qp, const struct rcv_wiring *w, char *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = w->pkey_index,
		.port_num = w->port,
		.qp_access_flags = w->access,
	};

	return modify(qp, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		      IBV_QP_ACCESS_FLAGS, "RESET to INIT", err);
}

int rcv_qp_to_rtr(struct rcv_qp *qp, const struct rcv_wiring *w, uint32_t qpn,
		  uint32_t psn, char *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = w->ah,
		.path_mtu = w->mtu,
		.dest_qp_num = qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = w->answer,
		.min_rnr_timer = w->min_rnr_timer,
	};

	return modify(qp, &attr, IBV_QP_AV | IBV_QP_PATH_MTU |
		      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		      "INIT to RTR", err);
}

int rcv_qp_to_rts(struct rcv_qp *qp, const struct rcv_wiring *w, char *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = w->timeout,
		.retry_cnt = w->retry,
		.rnr_retry = w->rnr_retry,
		.sq_psn = qp->psn,
		.max_rd_atomic = w->initiate,
	};

	return modify(qp, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		      IBV_QP_MAX_QP_RD_ATOMIC, "RTR to RTS", err);
}

/* A bound window goes before its QP: rxe would wait for it otherwise. */
void rcv_qp_destroy(struct rcv_qp *qp)
{
	if (qp->mw)
		ibv_dealloc_mw(qp->mw);
	if (qp->qp)
		ibv_destroy_qp(qp->qp);
	qp->mw = NULL;
	qp->qp = NULL;
}

/* Not each provider returns a positive errno, as it should. */
static int failure(int ret)
{
	return ret > 0 ? -ret : ret;
}

int rcv_qp_recv(struct rcv_qp *qp, uint64_t wr_id, const struct ibv_sge *sge)
{
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = (struct ibv_sge *)sge,
		/* To mlx4, a piece of no bytes is one of 2 GiB. */
		.num_sge = !!sge->length,
	};

	return failure(ibv_post_recv(qp->qp, &wr, &bad));
}

int rcv_qp_send(struct rcv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return failure(ibv_post_send(qp->qp, wr, &bad));
}
