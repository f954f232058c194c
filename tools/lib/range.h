/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module takes for a setting, from its own table, for who must know
 * before there is a module to ask.
 */
#ifndef RCL_RANGE_H
#define RCL_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rclink.h>

/* May field, of enum rcl_policy_field, be value? 0, or -EINVAL and why not. */
int rcl_range_check(int field, uint32_t value, const char **why);

/* The value of a link for which nobody gave one. */
uint32_t rcl_range_default(int field);

/*
 * Do these values go together? given has a bit for each that is in v, by
 * enum rcl_policy_field; the others are as by default. As rcl_range_check().
 */
int rcl_range_agree(uint32_t given, const uint32_t *v, const char **why);

/* Does a change hold at once, and not from the next epoch on? */
bool rcl_range_at_once(int field);

/* Can name be that of a link? As rcl_range_check(). */
int rcl_range_name(const char *name, const char **why);

/* Is it the address of a group? */
bool rcl_range_mgid(const uint8_t gid[RCLINK_GID_LEN]);

#endif /* RCL_RANGE_H */
