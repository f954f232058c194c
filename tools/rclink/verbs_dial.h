/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the commands that dial over libibverbs: the words, one exchange,
 * the link that results from it, and its end.
 */
#ifndef VERBS_DIAL_H
#define VERBS_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "dial_args.h"
#include "link.h"
#include "signals.h"

struct rcv_epoch;
struct rcv_join;
struct rcv_service;
struct rcx_tls;

/* Part of each command's help. */
#define VERBS_DIAL_HELP							\
DIAL_ARGS_HELP								\
"  WORD VALUE        as for `rclink add`: dev, gid-index, mtu, qps ...\n"

struct verbs_dial {
	const char *cmd;
	struct dial_args args;
	struct rcl_policy policy;
	struct event_base *base;
	struct signals signals;
	struct rcx_tls *ctx;
	struct rcv_join *join;		/* NULL: the exchange failed */
	bool up;			/* the exchange succeeded */
	bool down;			/* the link went down */
	bool interrupted;
	char why[RCL_ERR_LEN];		/* why it failed or went down, or "" */
};

/* own: the options of the command, as for dial_args_init(). */
void verbs_dial_init(struct verbs_dial *d, const char *cmd,
		     const struct option *own);
/*
 * Parse NAME, HOST, one more word if kind is set, which is returned, and pairs
 * of WORD and VALUE. Ends the process if they are bad.
 */
const char *verbs_dial_words(struct verbs_dial *d, int argc, char **argv,
			     bool kind);

/* Returns when both ends are up: CLI_OK, else CLI_FAILED after saying why. */
int verbs_dial_up(struct verbs_dial *d);
/* The epoch, until verbs_dial_end(). */
struct rcv_epoch *verbs_dial_epoch(const struct verbs_dial *d);

/* Run until interrupted, the link goes down, or event_base_loopbreak(). */
void verbs_dial_run(struct verbs_dial *d);

/* Say goodbye and free everything. May be called in any state. */
void verbs_dial_end(struct verbs_dial *d);

/* Services the peer may connect to, whichever end dialled; ends with NULL. */
extern const struct rcv_service *const verbs_services[];

/* Parse "dev rxe0 mtu 1024 ..."; the listener uses it, too. */
void verbs_words(const char *cmd, char **words, struct rcl_policy *policy);

#endif /* VERBS_DIAL_H */
