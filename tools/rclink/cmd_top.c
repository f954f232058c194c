// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>

#include "group.h"
#include "look.h"
#include "nl.h"
#include "process.h"
#include "text.h"

#define INTERVAL_NS	1000000000ULL
#define INTERVAL_MIN_NS	100000000ULL
#define NAME_MIN	16	/* least width of the first and last column */
#define NUMBERS		61	/* width of those between them */
#define NAMES		"%-*.*s %-9.9s "	/* before those: name, state */
#define HEAD_LINES	3	/* sums, an empty line, the columns' names */
#define GROUP_HEAD	2	/* above the groups: the last two of these */
#define LINE_LEN	1024
#define DEVICE_LEN	(RCLINK_DEVICE_MAX + sizeof("/4294967295"))

static const char help[] =
"usage: rclink top [-i SECONDS]\n\n"
"All links on a full screen, until q is pressed: state, what channels of this\n"
"end move and receive in a second, their operations, and what went wrong. Below\n"
"them the groups, if there are any: state, device, members, messages that this\n"
"host sends and receives in a second, and how many it dropped.\n\n"
"  -i, --interval S   between two looks (1; at least 0.1)\n\n"
"Keys: n, s, r sort by name, state, rate; the arrows scroll; q ends.\n";

static const struct option options[] = {
	{ "interval", required_argument, NULL, 'i' },
	CLI_OPT_HELP, CLI_OPT_END
};

/* A link or a group on the screen; its counts are of the last interval. */
struct row {
	const char *name;
	bool up;
	const struct rcl_link_info *info;	/* NULL: a group */
	const struct rcl_group_info *group;
	uint64_t moved;		/* bytes, or messages of a group, both ways */
	uint64_t ops;		/* or messages sent */
	uint64_t recvs;
};

struct top {
	struct rcl_nl *nl;
	uint64_t interval;	/* ns */
	struct look before;
	struct look now;
	int signals;		/* signalfd for those that end it */
	int (*order)(const void *a, const void *b);
	size_t first;		/* line on the screen */
};

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Those that are not up come first: they are what one looks for. */
static int by_state(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->up != y->up ? x->up - y->up : by_name(a, b);
}

static int by_rate(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->moved != y->moved)
		return x->moved < y->moved ? 1 : -1;
	return by_name(a, b);
}

static uint64_t since(const struct rcl_link_info *info,
		      const struct rcl_link_info *before, int attr)
{
	return before ? info->counter[attr] - before->counter[attr] : 0;
}

static struct row row_of_link(const struct top *t,
			      const struct rcl_link_info *info)
{
	const struct rcl_link_info *before = look_find(&t->before, info->id);

	return (struct row){
		.name = info->name,
		.up = info->state == RCLINK_LINK_STATE_UP,
		.info = info,
		.moved = before ? look_moved(info) - look_moved(before) : 0,
		.ops = since(info, before, RCLINK_A_STATS_CHAN_OPS),
		.recvs = since(info, before, RCLINK_A_STATS_CHAN_RECVS),
	};
}

static struct row row_of_group(const struct top *t,
			       const struct rcl_group_info *group)
{
	const struct rcl_group_info *before =
		look_find_group(&t->before, group->id);
	const uint64_t *old = before ? before->stats : group->stats;
	const uint64_t sent = group->stats[RCLINK_A_GROUP_STATS_TX_MESSAGES] -
			      old[RCLINK_A_GROUP_STATS_TX_MESSAGES];
	const uint64_t got = group->stats[RCLINK_A_GROUP_STATS_RX_MESSAGES] -
			     old[RCLINK_A_GROUP_STATS_RX_MESSAGES];

	return (struct row){
		.name = group->name,
		.up = group->state == RCLINK_GROUP_STATE_JOINED,
		.group = group,
		.moved = sent + got,
		.ops = sent,
		.recvs = got,
	};
}

/* Links, then groups, both in the order that was asked for. */
static struct row *rows_of(const struct top *t)
{
	const size_t num = t->now.num, ngroups = t->now.ngroups;
	struct row *rows = calloc(num + ngroups + 1, sizeof(*rows));
	size_t i;

	if (!rows)
		return NULL;
	for (i = 0; i < num; i++)
		rows[i] = row_of_link(t, &t->now.infos[i]);
	for (i = 0; i < ngroups; i++)
		rows[num + i] = row_of_group(t, &t->now.groups[i]);
	qsort(rows, num, sizeof(*rows), t->order);
	qsort(rows + num, ngroups, sizeof(*rows), t->order);
	return rows;
}

static unsigned long long per_second(uint64_t count, uint64_t ns)
{
	return ns ? (count * 1000000000.0 + ns / 2) / ns : 0;
}

static uint64_t interval_of(const struct top *t)
{
	return t->before.ns ? t->now.ns - t->before.ns : 0;
}

