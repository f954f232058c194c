/* SPDX-License-Identifier: GPL-2.0 */
/* What a policy may ask of a port: pure. */
#ifndef RCV_PORT_H
#define RCV_PORT_H

struct rcl_policy;
struct rcv_hca;

/*
 * Can the port that was opened carry a link of that policy, which is complete,
 * as it is now? 0, or -EINVAL with a sentence in why, as the module has it, but
 * for a hop limit: that of a process on RoCE the kernel sets by itself.
 */
int rcv_port_check(const struct rcv_hca *hca, const struct rcl_policy *policy,
		   const char **why);

#endif /* RCV_PORT_H */
