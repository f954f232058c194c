// SPDX-License-Identifier: GPL-2.0
/*
 * The state of all links and groups, then each change. The socket listens
 * before the state is asked for, so nothing is missed between the two. Events
 * that the state of the links (of the groups, if there are no links) includes
 * already are left out by their numbers.
 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>
#include <json-c/json.h>

#include "call.h"
#include "doc.h"
#include "group.h"
#include "link.h"
#include "nl.h"
#include "out.h"
#include "signals.h"
#include "text.h"

static const char help[] =
"usage: rclink monitor [-j]\n\n"
"The links and groups as they are, then one line for each event of them and of\n"
"RDMA devices, until interrupted. When events were lost it says how many, and\n"
"lists all again. When the module is unloaded, it ends.\n\n"
"  -j, --json   one object on each line\n";

static const struct option options[] = {
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

struct monitor {
	struct event_base *base;
	struct rcl_nl *requests;
	struct rcl_nl *events;
	struct rcl_nl *families;
	bool unloaded;		/* the module, and its netlink group */
	bool json;
	bool resync;		/* events were lost ... */
	bool untold;		/* ... and this was not said yet */
	uint64_t seq;		/* of the last event that is accounted for */
	int status;
};

static void add_time(struct json_object *doc)
{
	char text[RCL_TIME_TEXT_LEN];
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	rcl_out_text(doc, "time", rcl_time_text(ts.tv_sec * 1000000000LL +
						ts.tv_nsec, text));
}

static void print_group(struct json_object *doc)
{
	const char *text = rcl_out_get_text(doc, "reason_text");
	const char *key = rcl_out_get_text(doc, "key_id");

	printf("%s group %s %s %s%s%s%s%s\n", rcl_out_get_text(doc, "time"),
	       rcl_out_get_text(doc, "group"), rcl_out_get_text(doc, "kind"),
	       rcl_out_get_text(doc, "state"), *key ? " key " : "", key,
	       *text ? ": " : "", text);
}

static void print_dev(struct json_object *doc)
{
	unsigned long long port = rcl_out_get_u64(doc, "port");

	printf("%s device %s ", rcl_out_get_text(doc, "time"),
	       rcl_out_get_text(doc, "device"));
	if (port)
		printf("port %llu ", port);
	puts(rcl_out_get_text(doc, "kind"));
}

/* With what the device said, if the link went down because of that. */
static void print_link(struct json_object *doc)
{
	const char *text = rcl_out_get_text(doc, "reason_text");
	const char *wc = rcl_out_get_text(doc, "wc_name");

	printf("%s %s %s %s epoch %llu%s%s", rcl_out_get_text(doc, "time"),
	       rcl_out_get_text(doc, "name"), rcl_out_get_text(doc, "kind"),
	       rcl_out_get_text(doc, "state"),
	       (unsigned long long)rcl_out_get_u64(doc, "epoch"),
	       *text ? ": " : "", text);
	if (*wc)
		printf(" (%s, vendor error 0x%llx)", wc,
		       (unsigned long long)rcl_out_get_u64(doc, "vendor_err"));
	putchar('\n');
}

static void print_loss(struct json_object *doc)
{
	uint64_t events = rcl_out_get_u64(doc, "events");

	printf("%s lost ", rcl_out_get_text(doc, "time"));
	if (events)
		printf("%llu ", (unsigned long long)events);
	puts("events");
}

/* Prints doc and gives it up. */
static void print(const struct monitor *m, struct json_object *doc)
{
	add_time(doc);
	if (m->json)
		rcl_out_json_line(stdout, doc);
	else if (json_object_object_get(doc, "group"))
		print_group(doc);
	else if (json_object_object_get(doc, "device"))
		print_dev(doc);
	else if (json_object_object_get(doc, "name"))
		print_link(doc);
	else
		print_loss(doc);
	json_object_put(doc);
}

