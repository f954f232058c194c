// SPDX-License-Identifier: GPL-2.0
#include "attach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "cli.h"
#include "link.h"
#include "nl.h"
#include "process.h"

#define DEVICE		"/dev/rclink"
#define RETRY_NS	1000000L	/* until the next look for hello */
#define FLUSHED		5		/* of enum ib_wc_status */

/* What an errno means, and what to do. */
struct reason {
	int code;
	const char *text;
};

/* Errors of the device when a channel is to be opened. */
static const struct reason no_channel[] = {
	{ ENODEV, "there is no such link, or its device is gone; "
		  "see `rclink show`" },
	{ ENOTCONN, "the link is not up; see `rclink show`" },
	{ ECONNREFUSED,
	  "nobody listens on this service; start the other end first" },
	{ EADDRINUSE,
	  "somebody listens on this service; choose another, LINK:SERVICE" },
	{ ENOSPC,
	  "this user listens on as many services as one can; end some" },
	{ EAGAIN,
	  "no queue pair is free, or the service is busy; try later" },
	{ EACCES,
	  "no right on this link; as root, `rclink set` its group and mode" },
	{ 0, NULL },
};

/* Errors of a channel. */
static const struct reason reasons[] = {
	{ ENODEV, "the device of the link is gone; see `rclink show`" },
	{ EEXIST, "another process uses this service of the link; "
		  "wait for its end, or choose another, LINK:SERVICE" },
	{ ENOENT, "the peer has no region of this name; "
		  "is the same command there?" },
	{ EACCES, "a region does not allow that; "
		  "is the same command at the other end?" },
	{ ECONNRESET, "the peer ended the channel, or the link failed; "
		      "see what it says, and `rclink why`" },
	{ ESTALE, "the link has begun anew; try again" },
	{ ETIME, "the peer did not answer; see what it does" },
	{ ETIMEDOUT, "the peer, or a device, was busy for too long; "
		     "see `rclink show` of both ends, and try again" },
	{ EOPNOTSUPP,
	  "the device cannot, or has bounce buffers; see `rclink dev`" },
	{ EDQUOT, "too much locked memory; see `ulimit -l`" },
	{ 0, NULL },
};

static const char *find_reason(const struct reason *reason, int ret)
{
	while (reason->code && reason->code != -ret)
		reason++;
	return reason->text;
}

static int fail(const struct attach *a, const char *what, const char *why)
{
	return cli_fail("%s %s:%s: %s: %s", a->cmd, a->target.link,
			a->target.service, what, why);
}

int attach_failed(const struct attach *a, const char *what, int ret)
{
	const char *why = find_reason(reasons, ret);

	return fail(a, what, why ? why : strerror(-ret));
}

int attach_refused(const struct attach *a, const char *what, int ret)
{
	const char *why = find_reason(no_channel, ret);

	/* The link is asked only once the device could be opened. */
	if (ret == -EACCES && euidaccess(DEVICE, R_OK | W_OK))
		why = "no right to open " DEVICE "; "
		      "see its group and mode, or the container's device rules";
	if (ret == -ENOENT)
		why = cli_no_device();
	return why ? fail(a, what, why) : attach_failed(a, what, ret);
}

int attach_broken(const struct attach *a, const struct rclink_dev_cqe *cqe)
{
	if (cqe->status == FLUSHED)
		return attach_failed(a, "broken off", -ECONNRESET);
	return cli_fail("%s %s:%s: %s: %s; see `rclink why %s` at both ends",
			a->cmd, a->target.link, a->target.service,
			rclink_op_name(cqe->op),
			rclink_status_name(cqe->status), a->target.link);
}

void attach_parse(struct attach *a, const char *cmd, const char *text,
		  const char *service)
{
	a->cmd = cmd;
	if (!target_parse(text, service, &a->target))
		cli_usage(cmd,
			  "'%s' is no LINK[:SERVICE] of 1 to %d bytes each",
			  text, RCLINK_DEV_SERVICE_LEN - 1);
}

int attach_connect(struct attach *a, unsigned int flags)
{
	int ret = rclink_connect(&a->chan, a->target.link, a->target.service,
				 flags);

	return ret ? attach_refused(a, "cannot connect", ret) : CLI_OK;
}

/*
 * It is possible to listen for a link that does not exist yet, but a person who
 * does has mistyped its name. A container has no netlink to ask, and need not.
 */
static int link_missing(const struct attach *a)
{
	struct rcl_link_info *infos = NULL;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	size_t num;
	int ret;

	nl = rcl_nl_open(err);
	if (!nl)
		return CLI_OK;
	ret = rcl_call_links(nl, a->target.link, &infos, &num, err);
	rcl_nl_close(nl);
	free(infos);
	return ret == -ENOENT ? cli_refused(a->cmd, a->target.link, ret, err) :
				CLI_OK;
}

