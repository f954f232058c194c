/* SPDX-License-Identifier: GPL-2.0 */
/* Groups of this host, by name: one to many, over multicast. */
#ifndef RCL_GROUP_H
#define RCL_GROUP_H

#include "group-conf.h"
#include "group-talk.h"
#include "reason.h"

/**
 * struct rcl_group_info - a group as it was when asked
 * @conf: with device, port and gid_index that are in use while it is joined
 * @id: of the group
 * @state: enum rclink_group_state
 * @reason: why it is down
 * @gid: own GID, while it is joined
 * @mtu: bytes of a packet's payload, while it is joined
 * @joins: how often it was joined
 * @links: that the key is for, if this host keeps it
 * @talk: its key, and what others say
 * @consumers: files of this host that use it
 * @missed: messages that one of them had no receive for
 * @event_seq: last event that is included
 */
struct rcl_group_info {
	struct rcl_group_conf conf;
	u32 id;
	u32 state;
	struct rcl_reason reason;
	u8 gid[RCLINK_GID_LEN];
	u32 mtu;
	u64 joins;
	struct rcl_keeper_links links;
	struct rcl_talk_info talk;
	u32 consumers;
	u64 missed;
	u64 event_seq;
};

/**
 * struct rcl_group_change - what an operator changes
 * @key: of who may have the key
 * @owner: @access.owner is to be the owner
 * @group: likewise
 * @mode: likewise
 * @access: the rights; who uses the group already keeps on
 */
struct rcl_group_change {
	struct rcl_keeper_change key;
	bool owner;
	bool group;
	bool mode;
	struct rcl_access access;
};

int rcl_group_create(const struct rcl_group_conf *conf,
		     const struct rcl_keeper_links *links, const char **why);
int rcl_group_set(const char *name, const struct rcl_group_change *change,
		  const char **why);
int rcl_group_delete(const char *name);
int rcl_group_info(const char *name, struct rcl_group_info *info);
int rcl_group_info_next(u32 after, struct rcl_group_info *info);
int rcl_group_said(const char *name, u32 sender, struct rcl_here *here);
unsigned int rcl_group_generation(void);
void rcl_group_exit(void);

#endif /* RCL_GROUP_H */
