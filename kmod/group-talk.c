// SPDX-License-Identifier: GPL-2.0
#include "group-talk.h"

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

#define RCL_TALK_SILENT_MS	30000	/* after that, it exports nothing */

/**
 * rcl_talk_init - begin without a key
 * @talk: zeroed
 */
void rcl_talk_init(struct rcl_talk *talk)
{
	spin_lock_init(&talk->lock);
}

/* Under another key, the members have other numbers. */
static void rcl_talk_forget(struct rcl_talk *talk)
{
	int i;

	memset(talk->peer, 0, sizeof(talk->peer));
	for (i = 0; i < RCLINK_GROUP_MEMBERS_MAX; i++) {
		kfree(talk->said[i]);
		talk->said[i] = NULL;
	}
}

/**
 * rcl_talk_wipe - forget all keys
 * @talk: not used by anybody any more, except to look at it
 *
 * Context: process context.
 */
void rcl_talk_wipe(struct rcl_talk *talk)
{
	spin_lock(&talk->lock);
	rcl_talk_forget(talk);
	kfree(talk->announce);
	talk->announce = NULL;
	kfree(talk->spare);
	talk->spare = NULL;
	memzero_explicit(&talk->seal, sizeof(talk->seal));
	spin_unlock(&talk->lock);
}

/**
 * rcl_talk_lose_key - have no key until there is another one
 * @talk: initialized
 *
 * Context: process context.
 */
void rcl_talk_lose_key(struct rcl_talk *talk)
{
	spin_lock(&talk->lock);
	rcl_talk_forget(talk);
	rcl_group_seal_lose(&talk->seal);
	spin_unlock(&talk->lock);
}

/**
 * rcl_talk_install - use another key
 * @talk: initialized
 * @grant: not seen before
 * @now: do not open what others still send under the previous key
 *
 * Context: process context.
 */
void rcl_talk_install(struct rcl_talk *talk,
		      const struct rcl_group_grant *grant, bool now)
{
	spin_lock(&talk->lock);
	rcl_group_seal_install(&talk->seal, grant);
	if (now)
		rcl_group_seal_forget(&talk->seal);
	rcl_talk_forget(talk);
	talk->stats.keys++;
	spin_unlock(&talk->lock);
}

/* A member that is gone does not tell that its regions are gone. */
static void rcl_talk_expire_said(struct rcl_talk *talk)
{
	u64 since = get_jiffies_64() - msecs_to_jiffies(RCL_TALK_SILENT_MS);
	int i;

	for (i = 0; i < RCLINK_GROUP_MEMBERS_MAX; i++) {
		if (!talk->said[i] ||
		    time_before64(since, talk->peer[i].last))
			continue;
		kfree(talk->said[i]);
		talk->said[i] = NULL;
	}
}

/**
 * rcl_talk_expire - forget the previous key, and what members said, in due time
 * @talk: initialized
 *
 * Context: process context.
 */
void rcl_talk_expire(struct rcl_talk *talk)
{
	spin_lock(&talk->lock);
	rcl_group_seal_expire(&talk->seal);
	rcl_talk_expire_said(talk);
	spin_unlock(&talk->lock);
}

/**
 * rcl_talk_key - which key is the newest?
 * @talk: initialized
 * @unknown: set: somebody has used an unknown key since this was last asked; or
 *	NULL
 *
 * Context: process context.
 * Return: its identifier, 0 without one.
 */
u64 rcl_talk_key(struct rcl_talk *talk, bool *unknown)
{
	u64 id;

	spin_lock(&talk->lock);
	id = rcl_group_seal_id(&talk->seal);
	if (unknown) {
		*unknown = talk->unknown;
		talk->unknown = false;
	}
	spin_unlock(&talk->lock);
	return id;
}

static int rcl_talk_seal(struct rcl_talk *talk, u8 *buf, u32 len)
{
	int ret;

	spin_lock(&talk->lock);
	ret = rcl_group_seal_close(&talk->seal, buf, len);
	if (ret > 0)
		talk->stats.tx_messages++;
	spin_unlock(&talk->lock);
	return ret;
}

/**
 * rcl_talk_make - make a message of this host itself
 * @talk: initialized
 * @buf: has room for it and RCL_GROUP_ROOM bytes
 * @announce: what this host says
 *
 * Context: any but interrupts.
 * Return: bytes to send, -ENOKEY or -EOVERFLOW.
 */
int rcl_talk_make(struct rcl_talk *talk, u8 *buf,
		  const struct rcl_announce *announce)
{
	return rcl_talk_seal(talk, buf,
			     rcl_announce_encode(buf + RCL_MSG_AAD, announce));
}

/**
 * rcl_talk_make_data - make a consumer's message
 * @talk: initialized
 * @buf: has room for it, the name and RCL_TALK_ROOM bytes
 * @service: name of the service that it is for
 * @data: of the consumer
 * @len: bytes
 *
 * Context: any but interrupts.
 * Return: bytes to send, -ENOKEY or -EOVERFLOW.
 */
int rcl_talk_make_data(struct rcl_talk *talk, u8 *buf, const char *service,
		       const u8 *data, u32 len)
{
	u8 *text = buf + RCL_MSG_AAD;
	u32 head = rcl_group_msg_begin(text, RCL_GROUP_MSG_DATA, service);

	memcpy(text + head, data, len);
	return rcl_talk_seal(talk, buf, head + len);
}

