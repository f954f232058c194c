/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs objects of an epoch, in order, and in the mirror of that. */
#ifndef RCV_OBJECTS_H
#define RCV_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct ibv_mr;
struct rcl_path;
struct rcl_policy;
struct rcv_epoch;

/* All return 0, or a negative errno; where there is err, with a sentence. */

/* The way out of this host that a policy leads to. */
int rcv_objects_path(const struct rcl_policy *policy, struct rcl_path *path,
		     char *err);

/* Device to QPs in INIT; what there is of it is to be given back by _put. */
int rcv_objects_get(struct rcv_epoch *ep, char *err);
void rcv_objects_put(struct rcv_epoch *ep);

/* What the peer is told. */
void rcv_objects_describe(struct rcv_epoch *ep, uint64_t number);

/* All QPs, with the peer's values in ep->remote. */
int rcv_objects_to_rtr(struct rcv_epoch *ep, char *err);
int rcv_objects_to_rts(struct rcv_epoch *ep, char *err);

/*
 * Register whole pages for the peer, by addresses that are drawn by lot: it
 * learns none of this process. NULL with errno; *addr is the first one.
 */
struct ibv_mr *rcv_objects_show(struct rcv_epoch *ep, void *mem, size_t len,
				unsigned int access, uint64_t *addr);

/* Number i of the pool again: another QP, in INIT; then as the peer says. */
int rcv_objects_renew(struct rcv_epoch *ep, uint32_t i);
int rcv_objects_rewire(struct rcv_epoch *ep, uint32_t i, uint32_t qpn,
		       uint32_t psn);
int rcv_objects_go(struct rcv_epoch *ep, uint32_t i);

#endif /* RCV_OBJECTS_H */
