// SPDX-License-Identifier: GPL-2.0
/* Lists of entries that come and go meanwhile; dumps are made here. */
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#define THERE	3	/* entries in each dump */

static int asked, torn;	/* dumps made; the first @torn are torn */
static int held;	/* what get() allocated */
static char names[THERE];	/* of the entries */

struct one {
	void *has;
	unsigned int number;
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
	struct nlmsghdr hdr;
	int i, ret;

	asked++;
	for (i = 0; i < THERE; i++) {
		hdr.nlmsg_seq = i;
		ret = fn(&hdr, arg);
		if (ret)
			return ret;
	}
	return asked <= torn ? -EAGAIN : 0;
}

static int get(const struct nlmsghdr *hdr, void *arg)
{
	struct one *one = arg;

	one->has = malloc(1);
	one->number = hdr->nlmsg_seq;
	held++;
	return 0;
}

static bool same(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return names[x->number] == names[y->number];
}

static void drop(void *arg)
{
	struct one *one = arg;

	free(one->has);
	held--;
}

static const struct rcl_list_kind numbered = {
	.size = sizeof(struct one),
	.same = same,
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
	memcpy(names, "abc", THERE);
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

static unsigned int number(const struct rcl_list *list, size_t i)
{
	return ((const struct one *)list->infos)[i].number;
}

/* One was deleted and made again between two parts of the dump. */
TEST_F(list, it_has_no_name_twice_then)
{
	torn = 1000;
	memcpy(names, "aba", THERE);
	self->list.kind = &numbered;
	EXPECT_EQ(0, rcl_list_ask(&self->list, NULL, NULL, self->err));
	ASSERT_EQ(2, self->list.num);
	EXPECT_EQ(1, number(&self->list, 0));
	EXPECT_EQ(2, number(&self->list, 1));
	EXPECT_EQ(2, held);
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
