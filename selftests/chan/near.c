// SPDX-License-Identifier: GPL-2.0
#include "near.h"

#include "common.h"
#include "far.h"
#include "slow.h"

#define PAGE		4096
#define LEN		(4 * PAGE)	/* the data, then a page of answers */
#define ANSWERS		(3 * PAGE)
#define TIMEOUT_MS	20000

int near_next(struct near *n, struct rclink_dev_cqe *cqe)
{
	int ret = rclink_submit(n->chan, 1, slow(TIMEOUT_MS));

	if (rclink_reap(n->chan, cqe, 1) != 1)
		return ret < 0 ? ret : -EIO;
	return 0;
}

/* Take the next completion, which must be a success. */
static int completes(struct near *n)
{
	struct rclink_dev_cqe cqe;
	int ret = near_next(n, &cqe);

	return ret ? ret : cqe.status ? -EREMOTEIO : 0;
}

int near_listens(struct near *n)
{
	return rclink_recv(n->chan, rclink_piece(n->region, ANSWERS,
						 sizeof(struct answer)), 0);
}

int near_hears(struct near *n, struct answer *answer)
{
	int ret = completes(n);

	memcpy(answer, n->memory + ANSWERS, sizeof(*answer));
	return ret ? ret : answer->right ? 0 : -EILSEQ;
}

static int get_answer(struct near *n)
{
	struct answer answer;

	return near_hears(n, &answer);
}

int near_tells(struct near *n, struct order order)
{
	int ret = near_listens(n);

	if (!ret)
		ret = rclink_send(n->chan, rclink_bytes(&order, sizeof(order)),
				  0, 0);
	return ret ? ret : get_answer(n);
}

static int begin(struct near *n, struct rclink_chan *chan)
{
	n->chan = chan;
	n->memory = memory(LEN);
	return rclink_region(chan, n->memory, LEN, NULL, 0, &n->region);
}

int near_join(struct near *n, struct rclink_chan *chan)
{
	int ret = begin(n, chan);

	return ret ? ret : rclink_import(chan, FAR_REGION, &n->far);
}

int near_greet(struct near *n, struct rclink_chan *chan)
{
	uint32_t region;
	int ret = begin(n, chan);

	if (!ret)
		ret = near_listens(n);
	if (!ret)
		ret = rclink_submit(chan, 0, 0);
	/* Export this only now: far answers once it can import it. */
	if (ret >= 0)
		ret = rclink_region(chan, n->memory, PAGE, FAR_NEAR,
				    RCLINK_REGION_READ, &region);
	if (!ret)
		ret = get_answer(n);
	return ret ? ret : rclink_import(chan, FAR_REGION, &n->far);
}

int near_sends(struct near *n, uint32_t seed)
{
	int ret = near_tells(n, (struct order) {
		.what = FAR_RECV, .post = NEAR_SIZE, .size = NEAR_SIZE,
		.seed = seed,
	});

	if (!ret)
		ret = near_listens(n);
	if (!ret)
		ret = rclink_send(n->chan, rclink_piece(n->region, 0,
							NEAR_SIZE), 0, 0);
	return ret ? ret : get_answer(n);
}

int near_reads(struct near *n, uint32_t seed)
{
	int ret = near_tells(n, (struct order) {
		.what = FAR_FILL, .size = NEAR_SIZE, .seed = seed,
	});

	if (!ret)
		ret = rclink_read(n->chan, rclink_piece(n->region, 0,
							NEAR_SIZE),
				  &n->far, 0, RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = completes(n);
	if (!ret && !far_is(n->memory, seed, NEAR_SIZE))
		ret = -EILSEQ;
	return ret;
}

int near_moves(struct near *n, uint32_t seed)
{
	int ret;

	far_fill(n->memory, seed, NEAR_SIZE);
	ret = near_sends(n, seed);
	return ret ? ret : near_reads(n, seed + 1);
}
