// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of the family. Each handler parses its request completely, makes one
 * call to the core, and encodes the snapshot that it got; for a record or a
 * list, it makes one call for each entry. No lock of the core is taken here.
 */
#include "nl.h"

#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "device.h"
#include "link.h"
#include "nl-base.h"
#include "nl-gen.h"
#include "nl-parse.h"
#include "nl-put.h"
#include "ping.h"
#include "port.h"
#include "recorder.h"

#define RCL_PING_SIZE	64	/* bytes, by default */
#define RCL_NL_ENTRIES	16	/* of a record, in one answer */

static const char rcl_nl_no_link[] = "name: there is no link of that name";

int rclink_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rcl_port port;
	struct sk_buff *msg;
	const char *name;
	void *hdr;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_DEV_NAME, &name);
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_DEV_PORT, "port");
	if (ret)
		return ret;
	ret = rcl_dev_find_port(name,
				nla_get_u32(info->attrs[RCLINK_A_DEV_PORT]),
				&port);
	if (ret)
		return rcl_nl_result(info, ret, NULL, ret == -ENODEV ?
				     "name, port: there is no such port" :
				     ret == -ENOMEM ? NULL :
				     "the port cannot be read");
	msg = rcl_nl_reply(info, RCLINK_CMD_DEV_GET, &hdr);
	if (msg)
		ret = rcl_nl_reply_end(info, msg, hdr,
				       rcl_nl_put_port(msg, &port));
	else
		ret = rcl_nl_no_memory(info->extack);
	rcl_port_release(&port);
	return ret;
}

static int rcl_nl_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			   struct rcl_port *port)
{
	void *hdr = rcl_nl_dump_put(skb, cb, RCLINK_CMD_DEV_GET);

	if (!hdr)
		return -EMSGSIZE;
	return rcl_nl_dump_end(skb, hdr, rcl_nl_put_port(skb, port));
}

/*
 * One entry may be larger than the room that a dump has by default. All parts
 * but the first are made by the reader, which need not be the one that asked.
 */
int rclink_nl_dump_begin(struct netlink_callback *cb)
{
	/* A caller that names one object would take the whole dump for it. */
	if (nlmsg_attrlen(cb->nlh, GENL_HDRLEN)) {
		NL_SET_ERR_MSG_ATTR(cb->extack,
				    nlmsg_attrdata(cb->nlh, GENL_HDRLEN),
				    "a dump takes no attribute: ask for one without NLM_F_DUMP");
		return -EINVAL;
	}
	cb->min_dump_alloc = RCL_NL_BIG;
	cb->args[RCL_NL_SECRETS] = netlink_capable(cb->skb, CAP_NET_ADMIN);
	return 0;
}

int rclink_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rcl_port port;
	int ret;

	cb->seq = rcl_nl_seq(rcl_dev_generation());
	/* args[0]: how many ports have been sent, or cannot be read */
	while ((ret = rcl_dev_nth_port(cb->args[0], &port)) != -ENOENT) {
		if (!ret) {
			ret = rcl_nl_dump_one(skb, cb, &port);
			rcl_port_release(&port);
		}
		if (ret == -ENOMEM)
			rcl_nl_no_memory(cb->extack);
		if (ret == -EMSGSIZE || ret == -ENOMEM)
			return skb->len ? : ret;
		cb->args[0]++;
	}
	return skb->len;
}

static int rcl_nl_policy(struct genl_info *info,
			 int (*call)(const char *name,
				     const struct rcl_policy_change *change,
				     const char **why))
{
	struct rcl_policy_change change;
	const char *why = NULL;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_LINK_NAME, &name);
	if (ret)
		return ret;
	rcl_nl_parse_policy(info, &change);
	ret = call(name, &change, &why);
	return rcl_nl_result(info, ret, rcl_nl_no_link, why);
}

int rclink_nl_link_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rcl_nl_policy(info, rcl_link_create);
}

int rclink_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rcl_nl_policy(info, rcl_link_set);
}

int rclink_nl_link_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_LINK_NAME, &name);
	if (ret)
		return ret;
	return rcl_nl_result(info, rcl_link_delete(name), rcl_nl_no_link, NULL);
}

int rclink_nl_link_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	bool secrets = netlink_capable(skb, CAP_NET_ADMIN);
	struct rcl_link_info *link;
	struct sk_buff *msg;
	const char *name;
	void *hdr;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_LINK_NAME, &name);
	if (ret)
		return ret;
	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_nl_result(info, rcl_link_info(name, link), rcl_nl_no_link,
			    NULL);
	if (ret)
		goto out_free;
	msg = rcl_nl_reply(info, RCLINK_CMD_LINK_GET, &hdr);
	if (msg)
		ret = rcl_nl_reply_end(info, msg, hdr,
				       rcl_nl_put_link(msg, link, secrets));
	else
		ret = rcl_nl_no_memory(info->extack);
