/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seal of control messages with OpenSSL, as in the module's seal.c and
 * described in protocol.rst: both directions of one epoch.
 */
#ifndef RCV_SEAL_H
#define RCV_SEAL_H

#include <stdint.h>

#include <linux/rclink.h>

struct evp_cipher_ctx_st;

struct rcv_seal {
	struct evp_cipher_ctx_st *tx, *rx;	/* with the key */
	uint64_t epoch;
	uint64_t tx_seq, rx_seq;		/* of the next message */
	uint64_t tx_dir;			/* top bit of our nonces */
};

/* 0, -ENOMEM, or -EOPNOTSUPP if OpenSSL refuses the cipher, as in FIPS mode. */
int rcv_seal_start(struct rcv_seal *seal, const uint8_t *key, uint32_t role,
		   uint64_t epoch);
void rcv_seal_wipe(struct rcv_seal *seal);

/*
 * Seal the next message in place: it has len bytes at buf + RCL_MSG_AAD.
 * Returns the number of bytes to send, or -EIO.
 */
int rcv_seal_close(struct rcv_seal *seal, uint8_t *buf, uint32_t len);

/*
 * Open in place what arrived, hostile. Returns the length of the message at
 * buf + RCL_MSG_AAD; -EMSGSIZE if it cannot be one; -ESTALE if it names another
 * epoch; -EBADMSG if it is forged; -EILSEQ if it is authentic, but not the next
 * one.
 */
int rcv_seal_open(struct rcv_seal *seal, uint8_t *buf, uint32_t len);

#endif /* RCV_SEAL_H */
