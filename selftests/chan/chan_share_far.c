// SPDX-License-Identifier: GPL-2.0
/*
 * Two links, l and m, to another host. A process there takes the channels of l
 * and exports its memory to all links; another process takes those of m.
 */
#include <errno.h>
#include <string.h>

#include "far.h"
#include "harness.h"
#include "near.h"

#define AT		(512 << 10)
#define REMOTE_ACCESS	10	/* of enum ib_wc_status */

FIXTURE(links)
{
	struct near l, m;
	struct rclink_remote over_l, over_m;
};

static int begin(struct near *n, const char *link)
{
	struct rclink_chan *chan;
	int ret = rclink_connect(&chan, link, FAR_SERVICE,
				 RCLINK_CONNECT_WAIT);

	return ret ? ret : near_greet(n, chan);
}

FIXTURE_SETUP(links)
{
	ASSERT_EQ(0, begin(&self->l, "l"));
	ASSERT_EQ(0, begin(&self->m, "m"));
	ASSERT_EQ(0, near_tells(&self->l, (struct order) {
		.what = FAR_SHARE,
	}));
	ASSERT_EQ(0, rclink_import(self->l.chan, FAR_ALL, &self->over_l));
	ASSERT_EQ(0, rclink_import(self->m.chan, FAR_ALL, &self->over_m));
}

FIXTURE_TEARDOWN(links)
{
	rclink_close(self->l.chan);
	rclink_close(self->m.chan);
}

static int write_over(struct near *n, const struct rclink_remote *to,
		      uint32_t seed, struct rclink_dev_cqe *cqe)
{
	int ret;

	far_fill(n->memory, seed, NEAR_SIZE);
	ret = rclink_write(n->chan, rclink_piece(n->region, 0, NEAR_SIZE), to,
			   AT, RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = near_next(n, cqe);
	return ret ? ret : cqe->status ? -EREMOTEIO : 0;
}

static int read_over(struct near *n, const struct rclink_remote *from,
		     uint32_t seed)
{
	struct rclink_dev_cqe cqe;
	int ret;

	memset(n->memory, 0, NEAR_SIZE);
	ret = rclink_read(n->chan, rclink_piece(n->region, 0, NEAR_SIZE), from,
			  AT, RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = near_next(n, &cqe);
	return ret ? ret : cqe.status ? -EREMOTEIO :
			   far_is(n->memory, seed, NEAR_SIZE) ? 0 : -EILSEQ;
}

static int add_over(struct near *n, const struct rclink_remote *to,
		    uint64_t add)
{
	struct rclink_dev_cqe cqe;
	int ret = rclink_fadd(n->chan, rclink_piece(n->region, 0, 8), to, AT,
			      add, RCLINK_SQE_SIGNALED, 0);

	if (!ret)
		ret = near_next(n, &cqe);
	return ret ? ret : cqe.status ? -EREMOTEIO : 0;
}

/* Tell the owner of the region, over l, to do @what. */
static int tells_owner(struct _test_data_links *self, uint32_t what,
		       uint32_t seed)
{
	return near_tells(&self->l, (struct order) {
		.what = what, .size = NEAR_SIZE, .offset = AT, .seed = seed,
	});
}

TEST_F(links, both_ends_see_what_goes_over_either)
{
	struct rclink_dev_cqe cqe;

	ASSERT_EQ(FAR_MEMORY, self->over_l.len);
	ASSERT_EQ(FAR_MEMORY, self->over_m.len);
	ASSERT_EQ(0, write_over(&self->m, &self->over_m, 1, &cqe));
	EXPECT_EQ(0, tells_owner(self, FAR_CHECK, 1));
	EXPECT_EQ(0, read_over(&self->l, &self->over_l, 1));
	ASSERT_EQ(0, write_over(&self->l, &self->over_l, 2, &cqe));
	EXPECT_EQ(0, tells_owner(self, FAR_CHECK, 2));
	EXPECT_EQ(0, read_over(&self->m, &self->over_m, 2));
	ASSERT_EQ(0, tells_owner(self, FAR_FILL, 3));
	EXPECT_EQ(0, read_over(&self->m, &self->over_m, 3));
	EXPECT_EQ(0, read_over(&self->l, &self->over_l, 3));
}

TEST_F(links, atomics_over_both_add_up)
{
	struct order order = { .what = FAR_POKE, .offset = AT };
	struct answer answer;
	int i;

	ASSERT_EQ(0, near_tells(&self->l, order));
	for (i = 1; i <= 10; i++) {
		ASSERT_EQ(0, add_over(&self->l, &self->over_l, i));
		ASSERT_EQ(0, add_over(&self->m, &self->over_m, 100 * i));
	}
	order.what = FAR_PEEK;
	ASSERT_EQ(0, near_listens(&self->l));
	ASSERT_EQ(0, rclink_send(self->l.chan,
				 rclink_bytes(&order, sizeof(order)), 0, 0));
	ASSERT_EQ(0, near_hears(&self->l, &answer));
	EXPECT_EQ(55 + 5500, answer.value);
}

TEST_F(links, when_it_is_withdrawn_the_other_link_reaches_nothing)
{
	struct rclink_dev_cqe cqe = { .status = 0 };
	struct rclink_remote none;

	ASSERT_EQ(0, write_over(&self->m, &self->over_m, 4, &cqe));
	ASSERT_EQ(0, tells_owner(self, FAR_UNSHARE, 0));
	EXPECT_EQ(-ENOENT, rclink_import(self->m.chan, FAR_ALL, &none));
	EXPECT_EQ(-ENOENT, rclink_import(self->l.chan, FAR_ALL, &none));
	EXPECT_EQ(-EREMOTEIO, write_over(&self->m, &self->over_m, 5, &cqe));
	EXPECT_EQ(REMOTE_ACCESS, cqe.status);
	EXPECT_EQ(0, tells_owner(self, FAR_CHECK, 4));
	/* The channel that failed was not the owner's. */
	EXPECT_EQ(0, near_moves(&self->l, 6));
}

/* This test must be the last: it kills the owner. */
TEST_F(links, when_its_owner_is_killed_the_other_link_reaches_nothing)
{
	struct rclink_dev_cqe cqe = { .status = 0 };
	struct rclink_remote none;

	ASSERT_EQ(0, write_over(&self->m, &self->over_m, 7, &cqe));
	EXPECT_EQ(-EREMOTEIO, tells_owner(self, FAR_DIE, 0));
	while (!rclink_import(self->m.chan, FAR_ALL, &none))
		rclink_release(self->m.chan, &none);
	EXPECT_EQ(-EREMOTEIO, write_over(&self->m, &self->over_m, 8, &cqe));
	EXPECT_EQ(REMOTE_ACCESS, cqe.status);
}

TEST_HARNESS_MAIN
