// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <event2/event.h>

#include "call.h"
#include "dial_args.h"
#include "job.h"
#include "link.h"
#include "nl.h"
#include "peers.h"
#include "process.h"
#include "session.h"
#include "signals.h"
#include "text.h"
#include "tls.h"

#define MS_PER_S	1000
#define SOON_MS		50	/* until the next dial, at first, and ... */
#define LATER_MS	1000	/* ... at most, or when it is the peer's turn */

static const char help[] =
"usage: rclink connect NAME HOST[:PORT] --pin PIN [OPTIONS]\n"
"       rclink connect NAME HOST[:PORT] --ca FILE --name DNSNAME [OPTIONS]\n\n"
"Do one exchange with the rclink that listens at HOST, and bring link NAME up.\n"
"Ends when both ends are up; the link stays up without this process. An IPv6\n"
"address with a port stands in brackets. The port is 7185 if not given. When the\n"
"peer dials, too, or another exchange of the link is under way, it comes again\n"
"until that, or its own, has brought the link up.\n\n"
DIAL_ARGS_HELP
"  -r, --rotate      a link that is up stays so until its new epoch is\n"
"  -v, --verbose     show the steps (the default on a terminal)\n";

static const struct option options[] = {
	{ "rotate", no_argument, NULL, 'r' },
	{ "verbose", no_argument, NULL, 'v' },
	CLI_OPT_HELP, CLI_OPT_END
};

struct connector {
	const struct dial_args *args;
	bool verbose;
	bool rotate;
	struct event_base *base;
	struct rch_hub *hub;
	struct rcx_tls *tls;
	struct rch_job *job;	/* NULL: waiting to dial again */
	struct event *again;	/* pending until then */
	unsigned int tries;	/* that met another exchange */
	char busy[RCL_ERR_LEN];	/* what the last of those heard; "": none */
	uint32_t id;		/* of the link; 0: not known yet */
	uint64_t before;	/* epoch that was up before; 0: none */
	uint64_t since;		/* first epoch whose disconnect ends this */
	uint64_t start;		/* ns */
	uint64_t until;		/* ns */
	char self[RCLINK_PEER_MAX + 1];
	char peer[RCLINK_PEER_MAX + 1];
	struct rcx_ids ids;	/* all that the peer proved to be */
	uint64_t up_ns;		/* when both ends were up */
	int status;
};

static const char *const step_names[] = {
	[RCX_STEP_TCP] = "TCP",
	[RCX_STEP_TLS] = "TLS",
	[RCX_STEP_PATHS] = "PATHS",
	[RCX_STEP_PREPARED] = "PREPARED",
	[RCX_STEP_OFFERED] = "OFFERED",
	[RCX_STEP_CONNECTED] = "CONNECTED",
	[RCX_STEP_CONFIRMED] = "CONFIRMED",
	[RCX_STEP_ACTIVATED] = "ACTIVATED",
	[RCX_STEP_UP] = "UP",
	[RCX_STEP_DONE] = "DONE",
	[RCX_STEP_FAILED] = "FAILED",
};

static const char *const step_texts[] = {
	[RCX_STEP_TCP] = "connection to the peer's rclink",
	[RCX_STEP_TLS] = "1.3, both ends proved who they are",
	[RCX_STEP_PATHS] = "both ends have the other's ports and GIDs",
	[RCX_STEP_PREPARED] = "QPs RESET -> INIT, receives posted, PSNs drawn",
	[RCX_STEP_OFFERED] = "both ends have the other's GID, QPNs, PSNs, key",
	[RCX_STEP_CONNECTED] = "QPs INIT -> RTR",
	[RCX_STEP_CONFIRMED] = "the peer's QPs are in RTR, too",
	[RCX_STEP_ACTIVATED] = "QPs RTR -> RTS, sealed hello sent",
	[RCX_STEP_UP] = "hellos answered in both directions",
	[RCX_STEP_DONE] = "the peer's end is up, too",
	[RCX_STEP_FAILED] = "given up",
};

