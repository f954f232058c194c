// SPDX-License-Identifier: GPL-2.0
/*
 * The conversation with a peer that breaks a rule at any point (T12, T14).
 */
#include "exchange_lib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ident.h"

#include <kselftest_harness.h>

FIXTURE(peer)
{
	struct world w;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(peer)
{
	scratch_enter();
	ASSERT_EQ(0, rcx_ident_generate("a", self->err));
	ASSERT_EQ(0, rcx_ident_generate("b", self->err));
	world_open_pinned(&self->w, true);
}

FIXTURE_TEARDOWN(peer)
{
	world_close(&self->w);
	scratch_leave();
}

TEST_F(peer, the_raw_peer_can_do_it_right)
{
	struct raw server = { .server = true }, client = { 0 };

	HOLDS(raw_against(&self->w, &server));
	EXPECT_EQ(0, self->w.dialler.result) TH_LOG("%s", self->w.dialler.err);
	HOLDS(raw_against(&self->w, &client));
	EXPECT_EQ(0, self->w.listener_end.result)
		TH_LOG("%s", self->w.listener_end.err);
	EXPECT_EQ(0, memcmp(self->w.dialler.key, server.key, RCLINK_KEY_LEN));
	EXPECT_EQ(0, memcmp(self->w.listener_end.key, client.key,
			    RCLINK_KEY_LEN));
}

/* What a rule-breaker sends in place of its first message. */
struct bytes {
	const void *data;
	size_t len;
	size_t repeat;	/* this often */
};

static void send_bytes(struct raw *r)
{
	const struct bytes *b = r->arg;
	size_t i;

	if (!r->server)
		raw_recv(r);
	for (i = 0; i < (b->repeat ? : 1); i++)
		if (!raw_send(r, b->data, b->len))
			break;
	raw_recv(r);
}

/* Return: the error of our end; the peer must have been told the same. */
static const char *breaks(struct world *w, bool server, const void *data,
			  size_t len, size_t repeat)
{
	struct bytes b = { data, len, repeat };
	struct raw r = { .server = server, .script = send_bytes, .arg = &b };
	struct owner *o;

	world_open_pinned(w, false);
	o = raw_against(w, &r);
	if (owner_wrong(o))
		return owner_wrong(o);
	if (o->prepares)
		return "prepared";
	/* A flood may drown the answer in a reset. */
	if (repeat < 2 && (r.got.type != RCX_MSG_ERROR ||
			   strncmp(r.got.text, o->err, RCX_TEXT_MAX)))
		return "the peer was not told";

	return o->err;
}

TEST_F_TIMEOUT(peer, T12_lengths_are_refused_before_the_bytes_come, 60)
{
	static const uint8_t huge[] = { 255, 255, 255, 255, 0, 1, 0, 1 };
	static const uint8_t tiny[] = { 0, 0, 0, 0, 0, 1, 0, 1 };
	static const uint8_t over[] = { 0, 0, 0x40, 1, 0, 1, 0, 1 };
	int server;

	for (server = 0; server < 2; server++) {
		SAYS("4294967295 bytes is not", breaks(&self->w, server, huge,
						       sizeof(huge), 1));
		SAYS("0 bytes is not", breaks(&self->w, server, tiny,
					      sizeof(tiny), 1));
		SAYS("16385 bytes is not", breaks(&self->w, server, over,
						  sizeof(over), 1));
	}
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

TEST_F_TIMEOUT(peer, T12_ten_megabytes_are_refused, 60)
{
	static uint8_t flood[1 << 20] = { 0, 0xa0, 0, 0, 0, 1 };
	long grown[2], before;
	int server, all;

	/* The first two conversations show what a conversation itself takes. */
	for (all = 0; all < 2; all++) {
		before = peak_kib();
		for (server = 0; server < 2; server++)
			SAYS("10485760 bytes is not",
			     breaks(&self->w, server, flood,
				    all ? sizeof(flood) : 1024,
				    all ? 10 : 1));
		grown[all] = peak_kib() - before;
	}
	EXPECT_GE(grown[0] + 4096, grown[1]);
}

TEST_F(peer, T12_a_thousand_unknown_fields_are_refused)
{
	uint8_t buf[RCX_MSG_MAX];
	struct raw r = { 0 };
	size_t len, i;
	int server;

	for (server = 0; server < 2; server++) {
		r.server = server;
		len = raw_build(&r, server ? RCX_MSG_WELCOME : RCX_MSG_OFFER,
				buf);
		for (i = 0; i < 1000; i++, len += 4)
			memcpy(buf + len, "\x00\x63\x00\x00", 4);
		buf[2] = (len - 4) >> 8;
		buf[3] = len - 4;
		SAYS("more than 128 fields", breaks(&self->w, server, buf, len,
						    1));
	}
}

static void one_by_one(struct raw *r)
{
	uint8_t buf[RCX_MSG_MAX];
	size_t len, i, j;

	for (i = 0; i < (r->server ? SERVER_SAYS : CLIENT_SAYS); i++) {
		if (!r->server && !raw_recv(r))
			return;
		len = raw_build(r, r->server ? server_says[i] : client_says[i],
				buf);
		for (j = 0; j < len; j++)
			raw_send(r, buf + j, 1);
		if (r->server && !raw_recv(r))
			return;
	}
	raw_wait(r);
}

TEST_F(peer, T12_segments_of_one_byte_are_put_together)
{
	struct raw server = { .server = true, .script = one_by_one };
	struct raw client = { .script = one_by_one };

	HOLDS(raw_against(&self->w, &server));
	EXPECT_EQ(0, self->w.dialler.result) TH_LOG("%s", self->w.dialler.err);
	HOLDS(raw_against(&self->w, &client));
	EXPECT_EQ(0, self->w.listener_end.result);
}

/* One message from a server, given byte by byte. */
#define SERVER_SENDS(...) ({						\
	static const uint8_t bytes[] = { __VA_ARGS__ };			\
	breaks(&self->w, true, bytes, sizeof(bytes), 1);		\
})

