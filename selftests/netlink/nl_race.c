// SPDX-License-Identifier: GPL-2.0
/* Many threads at once, on the same links. */
#include "rcl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define CREATORS	16
#define ROUNDS		20
#define WORKERS		32
#define WORK_S		8
#define MORE_S		20
#define STORM_MS	100	/* between two exchanges */
#define UP_MS		500

FIXTURE(host)
{
	struct genl_sock s;
};

FIXTURE_SETUP(host)
{
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
}

FIXTURE_TEARDOWN(host)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

/* On InfiniBand no neighbour is resolved, so there is nothing to wait for. */
FIXTURE(slow)
{
	struct genl_sock s;
};

FIXTURE_SETUP(slow)
{
	if (rcl_is_ib())
		SKIP(return, "a connect on InfiniBand waits for nobody");
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
}

FIXTURE_TEARDOWN(slow)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

static pthread_barrier_t barrier;
static atomic_bool stop;

static void *create(void *arg)
{
	intptr_t ret = -EIO;
	struct genl_sock s;

	(void)arg;
	if (rcl_open(&s))
		return (void *)ret;
	pthread_barrier_wait(&barrier);
	ret = rcl_new(&s, "same");
	genl_close(&s);
	return (void *)ret;
}

TEST_F(host, one_of_many_creators_of_a_name_wins)
{
	pthread_t threads[CREATORS];
	int i, round, won, lost;
	void *ret;

	pthread_barrier_init(&barrier, NULL, CREATORS);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CREATORS; i++)
			pthread_create(&threads[i], NULL, create, NULL);
		won = 0;
		lost = 0;
		for (i = 0; i < CREATORS; i++) {
			pthread_join(threads[i], &ret);
			won += !ret;
			lost += (intptr_t)ret == -EEXIST;
		}
		EXPECT_EQ(1, won);
		EXPECT_EQ(CREATORS - 1, lost);
		EXPECT_EQ(0, rcl_del(&self->s, "same"));
	}
}

/* Results that a request may have on a link that other threads work on. */
static bool expected(int ret)
{
	switch (ret) {
	case 0:
	case -EBUSY:
	case -EEXIST:
	case -EINVAL:		/* the peer's values are of another epoch */
	case -ENOENT:
	case -ENOTCONN:
	case -ERANGE:		/* or there are no values yet */
	case -ESTALE:
		return true;
	default:
		return false;
	}
}

enum request {
	NEW, DEL, DISCONNECT, PREPARE, CONNECT, ACTIVATE, PING, REQUESTS
};

static const char * const words[] = {
	"new", "del", "disconnect", "prepare", "connect", "activate", "ping",
};

static atomic_uint successes[REQUESTS];	/* of all workers */
static atomic_uint ups;			/* links that a dump found up */

static int count(enum request request, int ret)
{
	successes[request] += !ret;
	return ret;
}

/* All workers but one pause while this is set, so that exchanges can end. */
static atomic_bool calm;

/* A whole exchange between the links a and b. */
static int exchange(struct genl_sock *s)
{
	static const char * const names[] = { "a", "b" };
	struct rcl_end end[2];
	uint64_t epoch;
	int i, ret = 0;

	for (i = 0; !ret && i < 2; i++) {
		count(NEW, rcl_new(s, names[i]));
		ret = count(PREPARE, rcl_prepare(s, names[i], &end[i]));
	}
	for (i = 0; !ret && i < 2; i++)
		ret = count(CONNECT, rcl_connect(s, names[i], end[i].epoch,
						 RCLINK_ROLE_INITIATOR + i,
						 &end[!i], NULL));
	if (ret)
		return ret;
	epoch = end[0].epoch > end[1].epoch ? end[0].epoch : end[1].epoch;
	for (i = 0; !ret && i < 2; i++)
		ret = count(ACTIVATE, rcl_activate(s, names[i], epoch, NULL));
	return ret;
}

/* Bring the links up, again and again, while the workers are at them. */
static void *bring_up(void *arg)
{
	struct genl_sock s;

	(void)arg;
	if (rcl_open(&s))
		return (void *)1;
	while (!stop) {
		calm = true;
		if (!exchange(&s))
			rcl_until(&s, "a", RCLINK_LINK_STATE_UP, UP_MS);
		calm = false;
		usleep(slow(STORM_MS) * 1000);
	}
	genl_close(&s);
	return NULL;
}

/* Each worker keeps the ends that it was given, and mixes them up. */
static int one_request(struct genl_sock *s, enum request request,
		       unsigned int *seed, struct rcl_end *end)
{
	static const char * const names[] = { "a", "b", "c" };
	int i = rand_r(seed) % ARRAY_SIZE(names);
	int j = rand_r(seed) % ARRAY_SIZE(names);
	const char *name = names[i];

	switch (request) {
	case NEW:
		return rcl_new(s, name);
	case DEL:
		return rcl_del(s, name);
	case DISCONNECT:
		return rcl_disconnect(s, name);
	case PREPARE:
		return rcl_prepare(s, name, &end[i]);
	case CONNECT:
		return rcl_connect(s, name, end[i].epoch, 1 + rand_r(seed) % 2,
				   &end[j], NULL);
	case ACTIVATE:
		return rcl_activate(s, name, end[i].epoch, NULL);
	default:
		return rcl_ping(s, name, 1 + rand_r(seed) % 5, -1, 0, NULL);
	}
}