static const char *rate(uint64_t bytes, uint64_t ns,
			char buf[RCL_RATE_TEXT_LEN])
{
	return ns && bytes ? rcl_rate_text(bytes, ns, buf) : "-";
}

/* What does not fit is cut: else it would look like another line. */
__attribute__((format(printf, 2, 3)))
static void put_line(int y, const char *fmt, ...)
{
	char line[LINE_LEN];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	mvaddnstr(y, 0, line, getmaxx(stdscr));
}

static void draw_sums(const struct top *t, const struct row *rows)
{
	char text[RCL_RATE_TEXT_LEN], when[sizeof("00:00:00")];
	char groups[64] = "";
	time_t now = time(NULL);
	uint64_t moved = 0;
	size_t i, up = 0, joined = 0;
	struct tm tm;

	for (i = 0; i < t->now.num; i++) {
		up += rows[i].up;
		moved += rows[i].moved;
	}
	for (i = 0; i < t->now.ngroups; i++)
		joined += rows[t->now.num + i].up;
	strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&now, &tm));
	if (t->now.ngroups)
		snprintf(groups, sizeof(groups), "  groups %zu, joined %zu",
			 t->now.ngroups, joined);
	put_line(0, "rclink top  %s  links %zu, up %zu, not up %zu  %s%s",
		 when, t->now.num, up, t->now.num - up,
		 rate(moved, interval_of(t), text), groups);
}

/* Width of the longest name, if that leaves room for a reason. */
static int name_width(const struct row *rows, size_t num)
{
	const int most = getmaxx(stdscr) - NUMBERS - NAME_MIN;
	size_t width = NAME_MIN, i;

	for (i = 0; i < num; i++)
		if (strlen(rows[i].name) > width)
			width = strlen(rows[i].name);
	if ((int)width <= most)
		return width;
	return most > NAME_MIN ? most : NAME_MIN;
}

/* Width of the last column; 0 if the terminal is too narrow for it. */
static int rest_width(int names)
{
	const int width = getmaxx(stdscr) - NUMBERS - names;

	return width > 0 ? width : 0;
}

/* What is not up moves nothing: the reason takes the place of its numbers. */
static bool draw_reason(int y, const struct row *row, int names,
			const char *state, const char *reason)
{
	if (row->up || !*reason || (int)strlen(reason) <= rest_width(names))
		return false;
	put_line(y, NAMES "%s", names, names, row->name, state, reason);
	return true;
}

static void draw_row(int y, const struct row *row, int names, uint64_t ns)
{
	const struct rcl_link_info *info = row->info;
	const char *state = rcl_word(RCL_WORDS_STATE, info->state);
	const uint64_t *counter = info->counter;
	char text[RCL_RATE_TEXT_LEN];
	unsigned long long errors;

	errors = counter[RCLINK_A_STATS_COMPLETION_ERRORS] +
		 counter[RCLINK_A_STATS_CHAN_ERRORS] +
		 counter[RCLINK_A_STATS_RX_UNAUTHENTICATED];
	state = state ? state : "?";
	if (draw_reason(y, row, names, state, info->reason_text))
		return;
	put_line(y, NAMES "%4llu %12s %8llu %8llu %6llu %5llu  %s",
		 names, names, info->name, state,
		 (unsigned long long)counter[RCLINK_A_STATS_CHANNELS],
		 rate(row->moved, ns, text), per_second(row->ops, ns),
		 per_second(row->recvs, ns), errors,
		 (unsigned long long)counter[RCLINK_A_STATS_DOWNS],
		 row->up ? info->peer : info->reason_text);
}

static void draw_group(int y, const struct row *row, int names, uint64_t ns)
{
	const struct rcl_group_info *group = row->group;
	const char *state = rcl_word(RCL_WORDS_GROUP_STATE, group->state);
	char device[DEVICE_LEN];

	state = state ? state : "?";
	if (draw_reason(y, row, names, state, group->reason_text))
		return;
	snprintf(device, sizeof(device), "%s/%u",
		 group->device[0] ? group->device : "any", group->port);
	if (!group->port)
		*strrchr(device, '/') = '\0';
	put_line(y, NAMES "%-13.13s %7zu %8llu %8llu %8llu  %s",
		 names, names, group->name, state, device,
		 rcl_group_members(group), per_second(row->ops, ns),
		 per_second(row->recvs, ns),
		 (unsigned long long)rcl_group_dropped(group),
		 group->reason_text);
}

static void draw_head(int names)
{
	attron(A_REVERSE);
	put_line(HEAD_LINES - 1,
		 NAMES "%4s %12s %8s %8s %6s %5s  %-*.*s", names, names,
		 "NAME", "STATE", "CHAN", "DATA", "OPS/s", "RECVS/s",
		 "ERRORS", "DOWNS", rest_width(names), rest_width(names),
		 "PEER or REASON");
	attroff(A_REVERSE);
}