#define CLIENT_SENDS(...) ({						\
	static const uint8_t bytes[] = { __VA_ARGS__ };			\
	breaks(&self->w, false, bytes, sizeof(bytes), 1);		\
})

TEST_F(peer, T14_versions_are_compared_and_both_are_named)
{
	/* WELCOME of versions 3 to 4, even in a layout of version 4. */
	SAYS("initiator speaks protocol versions 2 to 2, the responder 3 to 4",
	     SERVER_SENDS(0, 0, 0, 16, 0, 1, 0, 4, 128, 1, 0, 2, 0, 3,
			  128, 2, 0, 2, 0, 4));
	EXPECT_EQ(-EPROTONOSUPPORT, self->w.dialler.result);
	/* Version 1, which knew no paths. */
	SAYS("initiator speaks protocol versions 2 to 2, the responder 1 to 1",
	     SERVER_SENDS(0, 0, 0, 16, 0, 1, 0, 1, 128, 1, 0, 2, 0, 1,
			  128, 2, 0, 2, 0, 1));
	SAYS("initiator offers protocol version 1, the responder speaks 2 to 2",
	     CLIENT_SENDS(0, 0, 0x20, 0, 0, 2, 0, 1));
	/* OFFER of version 3, of which nothing but the header is read. */
	SAYS("initiator offers protocol version 3, the responder speaks 2 to 2",
	     CLIENT_SENDS(0, 0, 0x20, 0, 0, 2, 0, 3));
	EXPECT_EQ(-EPROTONOSUPPORT, self->w.listener_end.result);
	SAYS("protocol version 0", CLIENT_SENDS(0, 0, 0, 4, 0, 2, 0, 0));
}

TEST_F(peer, T14_a_mandatory_field_of_the_same_version_is_refused)
{
	static const uint8_t field[] = { 0x81, 0, 0, 0 };
	uint8_t buf[RCX_MSG_MAX];
	struct raw r = { 0 };
	int server;
	size_t len;

	for (server = 0; server < 2; server++) {
		r.server = server;
		len = raw_build(&r, server ? RCX_MSG_WELCOME : RCX_MSG_OFFER,
				buf);
		memcpy(buf + len, field, sizeof(field));
		len += sizeof(field);
		buf[2] = (len - 4) >> 8;
		buf[3] = len - 4;
		SAYS("mandatory field 256", breaks(&self->w, server, buf, len,
						   1));
	}
}

TEST_F(peer, T14_garbage_is_refused)
{
	SAYS("mandatory field 256", SERVER_SENDS(0, 0, 0, 20, 0, 1, 0, 1,
						 128, 1, 0, 2, 0, 1,
						 128, 2, 0, 2, 0, 1,
						 129, 0, 0, 0));
	SAYS("OFFER (type 2) came while waiting for WELCOME",
	     SERVER_SENDS(0, 0, 0, 4, 0, 2, 0, 1));
	SAYS("unknown message (type 4660) came while waiting for OFFER",
	     CLIENT_SENDS(0, 0, 0, 4, 0x12, 0x34, 0, 1));
	SAYS("unknown message (type 0)",
	     CLIENT_SENDS(0, 0, 0, 4, 0, 0, 0, 1));
	/* "HTTP" is read as a length. */
	SAYS("bytes is not", CLIENT_SENDS('H', 'T', 'T', 'P', '/', '1', 13,
					  10));
}

