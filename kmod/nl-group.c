// SPDX-License-Identifier: GPL-2.0
/* Commands of the family that are about groups. See nl.c for the rules. */
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "group-look.h"
#include "group.h"
#include "nl-base.h"
#include "nl-gen.h"
#include "nl-parse.h"
#include "nl-put.h"
#include "reason.h"

static const char rcl_nl_no_group[] = "name: there is no group of that name";

static u32 rcl_nl_group_u32(struct genl_info *info, int attr, u32 without)
{
	struct nlattr *nla = info->attrs[attr];

	return nla ? nla_get_u32(nla) : without;
}

/* The policy requires no NUL of attributes that may be repeated. */
static bool rcl_nl_is_text(const struct nlattr *nla)
{
	return nla_len(nla) > 1 && memchr(nla_data(nla), 0, nla_len(nla));
}

static int rcl_nl_parse_links(struct genl_info *info, int attr,
			      struct rcl_keeper_links *links)
{
	bool off = attr == RCLINK_A_GROUP_NO_LINK;
	const char *why = NULL;
	const struct nlattr *nla;
	int rem;

	nla_for_each_attr(nla, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rem) {
		if (nla_type(nla) != attr)
			continue;
		if (!rcl_nl_is_text(nla))
			why = off ? "no-link: must be a name" :
				    "link: must be a name";
		else if (links->n == RCLINK_GROUP_LINKS_MAX)
			why = off ? "no-link: more than 32 of them" :
				    "link: more than 32 of them";
		if (why) {
			NL_SET_BAD_ATTR(info->extack, nla);
			rcl_nl_why(info->extack, why);
			return -EINVAL;
		}
		nla_strscpy(links->name[links->n++], nla,
			    sizeof(links->name[0]));
	}
	return 0;
}

/* A forgotten text must not mean the same as a missing attribute. */
static int rcl_nl_parse_text(struct genl_info *info, int attr, char *text,
			     int size, const char *why)
{
	const struct nlattr *nla = info->attrs[attr];

	if (!nla || nla_strscpy(text, nla, size) > 0)
		return 0;
	NL_SET_BAD_ATTR(info->extack, nla);
	rcl_nl_why(info->extack, why);
	return -EINVAL;
}

static void rcl_nl_parse_access(struct genl_info *info,
				struct rcl_access *access)
{
	access->owner = rcl_nl_group_u32(info, RCLINK_A_GROUP_OWNER, 0);
	access->group = rcl_nl_group_u32(info, RCLINK_A_GROUP_GROUP, 0);
	access->mode = rcl_nl_group_u32(info, RCLINK_A_GROUP_MODE, 0600);
}

static int rcl_nl_parse_group(struct genl_info *info,
			      struct rcl_group_conf *conf)
{
	struct nlattr **attrs = info->attrs;
	struct rcl_mcast_addr *addr = &conf->addr;
	int ret;

	nla_strscpy(conf->name, attrs[RCLINK_A_GROUP_NAME], sizeof(conf->name));
	ret = rcl_nl_parse_text(info, RCLINK_A_GROUP_DEVICE, conf->device,
				sizeof(conf->device),
				"device: must not be empty");
	if (!ret)
		ret = rcl_nl_parse_text(info, RCLINK_A_GROUP_FROM, conf->from,
					sizeof(conf->from),
					"from: must not be empty");
	if (ret)
		return ret;
	conf->port = rcl_nl_group_u32(info, RCLINK_A_GROUP_PORT, 0);
	conf->gid_index = rcl_nl_group_u32(info, RCLINK_A_GROUP_GID_INDEX,
					   RCLINK_GID_INDEX_AUTO);
	memcpy(addr->gid, nla_data(attrs[RCLINK_A_GROUP_MGID]),
	       sizeof(addr->gid));
	addr->lid = rcl_nl_group_u32(info, RCLINK_A_GROUP_MLID, 0);
	addr->qkey = rcl_nl_group_u32(info, RCLINK_A_GROUP_QKEY,
				      rcl_mcast_random_qkey());
	conf->qkey_given = attrs[RCLINK_A_GROUP_QKEY];
	rcl_nl_parse_access(info, &conf->access);
	return 0;
}

