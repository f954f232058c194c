/* SPDX-License-Identifier: GPL-2.0 */
/* What an operator can set on a link, as words and their values. */
#ifndef RCL_SETTING_H
#define RCL_SETTING_H

#include <stdint.h>

struct rcl_policy;

/*
 * Set word, as "mtu", to value, as "1024", and note that it was given. 0, or
 * with a sentence in err: -ENOENT no such word, -EEXIST it was given already,
 * -EINVAL no such value, -EAGAIN a name of a user or group that nobody could be
 * asked for. Only the module knows what a device can do.
 */
int rcl_setting_parse(struct rcl_policy *policy, const char *word,
		      const char *value, char *err);

/*
 * Users and groups are asked for once each, those that nobody answered for
 * included, until this is called.
 */
void rcl_setting_forget(void);

#endif /* RCL_SETTING_H */
