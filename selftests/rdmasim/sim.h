/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulated HCA with a port, InfiniBand or RoCE. All of them are joined by
 * one fabric, which is this kernel's memory. InfiniBand ports with a wire also
 * reach those of other kernels (wire.c).
 *
 * Locks, outermost first:
 *
 * sim_wire (mutex)	only one message is under way at a time, on any device.
 *			Protects the state of QPs and ports, the registered
 *			memory, and the list of devices
 * sim_qp.lock, sim_rq.lock, sim_cq.lock
 *			spinlocks, irqsave: queues. Each is a leaf, and
 *			functions for any context take only these
 *
 * Only the QP's work item and the arrival of an answer take entries from its
 * send queue. One message is under way at a time: the next one is sent when it
 * has been answered, or its answer is left to that of the next (late_ack).
 * Event and completion handlers are called below sim_wire with interrupts off,
 * from an interrupt.
 */
#ifndef SIM_H
#define SIM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "fault.h"

struct platform_device;

#define SIM_MAX_SGE	8
#define SIM_PKEYS	4
#define SIM_MR_PAGES	512
#define SIM_MAX_PORT	2
#define SIM_QP1		1
#define SIM_LINE	160
#define SIM_24BIT_MAX	0xffffff
#define SIM_MAX_MSG	BIT(30)
#define SIM_FULL_MEMBER	0x8000
#define SIM_WIRE_MTU	1024		/* a packet fits into a frame */
#define SIM_WINDOW	32		/* packets on the wire at once */

struct sim_limits {
	u32 qps;
	u32 cqes;
	u32 mrs;
	u32 pages;		/* of a fast registration */
	u32 sges;
	u32 sizes;		/* of pages, as bits */
	u32 atomics;		/* 0 none, 1 only plain ones, 2 masked, too */
	u32 mtu;
	u32 dma;		/* 0 virtual, 1 by the DMA API, 2 may fail */
	u32 sa;			/* an InfiniBand port with QP1 */
	u32 iwarp;		/* or the port claims to be iWARP */
	u32 grh;		/* the port refuses packets without GRH */
	u32 port;		/* its number; port 1 of 2 has no cable */
	u32 mcast;		/* 0: none, like many drivers */
};

struct sim_port {
	bool roce;
	enum ib_port_state state;
	u16 lid;
	u16 sm_lid;
	u16 pkey[SIM_PKEYS];
	u64 prefix;
	u64 guid;
};

struct sim_dev {
	struct ib_device ib;
	struct sim_limits limits;
	struct sim_port port;		/* under sim_wire */
	int wire;			/* index of its net device, or 0 */
	u32 sa;				/* how the SA behaves, under sim_wire */
	u32 sa_joins;			/* joins asked of the SA, likewise */
	struct list_head node;		/* in sim_devs, under sim_wire */
	struct xarray qps;		/* by QPN; under sim_wire */
	struct xarray mrs;		/* by key >> 8; under sim_wire */
	u32 next_qpn;
	u32 next_key;
	u32 nqps;			/* under sim_wire */
	u32 nmrs;			/* under sim_wire */
	struct list_head groups;	/* of sim_member, under sim_wire */
	struct platform_device *parent;	/* with dma=1 or 2 */
	atomic_t mapped;		/* with dma=2: pages and lists */
	struct sim_faults faults;
	struct dentry *dir;
};

struct sim_cq {
	struct ib_cq ib;
	spinlock_t lock;		/* protects all below */
	struct ib_wc *wc;
	u32 head, tail, size, mask;
	enum ib_cq_notify_flags armed;
	bool overrun;
	bool hidden;			/* see sim_cq_hide() */
};

struct sim_mr {
	struct ib_mr ib;
	u64 *pages;			/* NULL: all memory, by its address */
	u32 max_pages, npages;
	/* Under sim_wire: what the key gives access to */
	bool valid;
	bool stuck;			/* it could not be deregistered */
	u32 held;			/* pages of it that are held then */
	u32 key;
	int access;
	u64 start, len;
	u32 first;			/* offset of start in the first page */
};

