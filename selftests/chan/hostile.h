/* SPDX-License-Identifier: GPL-2.0 */
/* A link whose peer is hostile, and two others beside it that never notice. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "peer.h"

#define HOSTILE_LINK	"h"
#define HOSTILE_MS	20000	/* within which anything expected happens */

struct hostile {
	struct genl_sock s;
	struct peer p;
	uint32_t role;		/* of the module */
	uint64_t malformed;	/* count before the current epoch */
};

/* A message of the peer, and how its text is changed before it is sealed. */
struct wrong {
	const char *what;
	struct rcl_msg msg;
	int more;		/* bytes added; if negative, cut off */
};

/* Make all three links, and bring the two others up. */
int hostile_begin(struct hostile *h, uint32_t role);
/* Return: 0 if the two others never went down, and answer. */
int hostile_end(struct hostile *h);

/* Bring an epoch up; hostile_meet() only connects, without the hello. */
int hostile_up(struct hostile *h);
int hostile_meet(struct hostile *h);

int hostile_say(struct hostile *h, const struct wrong *w);
/*
 * Return: 0 if the epoch ends for @reason and, where that is PROTOCOL, the
 * message is counted; else the difference is printed. The peer has left then.
 */
int hostile_ends(struct hostile *h, const char *what, uint32_t reason);
/* Return: 0 if the link is up and a question is answered. */
int hostile_lives(struct hostile *h, const char *what);

#endif /* HOSTILE_H */
