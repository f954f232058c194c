// SPDX-License-Identifier: GPL-2.0
/* Dialling with a resolver that answers, or hangs. The test is the resolver. */
#include "dial.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include <kselftest_harness.h>

#include "fail.h"

#define HANGS		"hangs.example"
#define LOCAL		"local.example"
#define MANY		"many.example"	/* the last address is that of LOCAL */
#define SILENT		"127.0.0.2"	/* MANY's others: nobody answers */
#define SILENT_NUM	6
#define MOST		256	/* lookups at once */
#define SECONDS		20
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))

typedef int resolver_fn(const char *host, const char *port,
			const struct addrinfo *hints, struct addrinfo **list);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned int hanging, begun;
static bool answers;

static void hang(void)
{
	pthread_mutex_lock(&lock);
	hanging++;
	begun++;
	pthread_cond_broadcast(&changed);
	while (!answers)
		pthread_cond_wait(&changed, &lock);
	hanging--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int resolve_many(resolver_fn *libc, const char *port,
			const struct addrinfo *hints, struct addrinfo **list)
{
	int i, ret = 0;

	for (i = 0; i <= SILENT_NUM && !ret; i++) {
		ret = libc(i < SILENT_NUM ? SILENT : "127.0.0.1", port, hints,
			   list);
		if (!ret)
			list = &(*list)->ai_next;
	}
	return ret;
}

int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **list)
{
	resolver_fn *libc = (resolver_fn *)dlsym(RTLD_NEXT, "getaddrinfo");
	bool numeric = hints->ai_flags & AI_NUMERICHOST;

	if (!strcmp(host, HANGS) && !numeric)
		hang();
	if (!strcmp(host, MANY) && !numeric)
		return resolve_many(libc, port, hints, list);
	if (!strcmp(host, LOCAL) && !numeric)
		host = "127.0.0.1";
	else if (strspn(host, "0123456789.") != strlen(host))
		return EAI_NONAME;
	return libc(host, port, hints, list);
}

/* Wait until so many lookups hang. */
static void wait_for(unsigned int num)
{
	pthread_mutex_lock(&lock);
	while (hanging != num)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void let_go(void)
{
	pthread_mutex_lock(&lock);
	answers = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	wait_for(0);
}

struct dialler {
	struct event_base *base;
	int listener;
	uint16_t port;
	int ms;
	struct rcx_dial *dial;
	int fd;		/* -2: not called */
	char err[RCL_ERR_LEN];
};

static void on_dialled(void *ctx, int fd, const char *err)
{
	struct dialler *d = ctx;

	d->fd = fd;
	snprintf(d->err, sizeof(d->err), "%s", err);
	event_base_loopbreak(d->base);
}

static struct rcx_dial *start(struct dialler *d, const char *host)
{
	d->err[0] = '\0';
	return rcx_dial_start(d->base, host, d->port, d->ms, on_dialled, d,
			      d->err);
}

/* Does that host lead to the listener? */
static bool reaches(struct dialler *d, const char *host)
{
	const struct timeval limit = { .tv_sec = SECONDS };
	bool reached;

	d->fd = -2;
	d->dial = start(d, host);
	if (!d->dial)
		return false;
	event_base_loopexit(d->base, &limit);
	event_base_dispatch(d->base);
	rcx_dial_free(d->dial);
	reached = d->fd >= 0;
	if (reached)
		close(d->fd);
	return reached;
}

FIXTURE(dial)
{
	struct dialler d;
};

FIXTURE_SETUP(dial)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);

	self->d.ms = SECONDS * 1000;
	self->d.base = event_base_new();
	self->d.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ASSERT_EQ(0, bind(self->d.listener, (struct sockaddr *)&addr, len));
	ASSERT_EQ(0, listen(self->d.listener, 16));
	ASSERT_EQ(0, getsockname(self->d.listener, (struct sockaddr *)&addr,
				 &len));
	self->d.port = ntohs(addr.sin_port);
}

FIXTURE_TEARDOWN(dial)
{
	close(self->d.listener);
	event_base_free(self->d.base);
}

