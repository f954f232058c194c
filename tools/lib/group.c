// SPDX-License-Identifier: GPL-2.0
#include "group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "field.h"
#include "list.h"
#include "nl.h"
#include "out.h"
#include "text.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define HEARD_MS	5000	/* members speak once a second */

#define KEY_LEN		17	/* of the text of a key's identifier */

static const char *const group_words[] = {
	[RCLINK_A_GROUP_NAME] = "name",
	[RCLINK_A_GROUP_DEVICE] = "device",
	[RCLINK_A_GROUP_PORT] = "port",
	[RCLINK_A_GROUP_GID_INDEX] = "gid-index",
	[RCLINK_A_GROUP_MGID] = "mgid",
	[RCLINK_A_GROUP_MLID] = "mlid",
	[RCLINK_A_GROUP_QKEY] = "qkey",
	[RCLINK_A_GROUP_FROM] = "from",
	[RCLINK_A_GROUP_LINK] = "link",
	[RCLINK_A_GROUP_SENDER] = "sender",
	[RCLINK_A_GROUP_NO_LINK] = "no-link",
	[RCLINK_A_GROUP_REKEY] = "rekey",
	[RCLINK_A_GROUP_OWNER] = "owner",
	[RCLINK_A_GROUP_GROUP] = "group",
	[RCLINK_A_GROUP_MODE] = "mode",
};

static const struct rcl_nl_names group_names = {
	.num = ARRAY_SIZE(group_words),
	.name = group_words,
};

const char *const rcl_group_stat_word[RCLINK_A_GROUP_STATS_PAD] = {
	[RCLINK_A_GROUP_STATS_JOINS] = "joins",
	[RCLINK_A_GROUP_STATS_KEYS] = "keys",
	[RCLINK_A_GROUP_STATS_TX_MESSAGES] = "tx_messages",
	[RCLINK_A_GROUP_STATS_RX_MESSAGES] = "rx_messages",
	[RCLINK_A_GROUP_STATS_RX_SHORT] = "rx_short",
	[RCLINK_A_GROUP_STATS_RX_UNKNOWN_KEY] = "rx_unknown_key",
	[RCLINK_A_GROUP_STATS_RX_FORGED] = "rx_forged",
	[RCLINK_A_GROUP_STATS_RX_AGAIN] = "rx_again",
	[RCLINK_A_GROUP_STATS_RX_OWN] = "rx_own",
	[RCLINK_A_GROUP_STATS_RX_MALFORMED] = "rx_malformed",
	[RCLINK_A_GROUP_STATS_RX_MISSED] = "rx_missed",
};

static const struct {
	int field;		/* of struct rcl_policy */
	int attr;
} access_attrs[] = {
	{ RCL_P_OWNER, RCLINK_A_GROUP_OWNER },
	{ RCL_P_GROUP, RCLINK_A_GROUP_GROUP },
	{ RCL_P_MODE, RCLINK_A_GROUP_MODE },
};

#define M(attr, kind, member) \
	{ RCLINK_A_GROUP_##attr, kind, \
	  offsetof(struct rcl_group_info, member) }

static const struct rcl_field group_fields[] = {
	M(NAME, RCLINK_NAME_MAX + 1, name),
	M(ID, RCL_U32, id),
	M(DEVICE, RCLINK_DEVICE_MAX + 1, device),
	M(PORT, RCL_U32, port),
	M(GID_INDEX, RCL_U32, gid_index),
	M(MGID, RCL_GID, mgid),
	M(MLID, RCL_U32, mlid),
	M(QKEY, RCL_U32, qkey),
	M(STATE, RCL_U32, state),
	M(REASON, RCL_U32, reason),
	M(REASON_TEXT, RCL_GROUP_TEXT_LEN, reason_text),
	M(REFUSAL, RCL_GROUP_TEXT_LEN, refusal),
	M(GID, RCL_GID, gid),
	M(MTU, RCL_U32, mtu),
	M(FROM, RCLINK_NAME_MAX + 1, from),
	M(KEY_ID, RCL_U64, key_id),
	M(SENDER, RCL_U32, sender),
	M(CONSUMERS, RCL_U32, consumers),
	M(OWNER, RCL_U32, access.v[RCL_P_OWNER]),
	M(GROUP, RCL_U32, access.v[RCL_P_GROUP]),
	M(MODE, RCL_U32, access.v[RCL_P_MODE]),
	M(EVENT_SEQ, RCL_U64, event_seq),
	M(EVENT_KIND, RCL_U32, event_kind),
};

