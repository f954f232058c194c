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
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include <stdint.h>

#include "session.h"

struct event_base;
struct cli_hub;
struct cli_job;

/* What the owner of a job wants to know; ctx as given. */
struct cli_job_ops {
	/* See rcx_ops; admit is for responders only. */
	int (*admit)(void *ctx, const char *identity, const char *wanted,
		     char *link, char *err);
	void (*step)(void *ctx, enum rcx_step step, const char *detail);
	/* Last; the job is freed after it returns. 0: both ends are up. */
	void (*done)(void *ctx, int result, const char *err);
};

/* The jobs of one process, and its ear for events. NULL with err. */
struct cli_hub *cli_hub_new(struct event_base *base, char *err);
void cli_hub_free(struct cli_hub *hub);

struct cli_job *cli_job_dial(struct cli_hub *hub, struct rcx_tls *tls,
			     const char *host, uint16_t port, const char *link,
			     const char *wanted, int timeout_ms,
			     const struct cli_job_ops *ops, void *ctx,
			     char *err);
/* fd is the job's from here, also when it fails. */
struct cli_job *cli_job_accept(struct cli_hub *hub, struct rcx_tls *tls, int fd,
			       int timeout_ms, const struct cli_job_ops *ops,
			       void *ctx, char *err);
void cli_job_cancel(struct cli_job *job, const char *reason);

/* "" and 0 before the link is known, or before it was prepared. */
const char *cli_job_link(const struct cli_job *job);
uint64_t cli_job_epoch(const struct cli_job *job);
/* Since the job began. */
uint64_t cli_job_ns(const struct cli_job *job);
/* This host's end of the link; all 0 before it was prepared. */
const struct rcl_endpoint *cli_job_local(const struct cli_job *job);

#endif /* CLI_JOB_H */
