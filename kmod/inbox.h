/* SPDX-License-Identifier: GPL-2.0 */
/* What others leave for a link's work item. */
#ifndef RCL_INBOX_H
#define RCL_INBOX_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "endpoint.h"
#include "fsm.h"
#include "policy.h"
#include "reason.h"

struct rcl_call;
struct rcl_epoch;
struct rcl_link;
struct rcl_ping;
struct rcl_slot;

/**
 * struct rcl_request - something that a link is asked to do
 * @node: in the link's queue
 * @ref: one for the waiter, one for the queue
 * @kind: what is asked
 * @owner: netlink socket that asks
 * @epoch: in for CONNECT, ACTIVATE and REPLACE; out for PREPARE and CONNECT
 * @path: in for PREPARE: what the exchange has chosen
 * @rotate: in for PREPARE: what is up stays up until the new epoch is
 * @role: in for CONNECT: enum rclink_role
 * @peer: in for CONNECT: identity of the peer
 * @end: out for PREPARE: the local end; in for CONNECT: the remote end
 * @key: in for ACTIVATE
 * @made: for PREPARE: the epoch, until it has its slot
 * @broken: the request failed, and the epoch is of no use after that
 * @abandoned: nobody waits any more; under the link's lock
 * @done: completed with the result; under the link's lock
 * @ret: 0, or a negative errno
 * @why: a sentence that explains @ret
 */
struct rcl_request {
	struct list_head node;
	refcount_t ref;
	enum rcl_request_kind kind;
	u32 owner;
	u64 epoch;
	struct rcl_policy_change path;
	bool rotate;
	u32 role;
	char peer[RCLINK_PEER_MAX + 1];
	struct rcl_endpoint end;
	u8 key[RCLINK_KEY_LEN];
	struct rcl_epoch *made;
	bool broken;
	bool abandoned;
	struct completion done;
	int ret;
	const char *why;
};

void rcl_inbox_init(struct rcl_link *link);

void rcl_inbox_set_asleep(bool asleep);
bool rcl_inbox_is_asleep(void);

/* For others. */
struct rcl_request *rcl_request_new(enum rcl_request_kind kind, u32 owner);
void rcl_request_put(struct rcl_request *req);
int rcl_inbox_request(struct rcl_link *link, struct rcl_request *req);
int rcl_inbox_ask_ping(struct rcl_link *link, struct rcl_ping *ping);
int rcl_inbox_ask_call(struct rcl_link *link, struct rcl_call *call);
void rcl_inbox_owner_gone(struct rcl_link *link, u32 owner);
void rcl_inbox_end_epochs(struct rcl_link *link, u32 reason);
bool rcl_inbox_rests(struct rcl_link *link);
void rcl_inbox_end(struct rcl_link *link);
void rcl_inbox_give_back(struct rcl_link *link);

/* For the work item. */
void rcl_inbox_shut(struct rcl_link *link, bool shut);
struct rcl_request *rcl_inbox_next_request(struct rcl_link *link);
struct rcl_ping *rcl_inbox_next_ping(struct rcl_link *link);
struct rcl_call *rcl_inbox_next_call(struct rcl_link *link, u32 *n);
bool rcl_inbox_is_dead(struct rcl_link *link);
bool rcl_inbox_take_back(struct rcl_link *link);
bool rcl_inbox_take_wary(struct rcl_link *link);
struct rcl_reason rcl_inbox_failure(struct rcl_slot *slot);
void rcl_inbox_ask_again(struct rcl_link *link, struct list_head *calls);

#endif /* RCL_INBOX_H */