#define P(attr, kind, member) \
	{ RCLINK_A_GROUP_PEER_##attr, kind, \
	  offsetof(struct rcl_group_peer, member) }

static const struct rcl_field peer_fields[] = {
	P(SENDER, RCL_U32, sender),
	P(GID, RCL_GID, gid),
	P(MESSAGES, RCL_U64, messages),
	P(AGE, RCL_U32, age),
};

#define R(attr, kind, member) \
	{ RCLINK_A_GROUP_REGION_##attr, kind, \
	  offsetof(struct rcl_group_region, member) }

static const struct rcl_field region_fields[] = {
	R(NAME, RCL_GROUP_REGION_LEN, name),
	R(LENGTH, RCL_U64, length),
	R(RIGHTS, RCL_U32, rights),
};

static int get_peer(const struct nlattr *nest, struct rcl_group_peer *peer)
{
	struct nlattr *tb[RCLINK_A_GROUP_PEER_MAX + 1];

	if (nla_parse_nested(tb, RCLINK_A_GROUP_PEER_MAX,
			     (struct nlattr *)nest, NULL))
		return -EPROTO;
	return rcl_fields_get(tb, peer_fields, ARRAY_SIZE(peer_fields), peer);
}

/* Attributes that may occur more than once. */
static int get_lists(const struct nlmsghdr *hdr, struct rcl_group_info *info)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	const struct nlattr *nla;
	int rem, ret = 0;

	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0),
			  genlmsg_attrlen(genl, 0), rem) {
		if (ret)
			break;
		if (nla_type(nla) == RCLINK_A_GROUP_LINK &&
		    info->nlinks < RCLINK_GROUP_LINKS_MAX)
			nla_strlcpy(info->link[info->nlinks++], nla,
				    sizeof(info->link[0]));
		else if (nla_type(nla) == RCLINK_A_GROUP_PEER &&
			 info->npeers < RCLINK_GROUP_MEMBERS_MAX)
			ret = get_peer(nla, &info->peer[info->npeers++]);
	}
	return ret;
}

int rcl_group_get(const struct nlmsghdr *hdr, struct rcl_group_info *info)
{
	struct nlattr *tb[RCLINK_A_GROUP_MAX + 1];
	int ret;

	memset(info, 0, sizeof(*info));
	if (genlmsg_parse((struct nlmsghdr *)hdr, 0, tb, RCLINK_A_GROUP_MAX,
			  NULL))
		return -EPROTO;
	info->has_gid_index = tb[RCLINK_A_GROUP_GID_INDEX];
	info->has_qkey = tb[RCLINK_A_GROUP_QKEY];
	info->has_key = tb[RCLINK_A_GROUP_KEY_ID];
	ret = rcl_fields_get(tb, group_fields, ARRAY_SIZE(group_fields), info);
	if (!ret && tb[RCLINK_A_GROUP_STATS])
		ret = rcl_u64s_get(tb[RCLINK_A_GROUP_STATS], info->stats,
				   ARRAY_SIZE(rcl_group_stat_word));
	return ret ? ret : get_lists(hdr, info);
}

static int put_name(struct nl_msg *msg, const char *name)
{
	return nla_put_string(msg, RCLINK_A_GROUP_NAME, name);
}

