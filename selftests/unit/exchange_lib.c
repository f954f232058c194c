// SPDX-License-Identifier: GPL-2.0
#include "exchange_lib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "ident.h"

#define WATCHDOG_SECONDS	20

/* Numbers that no text contains by chance. */
#define PSN	0xabc123
#define RKEY	0x77665544
#define ADDR	0xffff888012345000

struct rcl_endpoint endpoint_make(uint64_t epoch)
{
	return (struct rcl_endpoint){
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.gid = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
		.mtu = 1024,
		.rd_atomic = 16,
		.atomics = RCLINK_ATOMICS_HCA,
		.epoch = epoch,
		.addr = ADDR,
		.rkey = RKEY,
		.length = 65536,
		.nqps = 2,
		.qp = { { 17, PSN }, { 18, PSN + 1 } },
	};
}

struct rcl_path path_make(const char *address)
{
	struct rcl_path path = {
		.device = "rxe0",
		.port = 1,
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.gid_type = RCLINK_GID_TYPE_ROCE_V2,
		.mtu = 1024,
	};
	char v6[64];

	snprintf(v6, sizeof(v6), "%s%s", strchr(address, ':') ? "" : "::ffff:",
		 address);
	if (inet_pton(AF_INET6, v6, path.gid) != 1)
		abort();

	return path;
}

/* T21: no secret of the epoch is ever told to a person. */
static void watch(struct owner *o, const char *text)
{
	static const char * const forms[] = { "%llu", "%llx" };
	static const uint64_t secrets[] = { PSN, PSN + 1, RKEY, ADDR };
	char form[32];
	size_t i, j;

	for (i = 0; i < 2; i++)
		for (j = 0; j < 4; j++) {
			snprintf(form, sizeof(form), forms[i],
				 (unsigned long long)secrets[j]);
			if (strcasestr(text, form))
				o->leak = true;
		}
}

static int asked(struct owner *o, enum stage at, bool in_order, char *err)
{
	if (!in_order)
		o->early = true;
	if (o->cancel_at == at)
		rcx_session_cancel(o->session, "interrupted");
	if (o->fail_at != at || (o->bad_paths && o->failed >= o->bad_paths))
		return 0;
	snprintf(err, RCL_ERR_LEN, "it was told to fail at stage %d", at);

	return o->fail_with ? : -EIO;
}

static int on_admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		    char *link, char *err)
{
	struct owner *o = ctx;
	unsigned int as = 0;
	int ret;

	o->admits++;
	snprintf(o->wanted, sizeof(o->wanted), "%s", wanted);
	snprintf(link, RCLINK_NAME_MAX + 1, "local");
	while (as < ids->num && o->only && strcmp(o->only, ids->id[as]))
		as++;
	if (as == ids->num) {
		snprintf(err, RCL_ERR_LEN, "%s has no link here", ids->id[0]);
		return -EACCES;
	}
	snprintf(o->identity, sizeof(o->identity), "%s", ids->id[as]);
	ret = asked(o, AT_ADMIT, !o->prepares, err);

	return ret ? ret : (int)as;
}

static int on_offer(void *ctx, const char *link, struct rcx_paths *paths,
		    char *err)
{
	struct owner *o = ctx;

	(void)link;
	o->offers++;
	if (!o->paths.num) {
		o->paths.num = 1;
		o->paths.path[0] = path_make("192.0.2.1");
	}
	*paths = o->paths;

	return asked(o, AT_OFFER, o->offers == 1 && !o->prepares, err);
}

/* Owners have no pointer to their world: one test runs at a time. */
static struct world *current;

static int later(struct owner *o, int ms, event_callback_fn then)
{
	const struct timeval half = { ms / 2000, ms / 2 % 1000 * 1000 };
	const struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	event_base_once(current->base, -1, EV_TIMEOUT, then, o, &tv);
	if (o->meanwhile)
		event_base_once(current->base, -1, EV_TIMEOUT, o->meanwhile, o,
				&half);
	return RCX_LATER;
}

