// SPDX-License-Identifier: GPL-2.0
#include "port.h"

#include <errno.h>

#include "hca.h"
#include "link.h"

#define SEE	": see `rclink dev --verbs`"

static uint32_t rd_atomic_of(const struct rcv_hca *hca)
{
	int answers = hca->attr.orig_attr.max_qp_rd_atom;
	int asks = hca->attr.orig_attr.max_qp_init_rd_atom;

	return answers < asks ? answers : asks;
}

/* For the port as it is now. */
static int check_mtu(const struct rcv_hca *hca, uint32_t mtu, const char **why)
{
	if (mtu <= rcv_mtu_bytes(hca->port_attr.active_mtu))
		return 0;
	*why = "mtu is larger than the port's active one" SEE;
	return -EINVAL;
}

int rcv_port_check(const struct rcv_hca *hca, const struct rcl_policy *policy,
		   const char **why)
{
	const struct ibv_port_attr *port = &hca->port_attr;
	const uint32_t *v = policy->v;

	if (v[RCL_P_MTU] > rcv_mtu_bytes(port->max_mtu))
		*why = "mtu is larger than the port's" SEE;
	else if (v[RCL_P_QPS] >= (uint32_t)hca->attr.orig_attr.max_qp)
		*why = "qps is more than the device has: choose fewer";
	else if (v[RCL_P_RD_ATOMIC] > rd_atomic_of(hca))
		*why = "rd-atomic is more than the device has: choose less";
	else if (v[RCL_P_PKEY_INDEX] >= port->pkey_tbl_len)
		*why = "pkey-index is beyond the port's partition key table";
	else if (v[RCL_P_HOP_LIMIT] &&
		 hca->link_layer == RCLINK_LINK_LAYER_ROCE)
		*why = "hop-limit is the route's on RoCE: leave it out";
	else
		return check_mtu(hca, v[RCL_P_MTU], why);
	return -EINVAL;
}