/* Since the first dial: dialing again does not restart it. */
static double ms_since_start(const struct connector *c)
{
	return (double)(rcl_now() - c->start) / NS_PER_MS;
}

static void print_step(const struct connector *c, enum rcx_step step,
		       const char *detail)
{
	const struct rcl_endpoint *local = rch_job_local(c->job);
	char gid[RCL_GID_TEXT_LEN];

	printf("%9.1f ms  %-10s%s", ms_since_start(c), step_names[step],
	       step_texts[step]);
	if (step == RCX_STEP_TCP)
		printf(": %s port %u", c->args->host, c->args->port);
	else if (step == RCX_STEP_TLS)
		printf(": peer %s", detail);
	else if (step == RCX_STEP_PATHS)
		printf(": %s to try", detail);
	else if (step == RCX_STEP_FAILED)
		printf(": %s", detail);
	else if (step == RCX_STEP_PREPARED)
		printf(": %u QPs, GID %s", local->nqps,
		       rcl_gid_text(local->gid, gid));
	else if (step == RCX_STEP_CONNECTED)
		printf(": epoch %llu",
		       (unsigned long long)rch_job_epoch(c->job));
	putchar('\n');
}

/* The peer's link may have another end here, which then goes down. */
static void say_taken(const struct connector *c)
{
	const char *wanted = c->args->wanted;
	struct rcl_nl *nl = rch_hub_requests(c->hub);
	struct rcl_link_info *info;
	char ignored[RCL_ERR_LEN];
	size_t num;

	if (!strcmp(wanted, c->args->link) || !nl ||
	    rcl_call_links(nl, wanted, &info, &num, ignored))
		return;
	if (num && info->state == RCLINK_LINK_STATE_UP &&
	    !strcmp(info->peer, c->peer))
		fprintf(stderr,
			"%s: link %s is up with this peer; if that is the other end of the peer's link %s, it goes down now\n",
			c->args->link, wanted, wanted);
	free(info);
}

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct connector *c = ctx;

	if (step == RCX_STEP_TLS) {
		snprintf(c->peer, sizeof(c->peer), "%s", detail);
		c->ids = *rch_job_ids(c->job);
		say_taken(c);
	}
	/* No other exchange was in the way: a failure is its own now. */
	if (step == RCX_STEP_PATHS)
		c->busy[0] = '\0';
	if (step == RCX_STEP_DONE)
		c->up_ns = rch_job_ns(c->job);
	if (c->verbose)
		print_step(c, step, detail);
}

static void end(struct connector *c, const char *err)
{
	c->status = cli_fail("connect %s: %s", c->args->link, err);
	event_base_loopbreak(c->base);
}

/* Is it up with this peer, by an exchange of the peer or another process? */
static bool is_up_otherwise(const struct connector *c)
{
	struct rcl_nl *nl = rch_hub_requests(c->hub);
	struct rcl_link_info *info;
	char ignored[RCL_ERR_LEN];
	bool up = false;
	unsigned int i;
	size_t num;

	if (!nl || rcl_call_links(nl, c->args->link, &info, &num, ignored))
		return false;
	for (i = 0; num && i < c->ids.num; i++)
		up |= info->state == RCLINK_LINK_STATE_UP &&
		      info->epoch > c->before &&
		      !strcasecmp(info->peer, c->ids.id[i]);
	if (up)
		printf("%s: up, epoch %llu, peer %s, by another exchange\n",
		       c->args->link, (unsigned long long)info->epoch,
		       info->peer);
	free(info);
	return up;
}

/*
 * When both ends dial at once, one dials again first, and the other one finds
 * the link up, or an exchange under way that it leaves alone. When that of the
 * peer goes on (-EALREADY), no other is needed.
 */
static uint64_t choose_wait(const struct connector *c, int result)
{
	uint32_t ms = SOON_MS << (c->tries < 5 ? c->tries : 5);

	if (ms > LATER_MS || result == -EALREADY ||
	    !rch_goes_first(c->self, c->ids.id[0]))
		ms = LATER_MS;
	return (ms + arc4random_uniform(ms)) * NS_PER_MS;
}

