// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "link.h"
#include "nl.h"
#include "process.h"
#include "text.h"

#define TIMEOUT_S	"35"	/* of an exchange, and some */
#define WHO_DIALS							\
	"see that rclinkd runs on the host that dials, or `rclink connect --rotate` there"
#define LOOK_MS		200
#define QUIET_NS	1000000000ULL	/* with nothing tried, then give up */

static const char help[] =
"usage: rclink rotate NAME [-t S]\n\n"
"Have rclinkd, on the host that dials this link, exchange a new epoch: new QPs,\n"
"PSNs and rkeys. The link stays up meanwhile. With `recover resume` at both ends\n"
"its channels go on in the new epoch; else they end.\n\n"
"  -t, --timeout S   give up after so many seconds (default " TIMEOUT_S ")\n\n"
"Without rclinkd: `rclink connect --rotate`, while the peer listens.\n";

static const struct option options[] = {
	{ "timeout", required_argument, NULL, 't' },
	CLI_OPT_HELP, CLI_OPT_END
};

struct rotation {
	struct rcl_nl *nl;
	const char *name;
	uint32_t id;		/* another link may soon have the name */
	uint64_t asked;		/* when, by CLOCK_BOOTTIME */
	uint64_t before;	/* epoch */
	uint64_t epoch;		/* the new one, or 0 */
	uint64_t tried;		/* when an exchange was last under way */
	bool ended;
	bool gone;		/* the link, and its record with it */
	char why[RCL_ERR_LEN];	/* why it ended, or what failed */
};

static const char link_gone[] =
	"the link was deleted; `rclink add` makes one";

/* What is heard first may be of epochs before the one that was asked about. */
static void take_state(struct rotation *r, const struct rcl_link_info *info)
{
	if (info->epoch < r->before)
		return;
	if (info->state == RCLINK_LINK_STATE_UP && info->epoch > r->before)
		r->epoch = info->epoch;
	if (info->state != RCLINK_LINK_STATE_DOWN)
		return;
	r->ended = true;
	rcl_fail(r->why, 0, "the link went down: %s", info->reason_text);
}

static void end(struct rotation *r, const char *why)
{
	r->ended = true;
	r->gone = true;
	rcl_fail(r->why, 0, "%s", why);
}

static int on_event(const struct nlmsghdr *hdr, void *arg)
{
	struct rotation *r = arg;
	struct rcl_link_info info;

	if (!rcl_is_link_event(hdr) || rcl_link_get(hdr, &info) ||
	    info.id != r->id)
		return 0;
	switch (info.event_kind) {
	case RCLINK_EVENT_KIND_CHANGED:
		take_state(r, &info);
		break;
	case RCLINK_EVENT_KIND_STANDBY_DOWN:
		/* There may be another path. */
		r->tried = rcl_now();
		rcl_fail(r->why, 0, "the new epoch did not come up: %s",
			 info.reason_text);
		break;
	case RCLINK_EVENT_KIND_DELETED:
		end(r, link_gone);
	}
	return 0;
}

static int ask(struct rotation *r)
{
	struct rcl_link_info *info;
	char err[RCL_ERR_LEN];
	struct timespec ts;
	size_t num;
	int ret;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	r->asked = ts.tv_sec * NS_PER_S + ts.tv_nsec;
	ret = rcl_call_links(r->nl, r->name, &info, &num, err);
	if (!ret) {
		r->id = info->id;
		r->before = info->epoch;
		free(info);
		ret = rcl_call_rotate(r->nl, r->name, err);
	}
	return ret ? cli_refused("rotate", r->name, ret, err) : CLI_OK;
}

/* Whether all paths of an exchange failed since the request; r->why is set. */
static bool is_noted(struct rotation *r)
{
	struct rcl_entry *entries;
	char err[RCL_ERR_LEN];
	bool noted = false;
	size_t i, num;

	if (rcl_call_record(r->nl, r->name, &entries, &num, err))
		return false;
	for (i = 0; i < num; i++) {
		if (entries[i].kind != RCLINK_ENTRY_KIND_NOTE ||
		    entries[i].last < r->asked ||
		    strncmp(entries[i].text, RCL_NOTE_EXCHANGE,
			    strlen(RCL_NOTE_EXCHANGE)))
			continue;
		noted = true;
		if (!*r->why)
			rcl_fail(r->why, 0, "%s", entries[i].text);
	}
	free(entries);
	return noted;
}

/*
 * No event tells of an exchange that fails before it has prepared anything, and
 * the newest events may be lost. After one that failed, another may follow, or
 * one that the peer began. A link that went down is over for this rotation,
 * even if it is up again; but it may be about to be deleted.
 */
static void look(struct rotation *r)
{
	struct rcl_link_info *info;
	char err[RCL_ERR_LEN];
	uint64_t now = rcl_now();
	size_t num;
	int ret;

	ret = rcl_call_links(r->nl, r->name, &info, &num, err);
	if (ret == -ENOENT)
		end(r, link_gone);
	else if (ret == -ESHUTDOWN)
		end(r, err);
	if (ret)
		return;
	if (info->id != r->id) {
		end(r, link_gone);
	} else if (!r->ended) {
		take_state(r, info);
		if (info->standby_epoch || !is_noted(r))
			r->tried = now;
		r->ended |= now - r->tried >= QUIET_NS;
	}
	free(info);
}

static int wait_for_it(struct rotation *r, struct rcl_nl *events,
		       uint64_t timeout)
{
	struct pollfd fd = { .fd = rcl_nl_fd(events), .events = POLLIN };
	uint64_t start = rcl_now(), past = 0, left;
	char err[RCL_ERR_LEN];

	r->tried = start;
	if (isatty(STDERR_FILENO))
		fprintf(stderr,
			"%s: asked for; waiting for rclinkd, up to %llu s\n",
			r->name, (unsigned long long)(timeout / NS_PER_S));
	for (; !r->epoch && !r->ended && past < timeout;
	     past = rcl_now() - start) {
		left = (timeout - past) / NS_PER_MS + 1;
		poll(&fd, 1, left > LOOK_MS ? LOOK_MS : left);
		rcl_nl_receive(events, err);
		if (!r->epoch)
			look(r);
	}
	if (!r->epoch && !*r->why)
		return cli_fail("rotate %s: nobody did; %s", r->name,
				WHO_DIALS);
	if (!r->epoch && r->gone)
		return cli_fail("rotate %s: %s", r->name, r->why);
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

	/* Before asking for it, so that nothing is missed. */
	events = rcl_nl_listen(err);
	if (!events)
		return cli_fail("%s", err);
	rcl_nl_notify(events, on_event, &r);
	r.nl = cli_open();
	ret = r.nl ? ask(&r) : CLI_FAILED;
	if (!ret)
		ret = wait_for_it(&r, events, ns);
	rcl_nl_close(r.nl);
	rcl_nl_close(events);
	return ret;
}
