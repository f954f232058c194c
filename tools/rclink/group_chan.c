// SPDX-License-Identifier: GPL-2.0
/* group send, group recv: messages of a group through its channel. */
#include "group_chan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>
#include <rclink.h>

#include "cli.h"
#include "out.h"
#include "target.h"
#include "text.h"

#define SLOT		4096	/* more than any message */
#define RECVS		16
#define SEND_MS		5000
#define SERVICE		"text"

struct group_chan {
	const char *cmd;
	const char *name;		/* GROUP[:SERVICE] */
	struct rclink_chan *chan;
	uint8_t *memory;
	uint32_t region;
};

static int failed(const struct group_chan *g, int ret)
{
	const char *why = strerror(-ret);

	switch (-ret) {
	case ENOENT:
		why = cli_no_device();
		break;
	case ENODEV:
		why = "there is no such group; see `rclink group`";
		break;
	case EACCES:
		why = "no right to it, or to /dev/rclink; see group and mode";
		break;
	case ENOSPC:
		why = "as many use it as can";
		break;
	case ESHUTDOWN:
		why = "the group was deleted";
		break;
	case EDQUOT:
		why = "too much locked memory; see `ulimit -l`";
		break;
	case EMSGSIZE:
		return cli_fail("%s %s: the text is longer than %u bytes",
				g->cmd, g->name, rclink_max_message(g->chan));
	}
	return cli_fail("%s %s: %s", g->cmd, g->name, why);
}

/* The memory is whole pages, whatever their size: that is at most 64 KiB. */
static int attach(struct group_chan *g)
{
	struct target target;
	void *memory;
	int ret;

	if (!target_parse(g->name, SERVICE, &target))
		cli_usage(g->cmd,
			  "'%s' is no NAME[:SERVICE] of 1 to %d bytes each",
			  g->name, RCLINK_DEV_SERVICE_LEN - 1);
	ret = rclink_join(&g->chan, target.link, target.service, 0);
	if (ret)
		return ret;
	ret = rclink_memory(g->chan, &memory, RECVS * SLOT, NULL, 0,
			    &g->region);
	if (ret)
		rclink_close(g->chan);
	else
		g->memory = memory;
	return ret;
}

static int send_one(struct group_chan *g, const char *text)
{
	size_t len = strlen(text);
	struct rclink_dev_cqe cqe;
	int ret = -EMSGSIZE;

	if (len <= SLOT) {
		memcpy(g->memory, text, len);
		rclink_send(g->chan, rclink_piece(g->region, 0, len),
			    RCLINK_SQE_SIGNALED, 0);
		do {
			ret = rclink_submit(g->chan, 1, SEND_MS);
		} while (ret == -EINTR);
	}
	if (ret < 0)
		return failed(g, ret);
	if (rclink_reap(g->chan, &cqe, 1) != 1)
		return failed(g, -EIO);
	if (cqe.status)
		return cli_fail("%s %s: %s", g->cmd, g->name,
				"it is down, or has no key; see `rclink group why`");
	return CLI_OK;
}

int group_send(const char *name, const char *text)
{
	struct group_chan g = { .cmd = "group send", .name = name };
	int ret = attach(&g);

	if (ret)
		return failed(&g, ret);
	ret = send_one(&g, text);
	rclink_close(g.chan);
	return ret;
}

static void print(const struct group_chan *g, const struct rclink_dev_cqe *cqe,
		  const uint8_t *source, bool json)
{
	const uint8_t *data = g->memory + cqe->user_data * SLOT;
	bool known = cqe->flags & RCLINK_CQE_SENDER;
	char text[GROUP_TEXT_LEN(SLOT)], gid[RCL_GID_TEXT_LEN];
	struct json_object *obj;

	group_text(data, cqe->len, text);
	rcl_gid_text(source, gid);
	if (json) {
		obj = json_object_new_object();
		if (known)
			rcl_out_u64(obj, "sender", cqe->imm);
		else
			rcl_out_text(obj, "sender", NULL);
		rcl_out_text(obj, "gid", gid);
		rcl_out_u64(obj, "bytes", cqe->len);
		rcl_out_text(obj, "text", text);
		rcl_out_json_line(stdout, obj);
		json_object_put(obj);
	} else if (known) {
		printf("%u %s %s\n", cqe->imm, gid, text);
	} else {
		printf("- %s %s\n", gid, text);
	}
}

static int post(struct group_chan *g, uint64_t slot)
{
	return rclink_recv(g->chan, rclink_piece(g->region, slot * SLOT, SLOT),
			   slot);
}

/* Returns 0, even if its output cannot be written, or a negative errno. */
static int recv_all(struct group_chan *g, uint32_t num, bool json)
{
	struct rclink_dev_cqe cqes[RECVS];
	struct rclink_source sources[RECVS];
	uint32_t got = 0;
	int i, n, ret;

	for (i = 0; i < RECVS; i++)
		post(g, i);
	while (!num || got < num) {
		ret = rclink_submit(g->chan, 1, 0);
		if (ret < 0 && ret != -EINTR && ret != -ESHUTDOWN)
			return ret;
		/* What came before the end is still there. */
		n = rclink_reap_from(g->chan, cqes, sources, RECVS);
		if (n < 0 || (!n && ret == -ESHUTDOWN))
			return n ? : ret;
		for (i = 0; i < n && (!num || got < num); i++) {
			if (cqes[i].status)
				return -ESHUTDOWN;
			print(g, &cqes[i], sources[i].gid, json);
			if (!cli_written())
				return 0;
			post(g, cqes[i].user_data);
			got++;
		}
	}
	return 0;
}

int group_recv(const char *name, uint32_t num, bool json)
{
	struct group_chan g = { .cmd = "group recv", .name = name };
	int ret = attach(&g);

	if (ret)
		return failed(&g, ret);
	ret = recv_all(&g, num, json);
	if (ret)
		failed(&g, ret);
	rclink_close(g.chan);
	return ret ? CLI_FAILED : CLI_OK;
}
