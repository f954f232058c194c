/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink requests as plain structs. */
#ifndef RCL_NL_PARSE_H
#define RCL_NL_PARSE_H

#include <linux/types.h>

struct genl_info;
struct netlink_ext_ack;
struct rcl_endpoint;
struct rcl_policy_change;

#define rcl_nl_need(info, attr, name) \
	rcl_nl_require(info, attr, name ": the attribute is missing")

void rcl_nl_why(struct netlink_ext_ack *extack, const char *why);
int rcl_nl_once(struct genl_info *info, u64 lists);
int rcl_nl_require(struct genl_info *info, int attr, const char *text);
int rcl_nl_begin(struct genl_info *info, int attr, const char **name);
int rcl_nl_name(struct genl_info *info, int attr, const char **name);
void rcl_nl_parse_path(struct genl_info *info,
		       struct rcl_policy_change *path);
void rcl_nl_parse_policy(struct genl_info *info,
			 struct rcl_policy_change *change);
int rcl_nl_parse_end(struct genl_info *info, struct rcl_endpoint *end);

#endif /* RCL_NL_PARSE_H */