static void draw_group_head(int y, int names)
{
	attron(A_REVERSE);
	put_line(y, NAMES "%-13s %7s %8s %8s %8s  %-*.*s", names, names,
		 "GROUP", "STATE", "DEVICE", "MEMBERS", "SENT/s", "RECVD/s",
		 "DROPS", rest_width(names), rest_width(names), "REASON");
	attroff(A_REVERSE);
}

/* Counts the lines that scroll. */
static size_t count_lines(const struct top *t)
{
	return t->now.num +
	       (t->now.ngroups ? GROUP_HEAD + t->now.ngroups : 0);
}

/* Draws line n of these. */
static void draw_line(const struct top *t, const struct row *rows, int names,
		      size_t n, int y)
{
	const size_t num = t->now.num;

	if (n < num)
		draw_row(y, &rows[n], names, interval_of(t));
	else if (n >= num + GROUP_HEAD)
		draw_group(y, &rows[n - GROUP_HEAD], names, interval_of(t));
	else if (n == num + GROUP_HEAD - 1)
		draw_group_head(y, names);
}

static void draw(struct top *t)
{
	struct row *rows = rows_of(t);
	const size_t height = getmaxy(stdscr), num = count_lines(t);
	size_t lines = height > HEAD_LINES ? height - HEAD_LINES : 0, i;

	int names;

	if (!rows)
		return;
	names = name_width(rows, t->now.num + t->now.ngroups);
	if (t->first + lines > num)
		t->first = num > lines ? num - lines : 0;
	erase();
	draw_sums(t, rows);
	draw_head(names);
	for (i = 0; i < lines && t->first + i < num; i++)
		draw_line(t, rows, names, t->first + i, HEAD_LINES + i);
	refresh();
	free(rows);
}

/* Returns whether to go on. */
static bool on_key(struct top *t, int key)
{
	switch (key) {
	case 'q':
		return false;
	case 'n':
		t->order = by_name;
		break;
	case 's':
		t->order = by_state;
		break;
	case 'r':
		t->order = by_rate;
		break;
	case KEY_DOWN:
		t->first++;
		break;
	case KEY_UP:
		t->first -= t->first > 0;
		break;
	}
	return true;
}

/*
 * Handles keys until it is time for the next look; returns whether there is to
 * be one. If the last look took that long, handles those pressed meanwhile.
 */
static bool wait_keys(struct top *t)
{
	const uint64_t end = t->now.ns + t->interval;
	struct pollfd from[] = {
		{ .fd = t->signals, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	uint64_t now = rcl_now();
	int key;

	do {
		poll(from, 2, now < end ? (end - now) / NS_PER_MS + 1 : 0);
		if (from[0].revents || from[1].revents & (POLLHUP | POLLERR))
			return false;
		/* The terminal's new size comes as a key, too. */
		while ((key = getch()) != ERR) {
			if (!on_key(t, key))
				return false;
			draw(t);
		}
		now = rcl_now();
	} while (now < end);
	return true;
}

static int show(struct top *t, char *err)
{
	int ret;

	do {
		look_free(&t->before);
		t->before = t->now;
		t->now = (struct look){ 0 };
		ret = look_take(t->nl, NULL, &t->now, err);
		if (!ret)
			ret = look_take_groups(t->nl, &t->now, err);
		if (ret)
			return ret;
		draw(t);
	} while (wait_keys(t));
	return 0;
}

static int begin_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Not by initscr(), which ends the process if it does not know the terminal. */
static SCREEN *begin_screen(void)
{
	const char *term = getenv("TERM");
	SCREEN *screen;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		cli_fail("top: this is no terminal; see `rclink stats -j`");
		return NULL;
	}
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		cli_fail("top: the terminal '%s' is not known; set TERM",
			 term ? term : "");
		return NULL;
	}
	cbreak();
	noecho();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	curs_set(0);
	return screen;
}

int cmd_top(int argc, char **argv)
{
	struct top t = { .interval = INTERVAL_NS, .order = by_name };
	char err[RCL_ERR_LEN];
	SCREEN *screen;
	int c, ret;

	while ((c = cli_getopt(argc, argv, options, help)) != -1)
		if (c == 'i')
			t.interval = cli_seconds(argv[0], "--interval", optarg);
	cli_operands(argc, argv, 0, 0);
	if (t.interval < INTERVAL_MIN_NS)
		cli_usage(argv[0], "--interval is at least 0.1");

	t.nl = cli_open();
	screen = t.nl ? begin_screen() : NULL;
	if (!screen) {
		rcl_nl_close(t.nl);
		return CLI_FAILED;
	}
	t.signals = begin_signals();
	ret = show(&t, err);
	close(t.signals);
	endwin();
	delscreen(screen);
	rcl_nl_close(t.nl);
	look_free(&t.before);
	look_free(&t.now);
	return ret ? cli_refused(argv[0], NULL, ret, err) : CLI_OK;
}
