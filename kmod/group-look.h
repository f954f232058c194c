/* SPDX-License-Identifier: GPL-2.0 */
/* The state of groups, for those who ask. */
#ifndef RCL_GROUP_LOOK_H
#define RCL_GROUP_LOOK_H

#include "group-conf.h"
#include "group-talk.h"
#include "reason.h"

/**
 * struct rcl_group_info - a group as it was when asked
 * @conf: with the device, port and gid_index in use while it is joined
 * @id: ID of the group
 * @state: enum rclink_group_state
 * @reason: why it is down
 * @refusal: why it could not be joined again, or NULL
 * @gid: own GID, while it is joined
 * @mtu: bytes of a packet's payload, while it is joined
 * @joins: how often it has joined
 * @links: links that the key is for, if this host keeps it
 * @talk: its key, and what others say
 * @consumers: files and modules of this host that use it
 * @missed: how often one of them had no receive for a message
 * @event_seq: number of the last event that is included
 */
struct rcl_group_info {
	struct rcl_group_conf conf;
	u32 id;
	u32 state;
	struct rcl_reason reason;
	const char *refusal;
	u8 gid[RCLINK_GID_LEN];
	u32 mtu;
	u64 joins;
	struct rcl_keeper_links links;
	struct rcl_talk_info talk;
	u32 consumers;
	u64 missed;
	u64 event_seq;
};

int rcl_group_info(const char *name, struct rcl_group_info *info);
int rcl_group_info_next(u32 after, struct rcl_group_info *info);
int rcl_group_said(const char *name, u32 sender,
		   struct rcl_announce_list *list);

#endif /* RCL_GROUP_LOOK_H */
