// SPDX-License-Identifier: GPL-2.0
#include "group.h"

#include <errno.h>
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

static const char *const group_words[] = {
	[RCLINK_A_GROUP_NAME] = "name",
	[RCLINK_A_GROUP_DEVICE] = "device",
	[RCLINK_A_GROUP_PORT] = "port",
	[RCLINK_A_GROUP_GID_INDEX] = "gid-index",
	[RCLINK_A_GROUP_MGID] = "mgid",
	[RCLINK_A_GROUP_MLID] = "mlid",
	[RCLINK_A_GROUP_QKEY] = "qkey",
};

static const struct rcl_nl_names group_names = {
	.num = ARRAY_SIZE(group_words),
	.name = group_words,
};

static const char *const stats_words[] = {
	[RCLINK_A_GROUP_STATS_JOINS] = "joins",
	[RCLINK_A_GROUP_STATS_RX_SHORT] = "rx_short",
	[RCLINK_A_GROUP_STATS_RX_UNKNOWN_KEY] = "rx_unknown_key",
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
	for (i = 1; i < ARRAY_SIZE(stats_words); i++) {
		if (!tb[i])
			continue;
		if (nla_len(tb[i]) != sizeof(uint64_t))
			return -EPROTO;
		info->stats[i] = nla_get_u64(tb[i]);
	}
	return 0;
}

static int get_group(const struct nlmsghdr *hdr, struct rcl_group_info *info)
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
	return bad ? -EPROTO : 0;
}

static int put_group(struct nl_msg *msg, const struct rcl_group_info *group)
{
	int failed;

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
	return get_group(hdr, &infos[list->num++]);
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

static void add_gid(struct json_object *obj, const char *key,
		    const uint8_t gid[RCLINK_GID_LEN])
{
	char buf[RCL_GID_TEXT_LEN];

	rcl_out_text(obj, key,
		     rcl_gid_is_unset(gid) ? NULL : rcl_gid_text(gid, buf));
}

struct json_object *rcl_doc_group(const struct rcl_group_info *info)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *stats = json_object_new_object();
	size_t i;

	rcl_out_text(obj, "name", info->name);
	rcl_out_text(obj, "state", rcl_word(RCL_WORDS_GROUP_STATE,
					    info->state));
	rcl_out_text(obj, "reason", rcl_word(RCL_WORDS_REASON, info->reason));
	rcl_out_text(obj, "reason_text",
		     info->reason_text[0] ? info->reason_text : NULL);
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
	for (i = 1; i < ARRAY_SIZE(stats_words); i++)
		rcl_out_u64(stats, stats_words[i], info->stats[i]);
	json_object_object_add(obj, "stats", stats);
	return obj;
}