out_free:
	kfree_sensitive(link);
	return ret;
}

static int rcl_nl_dump_link(struct sk_buff *skb, struct netlink_callback *cb,
			    const struct rcl_link_info *link)
{
	bool secrets = cb->args[RCL_NL_SECRETS];
	void *hdr = rcl_nl_dump_put(skb, cb, RCLINK_CMD_LINK_GET);

	if (!hdr)
		return -EMSGSIZE;
	return rcl_nl_dump_end(skb, hdr, rcl_nl_put_link(skb, link, secrets));
}

int rclink_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rcl_link_info *link;
	int ret = 0;

	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return rcl_nl_no_memory(cb->extack);
	cb->seq = rcl_nl_seq(rcl_link_generation());
	/* args[0]: id of the last link that has been sent */
	while (!rcl_link_info_next(cb->args[0], link)) {
		ret = rcl_nl_dump_link(skb, cb, link);
		if (ret)
			break;
		cb->args[0] = link->id;
	}
	kfree_sensitive(link);
	return skb->len ? : ret;
}

/*
 * The reply is allocated before the request is made: a request that succeeded
 * must not end with an error for want of memory.
 */
static int rcl_nl_request(struct genl_info *info, u8 cmd, const char *name,
			  struct rcl_request *req)
{
	struct sk_buff *msg;
	void *hdr;
	int ret;

	msg = rcl_nl_reply(info, cmd, &hdr);
	if (!msg)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_link_request(name, req);
	if (ret) {
		nlmsg_free(msg);
		return rcl_nl_result(info, ret, rcl_nl_no_link, req->why);
	}
	ret = nla_put_string(msg, RCLINK_A_LINK_NAME, name);
	if (!ret)
		ret = nla_put_u64_64bit(msg, RCLINK_A_LINK_EPOCH, req->epoch,
					RCLINK_A_LINK_PAD);
	if (!ret && req->kind == RCL_REQ_PREPARE)
		ret = rcl_nl_put_end(msg, RCLINK_A_LINK_LOCAL, &req->end);
	return rcl_nl_reply_end(info, msg, hdr, ret);
}

int rclink_nl_link_prepare_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rcl_request *req;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_LINK_NAME, &name);
	if (ret)
		return ret;
	req = rcl_request_new(RCL_REQ_PREPARE, info->snd_portid);
	if (!req)
		return rcl_nl_no_memory(info->extack);
	rcl_nl_parse_path(info, &req->path);
	req->rotate = nla_get_flag(info->attrs[RCLINK_A_LINK_ROTATE]);
	ret = rcl_nl_request(info, RCLINK_CMD_LINK_PREPARE, name, req);
	rcl_request_put(req);
	return ret;
}

static int rcl_nl_parse_connect(struct genl_info *info, struct rcl_request *req)
{
	struct nlattr **attrs = info->attrs;
	int ret;

	ret = rcl_nl_need(info, RCLINK_A_LINK_EPOCH, "epoch");
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_LINK_PEER, "peer");
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_LINK_ROLE, "role");
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_LINK_REMOTE, "remote");
	if (ret)
		return ret;
	req->epoch = nla_get_u64(attrs[RCLINK_A_LINK_EPOCH]);
	req->role = nla_get_u32(attrs[RCLINK_A_LINK_ROLE]);
	nla_strscpy(req->peer, attrs[RCLINK_A_LINK_PEER], sizeof(req->peer));
	return rcl_nl_parse_end(info, &req->end);
}

int rclink_nl_link_connect_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rcl_request *req;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_LINK_NAME, &name);
	if (ret)
		return ret;
	req = rcl_request_new(RCL_REQ_CONNECT, info->snd_portid);
	if (!req)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_nl_parse_connect(info, req);
	if (!ret)
		ret = rcl_nl_request(info, RCLINK_CMD_LINK_CONNECT, name, req);
	rcl_request_put(req);
	return ret;
}

/* Asks without a reply, and puts the request. */
static int rcl_nl_ask(struct genl_info *info, const char *name,
		      struct rcl_request *req)
{
	int ret = rcl_link_request(name, req);

	ret = rcl_nl_result(info, ret, rcl_nl_no_link, req->why);
	rcl_request_put(req);
	return ret;
}

