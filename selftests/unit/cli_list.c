// SPDX-License-Identifier: GPL-2.0
/* Lists of entries that come and go meanwhile; dumps are made here. */
#include "list.h"

#include <errno.h>
#include <stdlib.h>

#include <kselftest_harness.h>

#define THERE	3	/* entries in each dump */

static int asked, torn;	/* dumps made; the first @torn are torn */
static int held;	/* what get() allocated */

struct one {
	void *has;
};

struct nl_msg *rcl_nl_msg(const struct rcl_nl *nl, uint8_t cmd, int flags,
			  char *err)
{
	/* Any address will do: nobody looks at the message. */
	return (struct nl_msg *)&asked;
}

int rcl_nl_request(struct rcl_nl *nl, struct nl_msg *msg, int put,
		   const struct rcl_nl_names *names, rcl_nl_fn *fn, void *arg,
		   char *err)
{
	int i, ret;

	asked++;
	for (i = 0; i < THERE; i++) {
		ret = fn(NULL, arg);
		if (ret)
			return ret;
	}
	return asked <= torn ? -EAGAIN : 0;
}

static int get(const struct nlmsghdr *hdr, void *arg)
{
	struct one *one = arg;

	one->has = malloc(1);
	held++;
	return 0;
}

static void drop(void *arg)
{
	struct one *one = arg;

	free(one->has);
	held--;
}

static const struct rcl_list_kind numbered = {
	.size = sizeof(struct one),
	.numbered = true,
	.get = get,
	.drop = drop,
};

static const struct rcl_list_kind counted = {
	.size = sizeof(struct one),
	.get = get,
	.drop = drop,
};

FIXTURE(list)
{
	struct rcl_list list;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(list)
{
	asked = 0;
	torn = 0;
	held = 0;
}

FIXTURE_TEARDOWN(list)
{
	rcl_list_clear(&self->list);
	EXPECT_EQ(0, held);
}

TEST_F(list, one_that_was_torn_is_asked_for_again)
{
	torn = 2;
	self->list.kind = &counted;
	EXPECT_EQ(0, rcl_list_ask(&self->list, NULL, NULL, self->err));
	EXPECT_EQ(3, asked);
	EXPECT_EQ(THERE, self->list.num);
	EXPECT_EQ(THERE, held);
}

TEST_F(list, of_what_is_numbered_one_that_is_always_torn_will_do)
{
	torn = 1000;
	self->list.kind = &numbered;
	EXPECT_EQ(0, rcl_list_ask(&self->list, NULL, NULL, self->err));
	EXPECT_GT(asked, 1);
	EXPECT_EQ(THERE, self->list.num);
}

TEST_F(list, of_anything_else_there_is_none_then)
{
	torn = 1000;
	self->list.kind = &counted;
	EXPECT_EQ(-EAGAIN,
		  rcl_list_ask(&self->list, NULL, NULL, self->err));
	EXPECT_LT(asked, 1000);
	EXPECT_EQ(0, self->list.num);
	EXPECT_EQ(0, held);
}

TEST_HARNESS_MAIN
