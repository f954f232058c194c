// SPDX-License-Identifier: GPL-2.0
#include "join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epoch.h"
#include "fail.h"
#include "number.h"
#include "objects.h"
#include "path.h"
#include "process.h"

struct rcv_join {
	struct event_base *base;
	struct rcx_session *session;	/* NULL once it is over */
	const struct rcl_policy *policy;
	struct rcl_policy used;	/* the same, with the path offered */
	const struct rcv_join_ops *ops;
	void *ctx;
	struct rcv_epoch *epoch;
	char link[RCLINK_NAME_MAX + 1];
	char peer[RCLINK_PEER_MAX + 1];
	uint64_t start;		/* ns */
	uint64_t took;		/* ns, once both ends were up */
	bool ended;		/* the epoch, while the session closed */
};

static void on_up(void *ctx)
{
	struct rcv_join *join = ctx;

	rcx_session_link_up(join->session);
}

static void on_down(void *ctx, const char *why)
{
	struct rcv_join *join = ctx;

	join->ended = true;
	if (join->session)
		rcx_session_link_down(join->session, why);
	else
		join->ops->down(join->ctx, why);
}

static const struct rcv_epoch_ops epoch_ops = {
	.up = on_up,
	.down = on_down,
};

static int join_admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		      char *link, char *err)
{
	struct rcv_join *join = ctx;

	return join->ops->admit(join->ctx, ids, wanted, link, err);
}

/* One path, with the GID that the module would choose. */
static int join_offer(void *ctx, const char *link, struct rcx_paths *paths,
		      char *err)
{
	struct rcl_path *path = &paths->path[0];
	struct rcv_join *join = ctx;
	int ret;

	(void)link;
	memset(paths, 0, sizeof(*paths));
	join->used = *join->policy;
	ret = rcv_objects_path(&join->used, path, err);
	if (ret)
		return ret;
	/* Prepare exactly what was offered. */
	memcpy(join->used.device, path->device, sizeof(join->used.device));
	join->used.v[RCL_P_PORT] = path->port;
	join->used.v[RCL_P_GID_INDEX] = path->gid_index;
	join->used.given |= 1u << RCL_P_PORT | 1u << RCL_P_GID_INDEX;
	paths->num = 1;
	return 0;
}

static int join_prepare(void *ctx, const char *link,
			const struct rcl_path *path,
			struct rcl_endpoint *local, char *err)
{
	uint64_t number = rcv_number_next(link);
	struct rcv_join *join = ctx;

	(void)path;
	if (!number)
		return rcl_fail(err, -ENOMEM, "out of memory");
	join->ended = false;
	join->epoch = rcv_epoch_new(join->base, &join->used, number,
				    join->ops->services, &epoch_ops, join, err);
	if (!join->epoch)
		return -EIO;
	snprintf(join->link, sizeof(join->link), "%s", link);
	*local = join->epoch->local;
	return 0;
}

static int join_connect(void *ctx, const char *link, uint64_t local_epoch,
			const char *identity, enum rcx_role role,
			const struct rcl_endpoint *remote, uint64_t *agreed,
			char *err)
{
	struct rcv_join *join = ctx;
	int ret;

	(void)local_epoch;
	snprintf(join->peer, sizeof(join->peer), "%s", identity);
	ret = rcv_epoch_connect(join->epoch, role, remote, agreed, err);
	if (!ret)
		rcv_number_agreed(link, *agreed);
	return ret;
}

static int join_activate(void *ctx, const char *link, uint64_t epoch,
			 const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct rcv_join *join = ctx;

	(void)link;
	(void)epoch;
	return rcv_epoch_activate(join->epoch, key, err);
}

/* The peer learns of it over TLS, and other links need this process. */
static void join_abort(void *ctx, const char *link)
{
	struct rcv_join *join = ctx;

	(void)link;
	join->epoch->again = true;
	join->epoch->left = true;
	rcv_epoch_free(join->epoch);
	join->epoch = NULL;
}

static void join_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct rcv_join *join = ctx;

	if (step == RCX_STEP_DONE)
		join->took = rcl_now() - join->start;
	if (join->ops->step)
		join->ops->step(join->ctx, step, detail);
}

/* Both ends may try again, unless this one was ended on purpose. */
static void join_done(void *ctx, int result, const char *err)
{
	struct rcv_join *join = ctx;

	join->session = NULL;
	if (result && join->epoch)
		join->epoch->again = result != -ECANCELED;
	join->ops->done(join->ctx, result, err);
	if (result)
		rcv_join_free(join);
	else if (join->ended)
		join->ops->down(join->ctx, join->epoch->why);
}

static const struct rcx_ops session_ops = {
	.admit = join_admit,
	.offer = join_offer,
	.prepare = join_prepare,
	.connect = join_connect,
	.activate = join_activate,
	.abort = join_abort,
	.step = join_step,
	.done = join_done,
};

static struct rcv_join *join_new(struct event_base *base,
				 const struct rcl_policy *policy,
				 const struct rcv_join_ops *ops, void *ctx,
				 char *err)
{
	struct rcv_join *join = calloc(1, sizeof(*join));

	if (!join) {
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	join->base = base;
	join->policy = policy;
	join->ops = ops;
	join->ctx = ctx;
	join->start = rcl_now();
	return join;
}

struct rcv_join *rcv_join_dial(struct event_base *base, struct rcx_tls *tls,
			       const char *host, uint16_t port,
			       const char *link, const char *wanted,
			       int timeout_ms, const struct rcl_policy *policy,
			       const struct rcv_join_ops *ops, void *ctx,
			       char *err)
{
	struct rcv_join *join = join_new(base, policy, ops, ctx, err);

	if (!join)
		return NULL;
	join->session = rcx_session_dial(base, tls, host, port, link, wanted,
					 timeout_ms, &session_ops, join, err);
	if (join->session)
		return join;
	free(join);
	return NULL;
}

struct rcv_join *rcv_join_accept(struct event_base *base, struct rcx_tls *tls,
				 int fd, int timeout_ms,
				 const struct rcl_policy *policy,
				 const struct rcv_join_ops *ops, void *ctx,
				 char *err)
{
	struct rcv_join *join = join_new(base, policy, ops, ctx, err);

	if (!join) {
		close(fd);
		return NULL;
	}
	join->session = rcx_session_accept(base, tls, fd, timeout_ms,
					   &session_ops, join, err);
	if (join->session)
		return join;
	free(join);
	return NULL;
}

void rcv_join_cancel(struct rcv_join *join, const char *reason)
{
	rcx_session_cancel(join->session, reason);
}

void rcv_join_free(struct rcv_join *join)
{
	rcv_epoch_free(join->epoch);
	free(join);
}

const struct rcx_ids *rcv_join_ids(const struct rcv_join *join)
{
	return rcx_session_ids(join->session);
}

struct rcv_epoch *rcv_join_epoch(const struct rcv_join *join)
{
	return join->epoch;
}

const char *rcv_join_link(const struct rcv_join *join)
{
	return join->link;
}

const char *rcv_join_peer(const struct rcv_join *join)
{
	return join->peer;
}

uint64_t rcv_join_ns(const struct rcv_join *join)
{
	return join->took ? join->took : rcl_now() - join->start;
}
