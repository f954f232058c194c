/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels for commands: from LINK[:SERVICE] to a channel with both ends ready,
 * and messages about what went wrong.
 */
#ifndef ATTACH_H
#define ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include <rclink.h>

#include "target.h"

#define ATTACH_TIMEOUT_MS	10000	/* for one step of the peer */

/* A command and its channel. */
struct attach {
	const char *cmd;
	struct target target;
	struct rclink_chan *chan;
	bool quiet;		/* say nothing while waiting */
};

/* Parse the operand; ends the process with CLI_USAGE if it is wrong. */
void attach_parse(struct attach *a, const char *cmd, const char *text,
		  const char *service);

/* Open the channel. Return an exit code, after saying why not. */
int attach_connect(struct attach *a, unsigned int flags);
/* Listen on a link that exists. */
int attach_listen(struct attach *a, struct rclink_listener **listener,
		  unsigned int backlog, unsigned int flags);
/* Wait for one peer, then stop listening. */
int attach_accept(struct attach *a, unsigned int flags);

void attach_close(struct attach *a);

/*
 * Neither end may send before the other one has posted receives. The end that
 * connected posts them and then exports hello under the name of the service;
 * the end that accepted posts its own, finds hello, and sends first. Return an
 * exit code, after saying why not.
 */
int attach_offer(struct attach *a, void *hello, size_t len,
		 unsigned int rights);
int attach_find(struct attach *a, struct rclink_remote *hello);

/*
 * Import the region that the peer has under the name of the service; register
 * memory for local use. Return 0 or a negative errno; wait out suspensions.
 */
int attach_import(struct attach *a, struct rclink_remote *remote);
int attach_region(struct attach *a, void *addr, size_t len, uint32_t *region);

/* rclink_submit() without a time limit, once the channel is not suspended. */
int attach_submit(struct attach *a, unsigned int wait);

/*
 * After waiting for the peer in vain: was the channel suspended? Such a channel
 * has no time limit. If it was, it has now gone on, or ended.
 */
bool attach_was_suspended(struct attach *a);
/* rclink_submit() that waits for a completion, as one step of the peer. */
int attach_wait(struct attach *a);

/* Page-aligned zeros, registered for local use; NULL after saying why not. */
void *attach_memory(struct attach *a, size_t len, uint32_t *region);

/*
 * Say what failed and what to do: for a channel, for one that is to be opened,
 * and for a completion. Return CLI_FAILED.
 */
int attach_failed(const struct attach *a, const char *what, int ret);
int attach_refused(const struct attach *a, const char *what, int ret);
int attach_broken(const struct attach *a, const struct rclink_dev_cqe *cqe);

#endif /* ATTACH_H */