static void say_error(struct raw *r)
{
	/* ESC [ 2 J and a line break would paint on a terminal. */
	static const uint8_t error[] = {
		0, 0, 0, 22, 0, 6, 0, 9, 128, 16, 0, 2, 0, 3,
		128, 17, 0, 8, 27, '[', '2', 'J', '\n', 'b', 'y', 'e',
	};

	if (!r->server)
		raw_recv(r);
	raw_send(r, error, sizeof(error));
	raw_wait(r);
}

TEST_F(peer, what_the_peer_says_is_printed_safely)
{
	struct raw server = { .server = true, .script = say_error };
	struct raw client = { .script = say_error };

	EXPECT_STREQ("peer: ?[2J?bye", raw_against(&self->w, &server)->err);
	EXPECT_EQ(-EACCES, self->w.dialler.result);
	EXPECT_STREQ("peer: ?[2J?bye", raw_against(&self->w, &client)->err);
}

static void confirm_other_epoch(struct raw *r)
{
	uint8_t buf[RCX_MSG_MAX];
	size_t len;

	raw_say(r, RCX_MSG_WELCOME);
	raw_recv(r);
	raw_say(r, RCX_MSG_ANSWER);
	raw_recv(r);
	raw_say(r, RCX_MSG_ENDPOINT);
	raw_recv(r);
	len = raw_build(r, RCX_MSG_CONFIRM, buf);
	buf[len - 1]++;
	raw_send(r, buf, len);
	raw_recv(r);
}

TEST_F(peer, another_epoch_in_confirm_is_refused)
{
	struct raw server = { .server = true, .script = confirm_other_epoch };
	struct owner *o = raw_against(&self->w, &server);

	HOLDS(o);
	SAYS("the peer agreed on epoch 10, this end on 9", o->err);
	EXPECT_EQ(0, o->activates);
	EXPECT_EQ(1, o->aborts);
}

static void done_too_early(struct raw *r)
{
	raw_recv(r);
	raw_say(r, RCX_MSG_OFFER);
	raw_recv(r);
	raw_say(r, RCX_MSG_DONE);
	raw_wait(r);
}

static void done_twice(struct raw *r)
{
	raw_recv(r);
	raw_say(r, RCX_MSG_OFFER);
	raw_recv(r);
	raw_say(r, RCX_MSG_ENDPOINT);
	raw_recv(r);
	raw_say(r, RCX_MSG_CONFIRM);
	raw_say(r, RCX_MSG_DONE);
	raw_say(r, RCX_MSG_DONE);
	raw_wait(r);
}

TEST_F(peer, messages_out_of_order_are_refused)
{
	struct raw early = { .script = done_too_early };
	struct raw twice = { .script = done_twice };
	struct owner *o = raw_against(&self->w, &early);

	HOLDS(o);
	SAYS("DONE (type 5) came while waiting for ENDPOINT", o->err);
	EXPECT_EQ(0, o->activates);
	world_open_pinned(&self->w, false);
	o = &self->w.listener_end;
	o->stay_down = true;
	raw_against(&self->w, &twice);
	HOLDS(o);
	SAYS("DONE (type 5) came while waiting for the link", o->err);
}

/* The peer fails each of many paths without trying it. */
static void fail_all(struct raw *r)
{
	raw_recv(r);
	raw_say(r, RCX_MSG_OFFER);
	raw_recv(r);
	while (raw_say(r, RCX_MSG_FAILED) && raw_recv(r))
		r->cut++;
}

static void fail_too_early(struct raw *r)
{
	raw_recv(r);
	raw_say(r, RCX_MSG_FAILED);
	raw_recv(r);
}

static void endpoint_elsewhere(struct raw *r)
{
	uint8_t buf[RCX_MSG_MAX];
	size_t len;

	raw_recv(r);
	raw_say(r, RCX_MSG_OFFER);
	raw_recv(r);
	len = raw_build(r, RCX_MSG_ENDPOINT, buf);
	/* The last byte of the GID, which is the second field. */
	buf[8 + 5 + 4 + 15]++;
	raw_send(r, buf, len);
	raw_recv(r);
	raw_recv(r);
}

