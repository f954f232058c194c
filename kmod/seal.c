// SPDX-License-Identifier: GPL-2.0
/*
 * The AEAD of RFC 8439 with a 64-bit nonce, as the kernel's crypto library has
 * it for WireGuard: it allocates no memory and cannot fail, and for messages of
 * this size it costs less than AES-GCM.
 *
 * The nonce is a direction bit, which is never on the wire, and a 63-bit
 * sequence. RC delivers in order, so the receiver knows the next sequence, and
 * any gap, repeat or forgery is fatal to the epoch. A key belongs to one epoch
 * and the sequences only grow, so no nonce is used twice. The receiver opens a
 * message as what it claims to be before it checks the sequence: a forged one
 * is a different matter from a recorded one, or from a missing one.
 */
#include "seal.h"

#include <crypto/chacha20poly1305.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "msg.h"

#define RCL_DIR_INITIATOR	BIT_ULL(63)

/* How often this host was copied, as a virtual machine. */
static atomic_t rcl_seal_copies_made;

/**
 * rcl_seal_copies - what to note before a key is drawn
 *
 * Context: any.
 * Return: how often this host was copied, with all keys and sequences.
 */
int rcl_seal_copies(void)
{
	return atomic_read(&rcl_seal_copies_made);
}

/**
 * rcl_seal_copied - seal nothing under the keys that links have
 *
 * Context: any.
 */
void rcl_seal_copied(void)
{
	atomic_inc(&rcl_seal_copies_made);
}

/**
 * rcl_seal_start - give a seal its key
 * @seal: zeroed, filled in
 * @key: RCLINK_KEY_LEN bytes, of this epoch only
 * @role: enum rclink_role of this end
 * @epoch: agreed in the exchange
 */
void rcl_seal_start(struct rcl_seal *seal, const u8 *key, u32 role, u64 epoch)
{
	BUILD_BUG_ON(RCLINK_KEY_LEN != CHACHA20POLY1305_KEY_SIZE);
	BUILD_BUG_ON(RCL_MSG_TAG != CHACHA20POLY1305_AUTHTAG_SIZE);
	memcpy(seal->key, key, sizeof(seal->key));
	seal->epoch = epoch;
	if (role == RCLINK_ROLE_INITIATOR)
		seal->tx_dir = RCL_DIR_INITIATOR;
}

/**
 * rcl_seal_wipe - forget the key
 * @seal: unusable afterwards
 */
void rcl_seal_wipe(struct rcl_seal *seal)
{
	memzero_explicit(seal, sizeof(*seal));
}

/**
 * rcl_seal_text - seal a text, in place
 * @key: RCLINK_KEY_LEN bytes
 * @nonce: was never used with @key before
 * @buf: RCL_MSG_AAD bytes, @len bytes of text, RCL_MSG_TAG bytes to be filled
 *	in
 * @len: of the text
 */
void rcl_seal_text(const u8 *key, u64 nonce, u8 *buf, u32 len)
{
	u8 *text = buf + RCL_MSG_AAD;

	chacha20poly1305_encrypt(text, text, len, buf, RCL_MSG_AAD, nonce, key);
}

/**
 * rcl_seal_untext - the reverse of rcl_seal_text()
 * @key: as there
 * @nonce: as there
 * @buf: what rcl_seal_text() made
 * @len: bytes in all, at least RCL_MSG_AAD + RCL_MSG_TAG
 *
 * Return: 0, or -EBADMSG when it was forged.
 */
int rcl_seal_untext(const u8 *key, u64 nonce, u8 *buf, u32 len)
{
	u8 *text = buf + RCL_MSG_AAD;

	return chacha20poly1305_decrypt(text, text, len - RCL_MSG_AAD, buf,
					RCL_MSG_AAD, nonce, key) ? 0 : -EBADMSG;
}

/**
 * rcl_seal_close - seal the next outgoing message in place
 * @seal: started
 * @buf: RCL_MSG_AAD bytes to be filled in, @len bytes of message, RCL_MSG_TAG
 *	bytes to be filled in
 * @len: of the message
 *
 * Context: one caller at a time.
 * Return: bytes to send.
 */
u32 rcl_seal_close(struct rcl_seal *seal, u8 *buf, u32 len)
{
	rcl_msg_put_aad(buf, seal->epoch, seal->tx_seq);
	rcl_seal_text(seal->key, seal->tx_seq | seal->tx_dir, buf, len);
	seal->tx_seq++;
	return RCL_MSG_AAD + len + RCL_MSG_TAG;
}

/**
 * rcl_seal_open - open the next incoming message in place
 * @seal: started
 * @buf: what arrived; on success the message is at @buf + RCL_MSG_AAD
 * @len: bytes that arrived, hostile
 *
 * Context: one caller at a time.
 * Return: length of the message, -EMSGSIZE when it cannot be one, -ESTALE for
 * another epoch, -EBADMSG when it is forged, -EILSEQ when it is authentic but
 * not the next one.
 */
int rcl_seal_open(struct rcl_seal *seal, u8 *buf, u32 len)
{
	u64 rx_dir = seal->tx_dir ^ RCL_DIR_INITIATOR;
	u64 epoch, seq;

	if (len < RCL_MSG_AAD + RCL_MSG_TAG || len > RCL_MSG_SLOT)
		return -EMSGSIZE;
	rcl_msg_get_aad(buf, &epoch, &seq);
	if (epoch != seal->epoch)
		return -ESTALE;
	if (seq & RCL_DIR_INITIATOR)
		return -EBADMSG;
	if (rcl_seal_untext(seal->key, seq | rx_dir, buf, len))
		return -EBADMSG;
	if (seq != seal->rx_seq)
		return -EILSEQ;
	seal->rx_seq++;
	return len - RCL_MSG_AAD - RCL_MSG_TAG;
}
