/* SPDX-License-Identifier: GPL-2.0 */
/* Snapshots of the core as netlink attributes. */
#ifndef RCL_NL_PUT_H
#define RCL_NL_PUT_H

#include <linux/types.h>

struct rcl_endpoint;
struct rcl_entry_info;
struct rcl_link_info;
struct rcl_port;
struct sk_buff;

int rcl_nl_put_port(struct sk_buff *skb, const struct rcl_port *port);
int rcl_nl_put_link(struct sk_buff *skb, const struct rcl_link_info *info,
		    bool secrets);
int rcl_nl_put_end(struct sk_buff *skb, int attr,
		   const struct rcl_endpoint *end);
int rcl_nl_put_counts(struct sk_buff *skb, int attr, const u64 *values, int n,
		      int pad);
int rcl_nl_put_entry(struct sk_buff *skb, const struct rcl_entry_info *info);

#endif /* RCL_NL_PUT_H */
