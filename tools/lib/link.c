// SPDX-License-Identifier: GPL-2.0
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "field.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The specification has the policy's attributes in sequence, in this order. */
static int policy_attr(int field)
{
	return RCLINK_A_LINK_PORT + field;
}

static const char *const qp_words[] = {
	[RCLINK_A_QP_QPN] = "qpn",
	[RCLINK_A_QP_PSN] = "psn",
};

static const struct rcl_nl_names qp_names = {
	.num = ARRAY_SIZE(qp_words),
	.name = qp_words,
};

static const char *const endpoint_words[] = {
	[RCLINK_A_ENDPOINT_LINK_LAYER] = "link-layer",
	[RCLINK_A_ENDPOINT_GID] = "gid",
	[RCLINK_A_ENDPOINT_LID] = "lid",
	[RCLINK_A_ENDPOINT_MTU] = "mtu",
	[RCLINK_A_ENDPOINT_RD_ATOMIC] = "rd-atomic",
	[RCLINK_A_ENDPOINT_ATOMICS] = "atomics",
	[RCLINK_A_ENDPOINT_EPOCH] = "epoch",
	[RCLINK_A_ENDPOINT_ADDR] = "addr",
	[RCLINK_A_ENDPOINT_RKEY] = "rkey",
	[RCLINK_A_ENDPOINT_LENGTH] = "length",
	[RCLINK_A_ENDPOINT_QP] = "qp",
	[RCLINK_A_ENDPOINT_PKEY] = "pkey",
	[RCLINK_A_ENDPOINT_MASKED_ATOMICS] = "masked-atomics",
};

static const struct rcl_nl_names *const endpoint_nested[] = {
	[RCLINK_A_ENDPOINT_QP] = &qp_names,
};

static const struct rcl_nl_names endpoint_names = {
	.num = ARRAY_SIZE(endpoint_words),
	.name = endpoint_words,
	.nested = endpoint_nested,
};

static const char *const link_words[] = {
	[RCLINK_A_LINK_NAME] = "name",
	[RCLINK_A_LINK_DEVICE] = "device",
	[RCLINK_A_LINK_PORT] = "port",
	[RCLINK_A_LINK_GID_INDEX] = "gid-index",
	[RCLINK_A_LINK_MTU] = "mtu",
	[RCLINK_A_LINK_QPS] = "qps",
	[RCLINK_A_LINK_TIMEOUT] = "timeout",
	[RCLINK_A_LINK_RETRY] = "retry",
	[RCLINK_A_LINK_RNR_RETRY] = "rnr-retry",
	[RCLINK_A_LINK_MIN_RNR_TIMER] = "min-rnr-timer",
	[RCLINK_A_LINK_RD_ATOMIC] = "rd-atomic",
	[RCLINK_A_LINK_SL] = "sl",
	[RCLINK_A_LINK_TRAFFIC_CLASS] = "traffic-class",
	[RCLINK_A_LINK_HOP_LIMIT] = "hop-limit",
	[RCLINK_A_LINK_FLOW_LABEL] = "flow-label",
	[RCLINK_A_LINK_PKEY_INDEX] = "pkey-index",
	[RCLINK_A_LINK_BUFFER_SIZE] = "buffer-size",
	[RCLINK_A_LINK_LOOPBACK] = "loopback",
	[RCLINK_A_LINK_OWNER] = "owner",
	[RCLINK_A_LINK_GROUP] = "group",
	[RCLINK_A_LINK_MODE] = "mode",
	[RCLINK_A_LINK_HEARTBEAT] = "heartbeat",
	[RCLINK_A_LINK_MISSES] = "misses",
	[RCLINK_A_LINK_RECOVER] = "recover",
	[RCLINK_A_LINK_EPOCH] = "epoch",
	[RCLINK_A_LINK_PEER] = "peer",
	[RCLINK_A_LINK_ROLE] = "role",
	[RCLINK_A_LINK_KEY] = "key",
	[RCLINK_A_LINK_REMOTE] = "remote",
};

const char *rcl_policy_word(int field)
{
	return link_words[policy_attr(field)];
}

