// SPDX-License-Identifier: GPL-2.0
/* An exchange with a peer that breaks off or keeps silent (T11). */
#include "exchange_lib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ident.h"

#include <kselftest_harness.h>

FIXTURE(cut)
{
	struct world w;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(cut)
{
	scratch_enter();
	ASSERT_EQ(0, rcx_ident_generate("a", self->err));
	ASSERT_EQ(0, rcx_ident_generate("b", self->err));
	world_open_pinned(&self->w, true);
}

FIXTURE_TEARDOWN(cut)
{
	world_close(&self->w);
	scratch_leave();
}

/*
 * A silent peer gives up by itself after 10 s: then the error would tell of
 * that. A reset may be told by an errno instead of the advice.
 */
static bool says_why(const char *err, enum how how)
{
	if (how == SILENCE)
		return strstr(err, "timed out");
	return strstr(err, "closed the connection while") ||
	       strstr(err, "timed out") || strstr(err, "the connection broke");
}

static bool try_cut(struct world *w, bool server, const struct cut *cut)
{
	struct raw r = { .server = server, .arg = cut };
	struct owner *o;

	world_open_pinned(w, false);
	if (cut->how == SILENCE)
		w->timeout_ms = 250;
	o = raw_against(w, &r);
	if (!owner_wrong(o) && o->result < 0 && !w->stuck &&
	    says_why(o->err, cut->how))
		return true;
	printf("# message %u cut at %zu by %d: %s (%s)\n", cut->message,
	       cut->at, cut->how, o->err, owner_wrong(o) ? : "ok");

	return false;
}

/* Cut before the message, after its header, in its middle; or at each byte. */
static size_t next_cut(size_t at, size_t len, bool at_each)
{
	if (at_each)
		return at + 1;
	return at < RCX_HEADER_LEN ? RCX_HEADER_LEN :
	       at < len / 2 + 1 ? len / 2 + 1 : len;
}

static int cut_all(struct world *w, bool server, enum how how, bool at_each)
{
	const uint32_t *says = server ? server_says : client_says;
	struct raw r = { .server = server };
	uint8_t buf[RCX_MSG_MAX];
	size_t len, m;
	int bad = 0;

	for (m = 0; m < (server ? SERVER_SAYS : CLIENT_SAYS); m++) {
		struct cut cut = { .message = says[m], .how = how };

		len = raw_build(&r, says[m], buf);
		for (cut.at = 0; cut.at < len;
		     cut.at = next_cut(cut.at, len, at_each))
			bad += !try_cut(w, server, &cut);
	}

	return bad;
}

TEST_F_TIMEOUT(cut, T11_fin_at_every_byte_of_every_message, 120)
{
	EXPECT_EQ(0, cut_all(&self->w, true, FIN, true));
	EXPECT_EQ(0, cut_all(&self->w, false, FIN, true));
}

TEST_F_TIMEOUT(cut, T11_fin_without_tls_close, 60)
{
	EXPECT_EQ(0, cut_all(&self->w, true, RUDE_FIN, false));
	EXPECT_EQ(0, cut_all(&self->w, false, RUDE_FIN, false));
}

TEST_F_TIMEOUT(cut, T11_reset_at_every_byte_of_every_message, 120)
{
	EXPECT_EQ(0, cut_all(&self->w, true, RESET, true));
	EXPECT_EQ(0, cut_all(&self->w, false, RESET, true));
}

TEST_F_TIMEOUT(cut, T11_silence, 60)
{
	EXPECT_EQ(0, cut_all(&self->w, true, SILENCE, false));
	EXPECT_EQ(0, cut_all(&self->w, false, SILENCE, false));
}

TEST_F(cut, T11_silence_before_and_in_the_handshake)
{
	struct owner *o = &self->w.dialler;

	/* The kernel accepts the connection, nobody answers on it. */
	self->w.timeout_ms = 200;
	ASSERT_TRUE(world_dial(&self->w));
	world_run(&self->w);
	EXPECT_EQ(-ETIMEDOUT, o->result);
	SAYS("timed out in the TLS handshake", o->err);
	HOLDS(o);
}

TEST_HARNESS_MAIN
