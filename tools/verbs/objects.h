/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs objects of an epoch, made in order and put in reverse order. */
#ifndef RCV_OBJECTS_H
#define RCV_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct ibv_mr;
struct rcl_path;
struct rcl_policy;
struct rcv_epoch;

/* All return 0, or a negative errno, with a sentence if there is err. */

/* The path out of this host that a policy leads to. */
int rcv_objects_path(const struct rcl_policy *policy, struct rcl_path *path,
		     char *err);

/* From device to QPs in INIT; _put releases what there is, even on failure. */
int rcv_objects_get(struct rcv_epoch *ep, char *err);
void rcv_objects_put(struct rcv_epoch *ep);

/* Fill in what the peer is told. */
void rcv_objects_describe(struct rcv_epoch *ep, uint64_t number);

/* All QPs, with the peer's values in ep->remote. */
int rcv_objects_to_rtr(struct rcv_epoch *ep, char *err);
int rcv_objects_to_rts(struct rcv_epoch *ep, char *err);

/*
 * Register whole pages for the peer, at random addresses, so that it learns
 * none of this process. NULL with errno; *addr is the first one.
 */
struct ibv_mr *rcv_objects_show(struct rcv_epoch *ep, void *mem, size_t len,
				unsigned int access, uint64_t *addr);

/* Create QP i of the pool anew, in INIT; then wire it as the peer says. */
int rcv_objects_renew(struct rcv_epoch *ep, uint32_t i);
int rcv_objects_rewire(struct rcv_epoch *ep, uint32_t i, uint32_t qpn,
		       uint32_t psn);
int rcv_objects_go(struct rcv_epoch *ep, uint32_t i);

#endif /* RCV_OBJECTS_H */
