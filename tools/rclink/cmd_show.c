// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "doc.h"
#include "link.h"
#include "look.h"
#include "nl.h"
#include "out.h"
#include "process.h"
#include "text.h"

#define PEER_SHORT	15	/* "sha256:" and eight characters */
#define ID_LEN		11	/* of a 32-bit number */
#define RATE_MS		100	/* over which a rate is measured */

static const char help[] =
"usage: rclink show [NAME] [-j]\n\n"
"All links as a table, or everything about one. RATE is what channels of this\n"
"end send, receive and access at the moment. With CAP_NET_ADMIN the QPNs, PSNs,\n"
"keys and addresses of both ends, too: keep them to yourself. What can be set is\n"
"shown as it is set, for the next epoch (but for device, port and MTU; owner,\n"
"group and mode hold at once).\n\n"
"  -j, --json   an array of objects; rate is in bytes per second\n";

static const struct option options[] = {
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static void text_peer(struct json_object *row, const char *key, char *buf)
{
	const char *peer = rcl_out_get_text(row, key);

	if (strncmp(peer, "sha256:", 7))
		snprintf(buf, RCL_CELL_LEN, "%s", peer);
	else
		snprintf(buf, RCL_CELL_LEN, "%.*s..", PEER_SHORT, peer);
}

static void text_device(struct json_object *row, const char *key, char *buf)
{
	const char *device = rcl_out_get_text(row, key);
	uint64_t port = rcl_out_get_u64(row, "port");

	if (!port)
		snprintf(buf, RCL_CELL_LEN, "%s", device);
	else
		snprintf(buf, RCL_CELL_LEN, "%s/%llu", *device ? device : "any",
			 (unsigned long long)port);
}

static void text_auto(struct json_object *row, const char *key, char *buf)
{
	struct json_object *value = json_object_object_get(row, key);

	snprintf(buf, RCL_CELL_LEN, "%s",
		 value ? json_object_get_string(value) : "auto");
}

/* While the link is rotated there are two epochs. */
static void text_state(struct json_object *row, const char *key, char *buf)
{
	struct json_object *standby = json_object_object_get(row, "standby");
	const char *state = rcl_out_get_text(row, key);

	if (standby)
		snprintf(buf, RCL_CELL_LEN,
			 "%s; epoch %llu, to take over, is %s", state,
			 (unsigned long long)rcl_out_get_u64(standby, "epoch"),
			 rcl_out_get_text(standby, "state"));
	else
		snprintf(buf, RCL_CELL_LEN, "%s", state);
}

/* Nothing while the link is well. */
static void text_reason(struct json_object *row, const char *key, char *buf)
{
	const char *reason = rcl_out_get_text(row, key);
	const char *text = rcl_out_get_text(row, "reason_text");

	if (strcmp(reason, "none"))
		snprintf(buf, RCL_CELL_LEN, "%s", *text ? text : reason);
}

static void text_timers(struct json_object *row, const char *key, char *buf)
{
	snprintf(buf, RCL_CELL_LEN,
		 "timeout %llu, retry %llu, rnr-retry %llu, min-rnr-timer %llu",
		 (unsigned long long)rcl_out_get_u64(row, key),
		 (unsigned long long)rcl_out_get_u64(row, "retry"),
		 (unsigned long long)rcl_out_get_u64(row, "rnr_retry"),
		 (unsigned long long)rcl_out_get_u64(row, "min_rnr_timer"));
}

static void text_heartbeat(struct json_object *row, const char *key, char *buf)
{
	uint64_t interval = rcl_out_get_u64(row, key);

	if (interval)
		snprintf(buf, RCL_CELL_LEN, "every %llu ms, %llu misses",
			 (unsigned long long)interval,
			 (unsigned long long)rcl_out_get_u64(row, "misses"));
	else
		snprintf(buf, RCL_CELL_LEN, "none");
}

static void text_route(struct json_object *row, const char *key, char *buf)
{
	snprintf(buf, RCL_CELL_LEN,
		 "sl %llu, traffic-class %llu, hop-limit %llu, flow-label %llu, pkey-index %llu",
		 (unsigned long long)rcl_out_get_u64(row, key),
		 (unsigned long long)rcl_out_get_u64(row, "traffic_class"),
		 (unsigned long long)rcl_out_get_u64(row, "hop_limit"),
		 (unsigned long long)rcl_out_get_u64(row, "flow_label"),
		 (unsigned long long)rcl_out_get_u64(row, "pkey_index"));
}

static void text_access(struct json_object *row, const char *key, char *buf)
{
	const uint32_t uid = rcl_out_get_u64(row, key);
	const uint32_t gid = rcl_out_get_u64(row, "group");
	const struct passwd *user = getpwuid(uid);
	const struct group *group = getgrgid(gid);
	struct json_object *stats = json_object_object_get(row, "stats");
	char user_id[ID_LEN], group_id[ID_LEN];

	snprintf(user_id, sizeof(user_id), "%u", uid);
	snprintf(group_id, sizeof(group_id), "%u", gid);
	snprintf(buf, RCL_CELL_LEN,
		 "%llu open, %llu of them suspended; recover %s; owner %s, group %s, mode %s",
		 (unsigned long long)rcl_out_get_u64(stats, "channels"),
		 (unsigned long long)rcl_out_get_u64(stats, "chan_suspended"),
		 rcl_out_get_text(row, "recover"),
		 user ? user->pw_name : user_id,
		 group ? group->gr_name : group_id,
		 rcl_out_get_text(row, "mode"));
}

static void text_data(struct json_object *row, const char *key, char *buf)
{
	struct json_object *stats = json_object_object_get(row, key);

	snprintf(buf, RCL_CELL_LEN,
		 "%llu operations, %llu bytes; received %llu messages, %llu bytes",
		 (unsigned long long)rcl_out_get_u64(stats, "chan_ops"),
		 (unsigned long long)rcl_out_get_u64(stats, "chan_bytes"),
		 (unsigned long long)rcl_out_get_u64(stats, "chan_recvs"),
		 (unsigned long long)rcl_out_get_u64(stats, "chan_recv_bytes"));
}

static void text_control(struct json_object *row, const char *key, char *buf)
{
	struct json_object *stats = json_object_object_get(row, key);

	snprintf(buf, RCL_CELL_LEN,
		 "sent %llu messages, %llu bytes; received %llu messages, %llu bytes",
		 (unsigned long long)rcl_out_get_u64(stats, "tx_messages"),
		 (unsigned long long)rcl_out_get_u64(stats, "tx_bytes"),
		 (unsigned long long)rcl_out_get_u64(stats, "rx_messages"),
		 (unsigned long long)rcl_out_get_u64(stats, "rx_bytes"));
}

static void text_rate(struct json_object *row, const char *key, char *buf)
{
	if (json_object_object_get(row, key))
		rcl_rate_text(rcl_out_get_u64(row, key), NS_PER_S, buf);
}

static void text_trips(struct json_object *row, const char *key, char *buf)
{
	const char *trips = rcl_out_get_text(row, key);

	snprintf(buf, RCL_CELL_LEN, "%s", *trips ? trips : "nothing");
}

static const struct rcl_col table[] = {
	{ "NAME", "name", NULL },
	{ "STATE", "state", NULL },
	{ "EPOCH", "epoch", NULL },
	{ "DEVICE", "device", text_device },
	{ "LAYER", "link_layer", NULL },
	{ "MTU", "mtu", text_auto },
	{ "QPS", "qps", NULL },
	{ "RATE", "rate", text_rate },
	{ "PEER", "peer", text_peer },
	{ "REASON", "reason", text_reason },
};

static const struct rcl_col block[] = {
	{ "state", "state", text_state },
	{ "reason", "reason", text_reason },
	{ "epoch", "epoch", NULL },
	{ "peer", "peer", NULL },
	{ "role", "role", NULL },
	{ "device", "device", text_device },
	{ "link layer", "link_layer", NULL },
	{ "GID", "gid", NULL },
	{ "GID chosen", "gid_reason", NULL },
	{ "GID index", "gid_index", text_auto },
	{ "net device", "netdev", text_auto },
	{ "LID", "lid", NULL },
	{ "MTU", "mtu", text_auto },
	{ "pooled QPs", "qps", NULL },
	{ "READs at once", "rd_atomic", NULL },
	{ "timers", "timeout", text_timers },
	{ "heartbeat", "heartbeat", text_heartbeat },
	{ "route", "sl", text_route },
	{ "link buffer", "buffer_size", NULL },
	{ "channels", "owner", text_access },
	{ "data", "stats", text_data },
	{ "at the moment", "rate", text_rate },
	{ "control", "stats", text_control },
	{ "tripwire", "tripwire", text_trips },
};

static void text_hex(struct json_object *row, const char *key, char *buf)
{
	snprintf(buf, RCL_CELL_LEN, "0x%llx",
		 (unsigned long long)rcl_out_get_u64(row, key));
}

static const struct rcl_col end_block[] = {
	{ "GID", "gid", NULL },
	{ "LID", "lid", NULL },
	{ "MTU", "mtu", NULL },
	{ "atomics", "atomics", NULL },
	{ "masked atomics", "masked_atomics", NULL },
	{ "buffer addr", "addr", text_hex },
	{ "buffer rkey", "rkey", text_hex },
	{ "buffer bytes", "length", NULL },
};

static const struct rcl_col qp_table[] = {
	{ "QPN", "qpn", text_hex },
	{ "PSN", "psn", text_hex },
};

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

static void print_end(struct json_object *link, const char *key)
{
	struct json_object *end = json_object_object_get(link, key);

	if (!end)
		return;
	printf("  %s end\n", key);
	rcl_out_block(stdout, end, end_block, NUM(end_block), "    ");
	rcl_out_table(stdout, json_object_object_get(end, "queue_pairs"),
		      qp_table, NUM(qp_table), "    ");
}

static void print_one(struct json_object *link)
{
	printf("%s\n", rcl_out_get_text(link, "name"));
	rcl_out_block(stdout, link, block, NUM(block), "  ");
	print_end(link, "local");
	print_end(link, "remote");
}

/* Without an open channel there is no rate to wait for. */
static int look_again(struct rcl_nl *nl, const char *name,
		      const struct look *first, struct look *l, char *err)
{
	const struct timespec pause = { .tv_nsec = RATE_MS * 1000000 };
	uint64_t channels = 0;
	size_t i;

	for (i = 0; i < first->num; i++)
		channels += first->infos[i].counter[RCLINK_A_STATS_CHANNELS];
	if (!channels)
		return 0;
	nanosleep(&pause, NULL);
	return look_take(nl, name, l, err);
}

/* Bytes per second; null without a channel. */
static void add_rate(struct json_object *obj, const struct rcl_link_info *info,
		     const struct look *first, uint64_t ns)
{
	const struct rcl_link_info *before = look_find(first, info->id);
	double moved;

	if (!before || ns <= first->ns ||
	    !before->counter[RCLINK_A_STATS_CHANNELS]) {
		rcl_out_text(obj, "rate", NULL);
		return;
	}
	moved = look_moved(info) - look_moved(before);
	rcl_out_u64(obj, "rate", moved * NS_PER_S / (ns - first->ns));
}

static void print(const struct look *first, const struct look *again,
		  bool json, bool one)
{
	const struct look *l = again->ns ? again : first;
	struct json_object *links = json_object_new_array();
	size_t i;

	for (i = 0; i < l->num; i++) {
		struct json_object *obj = rcl_doc_link(&l->infos[i]);

		add_rate(obj, &l->infos[i], first, l->ns);
		json_object_array_add(links, obj);
	}
	if (json)
		rcl_out_json(stdout, links);
	else if (one && l->num)
		print_one(json_object_array_get_idx(links, 0));
	else
		rcl_out_table(stdout, links, table, NUM(table), "");
	json_object_put(links);
}

int cmd_show(int argc, char **argv)
{
	struct look first = { 0 }, again = { 0 };
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	bool json = false;
	char **words;
	int c, ret;

	while ((c = cli_getopt(argc, argv, options, help)) != -1)
		json |= c == 'j';
	words = cli_operands(argc, argv, 0, 1);

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = look_take(nl, words[0], &first, err);
	if (!ret)
		ret = look_again(nl, words[0], &first, &again, err);
	rcl_nl_close(nl);
	if (ret)
		cli_refused(argv[0], words[0], ret, err);
	else
		print(&first, &again, json, words[0]);
	look_free(&first);
	look_free(&again);
	return ret ? CLI_FAILED : CLI_OK;
}
