/* SPDX-License-Identifier: GPL-2.0 */
/* Who may open channels over a link, or to a group. */
#ifndef RCL_ACCESS_H
#define RCL_ACCESS_H

#include <linux/types.h>

struct cred;
struct rcl_link;

/**
 * struct rcl_access - like that of a file, in the initial user namespace
 * @owner: user ID
 * @group: group ID
 * @mode: permission bits
 */
struct rcl_access {
	u32 owner;
	u32 group;
	u32 mode;
};

bool rcl_access_may(const struct rcl_access *access, const struct cred *cred,
		    bool audit);

struct rcl_link *rcl_access_get(const char *name, const struct cred *cred);
int rcl_access_check(const char *name, const struct cred *cred, bool audit);

#endif /* RCL_ACCESS_H */
