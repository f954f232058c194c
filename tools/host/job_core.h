/* SPDX-License-Identifier: GPL-2.0 */
/* The jobs of a process, and the hub that tells them what the module says. */
#ifndef RCH_JOB_CORE_H
#define RCH_JOB_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "job.h"
#include "link.h"
#include "nl.h"

struct rch_ask;
struct rch_asks;

struct rch_job {
	LIST_ENTRY(rch_job) node;
	struct rch_hub *hub;
	struct rcx_session *session;
	const struct rch_job_ops *ops;
	void *ctx;
	uint64_t start;			/* ns */
	bool answers;			/* the peer has dialled */
	bool yields;			/* to another exchange of the link */
	bool ends;			/* is about to be cancelled */
	struct rcl_nl *nl;		/* while the link is prepared ... */
	struct rch_ask *ask;		/* ... unless this request has it */
	char link[RCLINK_NAME_MAX + 1];	/* "": not known yet ... */
	uint32_t id;			/* ... and this is 0 */
	uint64_t epoch;			/* 0 while not prepared */
	uint64_t last;			/* given up, or lost; 0: none */
	uint64_t since;			/* first whose disconnect ends this */
	struct rcl_endpoint local;
	bool activates;			/* the epoch may come up */
	bool up;
};

struct rch_hub {
	struct event_base *base;
	struct rcl_nl *families;
	struct rcl_nl *events;
	struct rcl_nl *requests;	/* NULL: the module is not loaded */
	struct rch_asks *asks;
	struct event *news;		/* of families */
	struct event *readable;		/* of events */
	struct event *again;		/* when the module could not be asked */
	const struct rch_watch *watch;	/* NULL: nobody looks */
	void *watch_ctx;
	uint64_t seq;			/* of the last event that counts */
	bool resync;
	enum rcl_nl_news said;		/* latest news not dealt with yet */
	LIST_HEAD(, rch_job) jobs;
};

#endif /* RCH_JOB_CORE_H */