TEST_F(peer, a_path_is_tried_once_and_only_one_is_prepared)
{
	struct raw client = { .script = fail_all };
	struct owner *o = &self->w.listener_end;
	unsigned int i;

	/* Eight here and one there. */
	o->paths.num = RCX_PATHS_MAX;
	for (i = 0; i < RCX_PATHS_MAX; i++) {
		o->paths.path[i] = path_make("192.0.2.2");
		o->paths.path[i].gid[15] += i;
	}
	raw_against(&self->w, &client);
	HOLDS(o);
	EXPECT_GT(0, o->result);
	EXPECT_EQ(RCX_TRIES_MAX, o->prepares);
	EXPECT_EQ(RCX_TRIES_MAX, o->aborts);
	EXPECT_EQ(RCX_TRIES_MAX, o->failed);
	SAYS("no path to the peer works: ", o->err);
	SAYS("192.0.2.2 to 192.0.2.1: peer: so it is; ", o->err);
	SAYS("192.0.2.5 to 192.0.2.1: the same", o->err);
}

/* All messages that may be under way to an end that gave this path up. */
static void say_path(struct raw *r)
{
	raw_say(r, RCX_MSG_ENDPOINT);
	raw_say(r, RCX_MSG_CONFIRM);
	raw_say(r, RCX_MSG_DONE);
}

static void cross(struct raw *r)
{
	raw_recv(r);
	raw_say(r, RCX_MSG_OFFER);
	raw_recv(r);
	while (r->cut-- && raw_recv(r)) {
		say_path(r);
		raw_say(r, RCX_MSG_FAILED);
	}
	raw_wait(r);
}

static void flood(struct raw *r)
{
	raw_recv(r);
	raw_say(r, RCX_MSG_OFFER);
	say_path(r);
	while (r->cut-- && raw_say(r, r->how))
		;
	raw_wait(r);
}

/* Against an end with three paths, two of which fail at once. */
static struct owner *against_two_bad(struct world *w, struct raw *r)
{
	struct owner *o = &w->listener_end;
	unsigned int i;

	world_open_pinned(w, false);
	w->timeout_ms = 5000;
	o->paths.num = 3;
	for (i = 0; i < 3; i++) {
		o->paths.path[i] = path_make("192.0.2.2");
		o->paths.path[i].gid[15] += i;
	}
	o->fail_at = AT_PREPARE;
	o->bad_paths = 2;

	return raw_against(w, r);
}

TEST_F(peer, what_comes_for_a_path_that_was_given_up_comes_once)
{
	static const uint32_t types[] = {
		RCX_MSG_ENDPOINT, RCX_MSG_CONFIRM, RCX_MSG_DONE
	};
	struct raw honest = { .script = cross, .cut = 2 };
	struct owner *o = against_two_bad(&self->w, &honest);
	unsigned int i;

	HOLDS(o);
	SAYS("timed out waiting for ENDPOINT", o->err);
	EXPECT_EQ(2, o->failed);
	EXPECT_EQ(1, o->prepares);
	for (i = 0; i < 3; i++) {
		struct raw r = {
			.script = flood,
			.cut = 9999,
			.how = types[i],
		};

		o = against_two_bad(&self->w, &r);
		HOLDS(o);
		SAYS("came twice for one path", o->err);
		EXPECT_EQ(1, o->failed);
	}
}

TEST_F(peer, what_is_no_matter_of_a_path_is_refused)
{
	struct raw early = { .script = fail_too_early };
	struct raw elsewhere = { .script = endpoint_elsewhere };
	struct owner *o = raw_against(&self->w, &early);

	HOLDS(o);
	SAYS("FAILED (type 8) came while waiting for OFFER", o->err);
	world_open_pinned(&self->w, false);
	o = raw_against(&self->w, &elsewhere);
	HOLDS(o);
	SAYS("ENDPOINT is not on the path that is tried", o->err);
	EXPECT_EQ(0, o->connects);
	EXPECT_EQ(1, o->aborts);
}

TEST_F(peer, a_peer_without_tls_is_named)
{
	struct owner *o = &self->w.listener_end;
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int fd;

	world_listen(&self->w);
	getsockname(self->w.listener, (struct sockaddr *)&addr, &len);
	fd = socket(addr.ss_family, SOCK_STREAM, 0);
	ASSERT_EQ(0, connect(fd, (struct sockaddr *)&addr, len));
	ASSERT_EQ(18, write(fd, "GET / HTTP/1.1\r\n\r\n", 18));
	shutdown(fd, SHUT_WR);
	world_run(&self->w);
	close(fd);
	HOLDS(o);
	SAYS("does not speak TLS", o->err);
}

TEST_HARNESS_MAIN