static const struct rcl_nl_names *const
link_nested[ARRAY_SIZE(link_words)] = {
	[RCLINK_A_LINK_REMOTE] = &endpoint_names,
};

const struct rcl_nl_names rcl_link_names = {
	.num = ARRAY_SIZE(link_words),
	.name = link_words,
	.nested = link_nested,
};

static const char *const ping_words[] = {
	[RCLINK_A_PING_LINK] = "link",
	[RCLINK_A_PING_OP] = "op",
	[RCLINK_A_PING_SIZE] = "size",
	[RCLINK_A_PING_COOKIE] = "cookie",
	[RCLINK_A_PING_COUNT] = "count",
};

const struct rcl_nl_names rcl_ping_names = {
	.num = ARRAY_SIZE(ping_words),
	.name = ping_words,
};

static const char *const record_words[] = {
	[RCLINK_A_RECORD_LINK] = "link",
	[RCLINK_A_RECORD_TEXT] = "text",
	[RCLINK_A_RECORD_NUMBER] = "number",
};

const struct rcl_nl_names rcl_record_names = {
	.num = ARRAY_SIZE(record_words),
	.name = record_words,
};

#define NAME		(RCLINK_NAME_MAX + 1)
#define DEVICE		(RCLINK_DEVICE_MAX + 1)
#define PEER		(RCLINK_PEER_MAX + 1)

#define E(attr, kind, member) \
	{ RCLINK_A_ENDPOINT_##attr, kind, \
	  offsetof(struct rcl_endpoint, member) }

static const struct rcl_field endpoint_fields[] = {
	E(LINK_LAYER, RCL_U32, link_layer),
	E(GID, RCL_GID, gid),
	E(LID, RCL_U32, lid),
	E(MTU, RCL_U32, mtu),
	E(RD_ATOMIC, RCL_U32, rd_atomic),
	E(ATOMICS, RCL_U32, atomics),
	E(EPOCH, RCL_U64, epoch),
	E(ADDR, RCL_U64, addr),
	E(RKEY, RCL_U32, rkey),
	E(LENGTH, RCL_U32, length),
	E(PKEY, RCL_U32, pkey),
	E(MASKED_ATOMICS, RCL_U32, masked_atomics),
};

