/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the module that the daemon asks, and for what dials links. */
#ifndef KEEP_MODULE_H
#define KEEP_MODULE_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "call.h"
#include "job.h"
#include "kernel.h"
#include "links.h"
#include "links_end.h"
#include "log.h"
#include "process.h"
#include "tls.h"
#include "trust.h"

#define SECOND	1000000000ULL
#define DIALLED	2	/* epoch of each dial */

static int something;
static uint64_t now;
static int step;	/* seconds added by gettimeofday() */
static uint64_t age;	/* of any epoch */
static int refusal;	/* errno of any change; 0: none */
static enum rcd_end end;	/* after any change */
static const struct rcl_link_info *there;	/* the link, or NULL */
static unsigned int looks, changes, ends, yields, errors, warnings, others;
static const struct rch_job_ops *dial_ops;

uint64_t rcl_now(void)
{
	return now;
}

int gettimeofday(struct timeval *tv, void *tz)
{
	struct timespec ts;

	(void)tz;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec + step;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

struct timeval rcl_timeval(uint64_t ns)
{
	return (struct timeval){ .tv_sec = ns / SECOND,
				 .tv_usec = ns % SECOND / 1000 };
}

struct rcl_nl *rch_hub_requests(const struct rch_hub *hub)
{
	(void)hub;
	return (struct rcl_nl *)&something;
}

struct rch_job *rch_job_dial(struct rch_hub *hub, struct rcx_tls *tls,
			     const char *host, uint16_t port, const char *link,
			     const char *wanted, int timeout_ms,
			     const struct rch_job_ops *ops, void *ctx,
			     char *err)
{
	(void)hub;
	(void)tls;
	(void)host;
	(void)port;
	(void)link;
	(void)wanted;
	(void)timeout_ms;
	(void)ctx;
	(void)err;
	dial_ops = ops;
	return (struct rch_job *)&something;
}

void rch_job_rotate(struct rch_job *job)
{
	(void)job;
}

void rch_job_cancel(struct rch_job *job, const char *reason)
{
	(void)job;
	(void)reason;
	yields++;
}

uint64_t rch_job_epoch(const struct rch_job *job)
{
	(void)job;
	return DIALLED;
}

bool rch_job_made(const struct rch_job *job, uint64_t epoch)
{
	(void)job;
	return epoch == DIALLED;
}

uint64_t rch_job_ns(const struct rch_job *job)
{
	(void)job;
	return 0;
}

struct rcx_tls *rcd_trust_dial(struct rcd_trust *t,
			       const struct rcd_link_conf *link, char *err)
{
	(void)t;
	(void)link;
	(void)err;
	return (struct rcx_tls *)&something;
}

void rcx_tls_free(struct rcx_tls *tls)
{
	(void)tls;
}

int rcd_kernel_apply(struct rcl_nl *nl, const struct rcd_link_conf *conf,
		     const struct rcl_link_info *info, enum rcd_end *what,
		     char *err)
{
	(void)nl;
	(void)conf;
	(void)info;
	changes++;
	*what = end;
	return refusal ? rcl_fail(err, refusal, "refused") : 0;
}

uint64_t rcd_kernel_age(struct rcl_nl *nl, const char *name, uint64_t epoch)
{
	(void)nl;
	(void)name;
	(void)epoch;
	return age;
}

int rcl_call_links(struct rcl_nl *nl, const char *name,
		   struct rcl_link_info **infos, size_t *num, char *err)
{
	(void)nl;
	(void)name;
	(void)err;
	looks++;
	if (!there)
		return -ENOENT;
	*infos = malloc(sizeof(**infos));
	if (!*infos)
		abort();
	**infos = *there;
	*num = 1;
	return 0;
}

void rcd_link_end(struct rcd_link *link)
{
	(void)link;
	ends++;
}

void rcd_link_end_now(struct rcd_link *link)
{
	rcd_link_end(link);
}

void rcd_log(int priority, const char *fmt, ...)
{
	(void)fmt;
	errors += priority == LOG_ERR;
	warnings += priority == LOG_WARNING;
}

static const struct rcl_link_info is_up = {
	.state = RCLINK_LINK_STATE_UP,
	.epoch = 1,
};

static void ignore(void *ctx)
{
	(void)ctx;
}

static void count(void *ctx, const char *link)
{
	(void)ctx;
	(void)link;
	others++;
}

static const struct rcd_links_ops ops = { .changed = ignore, .other = count };

#endif /* KEEP_MODULE_H */
