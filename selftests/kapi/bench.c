// SPDX-License-Identifier: GPL-2.0
/*
 * WRITEs of 64 bytes from this host to itself, through rclink and with the
 * verbs alone, in turns. Both post with bottom halves disabled, because
 * enabling them runs the tasklets of a software device.
 */
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <rdma/ib_verbs.h>

#include "kapi.h"

#define BENCH_OPS	50	/* of one turn */
#define BENCH_TURNS	201
#define BENCH_RATIO	1000	/* unit of a ratio */
#define BENCH_LEN	64
#define BENCH_BATCH	8	/* completions taken at once */

/**
 * struct bench_result - of all turns
 * @with: nanoseconds per operation through rclink
 * @without: by the verbs alone
 * @ratio: of the two, in thousandths
 */
struct bench_result {
	u32 with[BENCH_TURNS];
	u32 without[BENCH_TURNS];
	u32 ratio[BENCH_TURNS];
};

/* Nanoseconds per operation, with at most @depth in flight; 0 for a failure. */
static u32 bench_kapi(struct near *near, u32 depth)
{
	struct rclink_dev_sqe sqe;
	ktime_t begin = ktime_get();
	unsigned int taken;
	u32 posted = 0;

	rclink_prep_write(&sqe, &near->far, 0, RCLINK_SQE_SIGNALED, 0);
	rclink_prep_piece(&sqe, near->region, 0, BENCH_LEN);
	near->counted = 0;
	while (near->counted < BENCH_OPS) {
		while (posted < BENCH_OPS && posted - near->counted < depth) {
			if (rclink_post(near->chan, &sqe, 1, &taken))
				return 0;
			posted++;
		}
		if (!rclink_poll(near->chan, BENCH_BATCH))
			cond_resched();
	}
	return ktime_to_ns(ktime_sub(ktime_get(), begin)) / BENCH_OPS;
}

static u32 bench_bare(struct bare *bare, u32 depth)
{
	struct ib_sge sge = {
		.addr = bare->mr->iova,
		.length = BENCH_LEN,
		.lkey = bare->mr->lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = bare->mr->iova + PAGE_SIZE / 2,
		.rkey = bare->mr->rkey,
	};
	ktime_t begin = ktime_get();
	u32 posted = 0, done = 0;
	struct ib_wc wc[BENCH_BATCH];
	int ret, n, i;

	while (done < BENCH_OPS) {
		while (posted < BENCH_OPS && posted - done < depth) {
			local_bh_disable();
			ret = ib_post_send(bare->qp[0], &wr.wr, NULL);
			local_bh_enable();
			if (ret)
				return 0;
			posted++;
		}
		n = ib_poll_cq(bare->cq, BENCH_BATCH, wc);
		for (i = 0; i < n; i++)
			if (wc[i].status)
				return 0;
		done += n;
		if (!n)
			cond_resched();
	}
	return ktime_to_ns(ktime_sub(ktime_get(), begin)) / BENCH_OPS;
}

static int bench_cmp(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

static u32 bench_median(u32 *ns)
{
	sort(ns, BENCH_TURNS, sizeof(*ns), bench_cmp, NULL);
	return ns[BENCH_TURNS / 2];
}

/*
 * Each ratio is that of two neighbouring turns, whose order alternates, so that
 * other load on the machine hits both alike.
 */
static int bench_depth(struct near *near, struct bare *bare, u32 depth,
		       struct bench_result *result)
{
	u32 *with = result->with, *without = result->without;
	u32 i;

	for (i = 0; i < BENCH_TURNS; i++) {
		if (i % 2)
			without[i] = bench_bare(bare, depth);
		with[i] = bench_kapi(near, depth);
		if (i % 2 == 0)
			without[i] = bench_bare(bare, depth);
		if (!with[i] || !without[i])
			return kapi_say(-EIO, "an operation failed");
		result->ratio[i] = with[i] * BENCH_RATIO / without[i];
	}
	return 0;
}

static int bench_both(struct near *near, struct bare *bare,
		      struct bench_result *one, struct bench_result *many)
{
	int ret;

	ret = bench_depth(near, bare, 1, one) ? :
	      bench_depth(near, bare, 16, many);
	if (ret)
		return ret;
	return kapi_say(0, "%u %u %u %u %u %u", bench_median(one->with),
			bench_median(one->without), bench_median(one->ratio),
			bench_median(many->with), bench_median(many->without),
			bench_median(many->ratio));
}

/**
 * bench - compare rclink with the verbs alone
 * @link: name, to a link of this host itself, where the far end listens
 * @device: of the link
 * @port: of the link
 * @gid: index of the GID
 *
 * Reports nanoseconds per operation through rclink, by the verbs alone, and the
 * ratio in thousandths: one at a time, then 16 in flight.
 *
 * Return: 0, or a negative errno.
 */
int bench(const char *link, const char *device, u32 port, u32 gid)
{
	struct bench_result *result;
	struct bare bare = {};
	struct near *near;
	int ret;

	result = kcalloc(2, sizeof(*result), GFP_KERNEL);
	if (!result)
		return -ENOMEM;
	near = near_open(link, true);
	if (IS_ERR(near)) {
		kfree(result);
		return PTR_ERR(near);
	}
	near->counting = true;
	ret = bare_open(&bare, device, port, gid);
	if (ret)
		kapi_say(ret, "no QPs of our own: %d", ret);
	else
		ret = bench_both(near, &bare, &result[0], &result[1]);
	bare_close(&bare);
	near_close(near);
	kfree(result);
	return ret;
}
