// SPDX-License-Identifier: GPL-2.0
/* A dump of many messages, while the links that it shows change. */
#include "rcl.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "harness.h"

#define LINKS	1000

#define QPS	64	/* the most pooled QPs of a link */
#define PLENTY	3776	/* bytes that a dump has room for: NLMSG_GOODSIZE */

static int new_large(struct genl_sock *s, const char *name)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u32(&m, RCLINK_A_LINK_LOOPBACK, 1);
	genl_put_u32(&m, RCLINK_A_LINK_QPS, QPS);
	return genl_ask(s, &m, NULL, NULL);
}

static void add_bytes(const struct genl_msg *m, void *arg)
{
	*(size_t *)arg += m->nlh.nlmsg_len;
}

/* The kernel does not know yet how much a fresh socket reads at a time. */
TEST(a_dump_has_room_for_the_largest_links)
{
	struct genl_sock s, fresh = { 0 };
	size_t bytes = 0;
	struct genl_msg m;

	ASSERT_EQ(0, rcl_open(&s));
	ASSERT_EQ(0, rcl_clean(&s));
	ASSERT_EQ(0, new_large(&s, "a"));
	ASSERT_EQ(0, new_large(&s, "b"));
	ASSERT_EQ(0, rcl_pair(&s, "a", "b", RCLINK_LINK_STATE_UP));
	fresh.family = s.family;
	fresh.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	ASSERT_LE(0, fresh.fd);
	genl_begin(&m, &fresh, RCLINK_CMD_LINK_GET);
	EXPECT_EQ(0, genl_dump(&fresh, &m, add_bytes, &bytes));
	EXPECT_LT(2 * PLENTY, bytes);
	genl_close(&fresh);
	EXPECT_EQ(0, rcl_clean(&s));
	genl_close(&s);
}

FIXTURE(host)
{
	struct genl_sock s;
};

FIXTURE_SETUP(host)
{
	char name[16];
	int i;

	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	for (i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		ASSERT_EQ(0, rcl_new(&self->s, name));
	}
}

FIXTURE_TEARDOWN(host)
{
	EXPECT_EQ(0, rcl_clean(&self->s));
	genl_close(&self->s);
}

/* How often each of the links that stay was seen. */
struct census {
	unsigned char seen[LINKS];
	unsigned int others;
	uint32_t last_id;
	bool ordered;
};

static void count(const struct genl_msg *m, void *arg)
{
	const char *name = genl_str(genl_attr(m, RCLINK_A_LINK_NAME));
	uint32_t id = genl_u32(genl_attr(m, RCLINK_A_LINK_ID));
	struct census *census = arg;

	census->ordered &= id > census->last_id;
	census->last_id = id;
	if (name[0] == 'l')
		census->seen[atoi(name + 1)]++;
	else
		census->others++;
}

static int take_census(struct genl_sock *s, struct census *census)
{
	struct genl_msg m;
	int i, ret;

	memset(census, 0, sizeof(*census));
	census->ordered = true;
	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	ret = genl_dump(s, &m, count, census);
	if (ret && ret != -EINTR)
		return ret;
	for (i = 0; i < LINKS; i++)
		if (census->seen[i] != 1)
			return -ESRCH;
	return census->ordered ? ret : -EPROTO;
}

static atomic_bool stop;

static void *come_and_go(void *arg)
{
	struct genl_sock s;
	char name[16];
	intptr_t i = 0;

	(void)arg;
	if (rcl_open(&s))
		return NULL;
	while (!stop) {
		snprintf(name, sizeof(name), "x%zd", i++ % 7);
		if (rcl_new(&s, name))
			rcl_del(&s, name);
	}
	genl_close(&s);
	return (void *)i;
}

TEST_F_TIMEOUT(host, a_dump_shows_each_link_once, 120)
{
	struct census census;

	EXPECT_EQ(0, take_census(&self->s, &census));
	EXPECT_EQ(0, census.others);
}

TEST_F_TIMEOUT(host, others_that_come_and_go_are_told_of, 120)
{
	struct census census;
	pthread_t thread;
	int i, ret, torn = 0;
	void *done;

	pthread_create(&thread, NULL, come_and_go, NULL);
	for (i = 0; i < 10; i++) {
		ret = take_census(&self->s, &census);
		EXPECT_TRUE(!ret || ret == -EINTR) TH_LOG("dump: %d", ret);
		torn += ret == -EINTR;
	}
	stop = true;
	pthread_join(thread, &done);
	EXPECT_NE(NULL, done);
	/* by NLM_F_DUMP_INTR: links changed during some of these dumps */
	EXPECT_NE(0, torn);
}

TEST_F_TIMEOUT(host, a_reader_may_leave_in_the_middle, 120)
{
	struct genl_sock s;
	struct genl_msg m;
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, rcl_open(&s));
		genl_begin(&m, &s, RCLINK_CMD_LINK_GET);
		ASSERT_EQ(0, genl_send(&s, &m, NLM_F_DUMP));
		if (i % 2)
			ASSERT_EQ(0, genl_recv(&s, &m, 5000));
		genl_close(&s);
	}
}

TEST_HARNESS_MAIN
