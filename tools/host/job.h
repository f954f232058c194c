/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A job: one exchange whose owner is the kernel's link. It turns what the
 * exchange asks for into requests to the module, and the module's events into
 * what the exchange waits for.
 *
 * Each job prepares its link on a netlink socket of its own: the module gives
 * up what a closed socket had prepared, be it by the end of the job or of the
 * process, and nothing else.
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
	 * -EISCONN: the link is, by another exchange; -EBUSY: another one is
	 * under way, at either end.
	 */
	void (*done)(void *ctx, int result, const char *err);
};

/* The jobs of one process, and its ear for events. NULL with err. */
struct rch_hub *rch_hub_new(struct event_base *base, char *err);
void rch_hub_free(struct rch_hub *hub);

/* For who looks at more than the links of jobs. */
struct rch_watch {
	void (*event)(void *ctx, const struct rcl_link_info *info);
	/* The same of a group. */
	void (*group)(void *ctx, const struct rcl_group_info *info);
	/* A device came, or a port is not as it was: a try may be worth it. */
	void (*device)(void *ctx);
	/* All links, when asked for, and whenever events were lost. */
	void (*list)(void *ctx, const struct rcl_link_info *infos, size_t num,
		     bool lost);
	/* With its links. A list follows when it is there again. */
	void (*unloaded)(void *ctx);
};

/* Lists the links at once, and each time that it is called. */
void rch_hub_watch(struct rch_hub *hub, const struct rch_watch *watch,
		   void *ctx);

/*
 * For requests of the owner that the module answers at once. NULL while the
 * module is not loaded.
 */
struct rcl_nl *rch_hub_requests(const struct rch_hub *hub);

/* For those that take it longer, in order with those of jobs; see ask.h. */
struct rch_asks *rch_hub_asks(const struct rch_hub *hub);

struct rch_job *rch_job_dial(struct rch_hub *hub, struct rcx_tls *tls,
			     const char *host, uint16_t port, const char *link,
			     const char *wanted, int timeout_ms,
			     const struct rch_job_ops *ops, void *ctx,
			     char *err);
/* fd is the job's from here, also when it fails. */
struct rch_job *rch_job_accept(struct rch_hub *hub, struct rcx_tls *tls, int fd,
			       int timeout_ms, const struct rch_job_ops *ops,
			       void *ctx, char *err);
/* The link is to stay up until the new epoch is; right after rch_job_dial(). */
void rch_job_rotate(struct rch_job *job);
/*
 * It ends with -EBUSY, and asks nothing of the peer, when another exchange of
 * the link is under way; likewise. For who cannot know of that otherwise.
 */
void rch_job_yield(struct rch_job *job);
void rch_job_cancel(struct rch_job *job, const char *reason);

/* Who the peer proved to be, from RCX_STEP_TLS on. */
const struct rcx_ids *rch_job_ids(const struct rch_job *job);
/* 0 before the link was prepared. */
uint64_t rch_job_epoch(const struct rch_job *job);
/* Whether that epoch is this job's, or the one that it gave up last. */
bool rch_job_made(const struct rch_job *job, uint64_t epoch);
/* Since the job began. */
uint64_t rch_job_ns(const struct rch_job *job);
/* This host's end of the link; all 0 before it was prepared. */
const struct rcl_endpoint *rch_job_local(const struct rch_job *job);

#endif /* RCH_JOB_H */
