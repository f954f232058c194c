/* SPDX-License-Identifier: GPL-2.0 */
/* ChaCha20-Poly1305 over control messages, with counters as nonces. */
#ifndef RCL_SEAL_H
#define RCL_SEAL_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

/**
 * struct rcl_seal - both directions of one epoch
 * @key: of this epoch only
 * @epoch: authenticated with each message
 * @tx_seq: of the next outgoing message
 * @rx_seq: of the next incoming message
 * @tx_dir: top bit of outgoing nonces; incoming ones have the other value
 */
struct rcl_seal {
	u8 key[RCLINK_KEY_LEN];
	u64 epoch;
	u64 tx_seq;
	u64 rx_seq;
	u64 tx_dir;
};

int rcl_seal_copies(void);
void rcl_seal_copied(void);

void rcl_seal_start(struct rcl_seal *seal, const u8 *key, u32 role, u64 epoch);
void rcl_seal_wipe(struct rcl_seal *seal);

u32 rcl_seal_close(struct rcl_seal *seal, u8 *buf, u32 len);
void rcl_seal_text(const u8 *key, u64 nonce, u8 *buf, u32 len);
int rcl_seal_untext(const u8 *key, u64 nonce, u8 *buf, u32 len);
int rcl_seal_open(struct rcl_seal *seal, u8 *buf, u32 len);

#endif /* RCL_SEAL_H */
