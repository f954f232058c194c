/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of a group: sealed by many under one key, opened once each. */
#ifndef RCL_GROUP_SEAL_H
#define RCL_GROUP_SEAL_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

#include "msg.h"
#include "replay.h"

#define RCL_GROUP_ROOM	(RCL_MSG_AAD + RCL_MSG_TAG)	/* besides the text */

/**
 * struct rcl_group_grant - what a member gets from the keeper
 * @id: identifier of the key, never 0
 * @qkey: Q_Key of the group
 * @sender: sender number that no other grant has under this key
 * @key: secret
 * @age: rcl_group_seal_age() when it was drawn, or asked for; nobody is told
 */
struct rcl_group_grant {
	u64 id;
	u32 qkey;
	u32 sender;
	u8 key[RCLINK_KEY_LEN];
	int age;
};

/**
 * struct rcl_group_key - a key in use
 * @grant: what this host got; all zero if there is no key
 * @from: what came in, by sender
 */
struct rcl_group_key {
	struct rcl_group_grant grant;
	struct rcl_replay from[RCLINK_GROUP_MEMBERS_MAX];
};

/**
 * struct rcl_group_seal - the newest key, and the previous one
 * @key: both
 * @lost: the newest key is wiped: it, or another one, has to be obtained again
 * @until: the previous key opens messages until then, in jiffies
 * @counter: counter of the next message to send
 */
struct rcl_group_seal {
	struct rcl_group_key key[2];
	bool lost;
	unsigned long until;
	u64 counter;
};

void rcl_group_seal_install(struct rcl_group_seal *seal,
			    const struct rcl_group_grant *grant);
void rcl_group_seal_forget(struct rcl_group_seal *seal);
void rcl_group_seal_lose(struct rcl_group_seal *seal);
void rcl_group_seal_lose_all(void);
int rcl_group_seal_age(void);
u64 rcl_group_seal_id(const struct rcl_group_seal *seal);
void rcl_group_seal_expire(struct rcl_group_seal *seal);
int rcl_group_seal_close(struct rcl_group_seal *seal, u8 *buf, u32 len);
int rcl_group_seal_open(struct rcl_group_seal *seal, u8 *buf, u32 len,
			u32 *sender);

#endif /* RCL_GROUP_SEAL_H */
