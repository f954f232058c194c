// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "link.h"
#include "nl.h"
#include "process.h"
#include "text.h"

#define TIMEOUT_S	"35"	/* of an exchange, and some */
#define WHO_DIALS							\
	"see that rclinkd runs on the host that dials, or `rclink connect --rotate` there"
#define NS_PER_MS	1000000
#define NS_PER_S	1000000000

static const char help[] =
"usage: rclink rotate NAME [-t S]\n\n"
"Have rclinkd, on the host that dials this link, exchange a new epoch: new QPs,\n"
"PSNs and rkeys. The link stays up meanwhile. With `recover resume` its channels\n"
"go on in the new epoch; else they end.\n\n"
"  -t, --timeout S   give up after so many seconds (default " TIMEOUT_S ")\n\n"
"Without rclinkd: `rclink connect --rotate`, while the peer listens.\n";

static const struct option options[] = {
	{ "timeout", required_argument, NULL, 't' },
	CLI_OPT_HELP, CLI_OPT_END
};

struct rotation {
	const char *name;
	uint64_t before;	/* epoch */
	uint64_t epoch;		/* the new one, or 0 */
	bool ended;		/* why has the reason */
	char why[RCL_ERR_LEN];
};

static int on_event(const struct nlmsghdr *hdr, void *arg)
{
	struct rotation *r = arg;
	struct rcl_link_info info;

	if (!rcl_is_link_event(hdr) || rcl_link_get(hdr, &info) ||
	    strcmp(info.name, r->name))
		return 0;
	switch (info.event_kind) {
	case RCLINK_EVENT_KIND_CHANGED:
		if (info.state == RCLINK_LINK_STATE_UP &&
		    info.epoch > r->before)
			r->epoch = info.epoch;
		if (info.state != RCLINK_LINK_STATE_DOWN)
			break;
		r->ended = true;
		rcl_fail(r->why, 0, "the link went down: %s", info.reason_text);
		break;
	case RCLINK_EVENT_KIND_STANDBY_DOWN:
		r->ended = true;
		rcl_fail(r->why, 0, "the new epoch did not come up: %s",
			 info.reason_text);
		break;
	case RCLINK_EVENT_KIND_DELETED:
		r->ended = true;
		rcl_fail(r->why, 0, "the link was deleted");
	}
	return 0;
}

static int ask(struct rotation *r)
{
	struct rcl_link_info *info;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	size_t num;
	int ret;

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_links(nl, r->name, &info, &num, err);
	if (!ret) {
		r->before = info->epoch;
		free(info);
		ret = rcl_call_rotate(nl, r->name, err);
	}
	rcl_nl_close(nl);
	return ret ? cli_refused("rotate", r->name, ret, err) : CLI_OK;
}

static int wait_for_it(struct rotation *r, struct rcl_nl *events,
		       uint64_t timeout)
{
	struct pollfd fd = { .fd = rcl_nl_fd(events), .events = POLLIN };
	uint64_t start = rcl_now(), now;
	char err[RCL_ERR_LEN];

	if (isatty(STDERR_FILENO))
		fprintf(stderr,
			"%s: asked for; waiting for rclinkd, up to %llu s\n",
			r->name, (unsigned long long)(timeout / NS_PER_S));
	while (!r->epoch && !r->ended) {
		now = rcl_now();
		if (now - start >= timeout)
			return cli_fail("rotate %s: nobody did; %s",
					r->name, WHO_DIALS);
		poll(&fd, 1, (timeout - (now - start)) / NS_PER_MS + 1);
		/* Some may be lost: the last one is what counts. */
		rcl_nl_receive(events, err);
	}
	if (!r->epoch)
		return cli_fail("rotate %s: %s; `rclink why %s` tells more",
				r->name, r->why, r->name);
	printf("%s: epoch %llu, after %llu ms\n", r->name,
	       (unsigned long long)r->epoch,
	       (unsigned long long)((rcl_now() - start) / NS_PER_MS));
	return CLI_OK;
}

int cmd_rotate(int argc, char **argv)
{
	const char *timeout = TIMEOUT_S;
	struct rotation r = { 0 };
	char err[RCL_ERR_LEN];
	struct rcl_nl *events;
	uint64_t ns;
	int c, ret;

	while ((c = cli_getopt(argc, argv, options, help)) != -1)
		timeout = optarg;
	r.name = cli_operands(argc, argv, 1, 1)[0];
	ns = cli_seconds(argv[0], "timeout", timeout);

	/* Before it is asked for, so that nothing is missed. */
	events = rcl_nl_listen(err);
	if (!events)
		return cli_fail("%s", err);
	rcl_nl_notify(events, on_event, &r);
	ret = ask(&r);
	if (!ret)
		ret = wait_for_it(&r, events, ns);
	rcl_nl_close(events);
	return ret;
}