struct sim_rwqe {
	u64 wr_id;
	int num_sge;
	struct ib_sge sge[SIM_MAX_SGE];
};

struct sim_rq {
	spinlock_t lock;		/* protects all below */
	struct sim_rwqe *wqe;
	u32 head, tail, size, mask;
	int max_sge;
};

struct sim_srq {
	struct ib_srq ib;
	struct sim_rq rq;
	u32 limit;			/* under sim_wire */
};

struct sim_av {
	u16 dlid;
	u8 sl;
	bool grh;
	union ib_gid dgid;
	union ib_gid sgid;
	u8 dmac[ETH_ALEN];
};

struct sim_ah {
	struct ib_ah ib;
	struct sim_av av;
	struct rdma_ah_attr attr;
};

struct sim_swqe {
	union {
		struct ib_send_wr wr;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_ud_wr ud;
		struct ib_reg_wr reg;
	};
	struct sim_av av;		/* of a datagram */
	bool tried;
	u64 at;				/* bytes that have been answered */
	struct ib_sge sge[SIM_MAX_SGE];
};

enum sim_answer { SIM_SILENCE, SIM_ACK, SIM_RNR_NAK, SIM_NAK };

struct sim_reply {
	enum sim_answer answer;
	u32 psn;			/* SIM_ACK: up to this one */
	u8 rnr_timer;			/* SIM_RNR_NAK */
	enum ib_wc_status status;	/* SIM_NAK */
};

struct sim_qp {
	struct ib_qp ib;
	struct delayed_work work;
	spinlock_t lock;		/* protects the send queue */
	struct sim_swqe *wqe;
	u32 head, tail, size, mask;
	int max_sge;
	bool sig_all;
	struct sim_rq rq;		/* its own, or */
	struct sim_srq *srq;
	/* Under sim_wire; the state is also read under the lock. */
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct ib_qp_cap cap;
	struct sim_av av;
	u32 sq_psn;			/* of the next message */
	u32 rq_psn;			/* of the next expected message */
	u32 late;			/* oldest messages not answered */
	u32 retries, rnr_retries;	/* that are left */
	unsigned long not_before;	/* jiffies */
	bool waits;			/* until not_before */
	u32 out;			/* packets that wait for an answer */
	struct sim_reply reply;		/* answer that came by the wire */
	u64 got;			/* bytes of the answer so far */
	struct ib_sa_mad *mad;		/* SA answer to be delivered */
	void *parts;			/* of a message from the wire */
	u64 nparts;			/* bytes there so far */
	struct {
		bool valid;
		u32 psn;
		u64 was;
	} atomic;			/* newest one, for a repeat */
	bool stuck;			/* it could not be destroyed */
};

struct sim_member {
	struct list_head node;
	struct sim_qp *qp;
	union ib_gid mgid;
};

/* A place in a list of pieces. */
struct sim_span {
	struct sim_dev *dev;		/* NULL: addresses are this kernel's */
	const struct ib_sge *sge;
	u32 offset;
};

/* A message, or on the wire a part of one; and the answer to it. */
struct sim_msg {
	const struct sim_swqe *wqe;
	const struct sim_av *av;
	struct sim_span data;		/* the sender's, from or to */
	const struct sim_qp *from;	/* NULL: a QP of another kernel */
	u32 src_qpn;
	u32 qkey;
	u64 prefix;			/* of the sender's port */
	u16 slid;
	u16 pkey;
	bool roce;
	u32 psn;
	u32 npsn;			/* packets of request or answer */
	u64 len;
	u64 at;				/* offset of this part in the message */
	u64 total;			/* bytes of the message */
	bool corrupt;
	struct sim_reply reply;
};

extern struct mutex sim_wire;
extern struct workqueue_struct *sim_wq;

static inline struct sim_dev *to_sim(struct ib_device *ib)
{
	return container_of(ib, struct sim_dev, ib);
}

