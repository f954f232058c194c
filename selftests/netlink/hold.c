// SPDX-License-Identifier: GPL-2.0
/*
 * Bring pairs of links of this host to a state and stay: so a test file can
 * take something away from under them.
 *
 * usage: hold STATE [PAIRS] [ping | dump]
 *
 * The links are p0a and p0b, p1a and p1b, and so on. Prints "ready" when all
 * are there, and stays until it is killed; with ping, all ops run on every link
 * all the time; with dump, it has asked for all links and reads no answer. It
 * owns its links; only those that are up stay when it ends.
 */
#include "rcl.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAIRS_MAX	500

static const char * const words[] = {
	[RCLINK_LINK_STATE_IDLE] = "idle",
	[RCLINK_LINK_STATE_PREPARED] = "prepared",
	[RCLINK_LINK_STATE_CONNECTED] = "connected",
	[RCLINK_LINK_STATE_UP] = "up",
	[RCLINK_LINK_STATE_DOWN] = "down",
};

static uint32_t state_of(const char *word)
{
	uint32_t i;

	for (i = RCLINK_LINK_STATE_IDLE; i <= RCLINK_LINK_STATE_DOWN; i++)
		if (!strcmp(word, words[i]))
			return i;
	fprintf(stderr, "usage: hold STATE [PAIRS] [ping | dump]\n");
	exit(2);
}

static void must(int ret, const char *what, const char *name)
{
	if (!ret)
		return;
	fprintf(stderr, "hold: %s %s: %s\n", what, name, strerror(-ret));
	exit(1);
}

static void bring(struct genl_sock *s, int pair, uint32_t state)
{
	uint32_t first = state;
	char a[16], b[16];

	snprintf(a, sizeof(a), "p%da", pair);
	snprintf(b, sizeof(b), "p%db", pair);
	must(rcl_new(s, a), "new", a);
	must(rcl_new(s, b), "new", b);
	if (state == RCLINK_LINK_STATE_IDLE)
		return;
	if (state == RCLINK_LINK_STATE_DOWN)
		first = RCLINK_LINK_STATE_UP;
	must(rcl_pair(s, a, b, first), "connect", a);
	if (state != RCLINK_LINK_STATE_DOWN)
		return;
	must(rcl_disconnect(s, a), "disconnect", a);
	must(rcl_until(s, b, RCLINK_LINK_STATE_DOWN, 5000), "see down", b);
}

/* Each result starts the next ping; an op that has failed is not repeated. */
static void ping_for_ever(struct genl_sock *s, int pairs)
{
	struct rcl_pong pong;
	char name[16];
	uint32_t op;
	int i;

	for (i = 0; i < 2 * pairs; i++) {
		snprintf(name, sizeof(name), "p%d%c", i / 2, 'a' + i % 2);
		for (op = RCLINK_PING_OP_SEND; op <= RCLINK_PING_OP_FADD; op++)
			rcl_ping(s, name, op, -1, i, NULL);
	}
	while (!rcl_pong(s, &pong, -1)) {
		snprintf(name, sizeof(name), "p%d%c", (int)pong.cookie / 2,
			 'a' + (int)pong.cookie % 2);
		if (!pong.error)
			rcl_ping(s, name, pong.op, -1, pong.cookie, NULL);
	}
}

static void ask_for_all(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	must(genl_send(s, &m, NLM_F_DUMP), "dump", "all");
}

int main(int argc, char **argv)
{
	const char *more = argc > 3 ? argv[3] : "";
	uint32_t state = state_of(argc > 1 ? argv[1] : "");
	int pairs = argc > 2 ? atoi(argv[2]) : 1;
	struct genl_sock s;
	int i;

	if (pairs < 1 || pairs > PAIRS_MAX)
		state_of("");
	must(rcl_open(&s), "open", RCLINK_FAMILY_NAME);
	for (i = 0; i < pairs; i++)
		bring(&s, i, state);
	if (!strcmp(more, "dump"))
		ask_for_all(&s);
	printf("ready\n");
	fflush(stdout);
	if (!strcmp(more, "ping"))
		ping_for_ever(&s, pairs);
	for (;;)
		pause();
}
