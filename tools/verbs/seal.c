// SPDX-License-Identifier: GPL-2.0
#include "seal.h"

#include <errno.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "../../kmod/msg.h"

#define DIR_INITIATOR	0x8000000000000000ULL	/* top bit */
#define NONCE_LEN	12	/* 4 zero bytes, then 64 bits, little-endian */

static void put_nonce(uint8_t *nonce, uint64_t value)
{
	int i;

	memset(nonce, 0, NONCE_LEN);
	for (i = 0; i < 8; i++)
		nonce[4 + i] = value >> (8 * i);
}

int rcv_seal_start(struct rcv_seal *seal, const uint8_t *key, uint32_t role,
		   uint64_t epoch)
{
	const EVP_CIPHER *cipher = EVP_chacha20_poly1305();

	memset(seal, 0, sizeof(*seal));
	seal->epoch = epoch;
	if (role == RCLINK_ROLE_INITIATOR)
		seal->tx_dir = DIR_INITIATOR;
	seal->tx = EVP_CIPHER_CTX_new();
	seal->rx = EVP_CIPHER_CTX_new();
	if (!seal->tx || !seal->rx) {
		rcv_seal_wipe(seal);
		return -ENOMEM;
	}
	if (EVP_EncryptInit_ex(seal->tx, cipher, NULL, key, NULL) != 1 ||
	    EVP_DecryptInit_ex(seal->rx, cipher, NULL, key, NULL) != 1) {
		rcv_seal_wipe(seal);
		return -EOPNOTSUPP;
	}
	return 0;
}

void rcv_seal_wipe(struct rcv_seal *seal)
{
	EVP_CIPHER_CTX_free(seal->tx);
	EVP_CIPHER_CTX_free(seal->rx);
	OPENSSL_cleanse(seal, sizeof(*seal));
}

int rcv_seal_close(struct rcv_seal *seal, uint8_t *buf, uint32_t len)
{
	uint8_t *text = buf + RCL_MSG_AAD;
	uint8_t nonce[NONCE_LEN];
	int n;

	rcl_msg_put_aad(buf, seal->epoch, seal->tx_seq);
	put_nonce(nonce, seal->tx_seq | seal->tx_dir);
	if (EVP_EncryptInit_ex(seal->tx, NULL, NULL, NULL, nonce) != 1 ||
	    EVP_EncryptUpdate(seal->tx, NULL, &n, buf, RCL_MSG_AAD) != 1 ||
	    EVP_EncryptUpdate(seal->tx, text, &n, text, len) != 1 ||
	    EVP_EncryptFinal_ex(seal->tx, text + len, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(seal->tx, EVP_CTRL_AEAD_GET_TAG, RCL_MSG_TAG,
				text + len) != 1)
		return -EIO;
	seal->tx_seq++;
	return RCL_MSG_AAD + len + RCL_MSG_TAG;
}

int rcv_seal_open(struct rcv_seal *seal, uint8_t *buf, uint32_t len)
{
	uint64_t rx_dir = seal->tx_dir ^ DIR_INITIATOR;
	uint8_t *text = buf + RCL_MSG_AAD;
	uint8_t nonce[NONCE_LEN];
	uint64_t epoch, seq;
	uint8_t end[1];
	int n;

	if (len < RCL_MSG_AAD + RCL_MSG_TAG || len > RCL_MSG_SLOT)
		return -EMSGSIZE;
	rcl_msg_get_aad(buf, &epoch, &seq);
	if (epoch != seal->epoch)
		return -ESTALE;
	if (seq & DIR_INITIATOR)
		return -EBADMSG;
	len -= RCL_MSG_AAD + RCL_MSG_TAG;
	put_nonce(nonce, seq | rx_dir);
	if (EVP_DecryptInit_ex(seal->rx, NULL, NULL, NULL, nonce) != 1 ||
	    EVP_CIPHER_CTX_ctrl(seal->rx, EVP_CTRL_AEAD_SET_TAG, RCL_MSG_TAG,
				text + len) != 1 ||
	    EVP_DecryptUpdate(seal->rx, NULL, &n, buf, RCL_MSG_AAD) != 1 ||
	    EVP_DecryptUpdate(seal->rx, text, &n, text, len) != 1 ||
	    EVP_DecryptFinal_ex(seal->rx, end, &n) != 1)
		return -EBADMSG;
	if (seq != seal->rx_seq)
		return -EILSEQ;
	seal->rx_seq++;
	return len;
}
