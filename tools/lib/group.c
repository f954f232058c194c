// SPDX-License-Identifier: GPL-2.0
#include "group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "nl.h"
#include "out.h"
#include "text.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* How often a dump is asked for again when the groups change meanwhile. */
#define DUMP_TRIES	32

#define HEARD_MS	5000	/* of members, which speak each second */

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

static int no_memory(char *err)
{
	return rcl_fail(err, -ENOMEM, "out of memory");
}

static int get_text(const struct nlattr *nla, char *to, size_t size)
{
	if (!nla)
		return 0;
	if ((size_t)nla_len(nla) > size)
		return -EPROTO;
	nla_strlcpy(to, nla, size);
	return 0;
}

static int get_u32(const struct nlattr *nla, uint32_t *to)
{
	if (!nla)
		return 0;
	if (nla_len(nla) != sizeof(*to))
		return -EPROTO;
	*to = nla_get_u32(nla);
	return 0;
}

static int get_u64(const struct nlattr *nla, uint64_t *to)
{
	if (!nla)
		return 0;
	if (nla_len(nla) != sizeof(*to))
		return -EPROTO;
	*to = nla_get_u64(nla);
	return 0;
}

static int get_gid(const struct nlattr *nla, uint8_t to[RCLINK_GID_LEN])
{
	if (!nla)
		return 0;
	if (nla_len(nla) != RCLINK_GID_LEN)
		return -EPROTO;
	memcpy(to, nla_data(nla), RCLINK_GID_LEN);
	return 0;
}

static int get_stats(const struct nlattr *nest, struct rcl_group_info *info)
{
	struct nlattr *tb[RCLINK_A_GROUP_STATS_MAX + 1];
	size_t i;

	if (!nest)
		return 0;
	if (nla_parse_nested(tb, RCLINK_A_GROUP_STATS_MAX,
			     (struct nlattr *)nest, NULL))
		return -EPROTO;
	for (i = 1; i < ARRAY_SIZE(rcl_group_stat_word); i++) {
		if (get_u64(tb[i], &info->stats[i]))
			return -EPROTO;
	}
	return 0;
}

static int get_peer(const struct nlattr *nest, struct rcl_group_peer *peer)
{
	struct nlattr *tb[RCLINK_A_GROUP_PEER_MAX + 1];
	int bad;

	if (nla_parse_nested(tb, RCLINK_A_GROUP_PEER_MAX,
			     (struct nlattr *)nest, NULL))
		return -EPROTO;
	bad = get_u32(tb[RCLINK_A_GROUP_PEER_SENDER], &peer->sender);
	bad |= get_gid(tb[RCLINK_A_GROUP_PEER_GID], peer->gid);
	bad |= get_u64(tb[RCLINK_A_GROUP_PEER_MESSAGES], &peer->messages);
	bad |= get_u32(tb[RCLINK_A_GROUP_PEER_AGE], &peer->age);
	return bad;
}

/* Those that are there more than once. */
static int get_lists(const struct nlmsghdr *hdr, struct rcl_group_info *info)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	const struct nlattr *nla;
	int bad = 0;
	int rem;

	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0),
			  genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(nla) == RCLINK_A_GROUP_LINK &&
		    info->nlinks < RCL_GROUP_LINKS)
			bad |= get_text(nla, info->link[info->nlinks++],
					sizeof(info->link[0]));
		else if (nla_type(nla) == RCLINK_A_GROUP_PEER &&
			 info->npeers < RCL_GROUP_PEERS)
			bad |= get_peer(nla, &info->peer[info->npeers++]);
	}
	return bad;
}

static int get_access(struct nlattr **tb, struct rcl_policy *access)
{
	int bad = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(access_attrs); i++)
		bad |= get_u32(tb[access_attrs[i].attr],
			       &access->v[access_attrs[i].field]);
	return bad;
}

