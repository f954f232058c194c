/* SPDX-License-Identifier: GPL-2.0 */
/* The heartbeat: the rule is at the head of the module's heartbeat.c. */
#ifndef RCV_BEAT_H
#define RCV_BEAT_H

#include <stdbool.h>
#include <stdint.h>

struct rcl_msg;
struct rcv_epoch;

/* How long the peer may owe anything, in ms. */
uint64_t rcv_beat_limit(const struct rcv_epoch *ep);

/* The peer gave a sign of life just now. */
void rcv_beat_start(struct rcv_epoch *ep);

/* An authentic message came in. */
void rcv_beat_heard(struct rcv_epoch *ep, const struct rcl_msg *msg);

/* BEAT or BEAT_ACK: 0, or what rcv_ctrl_send() says. */
int rcv_beat_message(struct rcv_epoch *ep, const struct rcl_msg *msg);

/*
 * Has an interval ended? 0, -EHOSTDOWN after the last one, or the error of what
 * is sent then.
 */
int rcv_beat_look(struct rcv_epoch *ep, uint64_t now);

/* Nothing is asked but, at most, a heartbeat. */
bool rcv_beat_is_alone(const struct rcv_epoch *ep);

/* When to look next, in ms; 0: never. */
uint64_t rcv_beat_due(const struct rcv_epoch *ep);

#endif /* RCV_BEAT_H */
