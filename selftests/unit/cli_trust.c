// SPDX-License-Identifier: GPL-2.0
/* When the daemon reads its keys again; this is the clock, and what reads. */
#include "trust.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "conf.h"
#include "log.h"
#include "process.h"
#include "tls.h"

#define SECOND	1000000000ULL

static uint64_t now;
static const char *refused;	/* why; NULL: nothing is */
static int keys[16];	/* one after the other */
static unsigned int reads;
static unsigned int errors;	/* in the log */
static unsigned int notices;

uint64_t rcl_now(void)
{
	return now;
}

struct rcx_tls *rcx_tls_new(enum rcx_role role,
			    const struct rcx_tls_config *cfg, char *err)
{
	(void)role;
	(void)cfg;
	reads++;
	if (!refused)
		return (struct rcx_tls *)&keys[reads];
	rcl_fail(err, -EINVAL, "%s", refused);
	return NULL;
}

void rcx_tls_free(struct rcx_tls *tls)
{
	(void)tls;
}

struct rcx_tls *rcx_tls_hold(struct rcx_tls *tls)
{
	return tls;
}

int rcx_tls_self(const struct rcx_tls *tls, char *self, char *err)
{
	(void)tls;
	(void)err;
	strcpy(self, "self");
	return 0;
}

void rcd_log(int priority, const char *fmt, ...)
{
	(void)fmt;
	errors += priority == LOG_ERR;
	notices += priority == LOG_NOTICE;
}

FIXTURE(trust)
{
	struct rcd_conf conf;
	struct rcd_trust *trust;
	struct rcx_tls *old;
};

static void write_key(const char *file, const char *text)
{
	FILE *to = fopen(file, "a");

	fputs(text, to);
	fclose(to);
}

FIXTURE_SETUP(trust)
{
	char err[RCL_ERR_LEN];
	int fd;

	now = 100 * SECOND;
	refused = NULL;
	reads = 0;
	errors = 0;
	notices = 0;
	memset(&self->conf, 0, sizeof(self->conf));
	strcpy(self->conf.key, "/tmp/cli_trust.XXXXXX");
	fd = mkstemp(self->conf.key);
	ASSERT_LE(0, fd);
	close(fd);
	self->trust = rcd_trust_new(&self->conf, NULL, err);
	ASSERT_NE(NULL, self->trust);
	self->old = rcd_trust_answer(self->trust);
	ASSERT_EQ(1, reads);
}

FIXTURE_TEARDOWN(trust)
{
	rcd_trust_free(self->trust);
	unlink(self->conf.key);
}

TEST_F(trust, read_again_when_changed)
{
	write_key(self->conf.key, "new");
	EXPECT_NE(self->old, rcd_trust_answer(self->trust));
	rcd_trust_answer(self->trust);
	EXPECT_EQ(2, reads);
	EXPECT_EQ(1, notices);
	EXPECT_EQ(0, errors);
}

/* No file was left, say. */
TEST_F(trust, what_cannot_be_used_is_tried_again)
{
	refused = "no file is left";
	write_key(self->conf.key, "new");
	EXPECT_EQ(self->old, rcd_trust_answer(self->trust));
	EXPECT_EQ(2, reads);
	refused = NULL;
	now += SECOND - 1;
	EXPECT_EQ(self->old, rcd_trust_answer(self->trust));
	EXPECT_EQ(2, reads);
	now++;
	EXPECT_NE(self->old, rcd_trust_answer(self->trust));
	EXPECT_EQ(3, reads);
	EXPECT_EQ(1, notices);
	now += 10 * SECOND;
	rcd_trust_answer(self->trust);
	EXPECT_EQ(3, reads);
	EXPECT_EQ(1, errors);
}

TEST_F(trust, it_is_said_once)
{
	int i;

	refused = "no file is left";
	write_key(self->conf.key, "new");
	for (i = 0; i < 10; i++) {
		rcd_trust_answer(self->trust);
		now += SECOND;
	}
	EXPECT_EQ(11, reads);
	EXPECT_EQ(1, errors);
	refused = "it is no key";
	rcd_trust_answer(self->trust);
	EXPECT_EQ(2, errors);
}

TEST_F(trust, changed_once_more_it_is_read_at_once)
{
	refused = "it is no key";
	write_key(self->conf.key, "half of ");
	rcd_trust_answer(self->trust);
	EXPECT_EQ(2, reads);
	refused = NULL;
	write_key(self->conf.key, "a key");
	EXPECT_NE(self->old, rcd_trust_answer(self->trust));
	EXPECT_EQ(3, reads);
}

/* Nobody who is half way has to begin again for that. */
TEST_F(trust, read_again_without_a_change_it_is_the_same)
{
	struct rcd_trust *next;
	char err[RCL_ERR_LEN];

	next = rcd_trust_new(&self->conf, self->trust, err);
	ASSERT_NE(NULL, next);
	EXPECT_EQ(2, reads);
	EXPECT_EQ(self->old, rcd_trust_answer(next));
	EXPECT_TRUE(rcd_trust_same(self->trust, next));
	rcd_trust_free(next);
}

TEST_F(trust, read_again_after_a_change_it_is_another)
{
	struct rcd_trust *next;
	char err[RCL_ERR_LEN];

	write_key(self->conf.key, "new");
	next = rcd_trust_new(&self->conf, self->trust, err);
	ASSERT_NE(NULL, next);
	EXPECT_NE(self->old, rcd_trust_answer(next));
	EXPECT_FALSE(rcd_trust_same(self->trust, next));
	rcd_trust_free(next);
}

/* What was dialled before may rest on what was there before. */
TEST_F(trust, what_was_noticed_in_between_is_a_change)
{
	struct rcd_trust *next, *last;
	struct rcx_tls *answer;
	char err[RCL_ERR_LEN];

	write_key(self->conf.key, "new");
	answer = rcd_trust_answer(self->trust);
	next = rcd_trust_new(&self->conf, self->trust, err);
	ASSERT_NE(NULL, next);
	EXPECT_EQ(answer, rcd_trust_answer(next));
	EXPECT_FALSE(rcd_trust_same(self->trust, next));
	last = rcd_trust_new(&self->conf, next, err);
	ASSERT_NE(NULL, last);
	EXPECT_TRUE(rcd_trust_same(next, last));
	rcd_trust_free(last);
	rcd_trust_free(next);
}

/* As when a list is named for the first time. */
TEST_F(trust, another_file_is_a_change)
{
	struct rcd_trust *next;
	char err[RCL_ERR_LEN];

	strcpy(self->conf.cert, self->conf.key);
	next = rcd_trust_new(&self->conf, self->trust, err);
	ASSERT_NE(NULL, next);
	EXPECT_FALSE(rcd_trust_same(self->trust, next));
	rcd_trust_free(next);
}

TEST_HARNESS_MAIN
