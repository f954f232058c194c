// SPDX-License-Identifier: GPL-2.0
/*
 * A link that is to be dialled is in one of these states, and rcd_link_want()
 * leads from the last back to the first: timer (back-off), queue (others are
 * being dialled), dial, up. A link that answers, that ends, or that the module
 * refused is in none of them meanwhile. A link that is up is changed alongside.
 */
#include "links_keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "backoff.h"
#include "call.h"
#include "kernel.h"
#include "link.h"
#include "links_core.h"
#include "links_end.h"
#include "log.h"
#include "process.h"
#include "tls.h"
#include "trust.h"

#define TIMEOUT_MS	30000	/* of one exchange */
#define DIALS_MAX	16	/* at once; more would only be slower */
#define DIALS_AGAIN	12	/* of them, for links that failed before */
#define QUIET_MS	500	/* without TCP; then a dial is none of them */
#define QUIET_MAX	128	/* dials of hosts that have not answered yet */
#define ROTATE_NS	1000000000ULL	/* between two exchanges */
#define OVERDUE_MS	60000	/* within which overdue ones rotate */
#define PATIENCE	2	/* counted as failures while it is up */

struct rcl_nl *rcd_links_module(const struct rcd_links *all)
{
	return rch_hub_requests(all->hub);
}

void rcd_link_unqueue(struct rcd_link *link)
{
	if (link->queued)
		TAILQ_REMOVE(&link->all->turns, link, turn);
	link->queued = false;
}

void rcd_link_rest(struct rcd_link *link)
{
	event_del(link->timer);
	event_del(link->mend);
	rcd_link_unqueue(link);
}

/*
 * By the epoch's age, even if this process did not see it begin. The links of a
 * host must not all rotate at once: they do so up to a tenth sooner or later,
 * and when overdue within a minute, not more, as many daemons do not run long.
 */
static uint64_t rotate_wait(const struct rcd_link *link)
{
	uint64_t ms = link->conf.rotate * 1000ULL;
	uint64_t due = (ms * 9 / 10 + arc4random_uniform(ms / 5 + 1)) *
		       NS_PER_MS;
	uint64_t age = rcd_kernel_age(rcd_links_module(link->all),
				      link->conf.name, link->epoch);

	if (age < due)
		return due - age;
	ms = ms / 10 < OVERDUE_MS ? ms / 10 : OVERDUE_MS;
	return arc4random_uniform(ms) * NS_PER_MS;
}

/*
 * Another epoch is asked for only once, so it is tried until there is one; not
 * at once, because `rclink rotate` first reports what failed.
 */
static void rotate_later(struct rcd_link *link)
{
	struct timeval tv;

	if (!link->conf.host[0] || (!link->asked && !link->conf.rotate) ||
	    event_pending(link->timer, EV_TIMEOUT, NULL))
		return;
	tv = rcl_timeval(link->asked ?
			 rcd_backoff(PATIENCE + link->vain, rcl_now(),
				     link->begun, arc4random()) :
			 rotate_wait(link));
	event_add(link->timer, &tv);
}

/* The link is not as configured, but stays up. */
static void mend_later(struct rcd_link *link)
{
	struct timeval tv;

	if (!link->broken || link->all->stopping || link->ends ||
	    !rcd_links_module(link->all) ||
	    event_pending(link->mend, EV_TIMEOUT, NULL))
		return;
	tv = rcl_timeval(rcd_backoff(link->refusals, rcl_now(), rcl_now(),
				     arc4random()));
	event_add(link->mend, &tv);
}

/* Whoever wanted another epoch has it. */
static void renew(struct rcd_link *link, uint64_t epoch)
{
	if (link->epoch == epoch)
		return;
	link->epoch = epoch;
	link->asked = false;
	link->vain = 0;
	rcd_link_rest(link);
}

void rcd_link_want(struct rcd_link *link)
{
	struct timeval tv;

	if (link->up) {
		mend_later(link);
		rotate_later(link);
		return;
	}
	if (link->all->stopping || !rcd_links_module(link->all) || link->dial ||
	    link->answering || link->queued || link->ends ||
	    event_pending(link->timer, EV_TIMEOUT, NULL) ||
	    (!link->conf.host[0] && !link->broken))
		return;
	tv = rcl_timeval(rcd_backoff(link->failures, rcl_now(), link->begun,
				     arc4random()));
	event_add(link->timer, &tv);
}

