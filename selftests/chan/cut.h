/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link of two simulated devices of this host, and a channel, which are cut
 * when the far end has carried out the first few of some operations, while the
 * near one has not been told of any. Functions return 0 or a negative errno.
 */
#ifndef CUT_H
#define CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "rig.h"

#define CUT_STEPS	3
#define CUT_RECVS	20		/* posted at either end */
#define CUT_SIZE	64		/* of a message; and between words */
#define CUT_IMM		0x1000		/* and the number of the message */
/* A word of the far end, and what a step makes of it. */
#define CUT_BEFORE	0x0123456789abcdefULL
#define CUT_AFTER	0x1123456789abcdf0ULL

/**
 * struct cut_step - an operation of the near end
 * @op: enum rclink_dev_op, not all of them
 * @flags: RCLINK_SQE_SIGNALED, RCLINK_SQE_INLINE
 */
struct cut_step {
	uint8_t op;
	uint8_t flags;
};

/**
 * struct cut - what there is
 * @r: the link, and the channel
 * @remote: the words, at the near end
 * @words: at the far one, or NULL
 * @words_region: of it
 * @brief: what a SEND may end, at the near end
 * @brief_region: at the far one
 * @step: operations; number i has word i, and is i of its completion
 * @n: so many
 * @sent: messages of the near end, so far
 * @got: of these, by the far end: its receives have their numbers
 * @heard: messages of the far end
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

/* A new channel, of a link whose channels do that when it fails. */
int cut_open(struct cut *c, uint32_t recover);
void cut_close(struct cut *c);

/* A word of the far end's, and where a step has its own at the near end. */
uint64_t *cut_word(struct cut *c, int i);
uint64_t *cut_own(struct cut *c, int i);
/* Where the near end has the message of that number. */
uint8_t *cut_heard(struct cut *c, int i);

/* Is it received, with its data? */
bool cut_is_send(const struct cut_step *step);
bool cut_is_message(const struct cut_step *step);
bool cut_is_write(const struct cut_step *step);
/* What carrying it out makes of its word. */
uint64_t cut_makes(const struct cut_step *step);

/* All words are as before. */
void cut_clear(struct cut *c);
/* All steps are posted, when nothing else is under way. */
int cut_post(struct cut *c);
/* The same, the first @done are carried out, and the link is down. */
int cut_down(struct cut *c, int done);
/* Down alone. */
int cut_ports_down(struct cut *c);
/* It is up, in another epoch; or two steps of that. */
int cut_up(struct cut *c);
int cut_connect(struct cut *c);
int cut_activate(struct cut *c, int ms);

#endif /* CUT_H */
