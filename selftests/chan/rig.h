/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link of this host to itself, and a channel with both ends in one process,
 * so that a test controls both. Functions return 0 or a negative errno.
 */
#ifndef RIG_H
#define RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <rclink.h>

#include "rcl.h"

#define RIG_NEAR	"a"		/* the two ends of the link */
#define RIG_FAR		"b"
#define RIG_SERVICE	"rig"
#define RIG_REGION	"rig"		/* of the far end, all rights */
#define RIG_OFFERED	"other"		/* what rig_offer() exports */
#define RIG_MEMORY	(3 * 4096)	/* bytes of either end's region */
#define RIG_MOVED	10000		/* bytes */

/* Values for both ends of a new link; -1: the default of the module. */
struct rig_values {
	int timeout, retry, rnr_retry;
	int heartbeat;			/* ms */
	int recover;			/* RCLINK_RECOVER_* */
	int qps;			/* of the pool */
};

struct rig {
	struct genl_sock s;
	bool sims;			/* ends on simulated devices */
	struct rig_values values;	/* of the next link */
	unsigned int flags;		/* of the near end: RCLINK_CHAN_* */
	int listener;			/* does not block */
	struct rclink_chan *near, *far;	/* NULL if there is none */
	uint8_t *near_memory, *far_memory;
	uint32_t near_region, far_region;
	struct rclink_remote remote;
};

/* The netlink socket and the memory; links that exist are deleted. */
int rig_begin(struct rig *r);
void rig_end(struct rig *r);

/*
 * The same on two simulated devices, each made with @words, instead of on one
 * device; a message that is not acknowledged fails after two times 8 ms.
 */
int rig_begin_sims(struct rig *r, const char *words);
void rig_end_sims(struct rig *r);
int rig_new_sim(const char *name, const char *words);

/* Makes the link anew if it is not up; makes a listener if there is none. */
int rig_link(struct rig *r);

/* Brings up another epoch beside the current one; @s must stay open. */
int rig_rotate(struct genl_sock *s);

/* Plain file descriptors, without mmap() or any other setup. */
int rig_device(void);
int rig_listen(int fd, const char *service);
int rig_connect(int fd, unsigned int flags);
int rig_accept(const struct rig *r);

/* Register a region, with an argument that the caller fills in. */
int rig_region(int fd, struct rclink_dev_region *arg);
int rig_memory(int fd, struct rclink_dev_region *arg);
int rig_withdraw(int fd, uint32_t handle);

/* Both ends of the channel, @near and @far, and their regions. */
int rig_open(struct rig *r);
void rig_close(struct rig *r);

/* The far end exports memory, and the near end imports it; end both again. */
int rig_offer(struct rig *r, void *m, uint32_t len, uint32_t *region,
	      struct rclink_remote *remote);
int rig_take_back(struct rig *r, uint32_t region,
		  const struct rclink_remote *remote);

/* -EILSEQ for wrong data, -EREMOTEIO for an error in a completion. */
int rig_completes(struct rclink_chan *chan);
int rig_moves(struct rig *r, uint32_t seed);
/* A message, for which the far end posts a receive. */
int rig_sends(struct rig *r);
/* The near end reads @remote, which must have the data of @seed. */
int rig_reads(struct rig *r, const struct rclink_remote *remote, uint32_t seed);

/* KiB that this process has pinned. */
long rig_pinned(void);
/* Wait until this host has @want RDMA objects again. */
int rig_until_objects(int want, int ms);

#endif /* RIG_H */
