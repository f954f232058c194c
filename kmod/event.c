// SPDX-License-Identifier: GPL-2.0
/*
 * Events can be lost on their way to a listener. Each takes the next number,
 * even if there was no memory for it, so that a listener sees the gap and asks
 * for a dump. Without memory its socket also says ENOBUFS, as when it is full,
 * because the next event may be long in coming.
 */
#include "event.h"

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <net/genetlink.h>

#include <rclink.h>
#include <uapi/linux/rclink.h>

#define RCL_EVENTS_GROUP	0	/* the family has one group */

/*
 * Keeps numbers and sending in order. Links, and so their peers, wait for it,
 * so nobody sleeps while holding it.
 */
static DEFINE_SPINLOCK(rcl_event_lock);
static u64 rcl_event_seq;		/* under rcl_event_lock */
/* The last number sent; atomic, so that readers never hold up senders. */
static atomic64_t rcl_event_told;
/* under rcl_event_lock */
static const struct genl_family *rcl_event_family;
BLOCKING_NOTIFIER_HEAD(rcl_event_chain);

/**
 * rcl_event_init - begin to send
 * @family: registered
 */
void rcl_event_init(const struct genl_family *family)
{
	spin_lock(&rcl_event_lock);
	rcl_event_family = family;
	/* Existing listeners have heard nothing of what was numbered before. */
	if (family && rcl_event_seq)
		genl_set_err(family, &init_net, 0, RCL_EVENTS_GROUP, -ENOBUFS);
	spin_unlock(&rcl_event_lock);
}

/**
 * rcl_event_exit - send no more
 */
void rcl_event_exit(void)
{
	rcl_event_init(NULL);
}

static int rcl_event_put(struct sk_buff *skb, const void *data)
{
	const struct rcl_event *event = data;

	if (nla_put_u64_64bit(skb, RCLINK_A_LINK_EVENT_SEQ, rcl_event_seq,
			      RCLINK_A_LINK_PAD) ||
	    nla_put_u32(skb, RCLINK_A_LINK_EVENT_KIND, event->kind) ||
	    nla_put_u32(skb, RCLINK_A_LINK_ID, event->id) ||
	    nla_put_string(skb, RCLINK_A_LINK_NAME, event->name) ||
	    nla_put_u32(skb, RCLINK_A_LINK_STATE, event->state) ||
	    nla_put_u32(skb, RCLINK_A_LINK_REASON, event->reason.reason) ||
	    nla_put_u32(skb, RCLINK_A_LINK_WC_STATUS,
			event->reason.wc_status) ||
	    nla_put_u32(skb, RCLINK_A_LINK_VENDOR_ERR,
			event->reason.vendor_err) ||
	    nla_put_string(skb, RCLINK_A_LINK_REASON_TEXT,
			   rcl_reason_text(&event->reason)) ||
	    nla_put_u64_64bit(skb, RCLINK_A_LINK_EPOCH, event->epoch,
			      RCLINK_A_LINK_PAD))
		return -EMSGSIZE;
	return 0;
}

static int rcl_event_put_group(struct sk_buff *skb, const void *data)
{
	const struct rcl_group_event *event = data;

	if (nla_put_u64_64bit(skb, RCLINK_A_GROUP_EVENT_SEQ, rcl_event_seq,
			      RCLINK_A_GROUP_PAD) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_EVENT_KIND, event->kind) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_ID, event->id) ||
	    nla_put_string(skb, RCLINK_A_GROUP_NAME, event->name) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_STATE, event->state) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_REASON, event->reason.reason) ||
	    nla_put_u32(skb, RCLINK_A_GROUP_WC_STATUS,
			event->reason.wc_status) ||
	    nla_put_string(skb, RCLINK_A_GROUP_REASON_TEXT,
			   rcl_reason_text(&event->reason)))
		return -EMSGSIZE;
	return event->key ? nla_put_u64_64bit(skb, RCLINK_A_GROUP_KEY_ID,
					      event->key,
					      RCLINK_A_GROUP_PAD) : 0;
}