#define L(attr, kind, member) \
	{ RCLINK_A_LINK_##attr, kind, offsetof(struct rcl_link_info, member) }

static const struct rcl_field link_fields[] = {
	L(NAME, NAME, name),
	L(ID, RCL_U32, id),
	L(DEVICE, DEVICE, policy.device),
	L(NETDEV, RCL_NETDEV_LEN, policy.netdev),
	L(STATE, RCL_U32, state),
	L(REASON, RCL_U32, reason),
	L(WC_STATUS, RCL_U32, wc_status),
	L(VENDOR_ERR, RCL_U32, vendor_err),
	L(REASON_TEXT, RCL_TEXT_LEN, reason_text),
	L(EPOCH, RCL_U64, epoch),
	L(STANDBY_STATE, RCL_U32, standby_state),
	L(STANDBY_EPOCH, RCL_U64, standby_epoch),
	L(PEER, PEER, peer),
	L(ROLE, RCL_U32, role),
	L(LINK_LAYER, RCL_U32, link_layer),
	L(GID, RCL_GID, gid),
	L(LID, RCL_U32, lid),
	L(GID_REASON, RCL_TEXT_LEN, gid_reason),
	L(EVENT_SEQ, RCL_U64, event_seq),
	L(EVENT_KIND, RCL_U32, event_kind),
	L(USED_DEVICE, DEVICE, used_device),
	L(USED_PORT, RCL_U32, used_port),
	L(USED_MTU, RCL_U32, used_mtu),
	L(UNWANTED_EPOCH, RCL_U64, unwanted_epoch),
};

#define D(attr, kind, member) \
	{ RCLINK_A_DEV_##attr, kind, offsetof(struct rcl_dev_info, member) }

static const struct rcl_field dev_fields[] = {
	D(NAME, DEVICE, name),
	D(PORT, RCL_U32, port),
	D(EVENT_SEQ, RCL_U64, event_seq),
	D(LINK_LAYER, RCL_U32, link_layer),
	D(PORT_STATE, RCL_U32, port_state),
	D(ACTIVE_MTU, RCL_U32, active_mtu),
	D(MAX_MTU, RCL_U32, max_mtu),
	D(LID, RCL_U32, lid),
	D(SM_LID, RCL_U32, sm_lid),
	D(PKEYS, RCL_U32, pkeys),
	D(MAX_QP, RCL_U32, max_qp),
	D(MAX_QP_WR, RCL_U32, max_qp_wr),
	D(MAX_CQE, RCL_U32, max_cqe),
	D(MAX_MR, RCL_U32, max_mr),
	D(MAX_SGE, RCL_U32, max_sge),
	D(MAX_RD_ATOMIC, RCL_U32, max_rd_atomic),
	D(MAX_SRQ, RCL_U32, max_srq),
	D(FAST_REG_PAGES, RCL_U32, fast_reg_pages),
	D(ATOMICS, RCL_U32, atomics),
	D(MASKED_ATOMICS, RCL_U32, masked_atomics),
	D(MAX_INLINE, RCL_U32, max_inline),
	D(SA, RCL_U32, sa),
	D(CHOSEN_GID, RCL_U32, chosen_gid),
	D(REASON, RCL_TEXT_LEN, reason),
};

#define G(attr, kind, member) \
	{ RCLINK_A_GID_##attr, kind, offsetof(struct rcl_gid_info, member) }

static const struct rcl_field gid_fields[] = {
	G(INDEX, RCL_U32, index),
	G(VALUE, RCL_GID, gid),
	G(TYPE, RCL_U32, type),
	G(NETDEV, RCL_NETDEV_LEN, netdev),
	G(VLAN, RCL_U32, vlan),
	G(USABLE, RCL_U32, usable),
};

#define P(attr, kind, member) \
	{ RCLINK_A_PING_##attr, kind, offsetof(struct rcl_ping, member) }

static const struct rcl_field ping_fields[] = {
	P(LINK, NAME, link),
	P(OP, RCL_U32, op),
	P(SIZE, RCL_U32, size),
	P(COOKIE, RCL_U64, cookie),
	P(ERROR, RCL_U32, error),
	P(REASON_TEXT, RCL_TEXT_LEN, reason_text),
};

#define N(attr, kind, member) \
	{ RCLINK_A_ENTRY_##attr, kind, offsetof(struct rcl_entry, member) }

static const struct rcl_field entry_fields[] = {
	N(NUMBER, RCL_U64, number),
	N(KIND, RCL_U32, kind),
	N(TIME, RCL_U64, time),
	N(LAST, RCL_U64, last),
	N(TIMES, RCL_U32, times),
	N(EPOCH, RCL_U64, epoch),
	N(FROM, RCL_U32, from),
	N(TO, RCL_U32, to),
	N(STEP, RCL_U32, step),
	N(REASON, RCL_U32, reason),
	N(WC_STATUS, RCL_U32, wc_status),
	N(VENDOR_ERR, RCL_U32, vendor_err),
	N(QP, RCL_U32, qp),
	N(TEXT, RCL_TEXT_LEN, text),
};

static int get_qp(const struct nlattr *nla, struct rcl_qp_id *qp)
{
	struct nlattr *tb[RCLINK_A_QP_MAX + 1];

	if (nla_parse_nested(tb, RCLINK_A_QP_MAX, (struct nlattr *)nla, NULL) ||
	    !tb[RCLINK_A_QP_QPN] || !tb[RCLINK_A_QP_PSN] ||
	    rcl_u32_get(tb[RCLINK_A_QP_QPN], &qp->qpn) ||
	    rcl_u32_get(tb[RCLINK_A_QP_PSN], &qp->psn))
		return -EPROTO;
	return 0;
}

static int get_endpoint(const struct nlattr *nest, struct rcl_endpoint *ep)
{
	struct nlattr *tb[RCLINK_A_ENDPOINT_MAX + 1];
	const struct nlattr *nla;
	int rem, ret;

	if (nla_parse_nested(tb, RCLINK_A_ENDPOINT_MAX, (struct nlattr *)nest,
			     NULL))
		return -EPROTO;
	ret = rcl_fields_get(tb, endpoint_fields, ARRAY_SIZE(endpoint_fields),
			     ep);
	nla_for_each_nested(nla, nest, rem) {
		if (ret)
			break;
		if (nla_type(nla) != RCLINK_A_ENDPOINT_QP)
			continue;
		if (ep->nqps == ARRAY_SIZE(ep->qp))
			return -EPROTO;
		ret = get_qp(nla, &ep->qp[ep->nqps++]);
	}
	return ret;
}

static int get_policy(struct nlattr **tb, struct rcl_policy *policy)
{
	int i;

	for (i = 0; i < RCL_P_MAX; i++) {
		const struct nlattr *nla = tb[policy_attr(i)];

		if (!nla)
			continue;
		if (rcl_u32_get(nla, &policy->v[i]))
			return -EPROTO;
		policy->given |= 1u << i;
	}
	policy->device_given = tb[RCLINK_A_LINK_DEVICE];
	policy->netdev_given = tb[RCLINK_A_LINK_NETDEV];
	return 0;
}

int rcl_link_get(const struct nlmsghdr *hdr, struct rcl_link_info *info)
{
	struct nlattr *tb[RCLINK_A_LINK_MAX + 1];
	int ret;

	memset(info, 0, sizeof(*info));
	if (genlmsg_parse((struct nlmsghdr *)hdr, 0, tb, RCLINK_A_LINK_MAX,
			  NULL))
		return -EPROTO;
	ret = rcl_fields_get(tb, link_fields, ARRAY_SIZE(link_fields), info);
	if (!ret)
		ret = get_policy(tb, &info->policy);
	info->has_local = tb[RCLINK_A_LINK_LOCAL];
	info->has_remote = tb[RCLINK_A_LINK_REMOTE];
	if (!ret && info->has_local)
		ret = get_endpoint(tb[RCLINK_A_LINK_LOCAL], &info->local);
	if (!ret && info->has_remote)
		ret = get_endpoint(tb[RCLINK_A_LINK_REMOTE], &info->remote);
	if (!ret && tb[RCLINK_A_LINK_STATS])
		ret = rcl_u64s_get(tb[RCLINK_A_LINK_STATS], info->counter,
				   RCLINK_A_STATS_PAD);
	if (!ret && tb[RCLINK_A_LINK_LATENCY])
		ret = rcl_latency_get(tb[RCLINK_A_LINK_LATENCY],
				      &info->latency);
	return ret;
}

static int get_gid(const struct nlattr *nest, struct rcl_dev_info *info)
{
	struct nlattr *tb[RCLINK_A_GID_MAX + 1];
	struct rcl_gid_info *gids;

	gids = realloc(info->gids, (info->ngids + 1) * sizeof(*gids));
	if (!gids)
		return -ENOMEM;
	info->gids = gids;
	gids += info->ngids++;
	memset(gids, 0, sizeof(*gids));
	if (nla_parse_nested(tb, RCLINK_A_GID_MAX, (struct nlattr *)nest, NULL))
		return -EPROTO;
	return rcl_fields_get(tb, gid_fields, ARRAY_SIZE(gid_fields), gids);
}

int rcl_dev_get(const struct nlmsghdr *hdr, struct rcl_dev_info *info)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	struct nlattr *tb[RCLINK_A_DEV_MAX + 1];
	const struct nlattr *nla;
	int rem, ret;

	memset(info, 0, sizeof(*info));
	if (genlmsg_parse((struct nlmsghdr *)hdr, 0, tb, RCLINK_A_DEV_MAX,
			  NULL))
		return -EPROTO;
	ret = rcl_fields_get(tb, dev_fields, ARRAY_SIZE(dev_fields), info);
	info->has_chosen = tb[RCLINK_A_DEV_CHOSEN_GID];
	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0),
			  genlmsg_attrlen(genl, 0), rem) {
		if (!ret && nla_type(nla) == RCLINK_A_DEV_GID)
			ret = get_gid(nla, info);
	}
	if (ret)
		rcl_dev_info_free(info);
	return ret;
}

void rcl_dev_info_free(struct rcl_dev_info *info)
{
	free(info->gids);
	info->gids = NULL;
	info->ngids = 0;
}

int rcl_ping_get(const struct nlmsghdr *hdr, struct rcl_ping *ping)
{
	struct nlattr *tb[RCLINK_A_PING_MAX + 1];
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	const struct nlattr *nla;
	int ret = 0;
	int rem;

	memset(ping, 0, sizeof(*ping));
	if (genlmsg_parse((struct nlmsghdr *)hdr, 0, tb, RCLINK_A_PING_MAX,
			  NULL))
		return -EPROTO;
	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0),
			  genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(nla) != RCLINK_A_PING_RTT)
			continue;
		if (ping->ok == RCLINK_PING_COUNT_MAX)
			return -EPROTO;
		ret |= rcl_u64_get(nla, &ping->rtt[ping->ok++]);
	}
	return ret ? : rcl_fields_get(tb, ping_fields, ARRAY_SIZE(ping_fields),
				      ping);
}