int rcl_group_get(const struct nlmsghdr *hdr, struct rcl_group_info *info)
{
	struct nlattr *tb[RCLINK_A_GROUP_MAX + 1];
	int bad;

	memset(info, 0, sizeof(*info));
	if (genlmsg_parse((struct nlmsghdr *)hdr, 0, tb, RCLINK_A_GROUP_MAX,
			  NULL))
		return -EPROTO;
	info->has_gid_index = tb[RCLINK_A_GROUP_GID_INDEX];
	info->has_qkey = tb[RCLINK_A_GROUP_QKEY];
	bad = get_text(tb[RCLINK_A_GROUP_NAME], info->name, sizeof(info->name));
	bad |= get_u32(tb[RCLINK_A_GROUP_ID], &info->id);
	bad |= get_text(tb[RCLINK_A_GROUP_DEVICE], info->device,
			sizeof(info->device));
	bad |= get_u32(tb[RCLINK_A_GROUP_PORT], &info->port);
	bad |= get_u32(tb[RCLINK_A_GROUP_GID_INDEX], &info->gid_index);
	bad |= get_gid(tb[RCLINK_A_GROUP_MGID], info->mgid);
	bad |= get_u32(tb[RCLINK_A_GROUP_MLID], &info->mlid);
	bad |= get_u32(tb[RCLINK_A_GROUP_QKEY], &info->qkey);
	bad |= get_u32(tb[RCLINK_A_GROUP_STATE], &info->state);
	bad |= get_u32(tb[RCLINK_A_GROUP_REASON], &info->reason);
	bad |= get_text(tb[RCLINK_A_GROUP_REASON_TEXT], info->reason_text,
			sizeof(info->reason_text));
	bad |= get_gid(tb[RCLINK_A_GROUP_GID], info->gid);
	bad |= get_u32(tb[RCLINK_A_GROUP_MTU], &info->mtu);
	bad |= get_stats(tb[RCLINK_A_GROUP_STATS], info);
	bad |= get_text(tb[RCLINK_A_GROUP_FROM], info->from,
			sizeof(info->from));
	info->has_key = tb[RCLINK_A_GROUP_KEY_ID];
	bad |= get_u64(tb[RCLINK_A_GROUP_KEY_ID], &info->key_id);
	bad |= get_u32(tb[RCLINK_A_GROUP_SENDER], &info->sender);
	bad |= get_u32(tb[RCLINK_A_GROUP_CONSUMERS], &info->consumers);
	bad |= get_access(tb, &info->access);
	bad |= get_u64(tb[RCLINK_A_GROUP_EVENT_SEQ], &info->event_seq);
	bad |= get_u32(tb[RCLINK_A_GROUP_EVENT_KIND], &info->event_kind);
	bad |= get_lists(hdr, info);
	return bad ? -EPROTO : 0;
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
	return failed ? -EMSGSIZE : 0;
}

static int send_msg(struct rcl_nl *nl, struct nl_msg *msg, int put,
		    rcl_nl_fn *fn, void *arg, char *err)
{
	if (put) {
		rcl_nl_msg_free(msg);
		return rcl_fail(err, -EMSGSIZE, "the request is too long");
	}
	return rcl_nl_request(nl, msg, &group_names, fn, arg, err);
}

int rcl_call_group_add(struct rcl_nl *nl, const struct rcl_group_info *group,
		       char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_ADD, 0);
	if (!msg)
		return no_memory(err);
	return send_msg(nl, msg, put_group(msg, group), NULL, NULL, err);
}

static int put_change(struct nl_msg *msg, const char *name,
		      const struct rcl_group_change *change)
{
	int failed = nla_put_string(msg, RCLINK_A_GROUP_NAME, name);
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

	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_SET, 0);
	if (!msg)
		return no_memory(err);
	return send_msg(nl, msg, put_change(msg, name, change), NULL, NULL,
			err);
}

int rcl_call_group_del(struct rcl_nl *nl, const char *name, char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_DEL, 0);
	if (!msg)
		return no_memory(err);
	return send_msg(nl, msg, nla_put_string(msg, RCLINK_A_GROUP_NAME, name),
			NULL, NULL, err);
}

struct group_list {
	struct rcl_group_info *infos;
	size_t num;
};

static int add_group(const struct nlmsghdr *hdr, void *arg)
{
	struct group_list *list = arg;
	struct rcl_group_info *infos;

	infos = realloc(list->infos, (list->num + 1) * sizeof(*infos));
	if (!infos)
		return -ENOMEM;
	list->infos = infos;
	return rcl_group_get(hdr, &infos[list->num++]);
}