TEST_F(dial, an_address_and_a_name_are_reached)
{
	EXPECT_TRUE(reaches(&self->d, "127.0.0.1")) TH_LOG("%s", self->d.err);
	EXPECT_TRUE(reaches(&self->d, LOCAL)) TH_LOG("%s", self->d.err);
}

TEST_F(dial, a_name_that_is_not_there_is_told)
{
	EXPECT_FALSE(reaches(&self->d, "nosuch.example"));
	EXPECT_EQ(-1, self->d.fd);
	EXPECT_NE(NULL, strstr(self->d.err, "address of nosuch.example: "))
		TH_LOG("%s", self->d.err);
}

TEST_F(dial, lookups_that_hang_are_not_begun_for_ever)
{
	unsigned int i;

	/* Nobody waits for these lookups any more, but they are still there. */
	for (i = 0; i < MOST; i++) {
		self->d.dial = start(&self->d, HANGS);
		ASSERT_NE(NULL, self->d.dial) TH_LOG("%u: %s", i, self->d.err);
		rcx_dial_free(self->d.dial);
	}
	wait_for(MOST);
	for (i = 0; i < MOST; i++) {
		ASSERT_EQ(NULL, start(&self->d, HANGS));
		EXPECT_NE(NULL, strstr(self->d.err, "check the name servers"));
	}
	EXPECT_FALSE(reaches(&self->d, LOCAL));
	EXPECT_EQ(MOST, begun);
	/* An address needs no lookup. */
	EXPECT_TRUE(reaches(&self->d, "127.0.0.1")) TH_LOG("%s", self->d.err);
	let_go();
	for (i = 0; i < SECONDS * 10 && !reaches(&self->d, LOCAL); i++)
		usleep(100000);
	EXPECT_NE(SECONDS * 10, i) TH_LOG("%s", self->d.err);
}

/* A listener whose queue is full is as silent as a host that is off. */
TEST_F_TIMEOUT(dial, a_host_with_many_dead_addresses_is_reached, 60)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int silent, waiting[4];
	size_t i;

	addr.sin_port = htons(self->d.port);
	inet_pton(AF_INET, SILENT, &addr.sin_addr);
	silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_EQ(0, bind(silent, (struct sockaddr *)&addr, sizeof(addr)));
	ASSERT_EQ(0, listen(silent, 0));
	for (i = 0; i < NUM(waiting); i++) {
		waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK |
				    SOCK_CLOEXEC, 0);
		connect(waiting[i], (struct sockaddr *)&addr, sizeof(addr));
	}
	EXPECT_TRUE(reaches(&self->d, MANY)) TH_LOG("%s", self->d.err);
	/* The address that was reached was none of the silent ones. */
	EXPECT_FALSE(reaches(&self->d, SILENT));
	for (i = 0; i < NUM(waiting); i++)
		close(waiting[i]);
	close(silent);
}

TEST_F(dial, a_lookup_that_hangs_is_what_timed_out)
{
	self->d.ms = 300;
	EXPECT_FALSE(reaches(&self->d, HANGS));
	EXPECT_EQ(-1, self->d.fd);
	EXPECT_NE(NULL, strstr(self->d.err,
			       "timed out looking up the address of " HANGS))
		TH_LOG("%s", self->d.err);
	let_go();
}

/* The answer, and then the host's, are there before they are looked for. */
TEST_F(dial, who_comes_late_to_what_is_there_has_it)
{
	self->d.ms = 30;
	self->d.fd = -2;
	self->d.dial = start(&self->d, "127.0.0.1");
	ASSERT_NE(NULL, self->d.dial);
	usleep(50000);
	event_base_dispatch(self->d.base);
	rcx_dial_free(self->d.dial);
	EXPECT_LE(0, self->d.fd) TH_LOG("%s", self->d.err);
	if (self->d.fd >= 0)
		close(self->d.fd);
}

TEST_F(dial, who_gives_up_an_address_leaves_nothing)
{
	self->d.dial = start(&self->d, "127.0.0.1");
	ASSERT_NE(NULL, self->d.dial);
	rcx_dial_free(self->d.dial);
}

TEST_HARNESS_MAIN
