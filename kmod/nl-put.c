// SPDX-License-Identifier: GPL-2.0
/*
 * What does not fit leaves half an attribute in the message: all callers then
 * give up the message, or take back the object of a dump.
 */
#include "nl-put.h"

#include <net/netlink.h>

#include <uapi/linux/rclink.h>

#include "link.h"
#include "port.h"
#include "recorder.h"
#include "upcall.h"

static int rcl_nl_put_gid(struct sk_buff *skb, const struct rcl_port *port,
			  const struct rcl_gid *gid)
{
	bool roce = port->link_layer == RCLINK_LINK_LAYER_ROCE;
	bool usable = port->chosen >= 0 && rcl_gid_is_usable(gid, roce);
	struct nlattr *nest;

	nest = nla_nest_start(skb, RCLINK_A_DEV_GID);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RCLINK_A_GID_INDEX, gid->index) ||
	    nla_put(skb, RCLINK_A_GID_VALUE, sizeof(gid->value), gid->value) ||
	    nla_put_u32(skb, RCLINK_A_GID_TYPE, gid->type) ||
	    nla_put_string(skb, RCLINK_A_GID_NETDEV, gid->netdev) ||
	    nla_put_u32(skb, RCLINK_A_GID_VLAN, gid->vlan) ||
	    nla_put_u32(skb, RCLINK_A_GID_USABLE, usable))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int rcl_nl_put_caps(struct sk_buff *skb, const struct rcl_port *port)
{
	if (nla_put_u32(skb, RCLINK_A_DEV_MAX_QP, port->max_qp) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_QP_WR, port->max_qp_wr) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_CQE, port->max_cqe) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_MR, port->max_mr) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_SGE, port->max_sge) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_RD_ATOMIC,
			port->max_rd_atomic) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_SRQ, port->max_srq) ||
	    nla_put_u32(skb, RCLINK_A_DEV_FAST_REG_PAGES,
			port->fast_reg_pages) ||
	    nla_put_u32(skb, RCLINK_A_DEV_ATOMICS, port->atomics) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MASKED_ATOMICS,
			port->masked_atomics) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_INLINE, port->max_inline) ||
	    nla_put_u32(skb, RCLINK_A_DEV_SA, port->sa))
		return -EMSGSIZE;
	return 0;
}

/**
 * rcl_nl_put_port - encode a port
 * @skb: message
 * @port: snapshot
 *
 * Return: 0 or -EMSGSIZE.
 */
int rcl_nl_put_port(struct sk_buff *skb, const struct rcl_port *port)
{
	u32 i;

	if (nla_put_string(skb, RCLINK_A_DEV_NAME, port->device) ||
	    nla_put_u32(skb, RCLINK_A_DEV_PORT, port->port) ||
	    nla_put_u32(skb, RCLINK_A_DEV_LINK_LAYER, port->link_layer) ||
	    nla_put_u32(skb, RCLINK_A_DEV_PORT_STATE, port->state) ||
	    nla_put_u32(skb, RCLINK_A_DEV_ACTIVE_MTU, port->active_mtu) ||
	    nla_put_u32(skb, RCLINK_A_DEV_MAX_MTU, port->max_mtu) ||
	    nla_put_u32(skb, RCLINK_A_DEV_LID, port->lid) ||
	    nla_put_u32(skb, RCLINK_A_DEV_SM_LID, port->sm_lid) ||
	    nla_put_u32(skb, RCLINK_A_DEV_PKEYS, port->pkeys) ||
	    rcl_nl_put_caps(skb, port))
		return -EMSGSIZE;
	for (i = 0; i < port->ngids; i++)
		if (rcl_nl_put_gid(skb, port, &port->gids[i]))
			return -EMSGSIZE;
	if (port->chosen >= 0 &&
	    nla_put_u32(skb, RCLINK_A_DEV_CHOSEN_GID,
			port->gids[port->chosen].index))
		return -EMSGSIZE;
	return nla_put_string(skb, RCLINK_A_DEV_REASON, port->why);
}

static int rcl_nl_put_qp(struct sk_buff *skb, const struct rcl_qp_id *qp)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, RCLINK_A_ENDPOINT_QP);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RCLINK_A_QP_QPN, qp->qpn) ||
	    nla_put_u32(skb, RCLINK_A_QP_PSN, qp->psn))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int rcl_nl_put_end_values(struct sk_buff *skb,
				 const struct rcl_endpoint *end)
{
	u32 i;

	if (nla_put_u32(skb, RCLINK_A_ENDPOINT_LINK_LAYER, end->link_layer) ||
	    nla_put(skb, RCLINK_A_ENDPOINT_GID, sizeof(end->gid), end->gid) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_LID, end->lid) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_MTU, end->mtu) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_RD_ATOMIC, end->rd_atomic) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_ATOMICS, end->atomics) ||
	    nla_put_u64_64bit(skb, RCLINK_A_ENDPOINT_EPOCH, end->epoch,
			      RCLINK_A_ENDPOINT_PAD) ||
	    nla_put_u64_64bit(skb, RCLINK_A_ENDPOINT_ADDR, end->addr,
			      RCLINK_A_ENDPOINT_PAD) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_RKEY, end->rkey) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_LENGTH, end->length) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_PKEY, end->pkey) ||
	    nla_put_u32(skb, RCLINK_A_ENDPOINT_MASKED_ATOMICS,
			end->masked_atomics))
		return -EMSGSIZE;
	for (i = 0; i < end->nqps; i++)
		if (rcl_nl_put_qp(skb, &end->qp[i]))
			return -EMSGSIZE;
	return 0;
}

