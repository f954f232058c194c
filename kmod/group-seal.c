// SPDX-License-Identifier: GPL-2.0
/*
 * Many hosts seal under one key, so a nonce is the number of its sender, which
 * the keeper of the key never gives out twice, and a counter, which a sender
 * restarts only with a new number. The nonce is in the clear and authenticated,
 * as is the identifier of the key.
 */
#include "group-seal.h"

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "seal.h"

#define RCL_GROUP_COUNTER	48	/* bits of a nonce; the rest: sender */
#define RCL_GROUP_OLD_MS	10000	/* lifetime of the previous key */

/* How often all keys were lost. */
static atomic_t rcl_group_seal_losses;

/**
 * rcl_group_seal_age - what to note before a key is drawn, or asked for
 *
 * Context: any.
 * Return: how often all keys were lost.
 */
int rcl_group_seal_age(void)
{
	return atomic_read(&rcl_group_seal_losses);
}

/**
 * rcl_group_seal_lose_all - seal nothing under the keys that there are
 *
 * Nor under those that have been asked for. This host may have been copied,
 * with all keys and counters.
 *
 * Context: any.
 */
void rcl_group_seal_lose_all(void)
{
	atomic_inc(&rcl_group_seal_losses);
}

/* If it is the lost key, its windows stay: nothing is opened twice. */
static bool rcl_group_seal_has_again(struct rcl_group_seal *seal, u64 id)
{
	struct rcl_group_key *key = &seal->key[0];

	if (!seal->lost || key->grant.id != id)
		return false;
	/* This host's own messages must not come back to it, either. */
	rcl_replay_close(&key->from[key->grant.sender]);
	return true;
}

/**
 * rcl_group_seal_install - use another key, or sender number, from now on
 * @seal: zeroed, or with keys
 * @grant: not seen before
 *
 * What others send under the previous key can be opened for a while, unless
 * that key was lost.
 */
void rcl_group_seal_install(struct rcl_group_seal *seal,
			    const struct rcl_group_grant *grant)
{
	if (!rcl_group_seal_has_again(seal, grant->id)) {
		seal->key[1] = seal->key[0];
		memset(&seal->key[0], 0, sizeof(seal->key[0]));
	}
	if (seal->lost)
		rcl_group_seal_forget(seal);
	seal->lost = false;
	seal->key[0].grant = *grant;
	seal->until = jiffies + msecs_to_jiffies(RCL_GROUP_OLD_MS);
	seal->counter = 0;
}

/**
 * rcl_group_seal_forget - open nothing more under the previous key
 * @seal: any
 */
void rcl_group_seal_forget(struct rcl_group_seal *seal)
{
	memzero_explicit(&seal->key[1], sizeof(seal->key[1]));
}

/**
 * rcl_group_seal_lose - neither seal nor open anything until the next key
 * @seal: any
 */
void rcl_group_seal_lose(struct rcl_group_seal *seal)
{
	struct rcl_group_grant *grant = &seal->key[0].grant;

	rcl_group_seal_forget(seal);
	memzero_explicit(grant->key, sizeof(grant->key));
	seal->lost = true;
}

/**
 * rcl_group_seal_id - which is the newest key?
 * @seal: any
 *
 * Return: its identifier, 0 without one.
 */
u64 rcl_group_seal_id(const struct rcl_group_seal *seal)
{
	return seal->lost ? 0 : seal->key[0].grant.id;
}

/**
 * rcl_group_seal_expire - forget the previous key when its time is over
 * @seal: any
 *
 * Context: one caller at a time; at least every few days, or the key would
 * become good again when jiffies wrap around.
 */
void rcl_group_seal_expire(struct rcl_group_seal *seal)
{
	if (seal->key[1].grant.id && !time_before(jiffies, seal->until))
		rcl_group_seal_forget(seal);
}

/**
 * rcl_group_seal_close - seal a message, in place
 * @seal: any
 * @buf: RCL_MSG_AAD bytes to be filled in, @len bytes of text, RCL_MSG_TAG
 *	bytes to be filled in
 * @len: of the text
 *
 * Context: one caller at a time.
 * Return: bytes to send, -ENOKEY without a key, or -EOVERFLOW when the key was
 * used as often as it may be.
 */
int rcl_group_seal_close(struct rcl_group_seal *seal, u8 *buf, u32 len)
{
	const struct rcl_group_grant *grant = &seal->key[0].grant;
	u64 nonce;

	if (!rcl_group_seal_id(seal) || grant->age != rcl_group_seal_age())
		return -ENOKEY;
	if (seal->counter >> RCL_GROUP_COUNTER)
		return -EOVERFLOW;
	nonce = (u64)grant->sender << RCL_GROUP_COUNTER | seal->counter++;
	rcl_msg_put_aad(buf, grant->id, nonce);
	rcl_seal_text(grant->key, nonce, buf, len);
	return len + RCL_GROUP_ROOM;
}

static struct rcl_group_key *rcl_group_seal_find(struct rcl_group_seal *seal,
						 u64 id)
{
	if (id && rcl_group_seal_id(seal) == id)
		return &seal->key[0];
	if (id && seal->key[1].grant.id == id &&
	    time_before(jiffies, seal->until))
		return &seal->key[1];
	return NULL;
}

/**
 * rcl_group_seal_open - open a message, in place
 * @seal: any
 * @buf: what arrived; on success the text is at @buf + RCL_MSG_AAD
 * @len: bytes that arrived, hostile
 * @sender: set on success: the sender number under the newest key, or
 *	RCLINK_GROUP_MEMBERS_MAX for a message under the previous key
 *
 * Context: one caller at a time.
 * Return: length of the text, -EMSGSIZE when it cannot be a message, -ENOKEY
 * for a key that this host does not have, -EBADMSG when it is forged, -ELOOP
 * when it is this host's own, -EALREADY when it came before, or may have.
 */
int rcl_group_seal_open(struct rcl_group_seal *seal, u8 *buf, u32 len,
			u32 *sender)
{
	struct rcl_group_key *key;
	u64 id, nonce;
	u32 from;

	if (len < RCL_GROUP_ROOM)
		return -EMSGSIZE;
	rcl_msg_get_aad(buf, &id, &nonce);
	key = rcl_group_seal_find(seal, id);
	if (!key)
		return -ENOKEY;
	from = nonce >> RCL_GROUP_COUNTER;
	if (from >= RCLINK_GROUP_MEMBERS_MAX ||
	    rcl_seal_untext(key->grant.key, nonce, buf, len))
		return -EBADMSG;
	if (from == key->grant.sender)
		return -ELOOP;
	if (!rcl_replay_take(&key->from[from],
			     nonce & (BIT_ULL(RCL_GROUP_COUNTER) - 1)))
		return -EALREADY;
	*sender = key == &seal->key[0] ? from : RCLINK_GROUP_MEMBERS_MAX;
	return len - RCL_GROUP_ROOM;
}