/* num 0: nothing tells how many were lost until the next event does. */
static void print_lost(struct monitor *m, uint64_t num)
{
	struct json_object *doc = json_object_new_object();

	rcl_out_text(doc, "kind", "lost");
	rcl_out_known(doc, "events", num);
	print(m, doc);
	m->untold = false;
}

/* Returns whether the event was not yet accounted for; now it is. */
static bool is_new(struct monitor *m, uint64_t seq)
{
	if (seq <= m->seq)
		return false;
	if (m->seq && seq > m->seq + 1) {
		print_lost(m, seq - m->seq - 1);
		m->resync = true;
	}
	m->seq = seq;
	return true;
}

static int on_link_event(const struct nlmsghdr *hdr, struct monitor *m)
{
	struct rcl_link_info info;

	if (!rcl_link_get(hdr, &info) && is_new(m, info.event_seq))
		print(m, rcl_doc_event(&info, rcl_word(RCL_WORDS_EVENT_KIND,
						       info.event_kind)));
	return 0;
}

static int on_group_event(const struct nlmsghdr *hdr, struct monitor *m)
{
	struct rcl_group_info info;
	const char *kind;

	if (rcl_group_get(hdr, &info) || !is_new(m, info.event_seq))
		return 0;
	kind = rcl_word(RCL_WORDS_EVENT_KIND, info.event_kind);
	print(m, rcl_doc_group_event(&info, kind));
	return 0;
}

static int on_dev_event(const struct nlmsghdr *hdr, struct monitor *m)
{
	struct rcl_dev_info info;

	if (rcl_dev_get(hdr, &info))
		return 0;
	if (is_new(m, info.event_seq))
		print(m, rcl_doc_dev_event(&info));
	rcl_dev_info_free(&info);
	return 0;
}

static int on_event(const struct nlmsghdr *hdr, void *arg)
{
	if (rcl_is_link_event(hdr))
		return on_link_event(hdr, arg);
	if (rcl_is_dev_event(hdr))
		return on_dev_event(hdr, arg);
	return rcl_is_group_event(hdr) ? on_group_event(hdr, arg) : 0;
}

/* What is listed next includes the events up to this number. */
static void catch_up(struct monitor *m, uint64_t seq)
{
	if (seq <= m->seq)
		return;
	if (m->resync)
		print_lost(m, seq - m->seq);
	m->seq = seq;
}

/*
 * The list includes the events that were heard before it was asked for, even if
 * their sender had not yet raised the number that the list has.
 */
static uint64_t included(const struct monitor *m, uint64_t seq)
{
	return seq > m->seq ? seq : m->seq;
}

static int list_groups(struct monitor *m, bool first)
{
	struct rcl_group_info *infos;
	char err[RCL_ERR_LEN];
	size_t i, num;
	int ret;

	ret = rcl_call_groups(m->requests, NULL, &infos, &num, err);
	if (ret)
		return cli_refused("monitor", NULL, ret, err);
	if (first && num)
		catch_up(m, infos[0].event_seq);
	else if (first && m->untold)
		print_lost(m, 0);
	for (i = 0; i < num; i++) {
		infos[i].event_seq = included(m, infos[i].event_seq);
		print(m, rcl_doc_group_event(&infos[i], "present"));
	}
	free(infos);
	return CLI_OK;
}

/*
 * List all links and groups. Each says up to which event its state includes
 * them; the first one has the lowest number.
 */
static int list(struct monitor *m)
{
	struct rcl_link_info *infos;
	char err[RCL_ERR_LEN];
	size_t i, num;
	int ret;

	ret = rcl_call_links(m->requests, NULL, &infos, &num, err);
	if (ret)
		return cli_refused("monitor", NULL, ret, err);
	if (num)
		catch_up(m, infos[0].event_seq);
	for (i = 0; i < num; i++) {
		infos[i].event_seq = included(m, infos[i].event_seq);
		print(m, rcl_doc_event(&infos[i], "present"));
	}
	free(infos);
	ret = list_groups(m, !num);
	if (ret)
		return ret;
	m->resync = false;
	m->untold = false;
	return cli_written() ? CLI_OK : CLI_FAILED;
}