static int rcl_nl_activate(struct genl_info *info)
{
	struct rcl_request *req;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_LINK_NAME, &name);
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_LINK_EPOCH, "epoch");
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_LINK_KEY, "key");
	if (ret)
		return ret;
	req = rcl_request_new(RCL_REQ_ACTIVATE, info->snd_portid);
	if (!req)
		return rcl_nl_no_memory(info->extack);
	req->epoch = nla_get_u64(info->attrs[RCLINK_A_LINK_EPOCH]);
	memcpy(req->key, nla_data(info->attrs[RCLINK_A_LINK_KEY]),
	       sizeof(req->key));
	return rcl_nl_ask(info, name, req);
}

/*
 * The request holds a key: nothing of it may stay, or come back in a NACK. A
 * request that the policy refuses does not get here: netlink sends it back as
 * it is.
 */
int rclink_nl_link_activate_doit(struct sk_buff *skb, struct genl_info *info)
{
	int ret = rcl_nl_activate(info);

	memzero_explicit(genlmsg_data(info->genlhdr),
			 genlmsg_len(info->genlhdr));
	return ret;
}

/* An epoch of 0 means the current one. */
static int rcl_nl_end(struct genl_info *info, enum rcl_request_kind kind,
		      u64 epoch)
{
	struct rcl_request *req;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_LINK_NAME, &name);
	if (ret)
		return ret;
	req = rcl_request_new(kind, info->snd_portid);
	if (!req)
		return rcl_nl_no_memory(info->extack);
	req->epoch = epoch;
	return rcl_nl_ask(info, name, req);
}

int rclink_nl_link_disconnect_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rcl_nl_end(info, RCL_REQ_DISCONNECT, 0);
}

int rclink_nl_link_replace_doit(struct sk_buff *skb, struct genl_info *info)
{
	int ret;

	ret = rcl_nl_need(info, RCLINK_A_LINK_EPOCH, "epoch");
	if (ret)
		return ret;
	return rcl_nl_end(info, RCL_REQ_REPLACE,
			  nla_get_u64(info->attrs[RCLINK_A_LINK_EPOCH]));
}

int rclink_nl_link_rotate_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rcl_nl_end(info, RCL_REQ_ROTATE, 0);
}

/*
 * A ping, where its result goes, and the message for it, allocated in advance:
 * whoever waits for the result must get it.
 */
struct rcl_nl_ping {
	struct rcl_ping ping;
	struct sk_buff *skb;
	u32 portid;
	u64 cookie;
	char link[RCLINK_NAME_MAX + 1];
};

static int rcl_nl_put_ping(struct sk_buff *skb, const struct rcl_nl_ping *np)
{
	const struct rcl_ping *ping = &np->ping;
	u32 i;

	if (nla_put_string(skb, RCLINK_A_PING_LINK, np->link) ||
	    nla_put_u32(skb, RCLINK_A_PING_OP, ping->op) ||
	    nla_put_u32(skb, RCLINK_A_PING_SIZE, ping->size) ||
	    nla_put_u64_64bit(skb, RCLINK_A_PING_COOKIE, np->cookie,
			      RCLINK_A_PING_PAD) ||
	    nla_put_u32(skb, RCLINK_A_PING_ERROR, -ping->error))
		return -EMSGSIZE;
	for (i = 0; i < ping->ok; i++)
		if (nla_put_u64_64bit(skb, RCLINK_A_PING_RTT, ping->rtt[i],
				      RCLINK_A_PING_PAD))
			return -EMSGSIZE;
	return ping->error ? nla_put_string(skb, RCLINK_A_PING_REASON_TEXT,
					    ping->why) : 0;
}

/* The requester may be gone; then nobody wants the result. */
static void rcl_nl_ping_done(struct rcl_ping *ping)
{
	struct rcl_nl_ping *np = container_of(ping, struct rcl_nl_ping, ping);
	struct sk_buff *skb = np->skb;
	void *hdr;

	hdr = genlmsg_put(skb, np->portid, 0, &rcl_nl_family, 0,
			  RCLINK_CMD_PING_NTF);
	if (hdr && !rcl_nl_put_ping(skb, np)) {
		genlmsg_end(skb, hdr);
		genlmsg_unicast(&init_net, skb, np->portid);
	} else {
		nlmsg_free(skb);
	}
	kfree(np);
}

