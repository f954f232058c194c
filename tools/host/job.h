/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A job: one exchange on behalf of a link in the kernel. It turns what the
 * exchange asks for into requests to the module, and the module's events into
 * what the exchange waits for.
 *
 * Each job prepares its link on a netlink socket of its own: when that closes,
 * at the end of the job or of the process, the module gives up what was
 * prepared on it, and nothing else.
 */
#ifndef RCH_JOB_H
#define RCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct event_base;
struct rch_asks;
struct rch_hub;
struct rch_job;
struct rcl_group_info;
struct rcl_link_info;

/* What the owner of a job wants to know; ctx as given. */
struct rch_job_ops {
	/* See rcx_ops; admit is for responders only. */
	int (*admit)(void *ctx, const struct rcx_ids *ids, const char *wanted,
		     char *link, char *err);
	void (*step)(void *ctx, enum rcx_step step, const char *detail);
	/*
	 * Last; the job is freed after it returns. 0: both ends are up;
	 * -EISCONN: the link is up by another exchange; -EBUSY: not now, mostly
	 * because another one is under way, at either end.
	 */
	void (*done)(void *ctx, int result, const char *err);
};

/* The jobs of one process, and its event listener. NULL: see err. */
struct rch_hub *rch_hub_new(struct event_base *base, char *err);
void rch_hub_free(struct rch_hub *hub);

/* For a process that watches more than the links of its jobs. */
struct rch_watch {
	void (*event)(void *ctx, const struct rcl_link_info *info);
	/* The same for a group. */
	void (*group)(void *ctx, const struct rcl_group_info *info);
	/* A device came or a port changed: it may be worth trying again. */
	void (*device)(void *ctx);
	/* All links, when asked for, and whenever events were lost. */
	void (*list)(void *ctx, const struct rcl_link_info *infos, size_t num,
		     bool lost);
	/* The module, with its links. A list follows once it is back. */
	void (*unloaded)(void *ctx);
};

/* Lists the links at once, each time it is called. */
void rch_hub_watch(struct rch_hub *hub, const struct rch_watch *watch,
		   void *ctx);

/*
 * For requests of the owner that the module answers at once. NULL while the
 * module is not loaded.
 */
struct rcl_nl *rch_hub_requests(const struct rch_hub *hub);

/*
 * A socket for such requests, to be closed. NULL while the module is not
 * loaded, which stays so: the kernel loads a module that a socket looks for.
 */
struct rcl_nl *rch_hub_open(const struct rch_hub *hub, char *err);

/* For requests that take longer, in order with those of jobs; see ask.h. */
struct rch_asks *rch_hub_asks(const struct rch_hub *hub);

struct rch_job *rch_job_dial(struct rch_hub *hub, struct rcx_tls *tls,
			     const char *host, uint16_t port, const char *link,
			     const char *wanted, int timeout_ms,
			     const struct rch_job_ops *ops, void *ctx,
			     char *err);
/* Takes over fd, even if this fails. */
struct rch_job *rch_job_accept(struct rch_hub *hub, struct rcx_tls *tls, int fd,
			       int timeout_ms, const struct rch_job_ops *ops,
			       void *ctx, char *err);
/* Right after rch_job_dial(): the link is to stay up until the new epoch is. */
void rch_job_rotate(struct rch_job *job);
/*
 * Likewise: the job is to end with -EBUSY, and ask nothing of the peer, if
 * another exchange is under way. For callers that cannot tell otherwise.
 */
void rch_job_yield(struct rch_job *job);
void rch_job_cancel(struct rch_job *job, const char *reason);

/* Who the peer proved to be, from RCX_STEP_TLS on. */
const struct rcx_ids *rch_job_ids(const struct rch_job *job);
/* 0 before the link was prepared. */
uint64_t rch_job_epoch(const struct rch_job *job);
/* Is that epoch this job's, or the last that it gave up or takes for lost? */
bool rch_job_made(const struct rch_job *job, uint64_t epoch);
/* Since the job began. */
uint64_t rch_job_ns(const struct rch_job *job);
/* This host's end of the link; all 0 before it was prepared. */
const struct rcl_endpoint *rch_job_local(const struct rch_job *job);

#endif /* RCH_JOB_H */