static int get_entry(const struct nlattr *nest, struct rcl_entry *entry)
{
	struct nlattr *tb[RCLINK_A_ENTRY_MAX + 1];
	int ret;

	memset(entry, 0, sizeof(*entry));
	if (nla_parse_nested(tb, RCLINK_A_ENTRY_MAX, (struct nlattr *)nest,
			     NULL))
		return -EPROTO;
	ret = rcl_fields_get(tb, entry_fields, ARRAY_SIZE(entry_fields), entry);
	entry->has_qp = tb[RCLINK_A_ENTRY_QP];
	if (!ret && tb[RCLINK_A_ENTRY_STATS])
		ret = rcl_u64s_get(tb[RCLINK_A_ENTRY_STATS], entry->counter,
				   RCLINK_A_STATS_PAD);
	return ret;
}

int rcl_record_get(const struct nlmsghdr *hdr, struct rcl_entry **entries,
		   size_t *num)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	const struct nlattr *nla;
	struct rcl_entry *more;
	int rem, ret = 0;

	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0),
			  genlmsg_attrlen(genl, 0), rem) {
		if (ret || nla_type(nla) != RCLINK_A_RECORD_ENTRY)
			continue;
		more = realloc(*entries, (*num + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		*entries = more;
		ret = get_entry(nla, &more[(*num)++]);
	}
	return ret;
}

static int result(int failed)
{
	return failed ? -EMSGSIZE : 0;
}

int rcl_link_put_name(struct nl_msg *msg, const char *name)
{
	return result(nla_put_string(msg, RCLINK_A_LINK_NAME, name));
}

int rcl_link_put_policy(struct nl_msg *msg, const char *name,
			const struct rcl_policy *policy)
{
	int failed, i;

	failed = nla_put_string(msg, RCLINK_A_LINK_NAME, name);
	if (policy->device_given)
		failed |= nla_put_string(msg, RCLINK_A_LINK_DEVICE,
					 policy->device);
	if (policy->netdev_given)
		failed |= nla_put_string(msg, RCLINK_A_LINK_NETDEV,
					 policy->netdev);
	for (i = 0; i < RCL_P_MAX; i++)
		if (policy->given & 1u << i)
			failed |= nla_put_u32(msg, policy_attr(i),
					      policy->v[i]);
	return result(failed);
}

static int put_field(struct nl_msg *msg, const struct rcl_field *f,
		     const void *object)
{
	const void *from = (const char *)object + f->off;
	size_t len = f->kind == RCL_U32 ? sizeof(uint32_t) :
		     f->kind == RCL_U64 ? sizeof(uint64_t) : RCLINK_GID_LEN;

	return nla_put(msg, f->attr, len, from);
}

static int put_endpoint(struct nl_msg *msg, const struct rcl_endpoint *ep)
{
	struct nlattr *nest, *qp;
	int failed = 0;
	uint32_t i;

	nest = nla_nest_start(msg, RCLINK_A_LINK_REMOTE | NLA_F_NESTED);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(endpoint_fields); i++)
		failed |= put_field(msg, &endpoint_fields[i], ep);
	for (i = 0; i < ep->nqps && !failed; i++) {
		qp = nla_nest_start(msg, RCLINK_A_ENDPOINT_QP | NLA_F_NESTED);
		if (!qp)
			return -EMSGSIZE;
		failed |= nla_put_u32(msg, RCLINK_A_QP_QPN, ep->qp[i].qpn);
		failed |= nla_put_u32(msg, RCLINK_A_QP_PSN, ep->qp[i].psn);
		nla_nest_end(msg, qp);
	}
	nla_nest_end(msg, nest);
	return result(failed);
}