/* Take all events that are there, also those behind lost ones. */
static int hear(struct monitor *m, char *err)
{
	int ret;

	do {
		ret = rcl_nl_receive(m->events, err);
		m->untold |= ret == -ENOBUFS;
	} while (ret == -ENOBUFS);
	return ret;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;
	char err[RCL_ERR_LEN];
	int ret;

	(void)fd;
	(void)what;
	ret = hear(m, err);
	m->resync |= m->untold;
	if (ret)
		m->status = cli_fail("monitor: %s", err);
	else if (m->resync)
		m->status = list(m);
	if (!cli_written())
		m->status = CLI_FAILED;
	if (m->status)
		event_base_loopbreak(m->base);
}

static int on_family(const struct nlmsghdr *hdr, void *arg)
{
	struct monitor *m = arg;

	m->unloaded |= rcl_nl_news(hdr) == RCL_NL_UNLOADED;
	return 0;
}

/* The module that was opened; loaded again, its family has another number. */
static bool is_gone(const struct monitor *m)
{
	struct rcl_link_info *infos;
	char err[RCL_ERR_LEN];
	size_t num;
	int ret;

	ret = rcl_call_links(m->requests, NULL, &infos, &num, err);
	if (!ret)
		free(infos);
	return ret == -ESHUTDOWN;
}

/* When the module is gone, its last events may still be there to be read. */
static void on_news(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;
	char err[RCL_ERR_LEN];
	bool lost = false;

	(void)fd;
	(void)what;
	/* What was lost may have been the news that the module went. */
	while (rcl_nl_receive(m->families, err) == -ENOBUFS)
		lost = true;
	if (!m->unloaded && (!lost || !is_gone(m)))
		return;
	hear(m, err);
	m->status = cli_fail("monitor: the rclink module was unloaded; %s",
			     "run `modprobe rclink`");
	event_base_loopbreak(m->base);
}

static int watch(struct monitor *m)
{
	struct signals signals = { 0 };
	struct event *readable, *news;

	readable = event_new(m->base, rcl_nl_fd(m->events),
			     EV_READ | EV_PERSIST, on_readable, m);
	news = event_new(m->base, rcl_nl_fd(m->families), EV_READ | EV_PERSIST,
			 on_news, m);
	if (!readable || !news || event_add(readable, NULL) ||
	    event_add(news, NULL) ||
	    !signals_catch(&signals, m->base, signals_stop, m->base)) {
		m->status = cli_fail("monitor: out of memory");
	} else {
		m->status = list(m);
		if (!m->status)
			event_base_dispatch(m->base);
		/* Say so before the end, if nothing could be listed again. */
		if (m->untold)
			print_lost(m, 0);
	}
	if (readable)
		event_free(readable);
	if (news)
		event_free(news);
	signals_free(&signals);
	return m->status;
}

int cmd_monitor(int argc, char **argv)
{
	struct monitor m = { .status = CLI_FAILED };
	char err[RCL_ERR_LEN];
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1)
		m.json |= c == 'j';
	cli_operands(argc, argv, 0, 0);

	/* First, so that nothing is missed. */
	m.families = rcl_nl_listen_families(err);
	m.events = m.families ? rcl_nl_listen(err) : NULL;
	if (!m.events) {
		rcl_nl_close(m.families);
		return cli_fail("%s", err);
	}
	rcl_nl_make_room(m.events);
	rcl_nl_notify(m.families, on_family, &m);
	rcl_nl_notify(m.events, on_event, &m);
	m.requests = cli_open();
	m.base = event_base_new();
	if (m.requests && m.base)
		watch(&m);
	if (m.base)
		event_base_free(m.base);
	rcl_nl_close(m.requests);
	rcl_nl_close(m.events);
	rcl_nl_close(m.families);
	return m.status;
}
