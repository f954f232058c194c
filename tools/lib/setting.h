/* SPDX-License-Identifier: GPL-2.0 */
/* What an operator can set on a link, as words and their values. */
#ifndef RCL_SETTING_H
#define RCL_SETTING_H

#include <stdint.h>

struct rcl_policy;

/*
 * Set word, such as "mtu", to value, such as "1024", and note that it was
 * given. 0, or with a sentence in err: -ENOENT for no such word, -EEXIST if it
 * was given already, -EINVAL for no such value, -EAGAIN if a user or group
 * could not be looked up. Only the module knows what a device can do.
 */
int rcl_setting_parse(struct rcl_policy *policy, const char *word,
		      const char *value, char *err);

/*
 * Each user and group is looked up only once, even if nobody answered, until
 * this is called.
 */
void rcl_setting_forget(void);

#endif /* RCL_SETTING_H */
