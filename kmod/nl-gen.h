/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rclink.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_RCLINK_GEN_H
#define _LINUX_RCLINK_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rclink.h>

/* Common nested types */
extern const struct nla_policy rclink_endpoint_nl_policy[RCLINK_A_ENDPOINT_MASKED_ATOMICS + 1];
extern const struct nla_policy rclink_qp_nl_policy[RCLINK_A_QP_PSN + 1];

extern const struct nla_policy rclink_dev_get_nl_policy[RCLINK_A_DEV_PORT + 1];

extern const struct nla_policy rclink_link_new_nl_policy[RCLINK_A_LINK_NETDEV + 1];

extern const struct nla_policy rclink_link_set_nl_policy[RCLINK_A_LINK_NETDEV + 1];

extern const struct nla_policy rclink_link_del_nl_policy[RCLINK_A_LINK_NAME + 1];

extern const struct nla_policy rclink_link_get_nl_policy[RCLINK_A_LINK_NAME + 1];

extern const struct nla_policy rclink_link_prepare_nl_policy[RCLINK_A_LINK_ROTATE + 1];

extern const struct nla_policy rclink_link_connect_nl_policy[RCLINK_A_LINK_REMOTE + 1];

extern const struct nla_policy rclink_link_activate_nl_policy[RCLINK_A_LINK_KEY + 1];

extern const struct nla_policy rclink_link_disconnect_nl_policy[RCLINK_A_LINK_NAME + 1];

extern const struct nla_policy rclink_ping_nl_policy[RCLINK_A_PING_COUNT + 1];

extern const struct nla_policy rclink_record_get_nl_policy[RCLINK_A_RECORD_NUMBER + 1];

extern const struct nla_policy rclink_link_note_nl_policy[RCLINK_A_RECORD_TEXT + 1];

extern const struct nla_policy rclink_link_replace_nl_policy[RCLINK_A_LINK_EPOCH + 1];

extern const struct nla_policy rclink_link_rotate_nl_policy[RCLINK_A_LINK_NAME + 1];

extern const struct nla_policy rclink_group_add_nl_policy[RCLINK_A_GROUP_MODE + 1];

extern const struct nla_policy rclink_group_del_nl_policy[RCLINK_A_GROUP_NAME + 1];

extern const struct nla_policy rclink_group_get_nl_policy[RCLINK_A_GROUP_NAME + 1];

extern const struct nla_policy rclink_group_regions_nl_policy[RCLINK_A_GROUP_SENDER + 1];

extern const struct nla_policy rclink_group_set_nl_policy[RCLINK_A_GROUP_MODE + 1];

/* Ops table for rclink */
extern const struct genl_ops rclink_nl_ops[19];

int rclink_nl_dump_begin(struct netlink_callback *cb);

int rclink_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rclink_nl_link_new_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_del_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_get_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rclink_nl_link_prepare_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_connect_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_activate_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_disconnect_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_ping_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_record_get_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_note_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_replace_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_link_rotate_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_group_add_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_group_del_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_group_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int rclink_nl_group_regions_doit(struct sk_buff *skb, struct genl_info *info);
int rclink_nl_group_set_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	RCLINK_NLGRP_EVENTS,
};

#endif /* _LINUX_RCLINK_GEN_H */
