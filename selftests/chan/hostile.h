/* SPDX-License-Identifier: GPL-2.0 */
/* A link whose peer is hostile, and two others beside it that never notice. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "peer.h"

#define HOSTILE_LINK	"h"
#define HOSTILE_MS	20000	/* for what has to happen */

struct hostile {
	struct genl_sock s;
	struct peer p;
	uint32_t role;		/* of the module */
	uint64_t malformed;	/* counted before the epoch that is up */
};

/* What a test says, and how the text is changed before it is sealed. */
struct wrong {
	const char *what;
	struct rcl_msg msg;
	int more;		/* bytes behind it, or, negative, missing */
};

/* The links; those beside it are up. */
int hostile_begin(struct hostile *h, uint32_t role);
/* 0 if those never went down, and answer. */
int hostile_end(struct hostile *h);

/* An epoch comes up; without hello, if it is only connected. */
int hostile_up(struct hostile *h);
int hostile_meet(struct hostile *h);

int hostile_say(struct hostile *h, const struct wrong *w);
/*
 * The epoch ends for that reason, and the message is counted where that is the
 * protocol: 0, or what is not so is printed. The peer is gone afterwards.
 */
int hostile_ends(struct hostile *h, const char *what, uint32_t reason);
/* The link is up, and a question is answered: 0 if so. */
int hostile_lives(struct hostile *h, const char *what);

#endif /* HOSTILE_H */
