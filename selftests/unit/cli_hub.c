// SPDX-License-Identifier: GPL-2.0
/*
 * When the hub opens sockets to the module, which would load a module that was
 * unloaded. The module and the sockets are fakes.
 */
#include "job_core.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include <kselftest_harness.h>

#include "ask.h"
#include "call.h"
#include "group.h"

static int families, requests, events;	/* as sockets */
static bool loaded;
static unsigned int loads;	/* sockets opened while it was not loaded */
static unsigned int lost;	/* news that the daemon could not hear */
static enum rcl_nl_news heard;	/* news that it hears */
static unsigned int lists, unloads;	/* that it was told */
static rcl_nl_fn *on_family;
static void *family_ctx;
static int pipe_fds[2];

static struct rcl_nl *open_module(int *as)
{
	loads += !loaded;
	return (struct rcl_nl *)as;
}

struct rcl_nl *rcl_nl_open(char *err)
{
	return open_module(&requests);
}

struct rcl_nl *rcl_nl_listen(char *err)
{
	return open_module(&events);
}

struct rcl_nl *rcl_nl_listen_families(char *err)
{
	return (struct rcl_nl *)&families;
}

bool rcl_nl_is_loaded(void)
{
	return loaded;
}

void rcl_nl_make_room(struct rcl_nl *nl)
{
}

void rcl_nl_close(struct rcl_nl *nl)
{
}

int rcl_nl_fd(const struct rcl_nl *nl)
{
	return pipe_fds[0];
}

void rcl_nl_notify(struct rcl_nl *nl, rcl_nl_fn *fn, void *arg)
{
	if (nl != (struct rcl_nl *)&families)
		return;
	on_family = fn;
	family_ctx = arg;
}

int rcl_nl_receive(struct rcl_nl *nl, char *err)
{
	if (nl != (struct rcl_nl *)&families)
		return 0;
	if (heard != RCL_NL_NO_NEWS)
		on_family(NULL, family_ctx);
	heard = RCL_NL_NO_NEWS;
	return lost && lost-- ? -ENOBUFS : 0;
}

enum rcl_nl_news rcl_nl_news(const struct nlmsghdr *hdr)
{
	return heard;
}

int rcl_call_links(struct rcl_nl *nl, const char *name,
		   struct rcl_link_info **infos, size_t *num, char *err)
{
	if (!loaded)
		return rcl_fail(err, -ESHUTDOWN, "unloaded");
	*num = 0;
	*infos = NULL;
	return 0;
}

bool rcl_is_link_event(const struct nlmsghdr *hdr)
{
	return false;
}

bool rcl_is_group_event(const struct nlmsghdr *hdr)
{
	return false;
}

bool rcl_is_dev_event(const struct nlmsghdr *hdr)
{
	return false;
}

int rcl_link_get(const struct nlmsghdr *hdr, struct rcl_link_info *info)
{
	return -EINVAL;
}

int rcl_group_get(const struct nlmsghdr *hdr, struct rcl_group_info *info)
{
	return -EINVAL;
}

int rcl_dev_get(const struct nlmsghdr *hdr, struct rcl_dev_info *info)
{
	return -EINVAL;
}

void rcl_dev_info_free(struct rcl_dev_info *info)
{
}

void rcx_session_cancel(struct rcx_session *s, const char *reason)
{
}

void rcx_session_link_up(struct rcx_session *s)
{
}

void rcx_session_link_down(struct rcx_session *s, const char *reason)
{
}

struct rch_asks *rch_asks_new(struct event_base *base)
{
	return (struct rch_asks *)&requests;
}

void rch_asks_free(struct rch_asks *all)
{
}

static void on_list(void *ctx, const struct rcl_link_info *infos, size_t num,
		    bool lost_some)
{
	lists++;
}

static void on_unloaded(void *ctx)
{
	unloads++;
}

static const struct rch_watch watch = {
	.list = on_list,
	.unloaded = on_unloaded,
};

FIXTURE(hub)
{
	struct event_base *base;
	struct rch_hub *hub;
};

FIXTURE_SETUP(hub)
{
	char err[RCL_ERR_LEN];

	loaded = true;
	loads = 0;
	lost = 0;
	heard = RCL_NL_NO_NEWS;
	lists = 0;
	unloads = 0;
	ASSERT_EQ(0, pipe(pipe_fds));
	self->base = event_base_new();
	self->hub = rch_hub_new(self->base, err);
	ASSERT_NE(NULL, self->hub);
	rch_hub_watch(self->hub, &watch, NULL);
	ASSERT_EQ(1, lists);
}

FIXTURE_TEARDOWN(hub)
{
	rch_hub_free(self->hub);
	event_base_free(self->base);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Let the hub read its news. */
static void tell(struct rch_hub *hub, enum rcl_nl_news news)
{
	heard = news;
	event_active(hub->news, EV_READ, 0);
	event_base_loop(hub->base, EVLOOP_NONBLOCK);
}

TEST_F(hub, a_module_that_is_back_is_looked_at)
{
	loaded = false;
	tell(self->hub, RCL_NL_UNLOADED);
	EXPECT_EQ(1, unloads);
	EXPECT_EQ(NULL, rch_hub_requests(self->hub));
	loaded = true;
	tell(self->hub, RCL_NL_LOADED);
	EXPECT_NE(NULL, rch_hub_requests(self->hub));
	EXPECT_EQ(2, lists);
	EXPECT_EQ(0, loads);
}

TEST_F(hub, one_that_was_unloaded_is_not_opened)
{
	char err[RCL_ERR_LEN] = "";

	EXPECT_NE(NULL, rch_hub_open(self->hub, err));
	loaded = false;
	tell(self->hub, RCL_NL_UNLOADED);
	EXPECT_EQ(NULL, rch_hub_open(self->hub, err));
	EXPECT_STREQ("the rclink module is not loaded", err);
	EXPECT_EQ(0, loads);
}

/* What was lost may have been about any other module. */
TEST_F(hub, nor_when_news_are_lost)
{
	loaded = false;
	tell(self->hub, RCL_NL_UNLOADED);
	lost = 1;
	tell(self->hub, RCL_NL_NO_NEWS);
	EXPECT_EQ(0, loads);
	EXPECT_EQ(1, unloads);
	/* As late as this it may be gone again. */
	tell(self->hub, RCL_NL_LOADED);
	EXPECT_EQ(0, loads);
	loaded = true;
	lost = 1;
	tell(self->hub, RCL_NL_NO_NEWS);
	EXPECT_NE(NULL, rch_hub_requests(self->hub));
}

TEST_F(hub, that_it_was_unloaded_is_noticed_when_news_are_lost)
{
	loaded = false;
	lost = 1;
	tell(self->hub, RCL_NL_NO_NEWS);
	EXPECT_EQ(1, unloads);
	EXPECT_EQ(0, loads);
	EXPECT_EQ(NULL, rch_hub_requests(self->hub));
}

TEST_HARNESS_MAIN
