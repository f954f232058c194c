// SPDX-License-Identifier: GPL-2.0
/*
 * The nonce is never on the wire: direction byte, three zero bytes, 64-bit
 * sequence. RC delivers in order, so the receiver knows the next sequence, and
 * any gap, repeat or forgery is fatal to the epoch. A key belongs to one epoch
 * and the counters only grow, so no nonce is used twice.
 */
#include "seal.h"

#include <crypto/aead.h>
#include <linux/crypto.h>
#include <linux/err.h>
#include <linux/scatterlist.h>

#include "compat.h"
#include "msg.h"

#define RCL_NONCE_LEN	12

/**
 * rcl_seal_create - allocate what a seal needs, without a key
 * @seal: zeroed, filled in
 *
 * Context: may sleep, may load a crypto module.
 * Return: 0, or a negative errno of the crypto API.
 */
int rcl_seal_create(struct rcl_seal *seal)
{
	int ret;

	/* Synchronous ones only: the caller is a work item and may wait. */
	seal->tfm = crypto_alloc_aead("gcm(aes)", 0, CRYPTO_ALG_ASYNC);
	if (IS_ERR(seal->tfm))
		return PTR_ERR(seal->tfm);
	ret = crypto_aead_setauthsize(seal->tfm, RCL_MSG_TAG);
	if (ret)
		goto err_free_tfm;
	seal->req = aead_request_alloc(seal->tfm, GFP_KERNEL);
	if (!seal->req) {
		ret = -ENOMEM;
		goto err_free_tfm;
	}
	return 0;

err_free_tfm:
	crypto_free_aead(seal->tfm);
	return ret;
}

/**
 * rcl_seal_start - give a seal its key
 * @seal: created
 * @key: RCLINK_KEY_LEN bytes, of this epoch only
 * @role: enum rclink_role of this end
 * @epoch: agreed in the exchange
 *
 * Return: 0, or a negative errno of the crypto API.
 */
int rcl_seal_start(struct rcl_seal *seal, const u8 *key, u32 role, u64 epoch)
{
	seal->epoch = epoch;
	seal->tx_dir = role == RCLINK_ROLE_INITIATOR;
	return crypto_aead_setkey(seal->tfm, key, RCLINK_KEY_LEN);
}

/**
 * rcl_seal_destroy - the mirror of rcl_seal_create(); wipes the key
 * @seal: created
 */
void rcl_seal_destroy(struct rcl_seal *seal)
{
	aead_request_free(seal->req);
	crypto_free_aead(seal->tfm);
}

static void rcl_seal_prepare(struct rcl_seal *seal, struct scatterlist *sg,
			     u8 *nonce, u8 dir, u64 seq, u8 *buf, u32 len,
			     u32 cryptlen)
{
	memset(nonce, 0, RCL_NONCE_LEN);
	nonce[0] = dir;
	put_unaligned_be64(seq, nonce + RCL_NONCE_LEN - 8);
	sg_init_one(sg, buf, len);
	aead_request_set_callback(seal->req, 0, NULL, NULL);
	aead_request_set_ad(seal->req, RCL_MSG_AAD);
	aead_request_set_crypt(seal->req, sg, sg, cryptlen, nonce);
}

/**
 * rcl_seal_close - seal the next message out, in place
 * @seal: started
 * @buf: RCL_MSG_AAD bytes to be filled in, @len bytes of message, RCL_MSG_TAG
 *	bytes to be filled in
 * @len: of the message
 *
 * Context: process context; one caller at a time.
 * Return: bytes to send, or a negative errno of the crypto API.
 */
int rcl_seal_close(struct rcl_seal *seal, u8 *buf, u32 len)
{
	u32 total = RCL_MSG_AAD + len + RCL_MSG_TAG;
	u8 nonce[RCL_NONCE_LEN];
	struct scatterlist sg;
	int ret;

	rcl_msg_put_aad(buf, seal->epoch, seal->tx_seq);
	rcl_seal_prepare(seal, &sg, nonce, seal->tx_dir, seal->tx_seq, buf,
			 total, len);
	ret = crypto_aead_encrypt(seal->req);
	if (ret)
		return ret;
	seal->tx_seq++;
	return total;
}

/**
 * rcl_seal_open - open the next message in, in place
 * @seal: started
 * @buf: what arrived; on success the message is at @buf + RCL_MSG_AAD
 * @len: bytes that arrived, hostile
 *
 * Context: process context; one caller at a time.
 * Return: length of the message, -ESTALE for another epoch, -EBADMSG for
 * anything else that is not the next authentic message.
 */
int rcl_seal_open(struct rcl_seal *seal, u8 *buf, u32 len)
{
	u8 nonce[RCL_NONCE_LEN];
	struct scatterlist sg;
	u64 epoch, seq;

	if (len < RCL_MSG_AAD + RCL_MSG_TAG || len > RCL_MSG_SLOT)
		return -EBADMSG;
	rcl_msg_get_aad(buf, &epoch, &seq);
	if (epoch != seal->epoch)
		return -ESTALE;
	if (seq != seal->rx_seq)
		return -EBADMSG;
	rcl_seal_prepare(seal, &sg, nonce, seal->tx_dir ^ 1, seal->rx_seq, buf,
			 len, len - RCL_MSG_AAD);
	if (crypto_aead_decrypt(seal->req))
		return -EBADMSG;
	seal->rx_seq++;
	return len - RCL_MSG_AAD - RCL_MSG_TAG;
}