static int put_access(struct nl_msg *msg, const struct rcl_policy *access)
{
	int failed = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(access_attrs); i++)
		if (access->given & 1u << access_attrs[i].field)
			failed |= nla_put_u32(msg, access_attrs[i].attr,
					access->v[access_attrs[i].field]);
	return failed;
}

static int put_group(struct nl_msg *msg, const struct rcl_group_info *group)
{
	int failed;
	size_t i;

	failed = nla_put_string(msg, RCLINK_A_GROUP_NAME, group->name);
	failed |= nla_put(msg, RCLINK_A_GROUP_MGID, sizeof(group->mgid),
			  group->mgid);
	if (group->device[0])
		failed |= nla_put_string(msg, RCLINK_A_GROUP_DEVICE,
					 group->device);
	if (group->port)
		failed |= nla_put_u32(msg, RCLINK_A_GROUP_PORT, group->port);
	if (group->has_gid_index)
		failed |= nla_put_u32(msg, RCLINK_A_GROUP_GID_INDEX,
				      group->gid_index);
	if (group->mlid)
		failed |= nla_put_u32(msg, RCLINK_A_GROUP_MLID, group->mlid);
	if (group->has_qkey)
		failed |= nla_put_u32(msg, RCLINK_A_GROUP_QKEY, group->qkey);
	if (group->from[0])
		failed |= nla_put_string(msg, RCLINK_A_GROUP_FROM, group->from);
	for (i = 0; i < group->nlinks; i++)
		failed |= nla_put_string(msg, RCLINK_A_GROUP_LINK,
					 group->link[i]);
	failed |= put_access(msg, &group->access);
	return failed;
}

int rcl_call_group_add(struct rcl_nl *nl, const struct rcl_group_info *group,
		       char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_ADD, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, put_group(msg, group), &group_names,
			      NULL, NULL, err);
}

static int put_change(struct nl_msg *msg, const char *name,
		      const struct rcl_group_change *change)
{
	int failed = put_name(msg, name);
	size_t i;

	for (i = 0; i < change->non; i++)
		failed |= nla_put_string(msg, RCLINK_A_GROUP_LINK,
					 change->on[i]);
	for (i = 0; i < change->noff; i++)
		failed |= nla_put_string(msg, RCLINK_A_GROUP_NO_LINK,
					 change->off[i]);
	if (change->rekey)
		failed |= nla_put_flag(msg, RCLINK_A_GROUP_REKEY);
	failed |= put_access(msg, &change->access);
	return failed;
}

int rcl_call_group_set(struct rcl_nl *nl, const char *name,
		       const struct rcl_group_change *change, char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_SET, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, put_change(msg, name, change),
			      &group_names, NULL, NULL, err);
}

int rcl_call_group_del(struct rcl_nl *nl, const char *name, char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_DEL, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, put_name(msg, name), &group_names, NULL,
			      NULL, err);
}

static int get_group(const struct nlmsghdr *hdr, void *arg)
{
	return rcl_group_get(hdr, arg);
}

static bool have_one_name(const void *a, const void *b)
{
	const struct rcl_group_info *x = a, *y = b;

	return !strcmp(x->name, y->name);
}

int rcl_call_groups(struct rcl_nl *nl, const char *name,
		    struct rcl_group_info **infos, size_t *num, char *err)
{
	static const struct rcl_list_kind groups = {
		.cmd = RCLINK_CMD_GROUP_GET,
		.put_name = put_name,
		.names = &group_names,
		.size = sizeof(struct rcl_group_info),
		.same = have_one_name,
		.get = get_group,
	};
	struct rcl_list list = { .kind = &groups };
	int ret;

	ret = rcl_list_ask(&list, nl, name, err);
	if (ret)
		return ret;
	*infos = list.infos;
	*num = list.num;
	return 0;
}

static int get_region(const struct nlattr *nest,
		      struct rcl_group_region *region)
{
	struct nlattr *tb[RCLINK_A_GROUP_REGION_MAX + 1];