static int ask_groups(struct rcl_nl *nl, const char *name,
		      struct group_list *list, char *err)
{
	struct nl_msg *msg;
	int put = 0;

	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_GET, name ? 0 : NLM_F_DUMP);
	if (!msg)
		return no_memory(err);
	if (name)
		put = nla_put_string(msg, RCLINK_A_GROUP_NAME, name);
	return send_msg(nl, msg, put, add_group, list, err);
}

int rcl_call_groups(struct rcl_nl *nl, const char *name,
		    struct rcl_group_info **infos, size_t *num, char *err)
{
	struct group_list list = { NULL, 0 };
	int tries = DUMP_TRIES;
	int ret;

	do {
		list.num = 0;
		ret = ask_groups(nl, name, &list, err);
	} while (ret == -EAGAIN && --tries);
	if (ret) {
		free(list.infos);
		return ret;
	}
	*infos = list.infos;
	*num = list.num;
	return 0;
}

static int get_region(const struct nlattr *nest,
		      struct rcl_group_region *region)
{
	struct nlattr *tb[RCLINK_A_GROUP_REGION_MAX + 1];
	int bad;

	if (nla_parse_nested(tb, RCLINK_A_GROUP_REGION_MAX,
			     (struct nlattr *)nest, NULL))
		return -EPROTO;
	bad = get_text(tb[RCLINK_A_GROUP_REGION_NAME], region->name,
		       sizeof(region->name));
	bad |= get_u64(tb[RCLINK_A_GROUP_REGION_LENGTH], &region->length);
	bad |= get_u32(tb[RCLINK_A_GROUP_REGION_RIGHTS], &region->rights);
	return bad;
}

static int get_regions(const struct nlmsghdr *hdr, void *arg)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	struct rcl_group_regions *all = arg;
	const struct nlattr *nla;
	int bad = 0;
	int rem;

	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0),
			  genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(nla) == RCLINK_A_GROUP_REGIONS)
			bad |= get_u32(nla, &all->total);
		else if (nla_type(nla) == RCLINK_A_GROUP_REGION &&
			 all->num < RCL_GROUP_REGIONS)
			bad |= get_region(nla, &all->region[all->num++]);
	}
	return bad ? -EPROTO : 0;
}

int rcl_call_group_regions(struct rcl_nl *nl, const char *name,
			   uint32_t sender, struct rcl_group_regions *regions,
			   char *err)
{
	struct nl_msg *msg;
	int put;

	memset(regions, 0, sizeof(*regions));
	msg = rcl_nl_msg(nl, RCLINK_CMD_GROUP_REGIONS, 0);
	if (!msg)
		return no_memory(err);
	put = nla_put_string(msg, RCLINK_A_GROUP_NAME, name);
	put |= nla_put_u32(msg, RCLINK_A_GROUP_SENDER, sender);
	return send_msg(nl, msg, put, get_regions, regions, err);
}

static void add_gid(struct json_object *obj, const char *key,
		    const uint8_t gid[RCLINK_GID_LEN])
{
	char buf[RCL_GID_TEXT_LEN];

	rcl_out_text(obj, key,
		     rcl_gid_is_unset(gid) ? NULL : rcl_gid_text(gid, buf));
}

/* A number of 64 bits is too much for what many read JSON with. */
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
		add_gid(one, "gid", peer->gid);
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
	rcl_out_text(obj, "device", info->device[0] ? info->device : NULL);
	rcl_out_known(obj, "port", info->port);
	if (info->gid_index == RCLINK_GID_INDEX_AUTO)
		rcl_out_text(obj, "gid_index", NULL);
	else
		rcl_out_u64(obj, "gid_index", info->gid_index);
	add_gid(obj, "gid", info->gid);
	add_gid(obj, "mgid", info->mgid);
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

/* Not by "name", as a link may have the same. */
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
	add_gid(obj, "gid", peer->gid);
	rcl_out_u64(obj, "age_ms", peer->age);
	return obj;
}