int rcl_link_put_connect(struct nl_msg *msg, const struct rcl_connect *c)
{
	int failed;

	failed = nla_put_string(msg, RCLINK_A_LINK_NAME, c->link);
	failed |= nla_put_u64(msg, RCLINK_A_LINK_EPOCH, c->epoch);
	failed |= nla_put_string(msg, RCLINK_A_LINK_PEER, c->peer);
	failed |= nla_put_u32(msg, RCLINK_A_LINK_ROLE, c->role);
	failed |= put_endpoint(msg, c->remote);
	return result(failed);
}

int rcl_link_put_epoch(struct nl_msg *msg, const char *name, uint64_t epoch)
{
	int failed;

	failed = nla_put_string(msg, RCLINK_A_LINK_NAME, name);
	failed |= nla_put_u64(msg, RCLINK_A_LINK_EPOCH, epoch);
	return result(failed);
}

int rcl_dev_put(struct nl_msg *msg, const char *device, uint32_t port)
{
	int failed;

	failed = nla_put_string(msg, RCLINK_A_DEV_NAME, device);
	failed |= nla_put_u32(msg, RCLINK_A_DEV_PORT, port);
	return result(failed);
}

int rcl_link_put_activate(struct nl_msg *msg, const char *name, uint64_t epoch,
			  const uint8_t key[RCLINK_KEY_LEN])
{
	int ret;

	ret = rcl_link_put_epoch(msg, name, epoch);
	if (ret)
		return ret;
	return result(nla_put(msg, RCLINK_A_LINK_KEY, RCLINK_KEY_LEN, key));
}