static inline struct sim_qp *to_sim_qp(struct ib_qp *ib)
{
	return container_of(ib, struct sim_qp, ib);
}

static inline struct sim_cq *to_sim_cq(struct ib_cq *ib)
{
	return container_of(ib, struct sim_cq, ib);
}

static inline struct sim_mr *to_sim_mr(struct ib_mr *ib)
{
	return container_of(ib, struct sim_mr, ib);
}

static inline struct sim_srq *to_sim_srq(struct ib_srq *ib)
{
	return container_of(ib, struct sim_srq, ib);
}

static inline bool sim_is_datagram(const struct sim_qp *qp)
{
	return qp->ib.qp_type != IB_QPT_RC;
}

/* port.c: ports, and the fabric that joins them */
void sim_port_init(struct sim_port *port, bool roce, u16 lid);
int sim_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr);
void sim_port_gid(const struct sim_port *port, union ib_gid *gid);
int sim_query_gid(struct ib_device *ib, u32 port, int index,
		  union ib_gid *gid);
int sim_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey);
int sim_port_immutable(struct ib_device *ib, u32 port,
		       struct ib_port_immutable *immutable);
enum rdma_link_layer sim_link_layer(struct ib_device *ib, u32 port);
void sim_port_event(struct sim_dev *dev, enum ib_event_type type, u32 port);
void sim_port_set_state(struct sim_dev *dev, enum ib_port_state state);
void sim_fabric_add(struct sim_dev *dev);
void sim_fabric_del(struct sim_dev *dev);
bool sim_port_is_at(struct sim_dev *dev, const struct sim_port *from,
		    const struct sim_av *av);
struct sim_dev *sim_fabric_find(const struct sim_port *from,
				const struct sim_av *av);
struct sim_dev *sim_fabric_next(const struct sim_port *from,
				struct sim_dev *after);
u16 sim_qp_pkey(const struct sim_qp *qp);
bool sim_pkey_match(const struct sim_qp *qp, u16 pkey);
void sim_av_fill(struct sim_av *av, const struct rdma_ah_attr *attr);

/* mr.c: memory */
struct ib_mr *sim_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *sim_reg_user_mr(struct ib_pd *pd, u64 start, u64 len, u64 addr,
			      int access, struct ib_udata *udata);
struct ib_mr *sim_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 n);
int sim_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int n,
		  unsigned int *offset);
int sim_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);
void sim_mr_forget_pd(const struct ib_pd *pd);
void sim_mr_end_stuck(struct sim_dev *dev);
void sim_qp_end_stuck(struct sim_dev *dev);
bool sim_mr_register(struct sim_qp *qp, const struct ib_reg_wr *wr);
bool sim_mr_invalidate(struct sim_qp *qp, u32 key);
bool sim_mr_allows(struct sim_qp *qp, const struct ib_sge *sge, int access);
bool sim_span_check(struct sim_qp *qp, const struct ib_sge *sge, int n,
		    int access);
void sim_copy(struct sim_span *to, struct sim_span *from, u64 len,
	      bool corrupt);
void sim_span_skip(struct sim_span *span, u64 len);
void sim_span_write(struct sim_span *to, const void *from, u32 len);
void sim_span_read(void *to, struct sim_span *from, u32 len);
u64 *sim_mr_word(struct sim_qp *qp, const struct ib_sge *sge);

/* dma.c */
int sim_dma_add(struct sim_dev *dev);
void sim_dma_del(struct sim_dev *dev);
bool sim_dma_is_ram(struct sim_dev *dev, u64 addr, u64 len);
void *sim_dma_at(struct sim_dev *dev, u64 addr);

/* cq.c */
int sim_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		  struct sim_cq_udata *udata);
int sim_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int sim_poll_cq(struct ib_cq *ib, int n, struct ib_wc *wc);
int sim_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);
void sim_cq_push(struct ib_cq *ib, const struct ib_wc *wc, bool solicited);
void sim_cq_clean(struct ib_cq *ib, const struct ib_qp *qp);
void sim_cq_hide(struct ib_cq *ib);
void sim_cq_event(struct ib_cq *ib, enum ib_event_type type);

