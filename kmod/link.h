/* SPDX-License-Identifier: GPL-2.0 */
/* The links of this host, by name: the functions that entry points call. */
#ifndef RCL_LINK_H
#define RCL_LINK_H

#include "inbox.h"
#include "life.h"

/**
 * struct rcl_link_info - a link as it was when asked
 * @name: of the link
 * @id: of the link
 * @policy: for the next epoch
 * @state: enum rclink_link_state
 * @reason: why it is down
 * @epoch: number of the newest epoch
 * @role: enum rclink_role, 0 before connect
 * @unwanted: @epoch, if somebody wants another one; else 0
 * @standby: enum rclink_link_state of an epoch beside that one
 * @standby_epoch: its number; 0: there is none
 * @peer: identity of the peer, empty before connect
 * @used: by the newest epoch
 * @has_local: @local is valid
 * @has_remote: @remote is valid
 * @local: this end; secret
 * @remote: the peer's end; secret
 * @stats: counters
 * @traffic: of channels
 * @event_seq: last event that this reflects
 */
struct rcl_link_info {
	char name[RCLINK_NAME_MAX + 1];
	u32 id;
	struct rcl_policy policy;
	enum rclink_link_state state;
	struct rcl_reason reason;
	u64 epoch;
	u64 unwanted;
	enum rclink_link_state standby;
	u64 standby_epoch;
	u32 role;
	char peer[RCLINK_PEER_MAX + 1];
	struct rcl_used used;
	bool has_local;
	bool has_remote;
	struct rcl_endpoint local;
	struct rcl_endpoint remote;
	struct rcl_stats stats;
	struct rcl_traffic traffic;
	u64 event_seq;
};

int rcl_link_create(const char *name, const struct rcl_policy_change *change,
		    const char **why);
int rcl_link_set(const char *name, const struct rcl_policy_change *change,
		 const char **why);
int rcl_link_delete(const char *name);
bool rcl_link_policy(const char *name, struct rcl_policy *policy);
struct rcl_link *rcl_link_get(const char *name);
struct rcl_link *rcl_link_get_behind(unsigned long *id);
void rcl_link_put(struct rcl_link *link);
int rcl_link_request(const char *name, struct rcl_request *req);
int rcl_link_ping(const char *name, struct rcl_ping *ping);
int rcl_link_info(const char *name, struct rcl_link_info *info);
int rcl_link_info_next(u32 after, struct rcl_link_info *info);
int rcl_link_note(const char *name, const char *text, const char **why);
void rcl_link_exports(const char *name, struct rcl_announce_list *list);
unsigned int rcl_link_generation(void);

void rcl_link_owner_gone(u32 owner);
void rcl_link_exit(void);

#endif /* RCL_LINK_H */