/* Each epoch has a larger number than the one before. */
static int prepare(struct owner *o, struct rcl_endpoint *local, char *err)
{
	int ret;

	ret = asked(o, AT_PREPARE, o->prepares == o->aborts + 1, err);
	/* A prepare that failed has nothing to undo. */
	if (ret)
		o->prepares--;
	if (ret)
		return ret;
	if (o->prepares > 1)
		o->endpoint.epoch = o->agreed + 1;
	*local = o->endpoint;
	memcpy(local->gid, o->gid, sizeof(local->gid));

	return 0;
}

static void prepare_late(evutil_socket_t fd, short what, void *arg)
{
	struct owner *o = arg;
	struct rcl_endpoint local;
	char err[RCL_ERR_LEN] = "";
	int ret;

	(void)fd;
	(void)what;
	if (!o->session || o->aborts == o->prepares)
		return;
	ret = prepare(o, &local, err);
	rcx_session_prepared(o->session, ret, &local, err);
}

static int on_prepare(void *ctx, const char *link, const struct rcl_path *path,
		      struct rcl_endpoint *local, char *err)
{
	struct owner *o = ctx;

	(void)link;
	memcpy(o->gid, path->gid, sizeof(o->gid));
	o->prepares++;
	if (o->prepare_ms)
		return later(o, o->prepare_ms, prepare_late);

	return prepare(o, local, err);
}

static void connect_late(evutil_socket_t fd, short what, void *arg)
{
	struct owner *o = arg;
	char err[RCL_ERR_LEN] = "";
	int ret;

	(void)fd;
	(void)what;
	if (!o->session)
		return;
	ret = asked(o, AT_CONNECT, o->prepares == 1 && !o->activates, err);
	rcx_session_connected(o->session, ret, o->agreed, err);
}

static int on_connect(void *ctx, const char *link, uint64_t local_epoch,
		      const char *identity, enum rcx_role role,
		      const struct rcl_endpoint *remote, uint64_t *agreed,
		      char *err)
{
	struct owner *o = ctx;

	(void)link;
	(void)role;
	o->connects++;
	snprintf(o->identity, sizeof(o->identity), "%s", identity);
	o->remote = *remote;
	o->agreed = local_epoch > remote->epoch ? local_epoch : remote->epoch;
	if (o->late_ms)
		return later(o, o->late_ms, connect_late);
	*agreed = o->agreed;

	return asked(o, AT_CONNECT, o->prepares == o->aborts + 1 &&
		     local_epoch == o->endpoint.epoch, err);
}

static int activate(struct owner *o, char *err)
{
	int ret = asked(o, AT_ACTIVATE, o->prepares == o->aborts + 1, err);

	if (ret)
		return ret;
	if (o->bad_hello && o->failed < o->bad_paths)
		rcx_session_link_down(o->session, "nobody acknowledged");
	else if (o->go_down)
		rcx_session_link_down(o->session, "the cable was pulled");
	else if (!o->stay_down && o->failed >= o->silent_paths)
		rcx_session_link_up(o->session);

	return 0;
}

static void activate_late(evutil_socket_t fd, short what, void *arg)
{
	struct owner *o = arg;
	char err[RCL_ERR_LEN] = "";
	int ret;

	(void)fd;
	(void)what;
	if (!o->session || o->aborts == o->prepares)
		return;
	ret = activate(o, err);
	rcx_session_activated(o->session, ret, err);
}

static int on_activate(void *ctx, const char *link, uint64_t epoch,
		       const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct owner *o = ctx;

	(void)link;
	o->activates++;
	memcpy(o->key, key, RCLINK_KEY_LEN);
	if (epoch != o->agreed)
		o->early = true;
	if (o->activate_ms)
		return later(o, o->activate_ms, activate_late);

	return activate(o, err);
}

static void on_abort(void *ctx, const char *link)
{
	struct owner *o = ctx;

	(void)link;
	o->aborts++;
	o->early |= o->dones;
}

static void note_names(struct owner *o)
{
	const struct rcx_ids *ids = rcx_session_ids(o->session);

	snprintf(o->first, sizeof(o->first), "%s", ids->id[0]);
	o->names = ids->num;
}

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct owner *o = ctx;

	/* The steps of a path come in order, and each once. */
	if (step == RCX_STEP_FAILED) {
		o->failed++;
		o->steps &= (1u << RCX_STEP_PREPARED) - 1;
		snprintf(o->tried + strlen(o->tried),
			 sizeof(o->tried) - strlen(o->tried), "%s\n", detail);
	} else {
		if (o->steps >> step)
			o->early = true;
		o->steps |= 1u << step;
	}
	if (step == RCX_STEP_TLS)
		note_names(o);
	watch(o, detail);
	if (o->cancel_steps & 1u << step)
		rcx_session_cancel(o->session, "interrupted");
}

