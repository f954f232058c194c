/* SPDX-License-Identifier: GPL-2.0 */
/* The way to the peer's port. */
#ifndef RCL_PATH_H
#define RCL_PATH_H

#include <linux/types.h>

struct ib_gid_attr;
struct rcl_endpoint;
struct rcl_policy;
struct rdma_ah_attr;

int rcl_path_resolve(const struct ib_gid_attr *sgid,
		     const struct rcl_policy *policy,
		     const struct rcl_endpoint *remote,
		     struct rdma_ah_attr *ah, const char **why);

#endif /* RCL_PATH_H */