struct rcl_dev_event {
	const char *device;
	u32 port;		/* 0: all */
};

static int rcl_event_put_dev(struct sk_buff *skb, const void *data)
{
	const struct rcl_dev_event *event = data;

	if (nla_put_u64_64bit(skb, RCLINK_A_DEV_EVENT_SEQ, rcl_event_seq,
			      RCLINK_A_DEV_PAD) ||
	    nla_put_string(skb, RCLINK_A_DEV_NAME, event->device))
		return -EMSGSIZE;
	return event->port ? nla_put_u32(skb, RCLINK_A_DEV_PORT,
					 event->port) : 0;
}

/*
 * Nothing can be done with a new link yet, and a lock is held for its event.
 * All other events come from the link's work item, which keeps their order.
 */
static void rcl_event_call(const struct rcl_event *event)
{
	struct rclink_link_event news = {
		.link = event->name,
		.id = event->id,
		.state = event->state,
		.reason = event->reason.reason,
		.text = rcl_reason_text(&event->reason),
		.epoch = event->epoch,
	};

	if (event->kind == RCLINK_EVENT_KIND_CHANGED ||
	    event->kind == RCLINK_EVENT_KIND_DELETED)
		blocking_notifier_call_chain(&rcl_event_chain, event->kind,
					     &news);
}

/* Consumes the message. */
static void rcl_event_deliver(struct sk_buff *skb, u8 cmd, const void *event,
			      int (*put)(struct sk_buff *skb,
					 const void *event))
{
	void *hdr = NULL;

	lockdep_assert_held(&rcl_event_lock);
	if (skb)
		hdr = genlmsg_put(skb, 0, 0, rcl_event_family, 0, cmd);
	if (hdr && !put(skb, event)) {
		genlmsg_end(skb, hdr);
		/* Without memory at once, a listener's socket says so. */
		genlmsg_multicast(rcl_event_family, skb, 0, RCL_EVENTS_GROUP,
				  GFP_NOWAIT | __GFP_NOWARN);
		return;
	}
	genl_set_err(rcl_event_family, &init_net, 0, RCL_EVENTS_GROUP,
		     -ENOBUFS);
	nlmsg_free(skb);
}

static void rcl_event_multicast(u8 cmd, const void *event,
				int (*put)(struct sk_buff *skb,
					   const void *event))
{
	struct sk_buff *skb;

	/* A link may be the sender, and I/O may wait for that link. */
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_NOIO);
	spin_lock(&rcl_event_lock);
	rcl_event_seq++;
	if (rcl_event_family)
		rcl_event_deliver(skb, cmd, event, put);
	else
		nlmsg_free(skb);
	/* Whoever sees the number sees all that happened before. */
	atomic64_set_release(&rcl_event_told, rcl_event_seq);
	spin_unlock(&rcl_event_lock);
}

/**
 * rcl_event_send - tell all listeners
 * @event: what happened
 *
 * Context: may sleep.
 */
void rcl_event_send(const struct rcl_event *event)
{
	rcl_event_multicast(RCLINK_CMD_LINK_NTF, event, rcl_event_put);
	rcl_event_call(event);
}

/**
 * rcl_event_send_group - tell all listeners but kernel modules
 * @event: what happened
 *
 * Context: may sleep.
 */
void rcl_event_send_group(const struct rcl_group_event *event)
{
	rcl_event_multicast(RCLINK_CMD_GROUP_NTF, event, rcl_event_put_group);
}

/**
 * rcl_event_send_dev - tell all listeners but kernel modules
 * @device: name of the device that came, or that has another port or GID
 * @port: number of its port, 0 for all
 *
 * Context: may sleep.
 */
void rcl_event_send_dev(const char *device, u32 port)
{
	const struct rcl_dev_event event = { device, port };

	rcl_event_multicast(RCLINK_CMD_DEV_NTF, &event, rcl_event_put_dev);
}

/**
 * rcl_event_last - number of the last event
 *
 * Return: the number, which tells what a dump includes if it looks only then.
 */
u64 rcl_event_last(void)
{
	return atomic64_read_acquire(&rcl_event_told);
}