static void rcl_nl_parse_ping(struct genl_info *info, struct rcl_nl_ping *np)
{
	struct nlattr **attrs = info->attrs;
	struct rcl_ping *ping = &np->ping;

	ping->op = RCLINK_PING_OP_SEND;
	if (attrs[RCLINK_A_PING_OP])
		ping->op = nla_get_u32(attrs[RCLINK_A_PING_OP]);
	ping->size = RCL_PING_SIZE;
	if (ping->op == RCLINK_PING_OP_CAS || ping->op == RCLINK_PING_OP_FADD)
		ping->size = sizeof(u64);
	if (attrs[RCLINK_A_PING_SIZE])
		ping->size = nla_get_u32(attrs[RCLINK_A_PING_SIZE]);
	if (attrs[RCLINK_A_PING_COOKIE])
		np->cookie = nla_get_u64(attrs[RCLINK_A_PING_COOKIE]);
	ping->count = 1;
	if (attrs[RCLINK_A_PING_COUNT])
		ping->count = nla_get_u32(attrs[RCLINK_A_PING_COUNT]);
	ping->done = rcl_nl_ping_done;
	np->portid = info->snd_portid;
}

int rclink_nl_ping_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rcl_nl_ping *np;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_PING_LINK, &name);
	if (ret)
		return ret;
	np = kzalloc(sizeof(*np), GFP_KERNEL);
	if (!np)
		return rcl_nl_no_memory(info->extack);
	rcl_nl_parse_ping(info, np);
	strscpy(np->link, name, sizeof(np->link));
	np->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	ret = np->skb ? rcl_link_ping(name, &np->ping) : -ENOMEM;
	if (ret) {
		nlmsg_free(np->skb);
		kfree(np);
	}
	return rcl_nl_result(info, ret, rcl_nl_no_link, ret == -EBUSY ?
			     "too many pings are waiting on this link" : NULL);
}

/* Number by number, because the record may go on meanwhile. */
static int rcl_nl_put_record(struct sk_buff *skb, const char *name, u64 number,
			     bool secrets)
{
	struct rcl_link *link = rcl_link_get(name);
	struct rcl_entry_info entry;
	int ret, i;

	if (!link)
		return -ENOENT;
	ret = nla_put_string(skb, RCLINK_A_RECORD_LINK, name);
	for (i = 0; !ret && i < RCL_NL_ENTRIES; i++) {
		ret = rcl_recorder_read(link, number, &entry);
		if (ret)
			break;
		/* The operator's tools may put anything in there. */
		if (!secrets && entry.entry.kind == RCLINK_ENTRY_KIND_NOTE)
			entry.entry.text = NULL;
		ret = rcl_nl_put_entry(skb, &entry);
		number = entry.number + 1;
	}
	rcl_link_put(link);
	return ret == -ENODATA ? 0 : ret;
}

int rclink_nl_record_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg;
	const char *name;
	u64 number = 1;
	void *hdr;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_RECORD_LINK, &name);
	if (ret)
		return ret;
	if (info->attrs[RCLINK_A_RECORD_NUMBER])
		number = nla_get_u64(info->attrs[RCLINK_A_RECORD_NUMBER]);
	msg = rcl_nl_reply(info, RCLINK_CMD_RECORD_GET, &hdr);
	if (!msg)
		return rcl_nl_no_memory(info->extack);
	ret = rcl_nl_put_record(msg, name, number,
				netlink_capable(skb, CAP_NET_ADMIN));
	ret = rcl_nl_reply_end(info, msg, hdr, ret);
	return rcl_nl_result(info, ret, rcl_nl_no_link, NULL);
}

int rclink_nl_link_note_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *why = NULL;
	const char *name;
	int ret;

	ret = rcl_nl_begin(info, RCLINK_A_RECORD_LINK, &name);
	if (!ret)
		ret = rcl_nl_need(info, RCLINK_A_RECORD_TEXT, "text");
	if (ret)
		return ret;
	ret = rcl_link_note(name, nla_data(info->attrs[RCLINK_A_RECORD_TEXT]),
			    &why);
	return rcl_nl_result(info, ret, rcl_nl_no_link, why);
}

static int rcl_nl_notify(struct notifier_block *nb, unsigned long event,
			 void *data)
{
	struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net) && notify->portid)
		rcl_link_owner_gone(notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block rcl_nl_notifier = {
	.notifier_call = rcl_nl_notify,
};

/**
 * rcl_nl_init - begin to take commands
 *
 * Return: 0 or a negative errno.
 */
int __init rcl_nl_init(void)
{
	int ret;

	ret = netlink_register_notifier(&rcl_nl_notifier);
	if (ret)
		return ret;
	ret = genl_register_family(&rcl_nl_family);
	if (ret)
		netlink_unregister_notifier(&rcl_nl_notifier);
	return ret;
}

/**
 * rcl_nl_exit - take no more commands
 */
void rcl_nl_exit(void)
{
	genl_unregister_family(&rcl_nl_family);
	netlink_unregister_notifier(&rcl_nl_notifier);
}