/**
 * rcl_nl_put_end - encode one end of a link
 * @skb: message to a receiver with CAP_NET_ADMIN
 * @attr: RCLINK_A_LINK_LOCAL or RCLINK_A_LINK_REMOTE
 * @end: snapshot
 *
 * Return: 0 or -EMSGSIZE.
 */
int rcl_nl_put_end(struct sk_buff *skb, int attr,
		   const struct rcl_endpoint *end)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	if (rcl_nl_put_end_values(skb, end))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The attributes of the policy are in the order of its fields. */
static int rcl_nl_put_policy(struct sk_buff *skb,
			     const struct rcl_policy *policy)
{
	int i;

	if (policy->device[0] &&
	    nla_put_string(skb, RCLINK_A_LINK_DEVICE, policy->device))
		return -EMSGSIZE;
	if (policy->netdev[0] &&
	    nla_put_string(skb, RCLINK_A_LINK_NETDEV, policy->netdev))
		return -EMSGSIZE;
	for (i = 0; i < RCL_P_MAX; i++)
		if (nla_put_u32(skb, RCLINK_A_LINK_PORT + i, policy->v[i]))
			return -EMSGSIZE;
	return 0;
}

static int rcl_nl_put_used(struct sk_buff *skb, const struct rcl_used *used)
{
	if (!used->device[0])
		return 0;
	if (nla_put_string(skb, RCLINK_A_LINK_USED_DEVICE, used->device) ||
	    nla_put_u32(skb, RCLINK_A_LINK_USED_PORT, used->port) ||
	    (used->mtu &&
	     nla_put_u32(skb, RCLINK_A_LINK_USED_MTU, used->mtu)) ||
	    nla_put_u32(skb, RCLINK_A_LINK_LINK_LAYER, used->link_layer) ||
	    nla_put(skb, RCLINK_A_LINK_GID, sizeof(used->gid), used->gid) ||
	    nla_put_u32(skb, RCLINK_A_LINK_LID, used->lid) ||
	    nla_put_string(skb, RCLINK_A_LINK_GID_REASON, used->gid_reason))
		return -EMSGSIZE;
	return 0;
}

/**
 * rcl_nl_put_counts - encode counters
 * @skb: message
 * @attr: the nest to put them into
 * @values: the counters, indexed by the number of their attribute, from 1 on
 * @n: entries of @values
 * @pad: the attribute for alignment
 *
 * Return: 0 or -EMSGSIZE.
 */