static void on_done(void *ctx, int result, const char *err)
{
	struct owner *o = ctx;

	o->dones++;
	o->session = NULL;
	o->result = result;
	snprintf(o->err, sizeof(o->err), "%s", err);
	watch(o, err);
	if (!--current->left)
		event_base_loopbreak(current->base);
}

static const struct rcx_ops ops = {
	.admit = on_admit,
	.offer = on_offer,
	.prepare = on_prepare,
	.connect = on_connect,
	.activate = on_activate,
	.abort = on_abort,
	.step = on_step,
	.done = on_done,
};

const struct rcx_ops *world_ops(void)
{
	return &ops;
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	struct world *w = arg;

	(void)fd;
	(void)what;
	w->stuck = true;
	event_base_loopbreak(w->base);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct world *w = arg;
	struct owner *o = &w->listener_end;

	(void)what;
	o->session = rcx_session_accept(w->base, w->listen_tls,
					accept(fd, NULL, NULL), w->timeout_ms,
					&ops, o, o->err);
}

void world_open(struct world *w)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct timeval limit = { .tv_sec = WATCHDOG_SECONDS };
	socklen_t len = sizeof(addr);

	*w = (struct world){ .timeout_ms = 5000 };
	w->dialler.endpoint = endpoint_make(7);
	w->listener_end.endpoint = endpoint_make(9);
	w->base = event_base_new();
	w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(w->listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(w->listener, 16) ||
	    getsockname(w->listener, (struct sockaddr *)&addr, &len))
		abort();
	w->port = ntohs(addr.sin_port);
	w->watchdog = evtimer_new(w->base, on_watchdog, w);
	evtimer_add(w->watchdog, &limit);
	current = w;
}

void world_close(struct world *w)
{
	rcx_tls_free(w->dial_tls);
	rcx_tls_free(w->listen_tls);
	if (w->accepting)
		event_free(w->accepting);
	event_free(w->watchdog);
	event_base_free(w->base);
	close(w->listener);
}

bool world_dial(struct world *w)
{
	struct owner *o = &w->dialler;

	o->session = rcx_session_dial(w->base, w->dial_tls, "127.0.0.1",
				      w->port, "mine", "yours", w->timeout_ms,
				      &ops, o, o->err);
	w->left += !!o->session;

	return o->session;
}

void world_listen(struct world *w)
{
	w->left++;
	if (!w->accepting)
		w->accepting = event_new(w->base, w->listener, EV_READ,
					 on_accept, w);
	event_add(w->accepting, NULL);
}

void world_run(struct world *w)
{
	if (w->left)
		event_base_dispatch(w->base);
}

void world_open_pinned(struct world *w, bool first)
{
	struct rcx_tls_config cfg = { .key_file = "a" };
	char pin[RCX_PIN_LEN], err[RCL_ERR_LEN];

	if (!first)
		world_close(w);
	world_open(w);
	if (rcx_ident_pin("b", pin, err))
		abort();
	cfg.pin = pin;
	w->dial_tls = rcx_tls_new(RCX_INITIATOR, &cfg, err);
	cfg = (struct rcx_tls_config){ .key_file = "b" };
	w->listen_tls = rcx_tls_new(RCX_RESPONDER, &cfg, err);
}

const char *owner_wrong(const struct owner *o)
{
	bool up = o->steps & 1 << RCX_STEP_UP;
	bool all = o->steps == (2u << RCX_STEP_DONE) - 1;

	if (o->dones != 1)
		return "done was not called once";
	if (o->early)
		return "calls out of order";
	if (o->leak)
		return "a secret was told";
	/* A prepare that is not undone is up, even if the session fails. */
	if (o->prepares - o->aborts != up)
		return "abort was not called when due";
	if (!o->result != all)
		return "the result does not fit the steps";
	if (!o->result != !o->err[0])
		return "the sentence does not fit the result";

	return NULL;
}
