// SPDX-License-Identifier: GPL-2.0
/*
 * When the daemon reports that a counter of a device has risen. The test plays
 * the device, the module, and the clocks.
 */
#include "hwcount.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <kselftest_harness.h>

#include "call.h"
#include "job.h"
#include "link.h"
#include "links.h"
#include "log.h"
#include "process.h"

#define COUNTER	"/sys/class/infiniband/%s/ports/1/hw_counters/dup_req"

static int something;
static const char *device;
static bool loaded;
static bool refuses;
static uint64_t now;
static uint64_t count;		/* of the only counter */
static unsigned int news;
static char said[512];

uint64_t rcl_now(void)
{
	return now;
}

uint64_t rcl_since_boot(void)
{
	return now;
}

struct rch_hub *rcd_links_hub(const struct rcd_links *all)
{
	return (struct rch_hub *)&something;
}

struct rcl_nl *rch_hub_requests(const struct rch_hub *hub)
{
	return loaded ? (struct rcl_nl *)&something : NULL;
}

int rcl_call_links(struct rcl_nl *nl, const char *name,
		   struct rcl_link_info **infos, size_t *num, char *err)
{
	struct rcl_link_info link = { .name = "l", .used_port = 1 };

	if (refuses)
		return rcl_fail(err, -ENOMEM, "out of memory");
	strcpy(link.used_device, device);
	*num = 1;
	*infos = malloc(sizeof(link));
	**infos = link;
	return 0;
}

void rcd_log(int priority, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	news++;
}

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	static char text[32], counter[128];

	snprintf(counter, sizeof(counter), COUNTER, device);
	if (strcmp(path, counter))
		return NULL;
	snprintf(text, sizeof(text), "%ju\n", (uintmax_t)count);
	return fmemopen(text, strlen(text), "r");
}

FIXTURE(hwcount)
{
	struct event_base *base;
	struct rcd_hwcount *all;
	struct event *timer;
};

static int find_timer(const struct event_base *base, const struct event *event,
		      void *arg)
{
	*(struct event **)arg = (struct event *)event;
	return 1;
}

FIXTURE_SETUP(hwcount)
{
	char err[RCL_ERR_LEN];

	device = "rxe0";
	loaded = true;
	refuses = false;
	now = 1000 * NS_PER_S;
	count = 5000;
	news = 0;
	self->base = event_base_new();
	self->all = rcd_hwcount_new(self->base, NULL, err);
	ASSERT_NE(NULL, self->all);
	event_base_foreach_event(self->base, find_timer, &self->timer);
	ASSERT_NE(NULL, self->timer);
}

FIXTURE_TEARDOWN(hwcount)
{
	rcd_hwcount_free(self->all);
	event_base_free(self->base);
}

/* @s seconds later the counter has risen by @more, and the daemon reads it. */
static void pass(struct event *timer, unsigned int s, uint64_t more)
{
	now += s * NS_PER_S;
	count += more;
	event_active(timer, EV_TIMEOUT, 1);
	event_base_loop(event_get_base(timer), EVLOOP_NONBLOCK);
}

TEST_F(hwcount, what_rose_in_an_interval_is_news)
{
	pass(self->timer, 15, 99);
	EXPECT_EQ(0, news);
	pass(self->timer, 15, 100);
	EXPECT_EQ(1, news);
	EXPECT_NE(NULL, strstr(said, "in 15 s the device")) TH_LOG("%s", said);
	EXPECT_NE(NULL, strstr(said, " dup_req by 100; ")) TH_LOG("%s", said);
}

TEST_F(hwcount, what_rose_while_the_daemon_stood_still_is_no_news)
{
	pass(self->timer, 3600, 1000);
	EXPECT_EQ(0, news);
	pass(self->timer, 15, 100);
	EXPECT_EQ(1, news);
}

TEST_F(hwcount, what_rose_while_the_module_was_not_loaded_is_no_news)
{
	loaded = false;
	pass(self->timer, 15, 1000);
	loaded = true;
	pass(self->timer, 15, 1000);
	EXPECT_EQ(0, news);
	pass(self->timer, 15, 100);
	EXPECT_EQ(1, news);
}

TEST_F(hwcount, what_rose_while_no_link_could_be_asked_for_is_no_news)
{
	refuses = true;
	pass(self->timer, 15, 1000);
	refuses = false;
	pass(self->timer, 15, 1000);
	EXPECT_EQ(0, news);
	pass(self->timer, 15, 100);
	EXPECT_EQ(1, news);
}

TEST_F(hwcount, a_device_may_have_any_name)
{
	static const char line[] =
		"{device=\"a\\\"b\\\\\",port=\"1\",counter=\"dup_req\"} ";
	char *text = NULL;
	size_t len;
	FILE *to;

	device = "a\"b\\";
	pass(self->timer, 15, 0);
	to = open_memstream(&text, &len);
	ASSERT_NE(NULL, to);
	rcd_hwcount_print(self->all, to);
	fclose(to);
	EXPECT_NE(NULL, strstr(text, line)) TH_LOG("%s", text);
	free(text);
}

TEST_HARNESS_MAIN
