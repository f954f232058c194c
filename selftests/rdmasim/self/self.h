/* SPDX-License-Identifier: GPL-2.0 */
/* Two ends, each on a simulated device, and the tests that use them. */
#ifndef SELF_H
#define SELF_H

#include <linux/atomic.h>
#include <rdma/ib_verbs.h>

#define SELF_PORT	1
#define SELF_PSN	0xfffffe	/* wraps at once */
#define SELF_QKEY	0x1234
#define SELF_WRS	8
#define SELF_MTU	256
#define SELF_GRH	40

struct end {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_srq *srq;
	u8 *mem;			/* a page */
	u64 dma;			/* and its address for the device */
	u16 pkey_index;			/* 0, or set before INIT */
	u16 dlid;			/* for RTR; 0: that of the peer */
	atomic_t events[IB_EVENT_WQ_FATAL + 1];
	atomic_t wakes;
};

struct rig {
	struct end end[2];
};

/* rig.c */
int end_open(struct end *end, const char *device, enum ib_qp_type type,
	     bool srq);
void end_close(struct end *end);
int end_to_init(struct end *end);
int end_to_rtr(struct end *end, struct end *peer, u32 qpn, u32 psn);
int end_to_rts(struct end *end, u8 retry);
int end_recv(struct end *end, u32 at, u32 len);
int end_post(struct end *end, struct ib_send_wr *wr, u32 at, u32 len);
int end_post_at(struct end *end, struct ib_send_wr *wr, u64 addr, u32 len);
int end_send(struct end *end, u32 at, u32 len);
int end_next(struct end *end, struct ib_wc *wc);
bool end_is_idle(struct end *end);
enum ib_qp_state end_state(struct end *end);

int rig_connect(struct rig *rig, u32 qpn, u8 retry);
struct ib_mr *end_register(struct end *end, int access);

/* The tests, in other files: 0, or the line of the check that failed. */
int self_psn(struct rig *rig);
int self_qpn(struct rig *rig);
int self_lid(struct rig *rig);
int self_pkey(struct rig *rig);
int self_partition(struct rig *rig);
int self_limited(struct rig *rig);
int self_gap(struct rig *rig);
int self_rnr(struct rig *rig);
int self_late(struct rig *rig);
int self_short(struct rig *rig);
int self_keys(struct rig *rig);
int self_read(struct rig *rig);
int self_atomics(struct rig *rig);
int self_masked(struct rig *rig);
int self_no_ram(struct rig *rig);
int self_solicited(struct rig *rig);
int self_srq(struct rig *rig);
int self_datagrams(struct rig *rig);
int self_group(struct rig *rig);

/* For use in these tests only. */
#define MUST(cond)				\
do {						\
	if (!(cond))				\
		return __LINE__;		\
} while (0)

#endif /* SELF_H */