void rcd_link_up(struct rcd_link *link, uint64_t epoch)
{
	renew(link, epoch);
	if (!link->up) {
		rcd_link_rest(link);
		link->up = true;
		link->superseded = false;
		link->up_since = rcl_now();
		link->all->ops->changed(link->all->ctx);
	}
	rcd_link_want(link);
}

void rcd_link_down(struct rcd_link *link, const char *reason)
{
	if (link->up) {
		rcd_log(LOG_NOTICE, "%s: down: %s", link->conf.name, reason);
		link->up = false;
		link->asked = false;
		link->vain = 0;
		/* What waits for its turn was a rotation. */
		rcd_link_rest(link);
		link->failures = rcd_backoff_fell(link->failures, rcl_now() -
						  link->up_since);
		link->all->ops->changed(link->all->ctx);
	}
	rcd_link_want(link);
}

static void failed(struct rcd_link *link, const char *err)
{
	if (link->up && link->rotates) {
		rcd_log(LOG_WARNING, "%s: not rotated: %s", link->conf.name,
			err);
		link->vain += link->asked;
		rotate_later(link);
		return;
	}
	/* A link that came up only at this end goes down now, which counts. */
	link->failures += !link->up;
	rcd_log(LOG_WARNING, "%s: not up: %s", link->conf.name, err);
	rcd_link_want(link);
}

static void end_patience(struct rcd_link *link)
{
	event_del(link->patience);
	link->quiet = false;
}

static void on_dialled(void *ctx, int result, const char *err);

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct rcd_link *link = ctx;

	(void)detail;
	link->reached |= step == RCX_STEP_TLS;
	if (step == RCX_STEP_TCP)
		end_patience(link);
}

static const struct rch_job_ops dial_ops = {
	.step = on_step,
	.done = on_dialled,
};

static void dial(struct rcd_link *link)
{
	const struct timeval tv = rcl_timeval(QUIET_MS * NS_PER_MS);
	const struct rcd_link_conf *conf = &link->conf;
	struct rcd_links *all = link->all;
	char err[RCL_ERR_LEN];
	struct rcx_tls *tls;

	link->begun = rcl_now();
	link->reached = false;
	link->rotates = link->up;
	tls = rcd_trust_dial(all->trust, conf, err);
	if (tls)
		link->dial = rch_job_dial(all->hub, tls, conf->host, conf->port,
					  conf->name, conf->wanted, TIMEOUT_MS,
					  &dial_ops, link, err);
	rcx_tls_free(tls);
	if (!link->dial) {
		failed(link, err);
		return;
	}
	event_add(link->patience, &tv);
	if (link->rotates)
		rch_job_rotate(link->dial);
}

/* Down or up: its last dial did not achieve what it was for. */
static bool has_failed(const struct rcd_link *link)
{
	return link->failures || link->vain;
}

/*
 * A host that is not there, or a name server, keeps a dial waiting for seconds;
 * that costs a file descriptor, at most a thread, and nobody's time.
 */
static bool has_room(const struct rcd_links *all, const struct rcd_link *next)
{
	unsigned int most = has_failed(next) ? DIALS_AGAIN : DIALS_MAX;
	const struct rcd_link *link;
	unsigned int quiet = 0;

	LIST_FOREACH(link, &all->list, node)
		quiet += link->quiet;
	return quiet < QUIET_MAX && rcd_links_count(all).dials < most + quiet;
}

/*
 * Dial as many at once as allowed. Many peers that are not there do not keep
 * other links waiting: links that did not fail are at the head.
 */
static void dial_next(struct rcd_links *all)
{
	struct rcd_link *link;

	while (!all->stopping && rcd_links_module(all)) {
		link = TAILQ_FIRST(&all->turns);
		if (!link || !has_room(all, link))
			return;
		rcd_link_unqueue(link);
		dial(link);
	}
}

void rcd_link_exchanged(struct rcd_link *link, uint64_t epoch, uint64_t ns,
			const char *how)
{
	rcd_log(LOG_NOTICE, "%s: up, epoch %llu, %s, %llu ms", link->conf.name,
		(unsigned long long)epoch, how,
		(unsigned long long)(ns / NS_PER_MS));
	renew(link, epoch);
}

