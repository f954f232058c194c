/* SPDX-License-Identifier: GPL-2.0 */
/* What a policy may ask of a port: pure. */
#ifndef RCV_PORT_H
#define RCV_PORT_H

struct rcl_policy;
struct rcv_hca;

/*
 * Can the opened port, as it is now, carry a link of that policy, which is
 * complete? 0, or -EINVAL with a sentence in why. The rules are the module's,
 * except for a hop limit: on RoCE the kernel itself sets that of a process.
 */
int rcv_port_check(const struct rcv_hca *hca, const struct rcl_policy *policy,
		   const char **why);

#endif /* RCV_PORT_H */
