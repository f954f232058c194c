// SPDX-License-Identifier: GPL-2.0
/*
 * When the daemon reads its keys again, and which of two ends goes first. The
 * clock and the functions that read keys are fakes.
 */
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
static const char *refused;	/* why keys are refused; NULL: they are not */
static const char *shown;	/* identity that this host shows to a peer */
static int keys[64];	/* one for each time they are read */
static unsigned int reads;
static const struct rcx_tls *dials;	/* keys last used to dial */
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
	errno = EMFILE;
	return NULL;
}

struct rcx_tls *rcx_tls_dial(struct rcx_tls *own, const char *pin,
			     const char *name, char *err)
{
	(void)pin;
	(void)name;
	(void)err;
	dials = own;
	return own;
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
	strcpy(self, shown);
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
	shown = "self";
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

TEST_F(trust, what_was_read_to_answer_dials)
{
	const struct rcd_link_conf link = { .name = "l" };
	char err[RCL_ERR_LEN];

	EXPECT_NE(NULL, rcd_trust_dial(self->trust, &link, err));
	EXPECT_EQ(self->old, dials);
	EXPECT_EQ(1, reads);
	refused = "half of it is not there yet";
	write_key(self->conf.key, "new");
	EXPECT_NE(NULL, rcd_trust_dial(self->trust, &link, err));
	EXPECT_EQ(self->old, dials);
	EXPECT_EQ(1, errors);
	refused = NULL;
	now += SECOND;
	EXPECT_NE(NULL, rcd_trust_dial(self->trust, &link, err));
	EXPECT_NE(self->old, dials);
	EXPECT_EQ(rcd_trust_answer(self->trust), dials);
	EXPECT_EQ(3, reads);
}

/* For example because there is no free file descriptor. */
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

TEST_F(trust, what_goes_again_is_said_again)
{
	int i;

	for (i = 1; i <= 2; i++) {
		refused = "it does not exist";
		unlink(self->conf.key);
		now += SECOND;
		rcd_trust_answer(self->trust);
		EXPECT_EQ(i, errors);
		refused = NULL;
		write_key(self->conf.key, "back");
		rcd_trust_answer(self->trust);
		EXPECT_EQ(i, notices);
	}
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

/* So no exchange under way has to begin again. */
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

/* An exchange that began before may rest on the old keys. */
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

/* As when a file is configured for the first time. */
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

/* Does an end with identity @self go first if its peer is @other? */
static bool goes_first(const struct rcd_conf *conf, const char *self,
		       const char *other)
{
	char err[RCL_ERR_LEN];
	struct rcd_trust *t;
	bool first;

	shown = self;
	t = rcd_trust_new(conf, NULL, err);
	if (!t)
		abort();
	first = rcd_trust_goes_first(t, other);
	rcd_trust_free(t);
	return first;
}

/* Base64 has letters of both cases, and they are not the same. */
TEST_F(trust, of_two_pins_the_smaller_goes_first)
{
	static const struct {
		const char *smaller, *larger;
	} pins[] = {
		{ "sha256:AZ67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=",
		  "sha256:BZ67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=" },
		{ "sha256:QZ67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=",
		  "sha256:QZ67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyd=" },
		{ "sha256:Zb67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=",
		  "sha256:aA67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=" },
		{ "sha256:qZ67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=",
		  "sha256:qz67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=" },
		{ "sha256:+z67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=",
		  "sha256:/a67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=" },
	};
	size_t i;

	for (i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
		EXPECT_TRUE(goes_first(&self->conf, pins[i].smaller,
				       pins[i].larger))
			TH_LOG("%s", pins[i].smaller);
		EXPECT_FALSE(goes_first(&self->conf, pins[i].larger,
					pins[i].smaller))
			TH_LOG("%s", pins[i].larger);
	}
}

/* Names are compared in lower case, however either end writes them. */
TEST_F(trust, of_two_names_the_smaller_goes_first_whatever_the_case)
{
	static const struct {
		const char *smaller, *larger;
	} names[] = {
		{ "a.example", "b.example" },
		{ "a.example", "B.example" },
		{ "A.example", "b.example" },
		{ "host.Example", "host.example.org" },
		{ "host1.example", "HOST2.EXAMPLE" },
		{ "HOST1.example", "host2.EXAMPLE" },
		{ "a_b.example", "aB.example" },
	};
	size_t i;

	strcpy(self->conf.ca, "ca.pem");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		EXPECT_TRUE(goes_first(&self->conf, names[i].smaller,
				       names[i].larger))
			TH_LOG("%s", names[i].smaller);
		EXPECT_FALSE(goes_first(&self->conf, names[i].larger,
					names[i].smaller))
			TH_LOG("%s", names[i].larger);
	}
}

/* Then both ends give up their own exchange, and the next to dial goes on. */
TEST_F(trust, who_is_the_same_does_not_go_first)
{
	const char *pin = "sha256:AZ67CuqKxLTaRsiJdBtYXAxMXpfhsiBPtNPzqBzMmyc=";

	EXPECT_FALSE(goes_first(&self->conf, pin, pin));
	strcpy(self->conf.ca, "ca.pem");
	EXPECT_FALSE(goes_first(&self->conf, "a.example", "a.example"));
	EXPECT_FALSE(goes_first(&self->conf, "A.example", "a.Example"));
	EXPECT_FALSE(goes_first(&self->conf, "a.Example", "A.example"));
}

/* Whoever starts the daemon again must know whether that may help. */
TEST_F(trust, why_it_is_not_there_is_told)
{
	char err[RCL_ERR_LEN];

	refused = "no more files";
	EXPECT_EQ(NULL, rcd_trust_new(&self->conf, NULL, err));
	EXPECT_EQ(EMFILE, errno);
}

TEST_HARNESS_MAIN