/* Another exchange brought it up, which is what the dial was for. */
static bool is_up_otherwise(const struct rcd_link *link)
{
	return link->up && !link->rotates &&
	       !rch_job_made(link->dial, link->epoch);
}

/*
 * The peer says that it is dialling, too. One that says so again, while no dial
 * of it comes, would have no back-off.
 */
static bool gives_way(struct rcd_link *link, int result)
{
	const bool again = link->superseded && !link->answering;

	link->superseded = result == -EALREADY;
	return link->superseded && !again;
}

static void on_dialled(void *ctx, int result, const char *err)
{
	struct rcd_link *link = ctx;
	struct rcd_links *all = link->all;
	const struct rch_job *job = link->dial;
	const bool given_up = gives_way(link, result) || link->yields ||
			      all->stopping || is_up_otherwise(link) ||
			      result == -EISCONN;

	if (!result)
		rcd_link_exchanged(link, rch_job_epoch(job), rch_job_ns(job),
				   "dialled");
	link->dial = NULL;
	end_patience(link);
	link->tally.dialled[!result ? RCD_UP :
			    given_up ? RCD_GIVEN_UP : RCD_FAILED]++;
	/* Events have told if it is up or down, maybe a second ago. */
	if (!result || given_up)
		rcd_link_want(link);
	else
		failed(link, err);
	link->yields = false;
	dial_next(all);
	all->ops->changed(all->ctx);
}

void rcd_link_yield(struct rcd_link *link, const char *reason)
{
	if (!link->dial)
		return;
	link->yields = true;
	rch_job_cancel(link->dial, reason);
}

/*
 * A link that is up stays up, with what it has, until this works. A module that
 * is being unloaded takes nothing any more; no configuration is to blame.
 */
static void refused(struct rcd_link *link, bool up, int ret, const char *err)
{
	link->broken = true;
	if (ret == -ESHUTDOWN)
		return;
	link->failures += !up;
	link->refusals += up;
	rcd_log(LOG_ERR, "%s:%u: [Link %s]: %s", link->conf.place.file,
		link->conf.place.line, link->conf.name, err);
}

/* Its exchanges may have prepared old settings, made by hand for example. */
static void begin_again(struct rcd_link *link)
{
	rcd_link_yield(link, "the link was set otherwise meanwhile");
	link->outdated |= link->answering;
}

/* The exchange being answered may bring it up again with the old peer. */
static void tell_other(struct rcd_link *link)
{
	if (!link->other)
		return;
	link->other = link->answering && link->outdated;
	link->all->ops->other(link->all->ctx, link->conf.name);
}

/* The link may have come up long before this process. */
static void find_up(struct rcd_link *link, uint64_t epoch)
{
	const bool found = !link->up;

	if (found)
		rcd_log(LOG_NOTICE, "%s: is up, epoch %llu", link->conf.name,
			(unsigned long long)epoch);
	rcd_link_up(link, epoch);
	if (found)
		link->up_since -= rcd_kernel_age(rcd_links_module(link->all),
						 link->conf.name, epoch);
}

/* stays: not to be made anew for another peer. */
static void find_down(struct rcd_link *link, const struct rcl_link_info *info,
		      bool stays)
{
	link->doomed = 0;
	/* It went down before it could be ended. */
	if (stays && !link->answering)
		tell_other(link);
	rcd_link_down(link, info ? info->reason_text : "it is gone");
}

void rcd_link_adopt(struct rcd_link *link, const struct rcl_link_info *info)
{
	const bool up = info && info->state == RCLINK_LINK_STATE_UP;
	/* The module tells the settings of the next epoch, not of this one. */
	const uint64_t former = link->former;
	char err[RCL_ERR_LEN];
	enum rcd_end end;
	int ret;

	/* It is looked at again when that is over. */
	if (link->ends)
		return;
	if (info && link->stale) {
		rcd_link_end(link);
		return;
	}
	link->stale = false;
	link->broken = false;
	link->former = 0;
	ret = rcd_kernel_apply(rcd_links_module(link->all), &link->conf, info,
			       &end, err);
	if (ret)
		refused(link, up, ret, err);
	else
		link->refusals = 0;
	if (end == RCD_ENDS)
		begin_again(link);
	if (up)
		find_up(link, info->epoch);
	else
		find_down(link, info, end != RCD_ENDS_NOW);
	if (end == RCD_ENDS_NOW) {
		rcd_link_rest(link);
		link->other = true;
		rcd_link_end_now(link);
	} else if (!up) {
		return;
	} else if (end == RCD_ENDS || link->doomed == info->epoch ||
		   (!ret && former == info->epoch)) {
		rcd_link_end(link);
	} else if (info->unwanted_epoch && !link->asked) {
		/* What was tried in vain is tried again when due. */
		rcd_link_rotate(link);
	}
}

