/* SPDX-License-Identifier: GPL-2.0 */
/* Who may open channels over a link. */
#ifndef RCL_ACCESS_H
#define RCL_ACCESS_H

struct cred;
struct rcl_link;

struct rcl_link *rcl_access_get(const char *name, const struct cred *cred);
int rcl_access_check(const char *name, const struct cred *cred);

#endif /* RCL_ACCESS_H */
