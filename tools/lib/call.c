// SPDX-License-Identifier: GPL-2.0
#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "list.h"

/* A record that keeps growing is read no further than twice its size. */
#define RECORD_END	(2 * RCLINK_RECORD_MAX)

#define PORTS_MAX	255	/* of a device */

static int call_policy(struct rcl_nl *nl, uint8_t cmd, const char *name,
		       const struct rcl_policy *policy, char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, cmd, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, rcl_link_put_policy(msg, name, policy),
			      &rcl_link_names, NULL, NULL, err);
}

int rcl_call_new(struct rcl_nl *nl, const char *name,
		 const struct rcl_policy *policy, char *err)
{
	return call_policy(nl, RCLINK_CMD_LINK_NEW, name, policy, err);
}

int rcl_call_set(struct rcl_nl *nl, const char *name,
		 const struct rcl_policy *policy, char *err)
{
	return call_policy(nl, RCLINK_CMD_LINK_SET, name, policy, err);
}

/* A request that carries nothing but the name of the link. */
static int call_name(struct rcl_nl *nl, uint8_t cmd, const char *name,
		     char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, cmd, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, rcl_link_put_name(msg, name),
			      &rcl_link_names, NULL, NULL, err);
}

int rcl_call_delete(struct rcl_nl *nl, const char *name, char *err)
{
	return call_name(nl, RCLINK_CMD_LINK_DEL, name, err);
}

int rcl_call_disconnect(struct rcl_nl *nl, const char *name, char *err)
{
	return call_name(nl, RCLINK_CMD_LINK_DISCONNECT, name, err);
}

int rcl_call_replace(struct rcl_nl *nl, const char *name, uint64_t epoch,
		     char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_LINK_REPLACE, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, rcl_link_put_epoch(msg, name, epoch),
			      &rcl_link_names, NULL, NULL, err);
}

int rcl_call_rotate(struct rcl_nl *nl, const char *name, char *err)
{
	return call_name(nl, RCLINK_CMD_LINK_ROTATE, name, err);
}

static int get_link(const struct nlmsghdr *hdr, void *arg)
{
	return rcl_link_get(hdr, arg);
}

static bool have_one_name(const void *a, const void *b)
{
	const struct rcl_link_info *x = a, *y = b;

	return !strcmp(x->name, y->name);
}

int rcl_call_links(struct rcl_nl *nl, const char *name,
		   struct rcl_link_info **infos, size_t *num, char *err)
{
	static const struct rcl_list_kind links = {
		.cmd = RCLINK_CMD_LINK_GET,
		.put_name = rcl_link_put_name,
		.names = &rcl_link_names,
		.size = sizeof(struct rcl_link_info),
		.same = have_one_name,
		.get = get_link,
	};
	struct rcl_list list = { .kind = &links };
	int ret;

	ret = rcl_list_ask(&list, nl, name, err);
	if (ret)
		return ret;
	*infos = list.infos;
	*num = list.num;
	return 0;
}

static int get_dev(const struct nlmsghdr *hdr, void *arg)
{
	return rcl_dev_get(hdr, arg);
}

static void drop_dev(void *one)
{
	rcl_dev_info_free(one);
}

/* Whatever port is asked for next, it would be the same. */
static bool ends_list(int ret)
{
	return ret == -ENOMEM || ret == -ESHUTDOWN || ret == -ETIMEDOUT;
}

/*
 * Ask for the ports of one device only: another one may be slow to answer. Of
 * ports that cannot be read, none hides another, as in a list of all devices.
 * -ENODEV after the last port.
 */
static int ask_ports(struct rcl_list *list, struct rcl_nl *nl, const char *name,
		     char *err)
{
	char why[RCL_ERR_LEN];
	struct nl_msg *msg;
	uint32_t port;
	int ret = 0, first = 0;

	for (port = 1; port <= PORTS_MAX && ret != -ENODEV; port++) {
		msg = rcl_nl_msg(nl, RCLINK_CMD_DEV_GET, 0, err);
		if (!msg)
			return -ENOMEM;
		ret = rcl_list_add(list, nl, msg, rcl_dev_put(msg, name, port),
				   why);
		if (ends_list(ret))
			return rcl_fail(err, ret, "%s", why);
		if (ret && !first)
			first = rcl_fail(err, ret, "%s", why);
	}
	if (list->num)
		return 0;
	return first == -ENODEV ? rcl_fail(err, -ENODEV,
					   "there is no such RDMA device") :
				  first;
}

int rcl_call_devs(struct rcl_nl *nl, const char *name,
		  struct rcl_dev_info **infos, size_t *num, char *err)
{
	static const struct rcl_list_kind devs = {
		.cmd = RCLINK_CMD_DEV_GET,
		.size = sizeof(struct rcl_dev_info),
		.get = get_dev,
		.drop = drop_dev,
	};
	struct rcl_list list = { .kind = &devs };
	int ret;

	ret = name ? ask_ports(&list, nl, name, err) :
		     rcl_list_ask(&list, nl, NULL, err);
	if (ret) {
		rcl_list_clear(&list);
		return ret;
	}
	*infos = list.infos;
	*num = list.num;
	return 0;
}

