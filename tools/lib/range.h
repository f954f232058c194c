/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module accepts for a setting, from its own table, for callers that
 * must know before there is a module to ask.
 */
#ifndef RCL_RANGE_H
#define RCL_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rclink.h>

/* May field (enum rcl_policy_field) be value? 0, or -EINVAL and why not. */
int rcl_range_check(int field, uint32_t value, const char **why);

/* The value on a link for which none was given. */
uint32_t rcl_range_default(int field);

/*
 * Do these values go together? given has a bit, by enum rcl_policy_field, for
 * each that is in v; the others have their defaults. Returns the same as
 * rcl_range_check().
 */
int rcl_range_agree(uint32_t given, const uint32_t *v, const char **why);

/* Does a change take effect at once, and not only from the next epoch on? */
bool rcl_range_at_once(int field);

/* Can a link have this name? Returns the same as rcl_range_check(). */
int rcl_range_name(const char *name, const char **why);

/* Can a group have this address? */
bool rcl_range_mgid(const uint8_t gid[RCLINK_GID_LEN]);

#endif /* RCL_RANGE_H */
