/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a link's epochs. */
#ifndef RCL_STATE_H
#define RCL_STATE_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

struct rcl_link;
struct rcl_reason;
struct rcl_request;
struct rcl_slot;

void rcl_state_expect(struct rcl_slot *slot, unsigned int ms);
bool rcl_state_is_late(const struct rcl_slot *slot);
bool rcl_state_is_calm(const struct rcl_link *link);
void rcl_state_set_timer(struct rcl_link *link);
void rcl_state_event(struct rcl_slot *slot, u32 kind);
void rcl_state_unwanted(struct rcl_slot *slot);
void rcl_state_set(struct rcl_slot *slot, enum rclink_link_state state,
		   const struct rcl_reason *reason);
void rcl_state_forget(struct rcl_slot *slot);
void rcl_state_send_off(struct rcl_slot *slot, struct rcl_request *req);
bool rcl_state_rotates(const struct rcl_link *link);
void rcl_state_fail(struct rcl_slot *slot, const struct rcl_reason *why);
void rcl_state_down(struct rcl_slot *slot, u32 reason);
bool rcl_state_break_off(struct rcl_slot *slot);
void rcl_state_stop(struct rcl_slot *slot);
void rcl_state_given_up(struct rcl_slot *slot);
void rcl_state_move(struct rcl_link *link);

#endif /* RCL_STATE_H */
