// SPDX-License-Identifier: GPL-2.0
#include "doc.h"

#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "advice.h"
#include "link.h"
#include "out.h"
#include "text.h"

#define KEY_LEN	32

static const char *not_empty(const char *text)
{
	return text[0] ? text : NULL;
}

static void add_word(struct json_object *obj, const char *key,
		     enum rcl_words words, uint32_t value)
{
	rcl_out_text(obj, key, rcl_word(words, value));
}

/* JSON has no octal numbers. */
static void add_mode(struct json_object *obj, const char *key, uint32_t mode)
{
	char buf[KEY_LEN];

	snprintf(buf, sizeof(buf), "%04o", mode);
	rcl_out_text(obj, key, buf);
}

/* Secret: the module gave this to a caller with CAP_NET_ADMIN only. */
static struct json_object *doc_endpoint(const struct rcl_endpoint *ep)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *qps = json_object_new_array();
	uint32_t i;

	add_word(obj, "link_layer", RCL_WORDS_LINK_LAYER,
		 ep->link_layer);
	rcl_out_gid(obj, "gid", ep->gid);
	rcl_out_known(obj, "lid", ep->lid);
	rcl_out_known(obj, "pkey", ep->pkey);
	rcl_out_known(obj, "mtu", ep->mtu);
	rcl_out_u64(obj, "rd_atomic", ep->rd_atomic);
	add_word(obj, "atomics", RCL_WORDS_ATOMICS,
		 ep->atomics);
	add_word(obj, "masked_atomics", RCL_WORDS_ATOMICS,
		 ep->masked_atomics);
	rcl_out_u64(obj, "epoch", ep->epoch);
	rcl_out_u64(obj, "addr", ep->addr);
	rcl_out_u64(obj, "rkey", ep->rkey);
	rcl_out_u64(obj, "length", ep->length);
	for (i = 0; i < ep->nqps; i++) {
		struct json_object *qp = json_object_new_object();

		rcl_out_u64(qp, "qpn", ep->qp[i].qpn);
		rcl_out_u64(qp, "psn", ep->qp[i].psn);
		json_object_array_add(qps, qp);
	}
	json_object_object_add(obj, "queue_pairs", qps);
	return obj;
}

static void add_policy(struct json_object *obj,
		       const struct rcl_link_info *info)
{
	const struct rcl_policy *p = &info->policy;
	char key[KEY_LEN];
	char *dash;
	int i;

	for (i = 0; i < RCL_P_MAX; i++) {
		strncpy(key, rcl_policy_word(i), sizeof(key) - 1);
		key[sizeof(key) - 1] = '\0';
		while ((dash = strchr(key, '-')))
			*dash = '_';
		/* null: the port, MTU or GID index is left to the module. */
		if (i == RCL_P_PORT)
			rcl_out_known(obj, key, rcl_link_port(info));
		else if (i == RCL_P_MTU)
			rcl_out_known(obj, key, rcl_link_mtu(info));
		else if (!(p->given & 1u << i) ||
			 (i == RCL_P_GID_INDEX &&
			  p->v[i] == RCLINK_GID_INDEX_AUTO))
			rcl_out_text(obj, key, NULL);
		else if (i == RCL_P_MODE)
			add_mode(obj, key, p->v[i]);
		else if (i == RCL_P_RECOVER)
			add_word(obj, key, RCL_WORDS_RECOVER, p->v[i]);
		else
			rcl_out_u64(obj, key, p->v[i]);
	}
}

void rcl_doc_add_wc(struct json_object *obj, uint32_t status,
		    uint32_t vendor_err)
{
	rcl_out_known(obj, "wc_status", status);
	rcl_out_text(obj, "wc_name", status ? rcl_wc_name(status) : NULL);
	if (status)
		rcl_out_u64(obj, "vendor_err", vendor_err);
	else
		rcl_out_known(obj, "vendor_err", vendor_err);
}

static void add_state(struct json_object *obj, const struct rcl_link_info *info)
{
	rcl_out_text(obj, "name", info->name);
	add_word(obj, "state", RCL_WORDS_STATE,
		 info->state);
	rcl_out_u64(obj, "epoch", info->epoch);
	add_word(obj, "reason", RCL_WORDS_REASON,
		 info->reason);
	rcl_out_text(obj, "reason_text", not_empty(info->reason_text));
	rcl_doc_add_wc(obj, info->wc_status, info->vendor_err);
}

