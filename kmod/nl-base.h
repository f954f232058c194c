/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family, and what its answers have in common. */
#ifndef RCL_NL_BASE_H
#define RCL_NL_BASE_H

#include <linux/types.h>

/*
 * Bytes: enough for 256 GIDs, two ends of 65 QPs, 32 links and 64 peers,
 * or RCLINK_GROUP_REGIONS_MAX regions.
 */
#define RCL_NL_BIG	24576

/* Index in a dump's args, beside its position: requester may see secrets. */
#define RCL_NL_SECRETS	1

struct genl_family;
struct genl_info;
struct netlink_callback;
struct netlink_ext_ack;
struct sk_buff;

extern struct genl_family rcl_nl_family;

int rcl_nl_no_memory(struct netlink_ext_ack *extack);
int rcl_nl_result(struct genl_info *info, int ret, const char *missing,
		  const char *why);
struct sk_buff *rcl_nl_reply(struct genl_info *info, u8 cmd, void **hdr);
int rcl_nl_reply_end(struct genl_info *info, struct sk_buff *skb, void *hdr,
		     int ret);
unsigned int rcl_nl_seq(unsigned int generation);
void *rcl_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int rcl_nl_dump_end(struct sk_buff *skb, void *hdr, int ret);

#endif /* RCL_NL_BASE_H */
