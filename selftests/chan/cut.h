/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link between two simulated devices of this host, with a channel. The link
 * is cut when the far end has carried out the first few of some operations, but
 * no ACK has reached the near end. Functions return 0 or a negative errno.
 */
#ifndef CUT_H
#define CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "rig.h"

#define CUT_STEPS	3
#define CUT_RECVS	20		/* posted at either end */
#define CUT_SIZE	64		/* of a message; also between words */
#define CUT_IMM		0x1000		/* plus the number of the message */
/* A word of the far end before and after a step that changes it. */
#define CUT_BEFORE	0x0123456789abcdefULL
#define CUT_AFTER	0x1123456789abcdf0ULL

/**
 * struct cut_step - an operation of the near end
 * @op: enum rclink_dev_op; not all of them are supported
 * @flags: RCLINK_SQE_SIGNALED, RCLINK_SQE_INLINE
 */
struct cut_step {
	uint8_t op;
	uint8_t flags;
};

/**
 * struct cut - a link that is to be cut, and the state of both ends
 * @r: the link, and the channel
 * @remote: the words, as imported by the near end
 * @words: the far end's memory with the words, or NULL
 * @words_region: the far end's region of @words
 * @brief: a region that a SEND may invalidate, as imported by the near end
 * @brief_region: the same region at the far end
 * @step: operations; number i uses word i and has i as its user data
 * @n: number of operations in @step
 * @sent: how many messages the near end has sent
 * @got: how many of these the far end has received; number i is in receive i
 * @heard: how many messages of the far end the near end has received
 * @epoch: of the link
 */
struct cut {
	struct rig r;
	struct rclink_remote remote;
	uint64_t *words;
	uint32_t words_region;
	struct rclink_remote brief;
	uint32_t brief_region;
	const struct cut_step *step;
	int n;
	int sent;
	int got;
	int heard;
	uint64_t epoch;
};

int cut_begin(struct cut *c);
void cut_end(struct cut *c);

/* A new channel; @recover is what the link's channels do when it fails. */
int cut_open(struct cut *c, uint32_t recover);
void cut_close(struct cut *c);

/* Word @i of the far end, and the near end's word for step @i. */
uint64_t *cut_word(struct cut *c, int i);
uint64_t *cut_own(struct cut *c, int i);
/* Where the near end receives message @i. */
uint8_t *cut_heard(struct cut *c, int i);

/* Does the step consume a receive, and place its data there? */
bool cut_is_send(const struct cut_step *step);
bool cut_is_message(const struct cut_step *step);
bool cut_is_write(const struct cut_step *step);
/* The value of the step's word at the far end after the step. */
uint64_t cut_makes(const struct cut_step *step);

/* Reset all words to their values before the steps. */
void cut_clear(struct cut *c);
/* Post all steps; nothing else may be under way. */
int cut_post(struct cut *c);
/* Post all steps, have the first @done carried out, and take the link down. */
int cut_down(struct cut *c, int done);
/* Only take the link down. */
int cut_ports_down(struct cut *c);
/* Bring the link up in another epoch; the other two are its two parts. */
int cut_up(struct cut *c);
int cut_connect(struct cut *c);
int cut_activate(struct cut *c, int ms);

#endif /* CUT_H */
