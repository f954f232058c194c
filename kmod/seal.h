/* SPDX-License-Identifier: GPL-2.0 */
/* AES-256-GCM over control messages, with counted nonces. */
#ifndef RCL_SEAL_H
#define RCL_SEAL_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

struct aead_request;
struct crypto_aead;

/**
 * struct rcl_seal - both directions of one epoch
 * @tfm: holds the key
 * @req: for the one caller at a time
 * @epoch: authenticated with each message
 * @tx_seq: of the next message out
 * @rx_seq: of the next message in
 * @tx_dir: first byte of the nonce out; the other one's lowest bit is flipped
 */
struct rcl_seal {
	struct crypto_aead *tfm;
	struct aead_request *req;
	u64 epoch;
	u64 tx_seq;
	u64 rx_seq;
	u8 tx_dir;
};

int rcl_seal_create(struct rcl_seal *seal);
int rcl_seal_start(struct rcl_seal *seal, const u8 *key, u32 role, u64 epoch);
void rcl_seal_destroy(struct rcl_seal *seal);

int rcl_seal_close(struct rcl_seal *seal, u8 *buf, u32 len);
int rcl_seal_open(struct rcl_seal *seal, u8 *buf, u32 len);

#endif /* RCL_SEAL_H */
