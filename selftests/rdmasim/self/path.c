// SPDX-License-Identifier: GPL-2.0
/* Whom a packet reaches. The file that runs this has set the partition keys. */
#include "self.h"

#define LEN	64

/* The sender gets no answer, and nothing arrives. */
static int unheard(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_wc wc;

	MUST(!end_recv(b, 0, LEN));
	MUST(!end_send(a, 0, LEN));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_RETRY_EXC_ERR);
	MUST(end_is_idle(b));
	MUST(end_state(b) == IB_QPS_RTS);
	return 0;
}

int self_lid(struct rig *rig)
{
	rig->end[0].dlid = 0x1000;
	MUST(!rig_connect(rig, rig->end[1].qp->qp_num, 1));
	return unheard(rig);
}

int self_pkey(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_wc wc;

	/* A full member and a limited one of the same partition. */
	a->pkey_index = 1;
	b->pkey_index = 1;
	MUST(!rig_connect(rig, b->qp->qp_num, 1));
	MUST(!end_recv(b, 0, LEN) && !end_send(a, 0, LEN));
	MUST(!end_next(a, &wc) && !wc.status);
	MUST(!end_next(b, &wc) && !wc.status && wc.pkey_index == 1);
	return 0;
}

/* Index 2: different partitions; index 3: both limited members of one. */
int self_partition(struct rig *rig)
{
	rig->end[0].pkey_index = 2;
	rig->end[1].pkey_index = 2;
	MUST(!rig_connect(rig, rig->end[1].qp->qp_num, 1));
	return unheard(rig);
}

int self_limited(struct rig *rig)
{
	rig->end[0].pkey_index = 3;
	rig->end[1].pkey_index = 3;
	MUST(!rig_connect(rig, rig->end[1].qp->qp_num, 1));
	return unheard(rig);
}

/* The receiver expects the PSN before that of the first packet. */
int self_gap(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];

	MUST(!end_to_init(a) && !end_to_init(b));
	MUST(!end_to_rtr(a, b, b->qp->qp_num, SELF_PSN));
	MUST(!end_to_rtr(b, a, a->qp->qp_num, SELF_PSN - 1));
	MUST(!end_to_rts(a, 1) && !end_to_rts(b, 1));
	return unheard(rig);
}