int rcl_ping_put(struct nl_msg *msg, const struct rcl_ping *ping)
{
	int failed;

	failed = nla_put_string(msg, RCLINK_A_PING_LINK, ping->link);
	failed |= nla_put_u32(msg, RCLINK_A_PING_OP, ping->op);
	failed |= nla_put_u32(msg, RCLINK_A_PING_SIZE, ping->size);
	failed |= nla_put_u64(msg, RCLINK_A_PING_COOKIE, ping->cookie);
	failed |= nla_put_u32(msg, RCLINK_A_PING_COUNT, ping->count);
	return result(failed);
}

int rcl_record_put(struct nl_msg *msg, const char *link, uint64_t number)
{
	int failed;

	failed = nla_put_string(msg, RCLINK_A_RECORD_LINK, link);
	failed |= nla_put_u64(msg, RCLINK_A_RECORD_NUMBER, number);
	return result(failed);
}

int rcl_note_put(struct nl_msg *msg, const char *link, const char *text)
{
	int failed;

	failed = nla_put_string(msg, RCLINK_A_RECORD_LINK, link);
	failed |= nla_put_string(msg, RCLINK_A_RECORD_TEXT, text);
	return result(failed);
}

static uint32_t used_or_set(const struct rcl_link_info *info, uint32_t used,
			    int field)
{
	const uint32_t set = info->policy.v[field];

	if (info->state == RCLINK_LINK_STATE_DOWN)
		return set ? set : used;
	return used ? used : set;
}

const char *rcl_link_device(const struct rcl_link_info *info)
{
	const char *used = info->used_device, *set = info->policy.device;

	if (info->state == RCLINK_LINK_STATE_DOWN)
		return *set ? set : used;
	return *used ? used : set;
}

uint32_t rcl_link_port(const struct rcl_link_info *info)
{
	return used_or_set(info, info->used_port, RCL_P_PORT);
}

uint32_t rcl_link_mtu(const struct rcl_link_info *info)
{
	return used_or_set(info, info->used_mtu, RCL_P_MTU);
}
