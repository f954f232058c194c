// SPDX-License-Identifier: GPL-2.0
/*
 * Faults, and when they happen. Each kind of fault counts its chances; a test
 * names the n-th from now on, and how many from there on.
 *
 * Verbs that destroy do not fail, because the core warns of that for kernel
 * users. Ending a registration may fail: the device then uses its pages until
 * it is gone itself, and warns if somebody has freed them. Destroying a QP may
 * fail, too; it then exists as long as the device, with its CQ and PD.
 */
#include "fault.h"

#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#define SIM_DELAY_MS	100

static const char * const names[SIM_F_MAX] = {
	[SIM_F_ANY] = "any",
	[SIM_F_ALLOC_PD] = "alloc_pd",
	[SIM_F_GET_DMA_MR] = "get_dma_mr",
	[SIM_F_ALLOC_MR] = "alloc_mr",
	[SIM_F_MAP_MR_SG] = "map_mr_sg",
	[SIM_F_CREATE_CQ] = "create_cq",
	[SIM_F_CREATE_QP] = "create_qp",
	[SIM_F_MODIFY_QP] = "modify_qp",
	[SIM_F_QUERY_QP] = "query_qp",
	[SIM_F_POST_SEND] = "post_send",
	[SIM_F_POST_RECV] = "post_recv",
	[SIM_F_CREATE_SRQ] = "create_srq",
	[SIM_F_MODIFY_SRQ] = "modify_srq",
	[SIM_F_POST_SRQ_RECV] = "post_srq_recv",
	[SIM_F_CREATE_AH] = "create_ah",
	[SIM_F_ATTACH_MCAST] = "attach_mcast",
	[SIM_F_QUERY_PORT] = "query_port",
	[SIM_F_QUERY_GID] = "query_gid",
	[SIM_F_QUERY_PKEY] = "query_pkey",
	[SIM_F_POLL_CQ] = "poll_cq",
	[SIM_F_REQ_NOTIFY_CQ] = "req_notify_cq",
	[SIM_F_DEREG_MR] = "dereg_mr",
	[SIM_F_DESTROY_QP] = "destroy_qp",
	[SIM_F_DMA_MAP] = "dma_map",
	[SIM_F_SLOW_QP] = "slow_qp",
	[SIM_F_SLOW_MR] = "slow_mr",
	[SIM_F_SLOW_REG] = "slow_reg",
	[SIM_F_SLOW_PORT] = "slow_port",
	[SIM_F_SLOW_FLUSH] = "slow_flush",
	[SIM_F_QUIET_FLUSH] = "quiet_flush",
	[SIM_F_SEND_TAKEN] = "send_taken",
	[SIM_F_RECV_TAKEN] = "recv_taken",
	[SIM_F_FORGET] = "forget",
	[SIM_F_SEND] = "send",
	[SIM_F_RECV] = "recv",
	[SIM_F_DROP] = "drop",
	[SIM_F_LOSE_ACK] = "lose_ack",
	[SIM_F_LATE_ACK] = "late_ack",
	[SIM_F_SWALLOW] = "swallow",
	[SIM_F_DELAY] = "delay",
	[SIM_F_DUPLICATE] = "duplicate",
	[SIM_F_CORRUPT] = "corrupt",
	[SIM_F_CORRUPT_RDMA] = "corrupt_rdma",
	[SIM_F_FATAL] = "fatal",
};

void sim_fault_init(struct sim_faults *faults)
{
	spin_lock_init(&faults->lock);
}

static bool sim_trigger_hit(struct sim_trigger *t)
{
	t->seen++;
	if (!t->count)
		return false;
	if (t->after > 1) {
		t->after--;
		return false;
	}
	t->count--;
	return true;
}

/* Returns the errno that the call is to fail with, or 0. */
int sim_fault_verb(struct sim_faults *faults, enum sim_fault verb)
{
	struct sim_trigger *any = &faults->trigger[SIM_F_ANY];
	struct sim_trigger *t = &faults->trigger[verb];
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&faults->lock, flags);
	if (sim_trigger_hit(t))
		ret = t->value;
	if (verb < SIM_F_POLL_CQ && sim_trigger_hit(any))
		ret = any->value;
	spin_unlock_irqrestore(&faults->lock, flags);
	return ret;
}

bool sim_fault_hit(struct sim_faults *faults, enum sim_fault fault, int *value)
{
	struct sim_trigger *t = &faults->trigger[fault];
	unsigned long flags;
	bool hit;

	spin_lock_irqsave(&faults->lock, flags);
	hit = sim_trigger_hit(t);
	if (hit && value)
		*value = t->value;
	spin_unlock_irqrestore(&faults->lock, flags);
	return hit;
}

/* May sleep, for as long as a test says. */
void sim_fault_wait(struct sim_faults *faults, enum sim_fault fault)
{
	int ms;

	if (sim_fault_hit(faults, fault, &ms))
		msleep(ms);
}

static int sim_fault_value(enum sim_fault fault)
{
	switch (fault) {
	case SIM_F_SEND:
	case SIM_F_RECV:
		return IB_WC_LOC_QP_OP_ERR;
	case SIM_F_DELAY:
	case SIM_F_SLOW_QP:
	case SIM_F_SLOW_MR:
	case SIM_F_SLOW_REG:
	case SIM_F_SLOW_PORT:
	case SIM_F_SLOW_FLUSH:
		return SIM_DELAY_MS;
	default:
		return -ENOMEM;
	}
}

static bool sim_fault_value_ok(enum sim_fault fault, int value)
{
	switch (fault) {
	case SIM_F_SEND:
	case SIM_F_RECV:
		return value > IB_WC_SUCCESS && value <= IB_WC_GENERAL_ERR;
	case SIM_F_DELAY:
	case SIM_F_SLOW_QP:
	case SIM_F_SLOW_MR:
	case SIM_F_SLOW_REG:
	case SIM_F_SLOW_PORT:
	case SIM_F_SLOW_FLUSH:
		return value > 0 && value <= 60000;
	default:
		return value < 0 && value >= -MAX_ERRNO;
	}
}

/* NAME N [COUNT [VALUE]]; COUNT 0: no more */
int sim_fault_set(struct sim_faults *faults, const char *text)
{
	struct sim_trigger new = { .count = 1 };
	struct sim_trigger *t;
	char name[16];
	int i, n;

	n = sscanf(text, "%15s %u %u %d", name, &new.after, &new.count,
		   &new.value);
	if (n < 2)
		return -EINVAL;
	i = match_string(names, SIM_F_MAX, name);
	if (i < 0)
		return i;
	if (n < 4)
		new.value = sim_fault_value(i);
	if (!new.after || !sim_fault_value_ok(i, new.value))
		return -EINVAL;
	t = &faults->trigger[i];
	spin_lock_irq(&faults->lock);
	new.seen = t->seen;
	*t = new;
	spin_unlock_irq(&faults->lock);
	return 0;
}

void sim_fault_show(struct sim_faults *faults, struct seq_file *seq)
{
	struct sim_trigger t;
	int i;

	for (i = 0; i < SIM_F_MAX; i++) {
		spin_lock_irq(&faults->lock);
		t = faults->trigger[i];
		spin_unlock_irq(&faults->lock);
		seq_printf(seq, "%s seen %u armed %u\n", names[i], t.seen,
			   t.count);
	}
}