struct json_object *rcl_doc_latency(const struct rcl_latency *latency)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *buckets = json_object_new_array();
	int i;

	rcl_out_u64(obj, "count", rcl_latency_count(latency));
	rcl_out_u64(obj, "sum_ns", latency->sum);
	rcl_out_known(obj, "p50_ns", rcl_latency_percentile(latency, 50));
	rcl_out_known(obj, "p99_ns", rcl_latency_percentile(latency, 99));
	for (i = 0; i < RCLINK_LATENCY_BUCKETS; i++) {
		struct json_object *bucket = json_object_new_object();

		rcl_out_known(bucket, "le_ns", rcl_latency_limit(i));
		rcl_out_u64(bucket, "count", latency->bucket[i]);
		json_object_array_add(buckets, bucket);
	}
	json_object_object_add(obj, "buckets", buckets);
	return obj;
}

struct json_object *rcl_doc_stats(const struct rcl_link_info *info)
{
	struct json_object *obj = json_object_new_object();
	int i;

	rcl_out_text(obj, "name", info->name);
	for (i = RCLINK_A_STATS_EPOCHS; i < RCLINK_A_STATS_PAD; i++)
		rcl_out_u64(obj, rcl_counter_word[i], info->counter[i]);
	json_object_object_add(obj, "control_rtt",
			       rcl_doc_latency(&info->latency));
	return obj;
}

static struct json_object *doc_standby(const struct rcl_link_info *info)
{
	struct json_object *obj;

	if (!info->standby_epoch)
		return NULL;
	obj = json_object_new_object();
	rcl_out_u64(obj, "epoch", info->standby_epoch);
	add_word(obj, "state", RCL_WORDS_STATE, info->standby_state);
	return obj;
}

struct json_object *rcl_doc_link(const struct rcl_link_info *info)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *stats = rcl_doc_stats(info);
	char trips[RCL_TRIP_TEXT_LEN];

	add_state(obj, info);
	json_object_object_add(obj, "standby", doc_standby(info));
	rcl_out_known(obj, "unwanted_epoch", info->unwanted_epoch);
	rcl_out_u64(obj, "id", info->id);
	rcl_out_text(obj, "peer", not_empty(info->peer));
	add_word(obj, "role", RCL_WORDS_ROLE,
		 info->role);
	rcl_out_text(obj, "device", not_empty(rcl_link_device(info)));
	add_word(obj, "link_layer", RCL_WORDS_LINK_LAYER,
		 info->link_layer);
	rcl_out_gid(obj, "gid", info->gid);
	rcl_out_text(obj, "gid_reason", not_empty(info->gid_reason));
	rcl_out_known(obj, "lid", info->lid);
	add_policy(obj, info);
	rcl_out_text(obj, "netdev", not_empty(info->policy.netdev));
	json_object_object_del(stats, "name");
	json_object_object_add(obj, "stats", stats);
	rcl_out_text(obj, "tripwire", rcl_trip_text(info->counter, trips));
	rcl_out_u64(obj, "event_seq", info->event_seq);
	if (info->has_local)
		json_object_object_add(obj, "local",
				       doc_endpoint(&info->local));
	if (info->has_remote)
		json_object_object_add(obj, "remote",
				       doc_endpoint(&info->remote));
	return obj;
}

struct json_object *rcl_doc_event(const struct rcl_link_info *info,
				  const char *kind)
{
	struct json_object *obj = json_object_new_object();

	rcl_out_text(obj, "kind", kind);
	rcl_out_u64(obj, "event_seq", info->event_seq);
	rcl_out_u64(obj, "id", info->id);
	add_state(obj, info);
	return obj;
}

static bool is_chosen(const struct rcl_dev_info *info,
		      const struct rcl_gid_info *gid)
{
	return info->has_chosen && gid->index == info->chosen_gid;
}

static struct json_object *doc_gid(const struct rcl_dev_info *info,
				   const struct rcl_gid_info *gid)
{
	struct json_object *obj = json_object_new_object();
	bool chosen = is_chosen(info, gid);

	rcl_out_u64(obj, "index", gid->index);
	add_word(obj, "type", RCL_WORDS_GID_TYPE,
		 gid->type);
	rcl_out_gid(obj, "gid", gid->gid);
	rcl_out_text(obj, "netdev", not_empty(gid->netdev));
	rcl_out_known(obj, "vlan", gid->vlan);
	json_object_object_add(obj, "chosen", json_object_new_boolean(chosen));
	return obj;
}

