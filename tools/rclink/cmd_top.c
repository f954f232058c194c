// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>

#include "look.h"
#include "nl.h"
#include "process.h"
#include "text.h"

#define NS_PER_MS	1000000
#define INTERVAL_NS	1000000000ULL
#define INTERVAL_MIN_NS	100000000ULL
#define NUMBERS		77	/* columns up to the last */
#define HEAD_LINES	3	/* sums, an empty one, the columns' names */

static const char help[] =
"usage: rclink top [-i SECONDS]\n\n"
"All links on a full screen, until q is pressed: state, what channels of this\n"
"end move and receive in a second, their operations, and what went wrong.\n\n"
"  -i, --interval S   between two looks (1; at least 0.1)\n\n"
"Keys: n, s, r sort by name, state, rate; the arrows scroll; q ends.\n";

static const struct option options[] = {
	{ "interval", required_argument, NULL, 'i' },
	CLI_OPT_HELP, CLI_OPT_END
};

/* A link on the screen; what is per second is over the last interval. */
struct row {
	const struct rcl_link_info *info;
	uint64_t moved;		/* bytes in the interval */
	uint64_t ops;
	uint64_t recvs;
};

struct top {
	struct rcl_nl *nl;
	uint64_t interval;	/* ns */
	struct look before;
	struct look now;
	int signals;		/* signalfd of those that end it */
	int (*order)(const void *a, const void *b);
	size_t first;		/* row on the screen */
};

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(x->info->name, y->info->name);
}

/* Those that are not up come first: they are what one looks for. */
static int by_state(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int up = (x->info->state == RCLINK_LINK_STATE_UP) -
		 (y->info->state == RCLINK_LINK_STATE_UP);

	return up ? up : by_name(a, b);
}

static int by_rate(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->moved != y->moved)
		return x->moved < y->moved ? 1 : -1;
	return by_name(a, b);
}

static uint64_t since(const struct rcl_link_info *info,
		      const struct rcl_link_info *before, enum rcl_counter c)
{
	return before ? info->counter[c] - before->counter[c] : 0;
}

static struct row *rows_of(const struct top *t)
{
	struct row *rows = calloc(t->now.num + 1, sizeof(*rows));
	size_t i;

	for (i = 0; rows && i < t->now.num; i++) {
		const struct rcl_link_info *info = &t->now.infos[i];
		const struct rcl_link_info *before =
			look_find(&t->before, info->id);

		rows[i] = (struct row){
			.info = info,
			.moved = before ? look_moved(info) -
					  look_moved(before) : 0,
			.ops = since(info, before, RCL_C_CHAN_OPS),
			.recvs = since(info, before, RCL_C_CHAN_RECVS),
		};
	}
	if (rows)
		qsort(rows, t->now.num, sizeof(*rows), t->order);
	return rows;
}

static unsigned long long per_second(uint64_t count, uint64_t ns)
{
	return ns ? (count * 1000000000.0 + ns / 2) / ns : 0;
}

static uint64_t interval_of(const struct top *t)
{
	return t->before.infos ? t->now.ns - t->before.ns : 0;
}

static const char *rate(uint64_t bytes, uint64_t ns,
			char buf[RCL_RATE_TEXT_LEN])
{
	return ns && bytes ? rcl_rate_text(bytes, ns, buf) : "-";
}

static void draw_sums(const struct top *t, const struct row *rows)
{
	char text[RCL_RATE_TEXT_LEN], when[sizeof("00:00:00")];
	time_t now = time(NULL);
	uint64_t moved = 0;
	size_t i, up = 0;
	struct tm tm;

	for (i = 0; i < t->now.num; i++) {
		up += rows[i].info->state == RCLINK_LINK_STATE_UP;
		moved += rows[i].moved;
	}
	strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&now, &tm));
	mvprintw(0, 0, "rclink top  %s  links %zu, up %zu, not up %zu  %s",
		 when, t->now.num, up, t->now.num - up,
		 rate(moved, interval_of(t), text));
}

static void draw_row(int y, const struct row *row, uint64_t ns)
{
	const struct rcl_link_info *info = row->info;
	const char *state = rcl_word(RCL_WORDS_STATE, info->state);
	const bool up = info->state == RCLINK_LINK_STATE_UP;
	char text[RCL_RATE_TEXT_LEN];
	int left;

	mvprintw(y, 0,
		 "%-16.16s %-9.9s %4llu %12s %8llu %8llu %6llu %5llu  ",
		 info->name, state ? state : "?",
		 (unsigned long long)info->counter[RCL_C_CHANNELS],
		 rate(row->moved, ns, text), per_second(row->ops, ns),
		 per_second(row->recvs, ns),
		 (unsigned long long)(info->counter[RCL_C_COMPLETION_ERRORS] +
				      info->counter[RCL_C_RX_UNAUTHENTICATED]),
		 (unsigned long long)info->counter[RCL_C_DOWNS]);
	/* Where the line was too short for it already, the cursor went on. */
	left = getcury(stdscr) == y ? getmaxx(stdscr) - getcurx(stdscr) : 0;
	addnstr(up ? info->peer : info->reason_text, left);
}

static void draw(struct top *t)
{
	struct row *rows = rows_of(t);
	const size_t height = getmaxy(stdscr), width = getmaxx(stdscr);
	size_t lines = height > HEAD_LINES ? height - HEAD_LINES : 0, i;

	if (!rows)
		return;
	if (t->first + lines > t->now.num)
		t->first = t->now.num > lines ? t->now.num - lines : 0;
	erase();
	draw_sums(t, rows);
	attron(A_REVERSE);
	mvprintw(HEAD_LINES - 1, 0, "%-16s %-9s %4s %12s %8s %8s %6s %5s  %-*s",
		 "NAME", "STATE", "CHAN", "DATA", "OPS/s", "RECVS/s",
		 "ERRORS", "DOWNS", (int)width - NUMBERS, "PEER or REASON");
	attroff(A_REVERSE);
	for (i = 0; i < lines && t->first + i < t->now.num; i++)
		draw_row(HEAD_LINES + i, &rows[t->first + i], interval_of(t));
	refresh();
	free(rows);
}

/* Whether to go on. */
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

/* Keys until it is time for the next look; whether there is to be one. */
static bool wait_keys(struct top *t)
{
	const uint64_t end = t->now.ns + t->interval;
	struct pollfd from[] = {
		{ .fd = t->signals, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	uint64_t now;
	int key;

	while ((now = rcl_now()) < end) {
		poll(from, 2, (end - now) / NS_PER_MS + 1);
		if (from[0].revents || from[1].revents & (POLLHUP | POLLERR))
			return false;
		/* The terminal's new size comes as a key, too. */
		while ((key = getch()) != ERR) {
			if (!on_key(t, key))
				return false;
			draw(t);
		}
	}
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

/* Not by initscr(), which ends the process when it does not know a terminal. */
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