static void *work(void *arg)
{
	/* each is listed as often as it is to come */
	static const enum request drawn[] = {
		NEW, NEW, DEL, DISCONNECT, PREPARE, PREPARE, PREPARE,
		CONNECT, CONNECT, ACTIVATE, ACTIVATE, PING,
	};
	unsigned int seed = (intptr_t)arg;
	enum request request;
	struct rcl_end end[3];
	struct genl_sock s;
	intptr_t bad = 0;
	int ret;

	memset(end, 0, sizeof(end));
	if (rcl_open(&s))
		return (void *)1;
	while (!stop) {
		if (calm && arg) {
			usleep(1000);
			continue;
		}
		request = drawn[rand_r(&seed) % ARRAY_SIZE(drawn)];
		ret = count(request, one_request(&s, request, &seed, end));
		if (!expected(ret) && !bad++)
			fprintf(stderr, "# unexpected: %d\n", ret);
		/* results of pings, which nobody reads here */
		while (s.nkept)
			free(s.kept[--s.nkept]);
	}
	genl_close(&s);
	return (void *)bad;
}

static void count_up(const struct genl_msg *m, void *arg)
{
	(void)arg;
	ups += genl_u32(genl_attr(m, RCLINK_A_LINK_STATE)) ==
	       RCLINK_LINK_STATE_UP;
}

static void *dump(void *arg)
{
	struct genl_sock s;
	struct genl_msg m;
	intptr_t bad = 0;
	int ret;

	(void)arg;
	if (rcl_open(&s))
		return (void *)1;
	while (!stop) {
		genl_begin(&m, &s, RCLINK_CMD_LINK_GET);
		ret = genl_dump(&s, &m, count_up, NULL);
		if (ret && ret != -EINTR)
			bad++;
	}
	genl_close(&s);
	return (void *)bad;
}

static void *look_at_resources(void *arg)
{
	intptr_t bad = 0;

	(void)arg;
	while (!stop)
		bad += rcl_objects("qp") < 0;
	return (void *)bad;
}

TEST_F_TIMEOUT(host, many_workers_leave_the_links_sound, 600)
{
	const char *seconds = getenv("RACE_SECONDS");
	pthread_t threads[WORKERS + 3];
	intptr_t i;
	void *bad;

	for (i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	pthread_create(&threads[WORKERS], NULL, dump, NULL);
	pthread_create(&threads[WORKERS + 1], NULL, look_at_resources, NULL);
	pthread_create(&threads[WORKERS + 2], NULL, bring_up, NULL);
	sleep(seconds ? atoi(seconds) : slow(WORK_S));
	/* a busy machine takes longer until a link has come up */
	for (i = 0; i < slow(MORE_S) && !ups; i++)
		sleep(1);
	stop = true;
	for (i = 0; i < WORKERS + 3; i++) {
		pthread_join(threads[i], &bad);
		EXPECT_EQ(NULL, bad) TH_LOG("thread %zd", i);
	}
	for (i = 0; i < REQUESTS; i++) {
		printf("# %s: %u succeeded\n", words[i], successes[i]);
		EXPECT_LT(0, successes[i]) TH_LOG("%s", words[i]);
	}
	printf("# %u links seen up\n", ups);
	EXPECT_LT(0, ups);
	EXPECT_EQ(0, rcl_clean(&self->s));
	EXPECT_EQ(0, rcl_objects("qp"));
	EXPECT_EQ(0, rcl_objects("pd"));
	/* and they still work */
	EXPECT_EQ(0, rcl_new(&self->s, "a"));
	EXPECT_EQ(0, rcl_new(&self->s, "b"));
	EXPECT_EQ(0, rcl_pair(&self->s, "a", "b", RCLINK_LINK_STATE_UP));
}

struct connecting {
	struct genl_sock s;
	struct rcl_end local;
	struct rcl_end remote;
	int ret;
	atomic_bool over;
};

static void *connect_it(void *arg)
{
	struct connecting *c = arg;

	c->ret = rcl_connect(&c->s, "a", c->local.epoch, 1, &c->remote, NULL);
	c->over = true;
	return NULL;
}

/* A peer whose address nobody answers for keeps a connect busy for 2 s. */
static int begin_slow_connect(struct connecting *c, pthread_t *thread)
{
	int ret;

	ret = rcl_open(&c->s);
	if (!ret)
		ret = rcl_new(&c->s, "a");
	if (!ret)
		ret = rcl_prepare(&c->s, "a", &c->local);
	if (ret)
		return ret;
	c->remote = c->local;
	c->over = false;
	inet_pton(AF_INET6, "::ffff:192.0.2.77", c->remote.gid);
	pthread_create(thread, NULL, connect_it, c);
	usleep(300000);
	return 0;
}

TEST_F(slow, an_unreachable_peer_is_refused_in_time)
{
	int64_t start = rcl_now_ms();
	struct connecting c;
	struct rcl_view view;
	pthread_t thread;

	ASSERT_EQ(0, begin_slow_connect(&c, &thread));
	pthread_join(thread, NULL);
	EXPECT_TRUE(c.ret == -ETIMEDOUT || c.ret == -EHOSTUNREACH)
		TH_LOG("connect: %d", c.ret);
	EXPECT_LT(rcl_now_ms() - start, slow(6000));
	/* refused, so nothing has changed */
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_PREPARED, view.state);
	genl_close(&c.s);
}

