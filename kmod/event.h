/* SPDX-License-Identifier: GPL-2.0 */
/* Numbered events for the multicast group, and news for kernel modules. */
#ifndef RCL_EVENT_H
#define RCL_EVENT_H

#include <linux/notifier.h>
#include <linux/types.h>

#include "reason.h"

struct genl_family;

/* The kernel modules that hear of links. */
extern struct blocking_notifier_head rcl_event_chain;

/**
 * struct rcl_event - what happened to a link
 * @kind: enum rclink_event_kind
 * @id: of the link
 * @name: of the link
 * @state: enum rclink_link_state after the event
 * @reason: why it is down, if it is
 * @epoch: of the link
 */
struct rcl_event {
	u32 kind;
	u32 id;
	const char *name;
	u32 state;
	struct rcl_reason reason;
	u64 epoch;
};

/**
 * struct rcl_group_event - what happened to a group
 * @kind: enum rclink_event_kind
 * @id: of the group
 * @name: of the group
 * @state: enum rclink_group_state after the event
 * @reason: why it is down, if it is
 * @key: identifier of its newest key, 0 without one
 */
struct rcl_group_event {
	u32 kind;
	u32 id;
	const char *name;
	u32 state;
	struct rcl_reason reason;
	u64 key;
};

void rcl_event_init(const struct genl_family *family);
void rcl_event_exit(void);

void rcl_event_send(const struct rcl_event *event);
void rcl_event_send_group(const struct rcl_group_event *event);
void rcl_event_send_dev(const char *device, u32 port);
u64 rcl_event_last(void);

#endif /* RCL_EVENT_H */
