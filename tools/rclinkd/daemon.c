// SPDX-License-Identifier: GPL-2.0
/*
 * One thread runs one event loop. A configuration is read and judged as a
 * whole, keys included, before anything of the previous one is given up.
 */
#include "daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "blame.h"
#include "conf.h"
#include "groups.h"
#include "hwcount.h"
#include "links.h"
#include "listener.h"
#include "log.h"
#include "notify.h"
#include "process.h"
#include "textfile.h"
#include "trust.h"

#define PASS_MS	100	/* then timers are checked between two exchanges */
#define END_S	2	/* for peers to hear that exchanges end */

enum { SIG_END, SIG_STOP, SIG_AGAIN, SIGNALS };

struct daemon {
	const char *file;
	struct event_base *base;
	struct event *signal[SIGNALS];
	struct rcd_conf conf;
	struct rcd_trust *trust;
	struct rcd_links *links;
	struct event *changed;		/* a link has changed */
	struct rcd_groups *groups;
	struct rch_listener *listener;
	struct event *listen;		/* retry after it failed */
	struct rcd_hwcount *hwcount;
	struct rcd_textfile *textfile;
	struct rcd_notify *notify;
	bool stopping;
	bool silent;			/* the listener has no callers left */
};

static void log_place(void *ctx, const struct rcd_place *place,
		      const char *text)
{
	char where[RCD_PLACE_LEN];

	(void)ctx;
	rcd_log(LOG_ERR, "%s: %s", rcd_place_text(place, where), text);
}

static const struct rcd_report report = {
	.say = log_place,
	.alive = rcd_notify_alive,
};

/* Many changes at once lead to one count. */
static void count_links(evutil_socket_t fd, short what, void *arg)
{
	const struct daemon *d = arg;
	struct rcd_count count = rcd_links_count(d->links);

	(void)fd;
	(void)what;
	rcd_notify_status(count.up, count.links);
	if (d->stopping && d->silent && !count.dials)
		event_base_loopbreak(d->base);
}

static void on_changed(void *ctx)
{
	const struct daemon *d = ctx;

	event_active(d->changed, EV_TIMEOUT, 0);
}

static void on_looked(void *ctx)
{
	const struct daemon *d = ctx;

	rcd_groups_look(d->groups);
}

static void on_device(void *ctx)
{
	const struct daemon *d = ctx;

	rcd_groups_hurry(d->groups);
}

static void on_other(void *ctx, const char *link)
{
	const struct daemon *d = ctx;

	rcd_groups_other(d->groups, link);
}

static void on_group(void *ctx, const struct rcl_group_info *info)
{
	const struct daemon *d = ctx;

	rcd_groups_heard(d->groups, info);
}

static const struct rcd_links_ops links_ops = {
	.changed = on_changed,
	.looked = on_looked,
	.device = on_device,
	.other = on_other,
	.group = on_group,
};

static struct rcx_tls *on_tls(void *ctx, char *err)
{
	const struct daemon *d = ctx;

	(void)err;
	return rcd_trust_answer(d->trust);
}

static bool on_know(void *ctx, const char *identity, const char *link)
{
	const struct daemon *d = ctx;

	return rcd_links_know(d->links, identity, link);
}

static int on_admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		    char *link, char *err)
{
	const struct daemon *d = ctx;

	return rcd_links_admit(d->links, ids, wanted, link, err);
}

static void on_done(void *ctx, const struct rch_call *call, int result,
		    const char *err)
{
	const struct daemon *d = ctx;

	rcd_links_answered(d->links, call, result, err);
}

static void on_stopped(void *ctx)
{
	struct daemon *d = ctx;

	d->silent = true;
	on_changed(d);
}

static const struct rch_listener_ops listener_ops = {
	.tls = on_tls,
	.know = on_know,
	.admit = on_admit,
	.done = on_done,
	.stopped = on_stopped,
};

