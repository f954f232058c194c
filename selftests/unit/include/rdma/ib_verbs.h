/* SPDX-License-Identifier: GPL-2.0 */
/* Statuses with their numbers, and types of which only the size matters. */
#ifndef UNIT_RDMA_IB_VERBS_H
#define UNIT_RDMA_IB_VERBS_H

enum ib_wc_status {
	IB_WC_SUCCESS = 0,
	IB_WC_LOC_LEN_ERR = 1,
	IB_WC_LOC_PROT_ERR = 4,
	IB_WC_WR_FLUSH_ERR = 5,
};

struct ib_cqe {
	void *done;
};

struct ib_grh {
	unsigned char bytes[40];
};

#endif /* UNIT_RDMA_IB_VERBS_H */