TEST_F(slow, delete_waits_for_a_slow_connect_and_no_longer)
{
	struct connecting c;
	pthread_t thread;
	int64_t start;

	ASSERT_EQ(0, begin_slow_connect(&c, &thread));
	start = rcl_now_ms();
	EXPECT_EQ(0, rcl_del(&self->s, "a"));
	EXPECT_LT(rcl_now_ms() - start, slow(5000));
	pthread_join(thread, NULL);
	EXPECT_NE(0, c.ret);
	EXPECT_EQ(0, rcl_objects("qp"));
	genl_close(&c.s);
}

TEST_F(slow, a_closed_owner_ends_a_slow_connect)
{
	struct connecting c;
	pid_t child = fork();
	pthread_t thread;

	if (!child) {
		begin_slow_connect(&c, &thread);
		pause();
	}
	/* until the child is in the middle of its connect */
	while (rcl_until(&self->s, "a", RCLINK_LINK_STATE_PREPARED, 5000))
		;
	usleep(300000);
	kill(child, SIGKILL);
	EXPECT_EQ(0, rcl_until(&self->s, "a", RCLINK_LINK_STATE_DOWN, 5000));
	EXPECT_EQ(0, rcl_objects("qp"));
}

TEST_F(slow, a_slow_connect_keeps_no_ping_waiting)
{
	struct connecting c;
	struct rcl_pong pong;
	pthread_t thread;
	bool over = true;
	int i;

	/* A guest may stand still for as long as the connect takes. */
	for (i = 0; i < 3 && over; i++) {
		ASSERT_EQ(0, begin_slow_connect(&c, &thread));
		EXPECT_EQ(0, rcl_ping(&self->s, "a", RCLINK_PING_OP_SEND, -1, 7,
				      NULL));
		EXPECT_EQ(0, rcl_pong(&self->s, &pong, 5000));
		over = c.over;
		EXPECT_EQ(ENOTCONN, pong.error);
		EXPECT_EQ(7, pong.cookie);
		pthread_join(thread, NULL);
		EXPECT_EQ(0, rcl_del(&self->s, "a"));
		genl_close(&c.s);
	}
	EXPECT_FALSE(over);
}

/* arg: microseconds to wait before the delete */
static void *delete_it(void *arg)
{
	struct genl_sock s;
	intptr_t ret;

	if (rcl_open(&s))
		return (void *)-EIO;
	pthread_barrier_wait(&barrier);
	usleep((intptr_t)arg);
	ret = rcl_del(&s, "a");
	genl_close(&s);
	return (void *)ret;
}

TEST_F(host, delete_and_connect_do_not_hang_each_other)
{
	struct connecting c;
	pthread_t thread;
	void *ret;
	int i;

	pthread_barrier_init(&barrier, NULL, 2);
	ASSERT_EQ(0, rcl_open(&c.s));
	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, rcl_new(&c.s, "a"));
		ASSERT_EQ(0, rcl_prepare(&c.s, "a", &c.local));
		ASSERT_EQ(0, rcl_prepare(&c.s, "b", &c.remote));
		pthread_create(&thread, NULL, delete_it,
			       (void *)(intptr_t)(i * 50));
		pthread_barrier_wait(&barrier);
		connect_it(&c);
		pthread_join(thread, &ret);
		EXPECT_EQ(NULL, ret);
		EXPECT_TRUE(c.ret == 0 || c.ret == -ENOENT)
			TH_LOG("connect: %d", c.ret);
		EXPECT_EQ(-ENOENT, rcl_del(&self->s, "a"));
		EXPECT_EQ(0, rcl_disconnect(&c.s, "b"));
	}
	EXPECT_EQ(0, rcl_objects("qp"));
	genl_close(&c.s);
}

TEST_F(host, of_two_deletes_one_finds_the_link)
{
	pthread_t threads[2];
	intptr_t sum;
	void *ret;
	int i, j;

	pthread_barrier_init(&barrier, NULL, 2);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, rcl_new(&self->s, "a"));
		sum = 0;
		for (j = 0; j < 2; j++)
			pthread_create(&threads[j], NULL, delete_it, NULL);
		for (j = 0; j < 2; j++) {
			pthread_join(threads[j], &ret);
			sum += (intptr_t)ret;
		}
		EXPECT_EQ(-ENOENT, sum);
	}
}

TEST_HARNESS_MAIN