int rclink_nl_group_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct {
		struct rcl_group_conf conf;
		struct rcl_keeper_links links;
	} *group;
	const char *why = NULL;
	const char *name;
	int ret;

	ret = rcl_nl_once(info, BIT_ULL(RCLINK_A_GROUP_LINK));
	if (!ret)
		ret = rcl_nl_name(info, RCLINK_A_GROUP_NAME, &name);
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_GROUP_MGID, "mgid");
	if (ret)
		return ret;
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_nl_parse_group(info, &group->conf);
	if (!ret)
		ret = rcl_nl_parse_links(info, RCLINK_A_GROUP_LINK,
					 &group->links);
	if (!ret)
		ret = rcl_group_create(&group->conf, &group->links, &why);
	kfree(group);
	return rcl_nl_result(info, ret, rcl_nl_no_group, why);
}

static int rcl_nl_parse_change(struct genl_info *info,
			       struct rcl_group_change *change)
{
	struct rcl_keeper_change *key = &change->key;
	int ret;

	ret = rcl_nl_parse_links(info, RCLINK_A_GROUP_LINK, &key->on);
	if (!ret)
		ret = rcl_nl_parse_links(info, RCLINK_A_GROUP_NO_LINK,
					 &key->off);
	if (ret)
		return ret;
	key->rekey = info->attrs[RCLINK_A_GROUP_REKEY];
	change->owner = info->attrs[RCLINK_A_GROUP_OWNER];
	change->group = info->attrs[RCLINK_A_GROUP_GROUP];
	change->mode = info->attrs[RCLINK_A_GROUP_MODE];
	rcl_nl_parse_access(info, &change->access);
	if (key->on.n || key->off.n || key->rekey || change->owner ||
	    change->group || change->mode)
		return 0;
	rcl_nl_why(info->extack, "nothing is to change");
	return -EINVAL;
}

int rclink_nl_group_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rcl_group_change *change;
	const char *why = NULL;
	const char *name;
	int ret;

	ret = rcl_nl_once(info, BIT_ULL(RCLINK_A_GROUP_LINK) |
			  BIT_ULL(RCLINK_A_GROUP_NO_LINK));
	if (!ret)
		ret = rcl_nl_name(info, RCLINK_A_GROUP_NAME, &name);
	if (ret)
		return ret;
	change = kzalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_nl_parse_change(info, change);
	if (!ret)
		ret = rcl_group_set(name, change, &why);
	kfree(change);
	return rcl_nl_result(info, ret, rcl_nl_no_group, why);
}

int rclink_nl_group_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_GROUP_NAME, &name);
	if (ret)
		return ret;
	return rcl_nl_result(info, rcl_group_delete(name), rcl_nl_no_group,
			     NULL);
}

static int rcl_nl_put_group_stats(struct sk_buff *skb,
				  const struct rcl_group_info *group)
{
	const struct rcl_talk_stats *stats = &group->talk.stats;
	const u64 values[] = {
		[RCLINK_A_GROUP_STATS_JOINS] = group->joins,
		[RCLINK_A_GROUP_STATS_KEYS] = stats->keys,
		[RCLINK_A_GROUP_STATS_TX_MESSAGES] = stats->tx_messages,
		[RCLINK_A_GROUP_STATS_RX_MESSAGES] = stats->rx_messages,
		[RCLINK_A_GROUP_STATS_RX_SHORT] = stats->rx_short,
		[RCLINK_A_GROUP_STATS_RX_UNKNOWN_KEY] = stats->rx_unknown_key,
		[RCLINK_A_GROUP_STATS_RX_FORGED] = stats->rx_forged,
		[RCLINK_A_GROUP_STATS_RX_AGAIN] = stats->rx_again,
		[RCLINK_A_GROUP_STATS_RX_OWN] = stats->rx_own,
		[RCLINK_A_GROUP_STATS_RX_MALFORMED] = stats->rx_malformed,
		[RCLINK_A_GROUP_STATS_RX_MISSED] = group->missed,
	};

	return rcl_nl_put_counts(skb, RCLINK_A_GROUP_STATS, values,
				 ARRAY_SIZE(values), RCLINK_A_GROUP_STATS_PAD);
}