int attach_listen(struct attach *a, struct rclink_listener **listener,
		  unsigned int backlog, unsigned int flags)
{
	int ret;

	if (link_missing(a))
		return CLI_FAILED;
	ret = rclink_listen(listener, a->target.link, a->target.service,
			    backlog, flags);
	if (ret)
		return attach_refused(a, "cannot listen", ret);
	if (!a->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "%s: waiting for the peer of link %s\n", a->cmd,
			a->target.link);
	return CLI_OK;
}

int attach_accept(struct attach *a, unsigned int flags)
{
	struct rclink_listener *listener;
	int ret;

	if (attach_listen(a, &listener, 1, flags))
		return CLI_FAILED;
	ret = rclink_accept(listener, &a->chan);
	rclink_listener_close(listener);
	return ret ? attach_refused(a, "cannot accept", ret) : CLI_OK;
}

void attach_close(struct attach *a)
{
	rclink_close(a->chan);
	a->chan = NULL;
}

/* Wait until a suspended channel goes on, or ends. */
static bool wait_for_room(struct attach *a)
{
	struct pollfd fd = { .fd = rclink_fd(a->chan), .events = POLLOUT };

	return poll(&fd, 1, -1) >= 0 || errno == EINTR;
}

/*
 * Repeat step() when a suspension is over, and every millisecond while it fails
 * with passing, an error that may go away (0: none).
 */
static int retry(struct attach *a, int passing,
		 int (*step)(struct attach *a, void *arg), void *arg)
{
	const struct timespec pause = { .tv_nsec = RETRY_NS };
	uint64_t begun = rcl_now();
	int ret;

	for (;;) {
		ret = step(a, arg);
		if (ret == -EAGAIN && wait_for_room(a)) {
			begun = rcl_now();
			continue;
		}
		if (!passing || ret != passing ||
		    rcl_now() - begun > ATTACH_TIMEOUT_MS * NS_PER_MS)
			return ret;
		nanosleep(&pause, NULL);
	}
}

struct area {
	void *addr;
	size_t len;
	const char *name;	/* NULL: for local use */
	unsigned int rights;
	uint32_t region;
};

static int add(struct attach *a, void *arg)
{
	struct area *area = arg;

	return rclink_region(a->chan, area->addr, area->len, area->name,
			     area->rights, &area->region);
}

static int find(struct attach *a, void *arg)
{
	return rclink_import(a->chan, a->target.service, arg);
}

int attach_offer(struct attach *a, void *hello, size_t len,
		 unsigned int rights)
{
	struct area area = {
		.addr = hello,
		.len = len,
		.name = a->target.service,
		.rights = rights,
	};
	/* The name is taken while another process waits for its peer. */
	int ret = retry(a, -EEXIST, add, &area);

	return ret ? attach_failed(a, "cannot export a region", ret) : CLI_OK;
}

int attach_find(struct attach *a, struct rclink_remote *hello)
{
	int ret = retry(a, -ENOENT, find, hello);

	if (ret == -ENOENT)
		ret = -ETIME;
	return ret ? attach_failed(a, "the peer is not ready", ret) : CLI_OK;
}

int attach_import(struct attach *a, struct rclink_remote *remote)
{
	return retry(a, 0, find, remote);
}

int attach_region(struct attach *a, void *addr, size_t len, uint32_t *region)
{
	struct area area = { .addr = addr, .len = len };
	int ret = retry(a, 0, add, &area);

	*region = area.region;
	return ret;
}

int attach_submit(struct attach *a, unsigned int wait)
{
	int ret;

	do {
		ret = rclink_submit(a->chan, wait, 0);
	} while (ret == -EAGAIN && wait_for_room(a));
	return ret;
}

bool attach_was_suspended(struct attach *a)
{
	struct pollfd fd = { .fd = rclink_fd(a->chan), .events = POLLOUT };

	return !poll(&fd, 1, 0) && wait_for_room(a);
}

int attach_wait(struct attach *a)
{
	int ret;

	do {
		ret = rclink_submit(a->chan, 1, ATTACH_TIMEOUT_MS);
	} while (ret == -ETIME && attach_was_suspended(a));
	return ret;
}

void *attach_memory(struct attach *a, size_t len, uint32_t *region)
{
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret = -ENOMEM;

	if (memory != MAP_FAILED) {
		ret = attach_region(a, memory, len, region);
		if (!ret)
			return memory;
		munmap(memory, len);
	}
	attach_failed(a, "cannot register memory", ret);
	return NULL;
}