void rcl_call_devs_free(struct rcl_dev_info *infos, size_t num)
{
	while (num)
		rcl_dev_info_free(&infos[--num]);
	free(infos);
}

struct entry_list {
	struct rcl_entry *entries;
	size_t num;
};

static int add_entries(const struct nlmsghdr *hdr, void *arg)
{
	struct entry_list *list = arg;

	return rcl_record_get(hdr, &list->entries, &list->num);
}

static int ask_entries(struct rcl_nl *nl, const char *name, uint64_t number,
		       struct entry_list *list, char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_RECORD_GET, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, rcl_record_put(msg, name, number),
			      &rcl_record_names, add_entries, list, err);
}

/* Each answer has as many entries as fit; the last one has none. */
int rcl_call_record(struct rcl_nl *nl, const char *name,
		    struct rcl_entry **entries, size_t *num, char *err)
{
	struct entry_list list = { NULL, 0 };
	uint64_t number = 1;
	size_t before;
	int ret;

	do {
		before = list.num;
		ret = ask_entries(nl, name, number, &list, err);
		if (list.num)
			number = list.entries[list.num - 1].number + 1;
	} while (!ret && list.num > before && list.num < RECORD_END);
	if (ret) {
		free(list.entries);
		return ret;
	}
	*entries = list.entries;
	*num = list.num;
	return 0;
}

int rcl_call_note(struct rcl_nl *nl, const char *name, const char *text,
		  char *err)
{
	char note[RCLINK_NOTE_MAX + 1];
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_LINK_NOTE, 0, err);
	if (!msg)
		return -ENOMEM;
	snprintf(note, sizeof(note), "%s", text);
	return rcl_nl_request(nl, msg, rcl_note_put(msg, name, note),
			      &rcl_record_names, NULL, NULL, err);
}

int rcl_call_prepare(struct rcl_nl *nl, const char *name,
		     const struct rcl_path *path, bool rotate,
		     struct rcl_endpoint *local, char *err)
{
	struct rcl_link_info info = { 0 };
	struct rcl_policy policy = { 0 };
	struct nl_msg *msg;
	int ret;

	if (path) {
		strcpy(policy.device, path->device);
		policy.device_given = true;
		policy.given = 1u << RCL_P_PORT | 1u << RCL_P_GID_INDEX;
		policy.v[RCL_P_PORT] = path->port;
		policy.v[RCL_P_GID_INDEX] = path->gid_index;
	}
	msg = rcl_nl_msg(nl, RCLINK_CMD_LINK_PREPARE, 0, err);
	if (!msg)
		return -ENOMEM;
	ret = rcl_link_put_policy(msg, name, &policy);
	if (!ret && rotate && nla_put_flag(msg, RCLINK_A_LINK_ROTATE))
		ret = -EMSGSIZE;
	ret = rcl_nl_request(nl, msg, ret, &rcl_link_names, get_link, &info,
			     err);
	if (ret)
		return ret;
	if (!info.has_local)
		return rcl_fail(err, -EPROTO,
				"the module did not say what it prepared");
	*local = info.local;
	return 0;
}

int rcl_call_connect(struct rcl_nl *nl, const struct rcl_connect *c,
		     uint64_t *agreed, char *err)
{
	struct rcl_link_info info = { 0 };
	struct nl_msg *msg;
	int ret;

	msg = rcl_nl_msg(nl, RCLINK_CMD_LINK_CONNECT, 0, err);
	if (!msg)
		return -ENOMEM;
	ret = rcl_nl_request(nl, msg, rcl_link_put_connect(msg, c),
			     &rcl_link_names, get_link, &info, err);
	*agreed = info.epoch;
	return ret;
}

int rcl_call_activate(struct rcl_nl *nl, const char *name, uint64_t epoch,
		      const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_LINK_ACTIVATE, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg,
			      rcl_link_put_activate(msg, name, epoch, key),
			      &rcl_link_names, NULL, NULL, err);
}

int rcl_call_ping(struct rcl_nl *nl, const struct rcl_ping *ping, char *err)
{
	struct nl_msg *msg;

	msg = rcl_nl_msg(nl, RCLINK_CMD_PING, 0, err);
	if (!msg)
		return -ENOMEM;
	return rcl_nl_request(nl, msg, rcl_ping_put(msg, ping),
			      &rcl_ping_names, NULL, NULL, err);
}

static bool is_command(const struct nlmsghdr *hdr, uint8_t cmd)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);

	return genlmsg_valid_hdr((struct nlmsghdr *)hdr, 0) && genl->cmd == cmd;
}

bool rcl_is_link_event(const struct nlmsghdr *hdr)
{
	return is_command(hdr, RCLINK_CMD_LINK_NTF);
}

bool rcl_is_group_event(const struct nlmsghdr *hdr)
{
	return is_command(hdr, RCLINK_CMD_GROUP_NTF);
}

bool rcl_is_dev_event(const struct nlmsghdr *hdr)
{
	return is_command(hdr, RCLINK_CMD_DEV_NTF);
}

bool rcl_is_ping_result(const struct nlmsghdr *hdr)
{
	return is_command(hdr, RCLINK_CMD_PING_NTF);
}