/* queue.c */
int sim_rq_init(struct sim_rq *rq, u32 n, u32 sges);
int sim_rq_post(struct sim_rq *rq, const struct ib_recv_wr *wr);
bool sim_rq_take(struct sim_rq *rq, struct sim_rwqe *wqe);
u32 sim_rq_count(struct sim_rq *rq);
void sim_rq_clear(struct sim_rq *rq);
bool sim_brings_data(enum ib_wr_opcode opcode);
int sim_sq_post(struct sim_qp *qp, const struct ib_send_wr *wr);
struct sim_swqe *sim_sq_first(struct sim_qp *qp);
void sim_sq_done(struct sim_qp *qp);
void sim_sq_clear(struct sim_qp *qp);

/* srq.c */
int sim_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *attr,
		   struct ib_udata *udata);
int sim_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata);
int sim_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
int sim_destroy_srq(struct ib_srq *ib, struct ib_udata *udata);
int sim_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);
bool sim_srq_take(struct sim_srq *srq, struct sim_rwqe *wqe);
void sim_srq_event(struct sim_srq *srq, enum ib_event_type type);

/* wire.c: frames to other kernels */
void sim_wire_request(struct sim_dev *dev, const struct sim_msg *msg, u32 mtu);
void sim_wire_answer(struct sim_qp *qp, const struct sim_msg *msg);

/* recv.c: how a QP answers */
void sim_qp_event(struct sim_qp *qp, enum ib_event_type type);
void sim_qp_fail(struct sim_qp *qp);
bool sim_recv_take(struct sim_qp *qp, struct sim_rwqe *wqe);
void sim_recv_done(struct sim_qp *qp, const struct sim_rwqe *wqe,
		   struct ib_wc *wc, bool solicited);
enum sim_answer sim_rc_receive(struct sim_qp *qp, struct sim_msg *msg);

/* ud.c: datagrams and groups */
int sim_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *attr,
		  struct ib_udata *udata);
int sim_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int sim_destroy_ah(struct ib_ah *ib, u32 flags);
int sim_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int sim_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
enum ib_wc_status sim_ud_send(struct sim_qp *qp, struct sim_msg *msg);
void sim_ud_receive(struct sim_qp *qp, struct sim_msg *msg);
void sim_ud_multicast(struct sim_dev *dev, struct sim_msg *msg);

/* sa.c: the SA, which gives LIDs to groups */
void sim_sa_receive(struct sim_qp *qp, struct sim_msg *msg);
void sim_sa_reply(struct sim_qp *qp);
bool sim_sa_lets(struct sim_dev *dev, const struct sim_av *av);
void sim_sa_init(struct dentry *root);
void sim_sa_exit(void);

/* sleep.c: this host sleeps, or was copied */
void sim_sleep_init(struct dentry *root);
void sim_sleep_exit(void);

/* send.c: how a QP sends */
void sim_send_work(struct work_struct *work);
void sim_send_answered(struct sim_qp *qp, const struct sim_msg *msg, bool last);

/* arrive.c: frames of other kernels */
int sim_arrive_init(void);
void sim_arrive_exit(void);

/* qp.c */
int sim_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata);
int sim_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int sim_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int sim_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
int sim_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad);
int sim_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad);

/* knobs.c */
int sim_line(char *line, const char __user *from, size_t len);
void sim_knobs_add(struct sim_dev *dev);
void sim_knobs_del(struct sim_dev *dev);
struct dentry *sim_knobs_init(void);
void sim_knobs_exit(void);

/* dev.c */
int sim_dev_new(char *text);
int sim_dev_del(const char *name);
int sim_dev_init(void);
void sim_dev_exit(void);

#endif /* SIM_H */
