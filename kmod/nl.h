/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family. */
#ifndef RCL_NL_H
#define RCL_NL_H

struct genl_family;

extern struct genl_family rcl_nl_family;

int rcl_nl_init(void);
void rcl_nl_exit(void);

#endif /* RCL_NL_H */
