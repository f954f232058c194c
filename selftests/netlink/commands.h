/* SPDX-License-Identifier: GPL-2.0 */
/* One request for each command of the family. For nl_fault.c alone. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rcl.h"

#define SETTLE_MS	300	/* for work that a command defers */

static struct rcl_end ends[2];

static int run_new(struct genl_sock *s)
{
	return rcl_new(s, "a");
}

static int run_set(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_SET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "a");
	genl_put_str(&m, RCLINK_A_LINK_DEVICE, rcl_device);
	genl_put_u32(&m, RCLINK_A_LINK_QPS, 2);
	return genl_ask(s, &m, NULL, NULL);
}

static int run_del(struct genl_sock *s)
{
	return rcl_del(s, "a");
}

static int run_get(struct genl_sock *s)
{
	return rcl_named(s, RCLINK_CMD_LINK_GET, "a", NULL);
}

static void ignore(const struct genl_msg *m, void *arg)
{
	(void)m;
	(void)arg;
}

static int run_dump(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	return genl_dump(s, &m, ignore, NULL);
}

static int run_dev_get(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_DEV_GET);
	genl_put_str(&m, RCLINK_A_DEV_NAME, rcl_device);
	genl_put_u32(&m, RCLINK_A_DEV_PORT, 1);
	return genl_ask(s, &m, NULL, NULL);
}

static int run_dev_dump(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_DEV_GET);
	return genl_dump(s, &m, ignore, NULL);
}

static int run_prepare(struct genl_sock *s)
{
	struct rcl_end end;

	return rcl_prepare(s, "a", &end);
}

static int run_connect(struct genl_sock *s)
{
	return rcl_connect(s, "a", ends[0].epoch, RCLINK_ROLE_INITIATOR,
			   &ends[1], NULL);
}

static int run_activate(struct genl_sock *s)
{
	int ret;

	ret = rcl_activate(s, "a", 1, NULL);
	return ret ? ret : rcl_activate(s, "b", 1, NULL);
}

static int run_prepare_beside(struct genl_sock *s)
{
	struct rcl_end end;

	return rcl_prepare_beside(s, "a", &end);
}

static int run_activate_beside(struct genl_sock *s)
{
	int ret;

	ret = rcl_activate(s, "a", 2, NULL);
	return ret ? ret : rcl_activate(s, "b", 2, NULL);
}

static int run_replace(struct genl_sock *s)
{
	return rcl_replace(s, "a", 1, NULL);
}

static int run_rotate(struct genl_sock *s)
{
	return rcl_named(s, RCLINK_CMD_LINK_ROTATE, "a", NULL);
}

static int run_note(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NOTE);
	genl_put_str(&m, RCLINK_A_RECORD_LINK, "a");
	genl_put_str(&m, RCLINK_A_RECORD_TEXT, "a note");
	return genl_ask(s, &m, NULL, NULL);
}

static int run_record_get(struct genl_sock *s)
{
	struct genl_msg m, answer;
	int ret;

	genl_begin(&m, s, RCLINK_CMD_RECORD_GET);
	genl_put_str(&m, RCLINK_A_RECORD_LINK, "a");
	ret = genl_ask(s, &m, &answer, NULL);
	if (!ret && !genl_attr(&answer, RCLINK_A_RECORD_ENTRY))
		return -EPROTO;
	return ret;
}

static int run_disconnect(struct genl_sock *s)
{
	return rcl_disconnect(s, "a");
}

static int run_pings(struct genl_sock *s)
{
	struct rcl_pong pong = {};
	uint32_t op;
	int ret;

	for (op = RCLINK_PING_OP_SEND; op <= RCLINK_PING_OP_FADD; op++) {
		ret = rcl_ping(s, "a", op, -1, op, NULL);
		if (!ret)
			ret = rcl_pong(s, &pong, 5000);
		if (ret)
			return ret;
		if (pong.error && pong.error != ENOMEM &&
		    pong.error != ENOTCONN)
			return -(int)pong.error;
	}
	return 0;
}

/*
 * Has a command that succeeded done its work, as far as that can be seen? @ret
 * and @a are those of rcl_view() for link a, which may have gone down since.
 */
static bool is_done(uint8_t cmd, int ret, const struct rcl_view *a)
{
	bool down = !ret && a->state == RCLINK_LINK_STATE_DOWN;

	switch (cmd) {
	case RCLINK_CMD_LINK_NEW:
		return !ret;
	case RCLINK_CMD_LINK_SET:
		return !ret && !strcmp(a->device, rcl_device);
	case RCLINK_CMD_LINK_DEL:
		return ret == -ENOENT;
	case RCLINK_CMD_LINK_PREPARE:
		return down ||
		       (!ret && a->state == RCLINK_LINK_STATE_PREPARED);
	case RCLINK_CMD_LINK_CONNECT:
		return down ||
		       (!ret && a->state == RCLINK_LINK_STATE_CONNECTED);
	case RCLINK_CMD_LINK_DISCONNECT:
		return down;
	default:
		return true;
	}
}

static int run_group_add(struct genl_sock *s)
{
	struct genl_msg m;
	uint8_t mgid[RCLINK_GID_LEN];
	uint32_t mlid;

	rcl_group_at(mgid, &mlid);
	genl_begin(&m, s, RCLINK_CMD_GROUP_ADD);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
	genl_put_u32(&m, RCLINK_A_GROUP_MLID, mlid);
	genl_put_str(&m, RCLINK_A_GROUP_LINK, "a");
	return genl_ask(s, &m, NULL, NULL);
}

static int run_group_set(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_GROUP_SET);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	genl_put_str(&m, RCLINK_A_GROUP_LINK, "b");
	genl_put_str(&m, RCLINK_A_GROUP_NO_LINK, "a");
	genl_put(&m, RCLINK_A_GROUP_REKEY, NULL, 0);
	genl_put_u32(&m, RCLINK_A_GROUP_MODE, 0660);
	return genl_ask(s, &m, NULL, NULL);
}

static int run_group_del(struct genl_sock *s)
{
	return rcl_named(s, RCLINK_CMD_GROUP_DEL, "g", NULL);
}

static int run_group_get(struct genl_sock *s)
{
	return rcl_named(s, RCLINK_CMD_GROUP_GET, "g", NULL);
}

static int run_group_dump(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_GROUP_GET);
	return genl_dump(s, &m, ignore, NULL);
}

/* This host is alone in the group, so there is no such sender. */
static int run_group_regions(struct genl_sock *s)
{
	struct genl_msg m;
	int ret;

	genl_begin(&m, s, RCLINK_CMD_GROUP_REGIONS);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	genl_put_u32(&m, RCLINK_A_GROUP_SENDER, 4);
	ret = genl_ask(s, &m, NULL, NULL);
	if (ret == -ENOENT)
		return 0;
	return ret ? ret : -EPROTO;
}

#endif /* COMMANDS_H */