static void add_limits(struct json_object *obj, const struct rcl_dev_info *info)
{
	rcl_out_u64(obj, "pkeys", info->pkeys);
	rcl_out_u64(obj, "max_qp", info->max_qp);
	rcl_out_u64(obj, "max_qp_wr", info->max_qp_wr);
	rcl_out_u64(obj, "max_cqe", info->max_cqe);
	rcl_out_u64(obj, "max_mr", info->max_mr);
	rcl_out_u64(obj, "max_sge", info->max_sge);
	rcl_out_u64(obj, "max_rd_atomic", info->max_rd_atomic);
	rcl_out_u64(obj, "max_srq", info->max_srq);
	rcl_out_u64(obj, "fast_reg_pages", info->fast_reg_pages);
	add_word(obj, "atomics", RCL_WORDS_ATOMICS,
		 info->atomics);
	add_word(obj, "masked_atomics", RCL_WORDS_ATOMICS,
		 info->masked_atomics);
	rcl_out_u64(obj, "max_inline", info->max_inline);
	json_object_object_add(obj, "sa", json_object_new_boolean(info->sa));
}

struct json_object *rcl_doc_dev_event(const struct rcl_dev_info *info)
{
	struct json_object *obj = json_object_new_object();

	rcl_out_text(obj, "kind", "changed");
	rcl_out_u64(obj, "event_seq", info->event_seq);
	rcl_out_text(obj, "device", info->name);
	rcl_out_known(obj, "port", info->port);
	return obj;
}

struct json_object *rcl_doc_dev(const struct rcl_dev_info *info)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *gids = json_object_new_array();
	size_t i;

	rcl_out_text(obj, "device", info->name);
	rcl_out_u64(obj, "port", info->port);
	add_word(obj, "link_layer", RCL_WORDS_LINK_LAYER,
		 info->link_layer);
	add_word(obj, "state", RCL_WORDS_PORT_STATE,
		 info->port_state);
	rcl_out_known(obj, "mtu", info->active_mtu);
	rcl_out_known(obj, "active_mtu", info->active_mtu);
	rcl_out_known(obj, "max_mtu", info->max_mtu);
	rcl_out_known(obj, "lid", info->lid);
	rcl_out_known(obj, "sm_lid", info->sm_lid);
	add_limits(obj, info);
	rcl_out_text(obj, "gid", NULL);
	for (i = 0; i < info->ngids; i++) {
		json_object_array_add(gids, doc_gid(info, &info->gids[i]));
		if (is_chosen(info, &info->gids[i]))
			rcl_out_gid(obj, "gid", info->gids[i].gid);
	}
	json_object_object_add(obj, "gids", gids);
	if (info->has_chosen)
		rcl_out_u64(obj, "chosen_gid", info->chosen_gid);
	else
		rcl_out_text(obj, "chosen_gid", NULL);
	rcl_out_text(obj, "reason", not_empty(info->reason));
	return obj;
}

struct json_object *rcl_doc_port(const struct rcl_dev_info *info,
				 const char *gid, const char *reason)
{
	struct json_object *obj = json_object_new_object();

	rcl_out_text(obj, "device", info->name);
	rcl_out_u64(obj, "port", info->port);
	add_word(obj, "state", RCL_WORDS_PORT_STATE, info->port_state);
	rcl_out_text(obj, "gid", gid);
	rcl_out_text(obj, "reason", reason);
	return obj;
}

void rcl_doc_tell_ports(struct json_object *ports, struct json_object *said)
{
	size_t i;

	if (!json_object_array_length(ports))
		rcl_out_append(said,
			       "There is no RDMA device or port that it may use");
	for (i = 0; i < json_object_array_length(ports); i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);
		const char *gid = rcl_out_get_text(port, "gid");

		rcl_out_append(said, "%s port %llu is %s, %s%s: %s",
			       rcl_out_get_text(port, "device"),
			       (unsigned long long)
			       rcl_out_get_u64(port, "port"),
			       rcl_out_get_text(port, "state"),
			       *gid ? "GID " : "and there is no GID to use",
			       gid, rcl_out_get_text(port, "reason"));
	}
}