int rcl_nl_put_counts(struct sk_buff *skb, int attr, const u64 *values, int n,
		      int pad)
{
	struct nlattr *nest;
	int i;

	nest = nla_nest_start(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i < n; i++)
		if (nla_put_u64_64bit(skb, i, values[i], pad))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int rcl_nl_put_stats(struct sk_buff *skb,
			    const struct rcl_link_info *info)
{
	const struct rcl_traffic *traffic = &info->traffic;
	const struct rcl_stats *stats = &info->stats;
	const u64 values[] = {
		[RCLINK_A_STATS_EPOCHS] = stats->epochs,
		[RCLINK_A_STATS_TX_MESSAGES] = stats->tx_messages,
		[RCLINK_A_STATS_RX_MESSAGES] = stats->rx_messages,
		[RCLINK_A_STATS_TX_BYTES] = stats->tx_bytes,
		[RCLINK_A_STATS_RX_BYTES] = stats->rx_bytes,
		[RCLINK_A_STATS_RX_UNAUTHENTICATED] = stats->rx_unauthenticated,
		[RCLINK_A_STATS_RX_MALFORMED] = stats->rx_malformed,
		[RCLINK_A_STATS_COMPLETION_ERRORS] = stats->completion_errors,
		[RCLINK_A_STATS_CREDIT_WAITS] = stats->credit_waits,
		[RCLINK_A_STATS_PINGS] = stats->pings,
		[RCLINK_A_STATS_PING_ERRORS] = stats->ping_errors,
		[RCLINK_A_STATS_DOWNS] = stats->downs,
		[RCLINK_A_STATS_HEARTBEATS] = stats->heartbeats,
		[RCLINK_A_STATS_HEARTBEATS_MISSED] = stats->heartbeats_missed,
		[RCLINK_A_STATS_CHANNELS] = traffic->channels,
		[RCLINK_A_STATS_CHAN_OPS] = traffic->ops,
		[RCLINK_A_STATS_CHAN_BYTES] = traffic->bytes,
		[RCLINK_A_STATS_CHAN_RECVS] = traffic->recvs,
		[RCLINK_A_STATS_CHAN_RECV_BYTES] = traffic->recv_bytes,
		[RCLINK_A_STATS_CHAN_SUSPENDED] = traffic->suspended,
		[RCLINK_A_STATS_CHAN_RESUMES] = traffic->resumes,
		[RCLINK_A_STATS_CHAN_RESENDS] = traffic->resends,
		[RCLINK_A_STATS_CHAN_ERRORS] = stats->chan_errors,
		[RCLINK_A_STATS_RX_OUT_OF_SEQUENCE] = stats->rx_out_of_sequence,
		[RCLINK_A_STATS_RX_WRONG_SIZE] = stats->rx_wrong_size,
		[RCLINK_A_STATS_RX_WRONG_KIND] = stats->rx_wrong_kind,
		[RCLINK_A_STATS_LOCAL_ACCESS_ERRORS] =
			stats->local_access_errors,
		[RCLINK_A_STATS_REMOTE_ACCESS_ERRORS] =
			stats->remote_access_errors,
		[RCLINK_A_STATS_QP_ACCESS_EVENTS] = stats->qp_access_events,
		[RCLINK_A_STATS_QP_REQUEST_EVENTS] = stats->qp_request_events,
		[RCLINK_A_STATS_UNEXPLAINED_ERRORS] = stats->unexplained_errors,
	};

	return rcl_nl_put_counts(skb, RCLINK_A_LINK_STATS, values,
				 ARRAY_SIZE(values), RCLINK_A_STATS_PAD);
}

static int rcl_nl_put_latency(struct sk_buff *skb,
			      const struct rcl_latency *latency)
{
	struct nlattr *nest;
	int ret, i;

	nest = nla_nest_start(skb, RCLINK_A_LINK_LATENCY);
	if (!nest)
		return -EMSGSIZE;
	ret = nla_put_u64_64bit(skb, RCLINK_A_LATENCY_SUM, latency->sum,
				RCLINK_A_LATENCY_PAD);
	for (i = 0; i < RCLINK_LATENCY_BUCKETS && !ret; i++)
		ret = nla_put_u64_64bit(skb, RCLINK_A_LATENCY_BUCKET,
					latency->bucket[i],
					RCLINK_A_LATENCY_PAD);
	if (!ret)
		nla_nest_end(skb, nest);
	return ret;
}

static int rcl_nl_put_state(struct sk_buff *skb,
			    const struct rcl_link_info *info)
{
	if (nla_put_u32(skb, RCLINK_A_LINK_STATE, info->state) ||
	    nla_put_u32(skb, RCLINK_A_LINK_REASON, info->reason.reason) ||
	    nla_put_u32(skb, RCLINK_A_LINK_WC_STATUS,
			info->reason.wc_status) ||
	    nla_put_u32(skb, RCLINK_A_LINK_VENDOR_ERR,
			info->reason.vendor_err) ||
	    nla_put_string(skb, RCLINK_A_LINK_REASON_TEXT,
			   rcl_reason_text(&info->reason)) ||
	    nla_put_u64_64bit(skb, RCLINK_A_LINK_EPOCH, info->epoch,
			      RCLINK_A_LINK_PAD) ||
	    nla_put_string(skb, RCLINK_A_LINK_PEER, info->peer))
		return -EMSGSIZE;
	if (info->standby_epoch &&
	    (nla_put_u32(skb, RCLINK_A_LINK_STANDBY_STATE, info->standby) ||
	     nla_put_u64_64bit(skb, RCLINK_A_LINK_STANDBY_EPOCH,
			       info->standby_epoch, RCLINK_A_LINK_PAD)))
		return -EMSGSIZE;
	if (info->unwanted &&
	    nla_put_u64_64bit(skb, RCLINK_A_LINK_UNWANTED_EPOCH,
			      info->unwanted, RCLINK_A_LINK_PAD))
		return -EMSGSIZE;
	return info->role ? nla_put_u32(skb, RCLINK_A_LINK_ROLE, info->role) :
	       0;
}

/**
 * rcl_nl_put_link - encode a link
 * @skb: message
 * @info: snapshot
 * @secrets: the receiver has CAP_NET_ADMIN
 *
 * Return: 0 or -EMSGSIZE.
 */
int rcl_nl_put_link(struct sk_buff *skb, const struct rcl_link_info *info,
		    bool secrets)
{
	if (nla_put_string(skb, RCLINK_A_LINK_NAME, info->name) ||
	    nla_put_u32(skb, RCLINK_A_LINK_ID, info->id) ||
	    rcl_nl_put_policy(skb, &info->policy) ||
	    rcl_nl_put_state(skb, info) ||
	    rcl_nl_put_used(skb, &info->used) ||
	    rcl_nl_put_stats(skb, info) ||
	    rcl_nl_put_latency(skb, &info->stats.latency) ||
	    nla_put_u64_64bit(skb, RCLINK_A_LINK_EVENT_SEQ, info->event_seq,
			      RCLINK_A_LINK_PAD))
		return -EMSGSIZE;
	if (secrets && info->has_local &&
	    rcl_nl_put_end(skb, RCLINK_A_LINK_LOCAL, &info->local))
		return -EMSGSIZE;
	if (secrets && info->has_remote &&
	    rcl_nl_put_end(skb, RCLINK_A_LINK_REMOTE, &info->remote))
		return -EMSGSIZE;
	return 0;
}

static int rcl_nl_put_entry_stats(struct sk_buff *skb,
				  const struct rcl_entry *entry)
{
	const struct {
		int attr;
		u64 value;
	} counters[] = {
		{ RCLINK_A_STATS_TX_MESSAGES, entry->tx_messages },
		{ RCLINK_A_STATS_RX_MESSAGES, entry->rx_messages },
		{ RCLINK_A_STATS_TX_BYTES, entry->tx_bytes },
		{ RCLINK_A_STATS_RX_BYTES, entry->rx_bytes },
		{ RCLINK_A_STATS_RX_UNAUTHENTICATED,
		  entry->rx_unauthenticated },
		{ RCLINK_A_STATS_COMPLETION_ERRORS, entry->completion_errors },
		{ RCLINK_A_STATS_DOWNS, entry->downs },
	};
	struct nlattr *nest;
	int i;

	nest = nla_nest_start(skb, RCLINK_A_ENTRY_STATS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (nla_put_u64_64bit(skb, counters[i].attr, counters[i].value,
				      RCLINK_A_STATS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int rcl_nl_put_what(struct sk_buff *skb, const struct rcl_entry *entry)
{
	const char *text = entry->text;

	if (!text && entry->reason.reason)
		text = rcl_reason_text(&entry->reason);
	if ((entry->from &&
	     nla_put_u32(skb, RCLINK_A_ENTRY_FROM, entry->from)) ||
	    (entry->to && nla_put_u32(skb, RCLINK_A_ENTRY_TO, entry->to)) ||
	    (entry->step &&
	     nla_put_u32(skb, RCLINK_A_ENTRY_STEP, entry->step)) ||
	    nla_put_u32(skb, RCLINK_A_ENTRY_REASON, entry->reason.reason) ||
	    nla_put_u32(skb, RCLINK_A_ENTRY_WC_STATUS,
			entry->reason.wc_status) ||
	    nla_put_u32(skb, RCLINK_A_ENTRY_VENDOR_ERR,
			entry->reason.vendor_err) ||
	    (entry->qp != RCL_QP_NONE &&
	     nla_put_u32(skb, RCLINK_A_ENTRY_QP, entry->qp)))
		return -EMSGSIZE;
	return text ? nla_put_string(skb, RCLINK_A_ENTRY_TEXT, text) : 0;
}

/**
 * rcl_nl_put_entry - encode an entry of a record
 * @skb: message
 * @info: snapshot
 *
 * Return: 0 or -EMSGSIZE.
 */
int rcl_nl_put_entry(struct sk_buff *skb, const struct rcl_entry_info *info)
{
	const struct rcl_entry *entry = &info->entry;
	struct nlattr *nest;

	nest = nla_nest_start(skb, RCLINK_A_RECORD_ENTRY);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, RCLINK_A_ENTRY_NUMBER, info->number,
			      RCLINK_A_ENTRY_PAD) ||
	    nla_put_u32(skb, RCLINK_A_ENTRY_KIND, entry->kind) ||
	    nla_put_u64_64bit(skb, RCLINK_A_ENTRY_TIME, entry->time,
			      RCLINK_A_ENTRY_PAD) ||
	    nla_put_u64_64bit(skb, RCLINK_A_ENTRY_LAST, entry->last,
			      RCLINK_A_ENTRY_PAD) ||
	    nla_put_u32(skb, RCLINK_A_ENTRY_TIMES, entry->times) ||
	    nla_put_u64_64bit(skb, RCLINK_A_ENTRY_EPOCH, entry->epoch,
			      RCLINK_A_ENTRY_PAD) ||
	    rcl_nl_put_what(skb, entry) || rcl_nl_put_entry_stats(skb, entry))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
