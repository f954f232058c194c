/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seal of control messages, as the module's seal.c has it and protocol.rst
 * describes it, by OpenSSL: both directions of one epoch.
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
	uint64_t tx_dir;			/* top bit of nonces out */
};

/* 0, -ENOMEM, or -EOPNOTSUPP where OpenSSL refuses the cipher, as in FIPS. */
int rcv_seal_start(struct rcv_seal *seal, const uint8_t *key, uint32_t role,
		   uint64_t epoch);
void rcv_seal_wipe(struct rcv_seal *seal);

/*
 * Seal the next message in place: len bytes of it at buf + RCL_MSG_AAD. Bytes
 * to send, or -EIO.
 */
int rcv_seal_close(struct rcv_seal *seal, uint8_t *buf, uint32_t len);

/*
 * Open what arrived, hostile, in place: the length of the message at
 * buf + RCL_MSG_AAD, -EMSGSIZE when it cannot be one, -ESTALE for another
 * epoch, -EBADMSG when it is forged, -EILSEQ when it is authentic but not the
 * next one.
 */
int rcv_seal_open(struct rcv_seal *seal, uint8_t *buf, uint32_t len);

#endif /* RCV_SEAL_H */
