// SPDX-License-Identifier: GPL-2.0
#include "group-talk.h"

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#define RCL_TALK_VERSION	1

/**
 * rcl_talk_init - begin without a key
 * @talk: zeroed
 */
void rcl_talk_init(struct rcl_talk *talk)
{
	mutex_init(&talk->lock);
}

/**
 * rcl_talk_wipe - forget all keys
 * @talk: nobody else has it any more
 */
void rcl_talk_wipe(struct rcl_talk *talk)
{
	memzero_explicit(&talk->seal, sizeof(talk->seal));
}

/**
 * rcl_talk_install - use another key
 * @talk: initialized
 * @grant: not seen before
 *
 * Context: may sleep.
 */
void rcl_talk_install(struct rcl_talk *talk,
		      const struct rcl_group_grant *grant)
{
	mutex_lock(&talk->lock);
	rcl_group_seal_install(&talk->seal, grant);
	memset(talk->peer, 0, sizeof(talk->peer));
	talk->stats.keys++;
	mutex_unlock(&talk->lock);
}

/**
 * rcl_talk_key - which key is it?
 * @talk: initialized
 * @unknown: set: somebody has used another one since this was asked
 *
 * Context: may sleep.
 * Return: identifier of the newest, 0 without one.
 */
u64 rcl_talk_key(struct rcl_talk *talk, bool *unknown)
{
	u64 id;

	mutex_lock(&talk->lock);
	id = talk->seal.key[0].grant.id;
	*unknown = talk->unknown;
	talk->unknown = false;
	mutex_unlock(&talk->lock);
	return id;
}

/**
 * rcl_talk_make - make a message
 * @talk: initialized
 * @buf: RCL_GROUP_ROOM + RCL_TALK_HEAD bytes
 * @kind: of the message
 *
 * Context: may sleep.
 * Return: bytes to send, -ENOKEY or -EOVERFLOW.
 */
int rcl_talk_make(struct rcl_talk *talk, u8 *buf, enum rcl_talk_kind kind)
{
	u8 *text = buf + RCL_MSG_AAD;
	int len;

	memset(text, 0, RCL_TALK_HEAD);
	text[0] = RCL_TALK_VERSION;
	text[1] = kind;
	mutex_lock(&talk->lock);
	len = rcl_group_seal_close(&talk->seal, buf, RCL_TALK_HEAD);
	if (len > 0)
		talk->stats.tx_messages++;
	mutex_unlock(&talk->lock);
	return len;
}

static bool rcl_talk_is_sound(const u8 *text, int len)
{
	return len >= RCL_TALK_HEAD && text[0] == RCL_TALK_VERSION &&
	       text[1] == RCL_TALK_HERE && !text[2] && !text[3];
}

static void rcl_talk_heard(struct rcl_talk *talk, u32 sender, const u8 *gid)
{
	struct rcl_talk_peer *peer;

	/* One that has not heard of the newest key yet will come again. */
	if (sender >= RCL_GROUP_SENDERS)
		return;
	peer = &talk->peer[sender];
	memcpy(peer->gid, gid, sizeof(peer->gid));
	peer->messages++;
	peer->last = jiffies;
}

/**
 * rcl_talk_hear - open a message, and count what is none
 * @talk: initialized
 * @buf: what arrived, hostile; opened in place
 * @len: bytes
 * @gid: where it says it comes from
 *
 * Context: may sleep.
 */
void rcl_talk_hear(struct rcl_talk *talk, u8 *buf, u32 len, const u8 *gid)
{
	struct rcl_talk_stats *stats = &talk->stats;
	u32 sender;
	int ret;

	mutex_lock(&talk->lock);
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
	} else if (!rcl_talk_is_sound(buf + RCL_MSG_AAD, ret)) {
		stats->rx_malformed++;
	} else {
		stats->rx_messages++;
		rcl_talk_heard(talk, sender, gid);
	}
	mutex_unlock(&talk->lock);
}

/**
 * rcl_talk_read - how does it stand?
 * @talk: initialized
 * @info: filled in
 *
 * Context: may sleep.
 */
void rcl_talk_read(struct rcl_talk *talk, struct rcl_talk_info *info)
{
	mutex_lock(&talk->lock);
	info->id = talk->seal.key[0].grant.id;
	info->sender = talk->seal.key[0].grant.sender;
	info->stats = talk->stats;
	memcpy(info->peer, talk->peer, sizeof(info->peer));
	mutex_unlock(&talk->lock);
}
