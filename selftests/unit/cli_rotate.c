// SPDX-License-Identifier: GPL-2.0
/*
 * Which link and which epoch `rclink rotate` waits for. The test plays the
 * module, what the command shares with others, and the clock.
 */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "call.h"
#include "link.h"
#include "nl.h"
#include "process.h"

#define OURS	2	/* id of the link that is asked to rotate */
#define EPOCH	7	/* which is up then */
#define EVENTS	4

static int something;
static int readable;		/* at any time */
static uint64_t now;
static rcl_nl_fn *heard;
static void *hears;
static struct rcl_link_info events[EVENTS + 1];	/* to hear, one each time */
static unsigned int told;
static struct rcl_link_info links[EVENTS + 1];	/* to see, each time */
static unsigned int seen;
static char said[RCL_ERR_LEN];

uint64_t rcl_now(void)
{
	return now;
}

struct rcl_nl *rcl_nl_listen(char *err)
{
	return (struct rcl_nl *)&something;
}

struct rcl_nl *cli_open(void)
{
	return (struct rcl_nl *)&something;
}

void rcl_nl_close(struct rcl_nl *nl)
{
}

int rcl_nl_fd(const struct rcl_nl *nl)
{
	return readable;
}

void rcl_nl_notify(struct rcl_nl *nl, rcl_nl_fn *fn, void *arg)
{
	heard = fn;
	hears = arg;
}

/* The last of them has no kind: it is not told. */
int rcl_nl_receive(struct rcl_nl *nl, char *err)
{
	now += 100 * NS_PER_MS;
	if (events[told].event_kind)
		heard((const struct nlmsghdr *)&events[told++], hears);
	return 0;
}

bool rcl_is_link_event(const struct nlmsghdr *hdr)
{
	return true;
}

int rcl_link_get(const struct nlmsghdr *hdr, struct rcl_link_info *info)
{
	*info = *(const struct rcl_link_info *)hdr;
	return 0;
}

/* The last of them stays. */
int rcl_call_links(struct rcl_nl *nl, const char *name,
		   struct rcl_link_info **infos, size_t *num, char *err)
{
	*infos = malloc(sizeof(**infos));
	**infos = links[seen];
	*num = 1;
	if (links[seen + 1].id)
		seen++;
	return 0;
}

int rcl_call_rotate(struct rcl_nl *nl, const char *name, char *err)
{
	return 0;
}

int rcl_call_record(struct rcl_nl *nl, const char *name,
		    struct rcl_entry **entries, size_t *num, char *err)
{
	*entries = NULL;
	*num = 0;
	return 0;
}

int cli_getopt(int argc, char **argv, const struct option *options,
	       const char *help)
{
	return -1;
}

char **cli_operands(int argc, char **argv, int min, int max)
{
	return argv + 1;
}

uint64_t cli_seconds(const char *cmd, const char *what, const char *text)
{
	return 5 * NS_PER_S;
}

int cli_fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	return CLI_FAILED;
}

int cli_refused(const char *cmd, const char *name, int ret, const char *why)
{
	return cli_fail("%s", why);
}

static int rotate(void)
{
	char *argv[3] = { "rotate", "x" };

	return cmd_rotate(2, argv);
}

static void set(struct rcl_link_info *info, uint32_t id, uint32_t state,
		uint64_t epoch, uint32_t kind)
{
	*info = (struct rcl_link_info){
		.name = "x",
		.id = id,
		.state = state,
		.epoch = epoch,
		.event_kind = kind,
		.reason_text = "no beat",
	};
}

#define SEE(i, id, state, epoch)	\
	set(&links[i], id, RCLINK_LINK_STATE_ ## state, epoch, 0)
#define HEAR(i, kind, id, state, epoch)	\
	set(&events[i], id, RCLINK_LINK_STATE_ ## state, epoch,	\
	    RCLINK_EVENT_KIND_ ## kind)

static const char went_down[] =
	"rotate x: the link went down: no beat; `rclink why x` tells more";
static const char was_deleted[] =
	"rotate x: the link was deleted; `rclink add` makes one";

FIXTURE(rotate)
{
};

FIXTURE_SETUP(rotate)
{
	memset(events, 0, sizeof(events));
	memset(links, 0, sizeof(links));
	told = 0;
	seen = 0;
	*said = '\0';
	readable = eventfd(1, 0);
	SEE(0, OURS, UP, EPOCH);
}

FIXTURE_TEARDOWN(rotate)
{
	close(readable);
}

TEST_F(rotate, an_event_tells_of_the_new_epoch)
{
	HEAR(0, CHANGED, OURS, UP, EPOCH + 1);
	EXPECT_EQ(CLI_OK, rotate());
	EXPECT_STREQ("", said);
}

TEST_F(rotate, or_a_look)
{
	SEE(1, OURS, UP, EPOCH + 1);
	EXPECT_EQ(CLI_OK, rotate());
}

TEST_F(rotate, the_link_may_go_down)
{
	HEAR(0, CHANGED, OURS, DOWN, EPOCH);
	EXPECT_EQ(CLI_FAILED, rotate());
	EXPECT_STREQ(went_down, said);
}

TEST_F(rotate, and_be_deleted)
{
	HEAR(0, DELETED, OURS, UP, EPOCH);
	EXPECT_EQ(CLI_FAILED, rotate());
	EXPECT_STREQ(was_deleted, said);
}

/* A name is free at once, but its last link ends only a while later. */
TEST_F(rotate, the_end_of_the_last_link_of_that_name_is_another)
{
	HEAR(0, CHANGED, OURS - 1, DOWN, EPOCH + 2);
	HEAR(1, DELETED, OURS - 1, DOWN, EPOCH + 2);
	HEAR(2, CHANGED, OURS, UP, EPOCH + 1);
	EXPECT_EQ(CLI_OK, rotate());
	EXPECT_STREQ("", said);
}

TEST_F(rotate, so_is_an_epoch_of_the_next_link_of_that_name)
{
	HEAR(0, CHANGED, OURS + 1, UP, EPOCH + 1);
	SEE(1, OURS + 1, UP, EPOCH + 1);
	EXPECT_EQ(CLI_FAILED, rotate());
	EXPECT_STREQ(was_deleted, said);
}

TEST_F(rotate, so_is_the_end_of_an_earlier_epoch)
{
	HEAR(0, CHANGED, OURS, DOWN, EPOCH - 1);
	HEAR(1, CHANGED, OURS, UP, EPOCH);
	HEAR(2, CHANGED, OURS, UP, EPOCH + 1);
	EXPECT_EQ(CLI_OK, rotate());
	EXPECT_STREQ("", said);
}

TEST_HARNESS_MAIN
