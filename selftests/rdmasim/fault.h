/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <linux/seq_file.h>
#include <linux/spinlock.h>

enum sim_fault {
	/* Any one of those verbs below that are counted together. */
	SIM_F_ANY,
	SIM_F_ALLOC_PD,
	SIM_F_GET_DMA_MR,
	SIM_F_ALLOC_MR,
	SIM_F_MAP_MR_SG,
	SIM_F_CREATE_CQ,
	SIM_F_CREATE_QP,
	SIM_F_MODIFY_QP,
	SIM_F_QUERY_QP,
	SIM_F_POST_SEND,
	SIM_F_POST_RECV,
	SIM_F_CREATE_SRQ,
	SIM_F_MODIFY_SRQ,
	SIM_F_POST_SRQ_RECV,
	SIM_F_CREATE_AH,
	SIM_F_ATTACH_MCAST,
	SIM_F_QUERY_PORT,
	SIM_F_QUERY_GID,
	SIM_F_QUERY_PKEY,
	/* Verbs whose number of calls cannot be known beforehand. */
	SIM_F_POLL_CQ,
	SIM_F_REQ_NOTIFY_CQ,
	SIM_F_DEREG_MR,
	SIM_F_DESTROY_QP,
	/* No verb, and only with dma=2: the DMA API maps a page, or a list. */
	SIM_F_DMA_MAP,
	/* Making, changing or destroying a QP takes so many ms. */
	SIM_F_SLOW_QP,
	/* So does giving a registration back, and so does making one. */
	SIM_F_SLOW_MR,
	SIM_F_SLOW_REG,
	/* And querying a port. */
	SIM_F_SLOW_PORT,
	/* The work requests of a failed QP are flushed so many ms later. */
	SIM_F_SLOW_FLUSH,
	/* They are flushed without an event of their CQ, but with the QP's. */
	SIM_F_QUIET_FLUSH,
	/* A send or receive is refused, although the device has queued it. */
	SIM_F_SEND_TAKEN,
	SIM_F_RECV_TAKEN,
	/*
	 * An unsignaled send that was carried out stays until a later one has
	 * completed: until then it is flushed with those that were not.
	 */
	SIM_F_FORGET,
	/* A work request completes with the trigger's value as its status. */
	SIM_F_SEND,
	SIM_F_RECV,
	/* What happens to a message, or to its ACK. */
	SIM_F_DROP,
	SIM_F_LOSE_ACK,
	SIM_F_LATE_ACK,		/* the ACK comes with the next one */
	SIM_F_SWALLOW,		/* lost, but acknowledged */
	SIM_F_DELAY,
	SIM_F_DUPLICATE,
	SIM_F_CORRUPT,
	SIM_F_CORRUPT_RDMA,
	/* A send that fails raises an event of its QP before it completes. */
	SIM_F_FATAL,
	SIM_F_MAX
};

struct sim_trigger {
	u32 seen;		/* chances since the device was made */
	u32 after;		/* the first chance that is hit, from now */
	u32 count;		/* how many chances are hit */
	int value;
};

struct sim_faults {
	spinlock_t lock;	/* irqsave, protects all below; a leaf */
	struct sim_trigger trigger[SIM_F_MAX];
};

void sim_fault_init(struct sim_faults *faults);
int sim_fault_verb(struct sim_faults *faults, enum sim_fault verb);
void sim_fault_wait(struct sim_faults *faults, enum sim_fault fault);
bool sim_fault_hit(struct sim_faults *faults, enum sim_fault fault, int *value);
int sim_fault_set(struct sim_faults *faults, const char *text);
void sim_fault_show(struct sim_faults *faults, struct seq_file *seq);

#endif /* SIM_FAULT_H */
