/* SPDX-License-Identifier: GPL-2.0 */
/* Commands of the generic netlink family. */
#ifndef RCL_NL_H
#define RCL_NL_H

int rcl_nl_init(void);
void rcl_nl_exit(void);

#endif /* RCL_NL_H */