static void look(struct rcd_link *link)
{
	struct rcl_link_info *info = NULL;
	char err[RCL_ERR_LEN];
	size_t num = 0;
	int ret;

	ret = rcl_call_links(rcd_links_module(link->all), link->conf.name,
			     &info, &num, err);
	if (ret && ret != -ENOENT) {
		link->broken = true;
		link->failures += !link->up;
		link->refusals += link->up;
		rcd_log(LOG_WARNING, "%s: %s", link->conf.name, err);
		rcd_link_want(link);
		return;
	}
	rcd_link_adopt(link, num ? info : NULL);
	free(info);
}

static void release(struct rcd_link *link)
{
	if (link && link->timer)
		event_free(link->timer);
	if (link && link->mend)
		event_free(link->mend);
	if (link && link->patience)
		event_free(link->patience);
	free(link);
}

void rcd_link_free(struct rcd_link *link)
{
	rcd_link_yield(link, "the link is no longer configured");
	rcd_link_unqueue(link);
	LIST_REMOVE(link, node);
	release(link);
}

void rcd_link_ended(struct rcd_link *link, int ret, const char *err)
{
	const bool loaded = rcd_links_module(link->all);

	if (link->gone) {
		if (ret && loaded)
			rcd_log(LOG_WARNING, "%s: %s", link->conf.name, err);
		else if (loaded)
			link->all->ops->other(link->all->ctx, link->conf.name);
		rcd_link_free(link);
	} else if (ret && loaded) {
		refused(link, link->up, ret, err);
		rcd_link_want(link);
	} else if (loaded) {
		tell_other(link);
		look(link);
	}
}

/* Lowest goes first: a link that only rotates is up all the while. */
static unsigned int rank(const struct rcd_link *link)
{
	return has_failed(link) ? 2 : link->up;
}

static void line_up(struct rcd_link *link)
{
	struct rcd_link *other;

	TAILQ_FOREACH(other, &link->all->turns, turn)
		if (rank(other) > rank(link))
			break;
	link->queued = true;
	if (other)
		TAILQ_INSERT_BEFORE(other, link, turn);
	else
		TAILQ_INSERT_TAIL(&link->all->turns, link, turn);
	dial_next(link->all);
}

/* Get another epoch while this one is up; at most one exchange a second. */
static void rotate(struct rcd_link *link)
{
	const struct timeval soon = { .tv_sec = 1 };

	if (!link->up || !link->conf.host[0] || link->queued)
		return;
	if (link->dial || link->ends) {
		/* What is wanted after that is not what was planned. */
		event_del(link->timer);
		return;
	}
	if (link->answering || rcl_now() - link->begun < ROTATE_NS) {
		event_add(link->timer, &soon);
		return;
	}
	event_del(link->timer);
	line_up(link);
}

void rcd_link_rotate(struct rcd_link *link)
{
	link->asked = true;
	rotate(link);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct rcd_link *link = arg;

	(void)fd;
	(void)what;
	if (link->up)
		rcd_link_rotate(link);
	else if (link->broken)
		look(link);
	else if (link->conf.host[0])
		line_up(link);
}

static void on_mend(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	look(arg);
}

static void on_quiet(evutil_socket_t fd, short what, void *arg)
{
	struct rcd_link *link = arg;

	(void)fd;
	(void)what;
	link->quiet = link->dial;
	dial_next(link->all);
}

struct rcd_link *rcd_link_new(struct rcd_links *all,
			      const struct rcd_link_conf *conf)
{
	struct rcd_link *link = calloc(1, sizeof(*link));

	if (link) {
		link->timer = evtimer_new(all->base, on_timer, link);
		link->mend = evtimer_new(all->base, on_mend, link);
		link->patience = evtimer_new(all->base, on_quiet, link);
	}
	if (!link || !link->timer || !link->mend || !link->patience) {
		release(link);
		return NULL;
	}
	link->all = all;
	link->conf = *conf;
	LIST_INSERT_HEAD(&all->list, link, node);
	return link;
}