static int rcl_nl_put_group_conf(struct sk_buff *skb,
				 const struct rcl_group_conf *conf)
{
	const struct rcl_mcast_addr *addr = &conf->addr;

	if (nla_put_string(skb, RCLINK_A_GROUP_DEVICE, conf->device) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_PORT, conf->port) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_GID_INDEX, conf->gid_index) ||
	    nla_put(skb, RCLINK_A_GROUP_MGID, sizeof(addr->gid), addr->gid) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_OWNER, conf->access.owner) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_GROUP, conf->access.group) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_MODE, conf->access.mode) ||
	    (conf->from[0] &&
	     nla_put_string(skb, RCLINK_A_GROUP_FROM, conf->from)))
		return -EMSGSIZE;
	return addr->lid ? nla_put_u32(skb, RCLINK_A_GROUP_MLID, addr->lid) : 0;
}

static int rcl_nl_put_group_links(struct sk_buff *skb,
				  const struct rcl_keeper_links *links)
{
	u32 i;

	for (i = 0; i < links->n; i++)
		if (nla_put_string(skb, RCLINK_A_GROUP_LINK, links->name[i]))
			return -EMSGSIZE;
	return 0;
}

static int rcl_nl_put_group_state(struct sk_buff *skb,
				  const struct rcl_group_info *group)
{
	if (nla_put_u32(skb, RCLINK_A_GROUP_STATE, group->state) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_REASON, group->reason.reason) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_WC_STATUS,
			group->reason.wc_status) ||
	    nla_put_string(skb, RCLINK_A_GROUP_REASON_TEXT,
			   rcl_reason_text(&group->reason)) ||
	    (group->refusal &&
	     nla_put_string(skb, RCLINK_A_GROUP_REFUSAL, group->refusal)))
		return -EMSGSIZE;
	if (group->state != RCLINK_GROUP_STATE_JOINED)
		return 0;
	if (nla_put(skb, RCLINK_A_GROUP_GID, sizeof(group->gid), group->gid) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_MTU, group->mtu))
		return -EMSGSIZE;
	return 0;
}

static int rcl_nl_put_peer(struct sk_buff *skb, u32 sender,
			   const struct rcl_talk_peer *peer)
{
	struct nlattr *nest;
	u64 age = get_jiffies_64() - peer->last;

	age = min_t(u64, jiffies64_to_msecs(age), U32_MAX);
	nest = nla_nest_start(skb, RCLINK_A_GROUP_PEER);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RCLINK_A_GROUP_PEER_SENDER, sender) ||
	    nla_put(skb, RCLINK_A_GROUP_PEER_GID, sizeof(peer->gid),
		    peer->gid) ||
	    nla_put_u64_64bit(skb, RCLINK_A_GROUP_PEER_MESSAGES,
			      peer->messages, RCLINK_A_GROUP_PEER_PAD) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_PEER_AGE, age))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int rcl_nl_put_talk(struct sk_buff *skb,
			   const struct rcl_talk_info *talk)
{
	u32 i;

	if (!talk->id)
		return 0;
	if (nla_put_u64_64bit(skb, RCLINK_A_GROUP_KEY_ID, talk->id,
			      RCLINK_A_GROUP_PAD) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_SENDER, talk->sender))
		return -EMSGSIZE;
	for (i = 0; i < RCLINK_GROUP_MEMBERS_MAX; i++)
		if (talk->peer[i].messages &&
		    rcl_nl_put_peer(skb, i, &talk->peer[i]))
			return -EMSGSIZE;
	return 0;
}

static int rcl_nl_put_group(struct sk_buff *skb,
			    const struct rcl_group_info *group, bool secrets)
{
	if (nla_put_string(skb, RCLINK_A_GROUP_NAME, group->conf.name) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_ID, group->id) ||
	    rcl_nl_put_group_conf(skb, &group->conf) ||
	    rcl_nl_put_group_links(skb, &group->links) ||
	    rcl_nl_put_group_state(skb, group) ||
	    rcl_nl_put_group_stats(skb, group) ||
	    rcl_nl_put_talk(skb, &group->talk) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_CONSUMERS, group->consumers) ||
	    nla_put_u64_64bit(skb, RCLINK_A_GROUP_EVENT_SEQ, group->event_seq,
			      RCLINK_A_GROUP_PAD))
		return -EMSGSIZE;
	return secrets ? nla_put_u32(skb, RCLINK_A_GROUP_QKEY,
				     group->conf.addr.qkey) : 0;
}