static void stop(struct daemon *d)
{
	const struct timeval most = { .tv_sec = END_S };

	if (d->stopping)
		return;
	rcd_notify_stopping();
	rcd_log(LOG_NOTICE, "ends; links that are up stay up");
	d->stopping = true;
	event_del(d->listen);
	event_base_loopexit(d->base, &most);
	rcd_links_stop(d->links);
	rch_listener_stop(d->listener, "the daemon was stopped");
}

static bool listen_changed(const struct rcd_conf *a, const struct rcd_conf *b)
{
	return a->listens != b->listens || a->port != b->port ||
	       strcmp(a->bind, b->bind);
}

static int listen_as(struct daemon *d, const struct rcd_conf *conf, char *err)
{
	int ret;

	event_del(d->listen);
	if (!conf->listens) {
		rch_listener_close(d->listener);
		return 0;
	}
	ret = rch_listener_listen(d->listener,
				  conf->bind[0] ? conf->bind : NULL,
				  conf->port, err);
	if (!ret)
		rcd_log(LOG_INFO, "listening on %s",
			rch_listener_address(d->listener));
	return ret;
}

/* Retry, as the address may come back; else nobody would be answered. */
static int listen_as_before(struct daemon *d, char *err)
{
	const struct timeval later = { .tv_sec = 1 };
	int ret = listen_as(d, &d->conf, err);

	if (ret)
		event_add(d->listen, &later);
	return ret;
}

static void on_listen(evutil_socket_t fd, short what, void *arg)
{
	char ignored[RCL_ERR_LEN];

	(void)fd;
	(void)what;
	listen_as_before(arg, ignored);
}

/* What can fail comes first. Listening is undone if a later step fails. */
static int apply(struct daemon *d, const struct rcd_conf *conf,
		 struct rcd_trust *trust, char *err)
{
	bool moves = listen_changed(conf, &d->conf);
	char again[RCL_ERR_LEN];
	int ret = 0;

	/* What does not listen as it should tries every second already. */
	if (moves)
		ret = listen_as(d, conf, err);
	/* Groups are looked at when all links are. */
	if (!ret)
		ret = rcd_groups_set(d->groups, conf, err);
	if (!ret)
		ret = rcd_links_set(d->links, conf, trust, err);
	if (ret && moves && listen_as_before(d, again))
		rcd_log(LOG_ERR, "nobody is answered until this works: %s",
			again);
	if (!ret)
		rcd_textfile_set(d->textfile, conf->metrics);
	return ret;
}

/* Read everything again. */
static int read_again(struct daemon *d)
{
	struct rcd_trust *trust = NULL;
	char err[RCL_ERR_LEN];
	struct rcd_conf conf;

	if (rcd_conf_load(&conf, d->file, &report))
		goto err_free;
	trust = rcd_trust_new(&conf, d->trust, err);
	if (!trust) {
		rcd_blame_trust(&conf, err, &report);
		goto err_free;
	}
	if (apply(d, &conf, trust, err)) {
		rcd_say(&report, &conf.place, "%s", err);
		goto err_free;
	}
	rcd_trust_free(d->trust);
	rcd_conf_free(&d->conf);
	d->trust = trust;
	d->conf = conf;
	rch_listener_recheck(d->listener);
	return 0;

err_free:
	rcd_trust_free(trust);
	rcd_conf_free(&conf);
	return -EINVAL;
}

static void reload(struct daemon *d)
{
	rcd_notify_reloading();
	if (read_again(d))
		rcd_log(LOG_ERR,
			"the new configuration is refused, the old one holds");
	else
		rcd_log(LOG_NOTICE, "the configuration was read again");
	rcd_notify_ready();
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct daemon *d = arg;

	(void)what;
	if (sig != SIGHUP)
		stop(d);
	else if (!d->stopping)
		reload(d);
}

/* A SIGHUP that comes before it is caught waits, or it ends the process. */
static void hold_hup(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(how, &set, NULL);
}

static int catch_signals(struct daemon *d)
{
	static const int number[SIGNALS] = { SIGTERM, SIGINT, SIGHUP };
	int i;

	for (i = 0; i < SIGNALS; i++) {
		d->signal[i] = evsignal_new(d->base, number[i], on_signal, d);
		if (!d->signal[i] || event_add(d->signal[i], NULL))
			return -ENOMEM;
	}
	hold_hup(SIG_UNBLOCK);
	return 0;
}

