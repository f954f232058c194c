/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `rclink send` and `rclink recv`: a stream over a channel. The receiver grants
 * buffers, so that no message meets a receiver that is not ready; the last
 * message of each end has the sum of all data.
 */
#ifndef PIPE_H
#define PIPE_H

#include <stdbool.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "attach.h"
#include "pipe_msg.h"

#define PIPE_BUFS	16
#define PIPE_SIZE	65536

struct pipe {
	struct attach at;
	bool progress;			/* on stderr */
	uint8_t *memory;		/* PIPE_BUFS of PIPE_SIZE, and one */
	uint32_t region;		/* of it */
	EVP_MD_CTX *sha;
	struct pipe_sum sum;
	uint32_t sent, completed;	/* messages of this end; they wrap */
	uint64_t begun;			/* by rcl_now() */
	uint64_t ended;
	uint64_t shown;
	bool over;
	int status;			/* exit code, when it is over */
};

#define PIPE_MEMORY	((PIPE_BUFS + 1) * PIPE_SIZE)

/*
 * Set up what both ends need once the channel is open; release it and close the
 * channel. pipe_begin() returns an exit code, after saying why not.
 */
int pipe_begin(struct pipe *p);
void pipe_end(struct pipe *p);

/* More bytes have gone through. */
void pipe_count(struct pipe *p, const void *data, size_t len);
/* All bytes have; the sum is right from now on. */
void pipe_finish(struct pipe *p);

/* End the progress, before something else goes to stderr. */
void pipe_quiet(struct pipe *p);

/* The transfer is over; if it failed, at the peer or here, says why. */
void pipe_over(struct pipe *p, int status);
void pipe_failed(struct pipe *p, const char *what, const char *why);
void pipe_failed_errno(struct pipe *p, const char *what, int ret);

/*
 * Returns how many completions there were, or a negative errno. Those of sends
 * are counted; messages go to take(), until the transfer is over.
 */
int pipe_reap(struct pipe *p,
	      void (*take)(void *end, const struct rclink_dev_cqe *cqe),
	      void *end);

/*
 * Call when it is over: the last message must be on its way before the channel
 * ends. How it completes does not matter: the peer may go once it has it.
 */
void pipe_linger(struct pipe *p);

/* Move stdin to the peer, or what it sends to stdout. Return an exit code. */
int pipe_send(struct pipe *p);
int pipe_recv(struct pipe *p);

#endif /* PIPE_H */