	if (nla_parse_nested(tb, RCLINK_A_GROUP_REGION_MAX,
			     (struct nlattr *)nest, NULL))
		return -EPROTO;
	return rcl_fields_get(tb, region_fields, ARRAY_SIZE(region_fields),
			      region);
}

static int get_regions(const struct nlmsghdr *hdr, void *arg)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	struct rcl_group_regions *all = arg;
	const struct nlattr *nla;
	int rem, ret = 0;

	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0),
			  genlmsg_attrlen(genl, 0), rem) {
		if (ret)
			break;
		if (nla_type(nla) == RCLINK_A_GROUP_REGIONS)
			ret = rcl_u32_get(nla, &all->total);
		else if (nla_type(nla) == RCLINK_A_GROUP_REGION &&
			 all->num < RCLINK_GROUP_REGIONS_MAX)
			ret = get_region(nla, &all->region[all->num++]);
	}
	return ret;
}

int rcl_call_group_regions(struct rcl_nl *nl, const char *name,
			   uint32_t sender, struct rcl_group_regions *regions,
			   char *err)
{
	struct nl_msg *msg;
	int put;

	memset(regions, 0, sizeof(*regions));
	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_REGIONS, 0, err);
	if (!msg)
		return -ENOMEM;
	put = put_name(msg, name);
	put |= nla_put_u32(msg, RCLINK_A_GROUP_SENDER, sender);
	return rcl_nl_request(nl, msg, put, &group_names, get_regions, regions,
			      err);
}

/* A 64-bit number is too large for many JSON readers. */
static const char *key_text(const struct rcl_group_info *info,
			    char buf[KEY_LEN])
{
	snprintf(buf, KEY_LEN, "%016llx", (unsigned long long)info->key_id);
	return info->has_key ? buf : NULL;
}

static void add_key(struct json_object *obj, const struct rcl_group_info *info)
{
	char id[KEY_LEN];

	rcl_out_text(obj, "key_id", key_text(info, id));
	if (info->has_key)
		rcl_out_u64(obj, "sender", info->sender);
	else
		rcl_out_text(obj, "sender", NULL);
}

static void add_links(struct json_object *obj,
		      const struct rcl_group_info *info)
{
	struct json_object *links = json_object_new_array();
	size_t i;

	for (i = 0; i < info->nlinks; i++)
		json_object_array_add(links,
				      json_object_new_string(info->link[i]));
	rcl_out_text(obj, "from", info->from[0] ? info->from : NULL);
	json_object_object_add(obj, "links", links);
}

bool rcl_group_is_heard(const struct rcl_group_peer *peer)
{
	return peer->age < HEARD_MS;
}

size_t rcl_group_heard(const struct rcl_group_info *info)
{
	size_t i, num = 0;

	for (i = 0; i < info->npeers; i++)
		num += rcl_group_is_heard(&info->peer[i]);
	return num;
}

size_t rcl_group_members(const struct rcl_group_info *info)
{
	return rcl_group_heard(info) + info->has_key;
}

uint64_t rcl_group_dropped(const struct rcl_group_info *info)
{
	static const int drops[] = {
		RCLINK_A_GROUP_STATS_RX_SHORT,
		RCLINK_A_GROUP_STATS_RX_UNKNOWN_KEY,
		RCLINK_A_GROUP_STATS_RX_FORGED,
		RCLINK_A_GROUP_STATS_RX_AGAIN,
		RCLINK_A_GROUP_STATS_RX_MALFORMED,
		RCLINK_A_GROUP_STATS_RX_MISSED,
	};
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drops); i++)
		sum += info->stats[drops[i]];
	return sum;
}