/*
 * Not locked: only the receive path uses these, one message at a time. Leaving
 * a group waits for it, and I/O may wait for that. Without memory, a new member
 * is heard later.
 */
static void rcl_talk_prepare(struct rcl_talk *talk)
{
	if (!talk->announce)
		talk->announce = kmalloc(sizeof(*talk->announce), GFP_NOIO);
	if (!talk->spare)
		talk->spare = kzalloc(sizeof(*talk->spare), GFP_NOIO);
}

static int rcl_talk_merge(struct rcl_talk *talk, u32 sender)
{
	struct rcl_announce_list **said = &talk->said[sender];

	if (!*said) {
		*said = talk->spare;
		talk->spare = NULL;
	}
	if (!*said)
		return -ENOMEM;
	rcl_announce_merge(*said, talk->announce);
	return 0;
}

static int rcl_talk_decode(struct rcl_talk *talk, const u8 *text, u32 len,
			   u32 sender)
{
	int ret;

	if (!talk->announce)
		return -ENOMEM;
	ret = rcl_announce_decode(text, len, talk->announce);
	/* A sender that does not have the newest key yet will say it again. */
	if (ret || sender >= RCLINK_GROUP_MEMBERS_MAX)
		return ret;
	return rcl_talk_merge(talk, sender);
}

static void rcl_talk_heard(struct rcl_talk *talk, u32 sender, const u8 *gid)
{
	struct rcl_talk_peer *peer;

	talk->stats.rx_messages++;
	if (sender >= RCLINK_GROUP_MEMBERS_MAX)
		return;
	peer = &talk->peer[sender];
	memcpy(peer->gid, gid, sizeof(peer->gid));
	peer->messages++;
	peer->last = get_jiffies_64();
}

static void rcl_talk_take(struct rcl_talk *talk, const u8 *text, u32 len,
			  u32 sender, struct rcl_heard *heard)
{
	int kind = rcl_group_msg_kind(text, len);
	int ret = kind < 0 ? kind : 0;

	if (kind == RCL_GROUP_MSG_ANNOUNCE)
		ret = rcl_talk_decode(talk, text, len, sender);
	if (ret == -EBADMSG)
		talk->stats.rx_malformed++;
	if (ret)
		return;
	rcl_talk_heard(talk, sender, heard->gid);
	heard->sender = sender < RCLINK_GROUP_MEMBERS_MAX ? sender :
							    RCL_GROUP_NOBODY;
	if (kind == RCL_GROUP_MSG_DATA) {
		heard->service = (const char *)text + RCL_GROUP_MSG_HEAD;
		heard->service_len = rcl_group_msg_service_len(text);
		heard->data = text + RCL_GROUP_MSG_HEAD + heard->service_len;
		heard->len = len - RCL_GROUP_MSG_HEAD - heard->service_len;
	}
}

/**
 * rcl_talk_hear - open a message, or count why it is none
 * @talk: initialized
 * @buf: what arrived, hostile; opened in place
 * @len: bytes
 * @heard: has @heard->gid; the rest is set to what is in @buf
 *
 * Context: may sleep.
 * Return: true if it is for consumers, and in @heard.
 */
bool rcl_talk_hear(struct rcl_talk *talk, u8 *buf, u32 len,
		   struct rcl_heard *heard)
{
	struct rcl_talk_stats *stats = &talk->stats;
	u32 sender;
	int ret;

	heard->data = NULL;
	rcl_talk_prepare(talk);
	spin_lock(&talk->lock);
	ret = rcl_group_seal_open(&talk->seal, buf, len, &sender);
	if (ret == -EMSGSIZE) {
		stats->rx_short++;
	} else if (ret == -ENOKEY) {
		stats->rx_unknown_key++;
		talk->unknown = true;
	} else if (ret == -EBADMSG) {
		stats->rx_forged++;
	} else if (ret == -ELOOP) {
		stats->rx_own++;
	} else if (ret == -EALREADY) {
		stats->rx_again++;
	} else {
		rcl_talk_take(talk, buf + RCL_MSG_AAD, ret, sender, heard);
	}
	spin_unlock(&talk->lock);
	return heard->data;
}

/**
 * rcl_talk_said - what does a member say it exports?
 * @talk: initialized
 * @sender: its sender number under the newest key, unchecked
 * @list: set
 *
 * Context: process context.
 * Return: 0, or -ENOENT when it has said nothing lately.
 */
int rcl_talk_said(struct rcl_talk *talk, u32 sender,
		  struct rcl_announce_list *list)
{
	int ret = -ENOENT;

	if (sender >= RCLINK_GROUP_MEMBERS_MAX)
		return ret;
	sender = array_index_nospec(sender, RCLINK_GROUP_MEMBERS_MAX);
	spin_lock(&talk->lock);
	if (talk->said[sender]) {
		*list = *talk->said[sender];
		ret = 0;
	}
	spin_unlock(&talk->lock);
	return ret;
}

/**
 * rcl_talk_read - read the state
 * @talk: initialized
 * @info: filled in
 *
 * Context: process context.
 */
void rcl_talk_read(struct rcl_talk *talk, struct rcl_talk_info *info)
{
	spin_lock(&talk->lock);
	info->id = rcl_group_seal_id(&talk->seal);
	info->sender = talk->seal.key[0].grant.sender;
	info->stats = talk->stats;
	memcpy(info->peer, talk->peer, sizeof(info->peer));
	spin_unlock(&talk->lock);
}