/* A loop that many exchanges cannot keep from its timers. */
static struct event_base *new_base(void)
{
	const struct timeval most = { .tv_usec = PASS_MS * 1000 };
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config &&
	    !event_config_set_max_dispatch_interval(config, &most, 1, 0))
		base = event_base_new_with_config(config);
	if (config)
		event_config_free(config);
	return base;
}

static int start_trust(struct daemon *d, char *err)
{
	int ret;

	d->trust = rcd_trust_new(&d->conf, NULL, err);
	if (d->trust)
		return 0;
	ret = rcl_may_pass(errno) ? -EAGAIN : -EINVAL;
	rcd_blame_trust(&d->conf, err, &report);
	return rcl_fail(err, ret,
			"a key, certificate, CA or CRL cannot be used");
}

/* A port that somebody else has, or a missing address, keeps no link down. */
static int start_listening(struct daemon *d, char *err)
{
	int ret = listen_as_before(d, err);

	if (ret != -EADDRINUSE && ret != -EADDRNOTAVAIL)
		return ret;
	rcd_log(LOG_ERR, "nobody is answered until this works: %s", err);
	return 0;
}

static int start(struct daemon *d, char *err)
{
	int ret;

	d->base = new_base();
	d->notify = d->base ? rcd_notify_new(d->base) : NULL;
	d->listen = d->base ? evtimer_new(d->base, on_listen, d) : NULL;
	d->changed = d->base ? evtimer_new(d->base, count_links, d) : NULL;
	if (!d->notify || !d->listen || !d->changed || catch_signals(d))
		return rcl_fail(err, -ENOMEM, "out of memory");
	ret = start_trust(d, err);
	if (ret)
		return ret;
	d->links = rcd_links_new(d->base, &links_ops, d, err);
	if (!d->links)
		return -ENOENT;
	d->groups = rcd_groups_new(d->base, rcd_links_hub(d->links), err);
	if (!d->groups || rcd_groups_set(d->groups, &d->conf, err))
		return -ENOMEM;
	d->listener = rch_listener_new(d->base, rcd_links_hub(d->links),
				       &listener_ops, d, err);
	if (!d->listener || start_listening(d, err))
		return -EADDRNOTAVAIL;
	d->hwcount = rcd_hwcount_new(d->base, d->links, err);
	if (!d->hwcount)
		return -ENOMEM;
	d->textfile = rcd_textfile_new(d->base, d->links, d->hwcount, err);
	if (!d->textfile || rcd_links_set(d->links, &d->conf, d->trust, err))
		return -ENOMEM;
	rcd_textfile_set(d->textfile, d->conf.metrics);
	return 0;
}

static void end(struct daemon *d)
{
	int i;

	rcd_textfile_free(d->textfile);
	rcd_hwcount_free(d->hwcount);
	if (d->listen)
		event_free(d->listen);
	if (d->listener)
		rch_listener_free(d->listener);
	rcd_groups_free(d->groups);
	if (d->links)
		rcd_links_free(d->links);
	if (d->changed)
		event_free(d->changed);
	rcd_trust_free(d->trust);
	rcd_notify_free(d->notify);
	for (i = 0; i < SIGNALS; i++)
		if (d->signal[i])
			event_free(d->signal[i]);
	if (d->base)
		event_base_free(d->base);
	rcd_conf_free(&d->conf);
}

int rcd_daemon_run(const char *file)
{
	struct daemon d = { .file = file };
	char err[RCL_ERR_LEN];
	int ret;

	rcl_hide_memory();
	signal(SIGPIPE, SIG_IGN);
	hold_hup(SIG_BLOCK);
	ret = rcd_conf_load(&d.conf, file, &report);
	if (!ret) {
		ret = start(&d, err);
		if (ret)
			rcd_log(LOG_ERR, "cannot start: %s", err);
	}
	if (!ret) {
		rcd_notify_ready();
		event_base_dispatch(d.base);
	}
	end(&d);
	return ret;
}