static void add_peers(struct json_object *obj,
		      const struct rcl_group_info *info)
{
	struct json_object *peers = json_object_new_array();
	size_t i;

	for (i = 0; i < info->npeers; i++) {
		const struct rcl_group_peer *peer = &info->peer[i];
		struct json_object *one = json_object_new_object();

		rcl_out_u64(one, "sender", peer->sender);
		rcl_out_gid(one, "gid", peer->gid);
		rcl_out_u64(one, "messages", peer->messages);
		rcl_out_u64(one, "age_ms", peer->age);
		json_object_array_add(peers, one);
	}
	rcl_out_u64(obj, "members", rcl_group_members(info));
	json_object_object_add(obj, "peers", peers);
}

static void add_state(struct json_object *obj,
		      const struct rcl_group_info *info)
{
	rcl_out_text(obj, "state", rcl_word(RCL_WORDS_GROUP_STATE,
					    info->state));
	rcl_out_text(obj, "reason", rcl_word(RCL_WORDS_REASON, info->reason));
	rcl_out_text(obj, "reason_text",
		     info->reason_text[0] ? info->reason_text : NULL);
}

struct json_object *rcl_doc_group(const struct rcl_group_info *info)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *stats = json_object_new_object();
	char mode[12];
	size_t i;

	rcl_out_text(obj, "name", info->name);
	add_state(obj, info);
	rcl_out_text(obj, "refusal", info->refusal[0] ? info->refusal : NULL);
	rcl_out_text(obj, "device", info->device[0] ? info->device : NULL);
	rcl_out_known(obj, "port", info->port);
	if (info->gid_index == RCLINK_GID_INDEX_AUTO)
		rcl_out_text(obj, "gid_index", NULL);
	else
		rcl_out_u64(obj, "gid_index", info->gid_index);
	rcl_out_gid(obj, "gid", info->gid);
	rcl_out_gid(obj, "mgid", info->mgid);
	rcl_out_known(obj, "mlid", info->mlid);
	if (info->has_qkey)
		rcl_out_u64(obj, "qkey", info->qkey);
	rcl_out_known(obj, "mtu", info->mtu);
	add_links(obj, info);
	add_key(obj, info);
	add_peers(obj, info);
	rcl_out_u64(obj, "consumers", info->consumers);
	rcl_out_u64(obj, "owner", info->access.v[RCL_P_OWNER]);
	rcl_out_u64(obj, "group", info->access.v[RCL_P_GROUP]);
	snprintf(mode, sizeof(mode), "%04o", info->access.v[RCL_P_MODE]);
	rcl_out_text(obj, "mode", mode);
	for (i = 1; i < ARRAY_SIZE(rcl_group_stat_word); i++)
		rcl_out_u64(stats, rcl_group_stat_word[i], info->stats[i]);
	json_object_object_add(obj, "stats", stats);
	rcl_out_u64(obj, "event_seq", info->event_seq);
	return obj;
}

/* Not under "name", because a link may have the same. */
struct json_object *rcl_doc_group_event(const struct rcl_group_info *info,
					const char *kind)
{
	struct json_object *obj = json_object_new_object();
	char id[KEY_LEN];

	rcl_out_text(obj, "kind", kind);
	rcl_out_u64(obj, "event_seq", info->event_seq);
	rcl_out_text(obj, "group", info->name);
	rcl_out_u64(obj, "id", info->id);
	add_state(obj, info);
	rcl_out_text(obj, "key_id", key_text(info, id));
	return obj;
}

struct json_object *rcl_doc_region(const struct rcl_group_peer *peer,
				   const struct rcl_group_region *region)
{
	static const char *const words[] = {
		"write", "read", "atomic", "invalidate"
	};
	struct json_object *obj = json_object_new_object();
	struct json_object *rights = json_object_new_array();
	size_t i;

	rcl_out_text(obj, "name", region->name);
	rcl_out_u64(obj, "bytes", region->length);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (region->rights & 1u << i)
			json_object_array_add(rights,
					      json_object_new_string(words[i]));
	json_object_object_add(obj, "rights", rights);
	rcl_out_u64(obj, "sender", peer->sender);
	rcl_out_gid(obj, "gid", peer->gid);
	rcl_out_u64(obj, "age_ms", peer->age);
	return obj;
}
