// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer that breaks off, never gets to the point, or reads nothing may
 * take of this process: time, up to a limit, and next to no processor.
 */
#include "exchange_lib.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

#include "ident.h"
#include "process.h"

#include <kselftest_harness.h>

FIXTURE(load)
{
	struct world w;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(load)
{
	scratch_enter();
	ASSERT_EQ(0, rcx_ident_generate("a", self->err));
	ASSERT_EQ(0, rcx_ident_generate("b", self->err));
	world_open_pinned(&self->w, true);
}

FIXTURE_TEARDOWN(load)
{
	world_close(&self->w);
	scratch_leave();
}

/* Send all that the other end needs to connect its QPs, then reset. */
static void reset_early(struct raw *r)
{
	if (!r->server)
		raw_recv(r);
	raw_say(r, r->server ? RCX_MSG_WELCOME : RCX_MSG_OFFER);
	raw_recv(r);
	if (r->server)
		raw_say(r, RCX_MSG_ANSWER);
	raw_say(r, RCX_MSG_ENDPOINT);
	raw_reset(r);
}

TEST_F(load, a_peer_that_is_gone_meanwhile_keeps_nobody_busy)
{
	unsigned int server;

	for (server = 0; server < 2; server++) {
		struct raw r = { .server = server, .script = reset_early };
		struct owner *o = server ? &self->w.dialler :
					   &self->w.listener_end;
		clock_t begin = clock();

		o->prepare_ms = 200;
		o->late_ms = 700;
		raw_against(&self->w, &r);
		HOLDS(o);
		EXPECT_EQ(1, o->connects);
		EXPECT_EQ(1, o->aborts);
		SAYS("the connection broke", o->err);
		/* The process slept. */
		EXPECT_GT(CLOCKS_PER_SEC * 35 / 100, clock() - begin);
		world_open_pinned(&self->w, false);
	}
}

/* Always send something to read, but never a message. */
static void update_keys(struct raw *r)
{
	BIO *mem = BIO_new(BIO_s_mem());
	ssize_t len, sent;
	char *data;
	int i;

	/* Many at a time, to be faster than the reader */
	SSL_set0_wbio(r->ssl, mem);
	do {
		for (i = 0; i < 1000; i++) {
			SSL_key_update(r->ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
			SSL_do_handshake(r->ssl);
		}
		len = BIO_get_mem_data(mem, &data);
		sent = send(r->fd, data, len, MSG_NOSIGNAL);
		BIO_reset(mem);
	} while (sent == len);
}

TEST_F(load, who_keeps_it_busy_is_out_of_time_all_the_same)
{
	struct raw r = {
		.world = &self->w,
		.key_file = "a",
		.script = update_keys,
	};
	struct owner *o = &self->w.listener_end;

	self->w.timeout_ms = 3000;
	world_listen(&self->w);
	raw_start(&r);
	world_run(&self->w);
	raw_join(&r);
	HOLDS(o);
	EXPECT_FALSE(self->w.stuck);
	EXPECT_EQ(-ETIMEDOUT, o->result);
	SAYS("timed out waiting for OFFER", o->err);
}

static clockid_t loop_clock;		/* of the loop's processor time */
static struct timespec loop_silent;	/* when nothing is sent any more */

/* Demand answers, and read none, until neither end can write any more. */
static void demand_keys(struct raw *r)
{
	struct pollfd fd = { .fd = r->fd, .events = POLLOUT };
	uint64_t wrote = rcl_now();
	int ret = 1;

	fcntl(r->fd, F_SETFL, O_NONBLOCK);
	do {
		if (ret == 1)
			SSL_key_update(r->ssl, SSL_KEY_UPDATE_REQUESTED);
		ret = SSL_do_handshake(r->ssl);
		if (ret == 1)
			wrote = rcl_now();
		else
			poll(&fd, 1, 10);
	} while (ret == 1 ||
		 (SSL_get_error(r->ssl, ret) == SSL_ERROR_WANT_WRITE &&
		  rcl_now() - wrote < 300 * NS_PER_MS));
	if (SSL_get_error(r->ssl, ret) == SSL_ERROR_WANT_WRITE)
		clock_gettime(loop_clock, &loop_silent);
	fd.events = POLLRDHUP;
	poll(&fd, 1, 30000);
}

TEST_F(load, who_reads_no_answer_keeps_nobody_busy)
{
	struct raw r = {
		.world = &self->w,
		.key_file = "a",
		.buffers = 4096,
		.script = demand_keys,
	};
	struct owner *o = &self->w.listener_end;
	struct timespec now;

	ASSERT_EQ(0, pthread_getcpuclockid(pthread_self(), &loop_clock));
	self->w.timeout_ms = 9000;
	set_buffers(self->w.listener, r.buffers);
	world_listen(&self->w);
	raw_start(&r);
	world_run(&self->w);
	clock_gettime(loop_clock, &now);
	raw_join(&r);
	HOLDS(o);
	EXPECT_FALSE(self->w.stuck);
	EXPECT_EQ(-ETIMEDOUT, o->result);
	SAYS("timed out waiting for OFFER", o->err);
	ASSERT_NE(0, loop_silent.tv_sec + loop_silent.tv_nsec);
	/* Of seconds: a tenth is plenty for a timer or two. */
	EXPECT_GT(100, (now.tv_sec - loop_silent.tv_sec) * 1000 +
		  (now.tv_nsec - loop_silent.tv_nsec) / 1000000);
}

TEST_HARNESS_MAIN