static uint64_t left_ns(const struct connector *c)
{
	const uint64_t now = rcl_now();

	return c->until > now ? c->until - now : 0;
}

/* Half of the time that is left is for that dial. */
static bool dial_later(struct connector *c, int result)
{
	const uint64_t most = left_ns(c) / 2;
	uint64_t ns = choose_wait(c, result);
	struct timeval tv;

	if (ns > most)
		ns = most;
	tv = rcl_timeval(ns);
	if (ns < SOON_MS * NS_PER_MS || event_add(c->again, &tv))
		return false;
	c->tries++;
	if (c->verbose)
		printf("%9.1f ms  %-10sagain in %.1f s: %s\n",
		       ms_since_start(c), "BUSY",
		       (double)ns / NS_PER_MS / MS_PER_S, c->busy);
	return true;
}

static bool has_met_another(struct connector *c, int result, const char *err)
{
	if (result != -EBUSY && result != -EALREADY)
		return false;
	rcl_fail(c->busy, 0, "%s", err);
	return true;
}

/* The last dial had little time, because of the ones before. */
static void fail(struct connector *c, int result, const char *err)
{
	char text[RCL_ERR_LEN];

	if ((result == -ETIMEDOUT || result == -EHOSTUNREACH) && *c->busy)
		rcl_fail(text, 0, "%s (the last try: %s)", c->busy, err);
	else
		rcl_fail(text, 0, "%s", err);
	end(c, text);
}

static void on_done(void *ctx, int result, const char *err)
{
	struct connector *c = ctx;
	const uint64_t epoch = rch_job_epoch(c->job);
	const bool later = has_met_another(c, result, err) &&
			   dial_later(c, result);

	c->job = NULL;
	if (later)
		return;
	if (!result) {
		printf("%s: up, epoch %llu, peer %s, %.0f ms\n", c->args->link,
		       (unsigned long long)epoch, c->peer,
		       (double)c->up_ns / NS_PER_MS);
		event_base_loopbreak(c->base);
	} else if ((result == -EISCONN || *c->busy) && is_up_otherwise(c)) {
		event_base_loopbreak(c->base);
	} else {
		fail(c, result, err);
	}
}

static const struct rch_job_ops ops = {
	.step = on_step,
	.done = on_done,
};

static bool is_ended(const struct rcl_link_info *info)
{
	return info->state == RCLINK_LINK_STATE_DOWN &&
	       info->reason == RCLINK_DOWN_REASON_DISCONNECTED;
}

/* A running job ends by itself then, but between two there is none. */
static void look(struct connector *c, const struct rcl_link_info *info)
{
	if (info->id != c->id || info->epoch < c->since || !is_ended(info) ||
	    !event_pending(c->again, EV_TIMEOUT, NULL))
		return;
	event_del(c->again);
	end(c, "the link was disconnected");
}

static void on_event(void *ctx, const struct rcl_link_info *info)
{
	struct connector *c = ctx;

	if (strcmp(info->name, c->args->link))
		return;
	if (info->event_kind == RCLINK_EVENT_KIND_CREATED) {
		c->id = info->id;
		c->before = 0;
		c->since = 0;
	}
	look(c, info);
}

/* The first list says what there was before. */
static void on_list(void *ctx, const struct rcl_link_info *infos, size_t num,
		    bool lost)
{
	struct connector *c = ctx;
	size_t i;

	(void)lost;
	for (i = 0; i < num; i++)
		if (!strcmp(infos[i].name, c->args->link))
			break;
	if (i == num)
		return;
	if (c->id)
		look(c, &infos[i]);
	else
		c->since = infos[i].epoch + is_ended(&infos[i]);
	c->id = infos[i].id;
}

static void on_group(void *ctx, const struct rcl_group_info *info)
{
	(void)ctx;
	(void)info;
}

static void on_nothing(void *ctx)
{
	(void)ctx;
}