static int rcl_nl_reply_group(struct genl_info *info,
			      const struct rcl_group_info *group, bool secrets)
{
	struct sk_buff *msg;
	void *hdr;

	msg = rcl_nl_reply(info, RCLINK_CMD_GROUP_GET, &hdr);
	if (!msg)
		return rcl_nl_no_memory(info->extack);
	return rcl_nl_reply_end(info, msg, hdr,
				rcl_nl_put_group(msg, group, secrets));
}

int rclink_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rcl_group_info *group;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_GROUP_NAME, &name);
	if (ret)
		return ret;
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_nl_result(info, rcl_group_info(name, group), rcl_nl_no_group,
			    NULL);
	if (!ret)
		ret = rcl_nl_reply_group(info, group,
					 netlink_capable(skb, CAP_NET_ADMIN));
	kfree(group);
	return ret;
}

static int rcl_nl_put_region(struct sk_buff *skb,
			     const struct rcl_announce_region *region)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, RCLINK_A_GROUP_REGION);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_string(skb, RCLINK_A_GROUP_REGION_NAME, region->name) ||
	    nla_put_u64_64bit(skb, RCLINK_A_GROUP_REGION_LENGTH, region->len,
			      RCLINK_A_GROUP_REGION_PAD) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_REGION_RIGHTS, region->rights))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int rcl_nl_put_said(struct sk_buff *skb, const char *name, u32 sender,
			   const struct rcl_announce_list *list)
{
	u32 i;

	if (nla_put_string(skb, RCLINK_A_GROUP_NAME, name) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_SENDER, sender) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_REGIONS, list->total))
		return -EMSGSIZE;
	for (i = 0; i < list->n; i++)
		if (rcl_nl_put_region(skb, &list->region[i]))
			return -EMSGSIZE;
	return 0;
}

static int rcl_nl_reply_said(struct genl_info *info, const char *name,
			     u32 sender, struct rcl_announce_list *list)
{
	struct sk_buff *msg;
	void *hdr;
	int ret;

	ret = rcl_group_said(name, sender, list);
	if (ret)
		return rcl_nl_result(info, ret, NULL,
			"name, sender: no such member has said anything");
	msg = rcl_nl_reply(info, RCLINK_CMD_GROUP_REGIONS, &hdr);
	if (!msg)
		return rcl_nl_no_memory(info->extack);
	return rcl_nl_reply_end(info, msg, hdr,
				rcl_nl_put_said(msg, name, sender, list));
}

int rclink_nl_group_regions_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rcl_announce_list *list;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_GROUP_NAME, &name);
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_GROUP_SENDER, "sender");
	if (ret)
		return ret;
	list = kmalloc(sizeof(*list), GFP_KERNEL);
	if (!list)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_nl_reply_said(info, name,
				nla_get_u32(info->attrs[RCLINK_A_GROUP_SENDER]),
				list);
	kfree(list);
	return ret;
}

static int rcl_nl_dump_group(struct sk_buff *skb, struct netlink_callback *cb,
			     const struct rcl_group_info *group)
{
	bool secrets = cb->args[RCL_NL_SECRETS];
	void *hdr = rcl_nl_dump_put(skb, cb, RCLINK_CMD_GROUP_GET);

	if (!hdr)
		return -EMSGSIZE;
	return rcl_nl_dump_end(skb, hdr, rcl_nl_put_group(skb, group, secrets));
}

int rclink_nl_group_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rcl_group_info *group;
	int ret;

	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return rcl_nl_no_memory(cb->extack);
	cb->seq = rcl_nl_seq(rcl_group_generation());
	/* args[0]: id of the last group that has been sent */
	while (!(ret = rcl_group_info_next(cb->args[0], group))) {
		ret = rcl_nl_dump_group(skb, cb, group);
		if (ret)
			break;
		cb->args[0] = group->id;
	}
	kfree(group);
	/* Not for -EINTR: a caller being killed has not seen all of them. */
	if (ret == -ENOENT)
		ret = 0;
	return skb->len ? : ret;
}