static const struct rch_watch watch = {
	.event = on_event,
	.group = on_group,
	.device = on_nothing,
	.list = on_list,
	.unloaded = on_nothing,
};

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct connector *c = arg;

	(void)fd;
	(void)what;
	if (c->job)
		rch_job_cancel(c->job, "interrupted");
	else
		end(c, "interrupted");
}

/* Before asking the peer anything: is there such a link, and is it not up? */
static int check_link(struct connector *c, struct rcl_nl *nl)
{
	const char *link = c->args->link;
	struct rcl_link_info *info;
	char err[RCL_ERR_LEN];
	int status = CLI_OK;
	size_t num;
	int ret;

	ret = rcl_call_links(nl, link, &info, &num, err);
	if (ret)
		return cli_refused("connect", link, ret, err);
	if (num && info->state == RCLINK_LINK_STATE_UP)
		c->before = info->epoch;
	if (c->before && !c->rotate)
		status = cli_refused("connect", link, -EISCONN,
				     "the link is already up; give it another epoch with --rotate, or end it with `rclink disconnect`");
	free(info);
	return status;
}

static int check(struct connector *c)
{
	struct rcl_nl *nl = cli_open();
	int status = CLI_FAILED;

	if (!nl)
		return status;
	if (cli_may_exchange(nl, "connect"))
		status = check_link(c, nl);
	rcl_nl_close(nl);
	return status;
}

static bool dial(struct connector *c, char *err)
{
	const struct dial_args *a = c->args;

	c->job = rch_job_dial(c->hub, c->tls, a->host, a->port, a->link,
			      a->wanted, left_ns(c) / NS_PER_MS, &ops, c, err);
	if (!c->job)
		return false;
	if (c->rotate)
		rch_job_rotate(c->job);
	else
		rch_job_yield(c->job);
	return true;
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct connector *c = arg;
	char err[RCL_ERR_LEN];

	(void)fd;
	(void)what;
	if (is_up_otherwise(c))
		event_base_loopbreak(c->base);
	else if (!dial(c, err))
		end(c, err);
}

static int exchange(struct connector *c)
{
	struct signals signals = { 0 };
	char err[RCL_ERR_LEN];

	c->start = rcl_now();
	c->until = c->start + c->args->timeout_ms * NS_PER_MS;
	c->again = evtimer_new(c->base, on_again, c);
	if (c->again)
		rch_hub_watch(c->hub, &watch, c);
	if (!c->again || !signals_catch(&signals, c->base, on_signal, c))
		c->status = cli_fail("connect %s: out of memory",
				     c->args->link);
	else if (!dial(c, err))
		c->status = cli_fail("connect %s: %s", c->args->link, err);
	else
		event_base_dispatch(c->base);
	signals_free(&signals);
	if (c->again)
		event_free(c->again);
	return c->status;
}

static int run(struct connector *c)
{
	const struct dial_args *args = c->args;
	char err[RCL_ERR_LEN] = "out of memory";

	rcl_hide_memory();
	c->tls = rcx_tls_new(RCX_INITIATOR, &args->tls, err);
	if (!c->tls)
		return cli_fail("connect %s: %s", args->link, err);
	if (!rcx_tls_self(c->tls, c->self, err))
		c->base = event_base_new();
	c->hub = c->base ? rch_hub_new(c->base, err) : NULL;
	if (c->hub) {
		exchange(c);
		rch_hub_free(c->hub);
	} else {
		c->status = cli_fail("connect %s: %s", args->link, err);
	}
	if (c->base)
		event_base_free(c->base);
	rcx_tls_free(c->tls);
	return c->status;
}

int cmd_connect(int argc, char **argv)
{
	struct dial_args a;
	struct connector connector = {
		.args = &a,
		.verbose = isatty(STDOUT_FILENO),
	};
	int c;

	dial_args_init(&a, options);
	while ((c = dial_args_getopt(&a, argc, argv, help)) != -1) {
		connector.verbose |= c == 'v';
		connector.rotate |= c == 'r';
	}
	dial_args_operands(&a, argc, argv, 2, 2);
	return check(&connector) ? CLI_FAILED : run(&connector);
}
