/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two ends of a test. The near end connects and gives orders, each of which
 * the far end answers; both ends have the same byte order.
 */
#ifndef KAPI_H
#define KAPI_H

#include <linux/kfifo.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <rclink.h>

#define KAPI_SERVICE	"kapi"
#define KAPI_NEAR	"kapi.near"	/* exported by the near end */
#define KAPI_FAR	"kapi.far.%u"	/* by the far end; see KAPI_HELLO */
#define KAPI_SIZE	65536		/* of either region */
#define KAPI_BIG	"kapi.big"	/* by the far end, on KAPI_GROW */
#define KAPI_BIG_SIZE	(5 * 1024 * 1024 + 3333)	/* several extents */
#define KAPI_BIG_AT	1235		/* offset in the near buffer */
#define KAPI_DATA_MAX	4096		/* behind the order of a SEND */

enum kapi_what {
	KAPI_HELLO,	/* far: its region has number @seed and rights @len */
	KAPI_CHECK,	/* were the @len bytes at @offset made from @seed? */
	KAPI_FILL,	/* fill @len bytes at @offset for me to read */
	KAPI_DATA,	/* were the @len bytes behind this made from @seed? */
	KAPI_ECHO,	/* send this message back, with its immediate */
	KAPI_WITHDRAW,	/* withdraw the region */
	KAPI_CLOSE,	/* close the channel; not answered */
	KAPI_GROW,	/* export KAPI_BIG */
	KAPI_JUDGE,	/* was the content of KAPI_BIG made from @seed? */
	KAPI_ENDED,	/* did this SEND invalidate your region? */
	KAPI_FETCH,	/* read these bytes of mine: made from @seed? */
};

/**
 * struct kapi_msg - an order, or the answer to it
 * @what: enum kapi_what
 * @seed: of the data; in an answer 1 if it was right
 * @offset: in the far region; for KAPI_FETCH, in either one
 * @len: bytes; in the answer to a WRITE with immediate, those written; in that
 *	to KAPI_FETCH, the status of the READ
 */
struct kapi_msg {
	u32 what;
	u32 seed;
	u32 offset;
	u32 len;
};

static inline u8 kapi_byte(u32 seed, u32 i)
{
	return (seed + i) * 167 + (i >> 8) * 13;
}

static inline void kapi_fill(u8 *p, u32 seed, u32 from, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		p[i] = kapi_byte(seed, from + i);
}

static inline bool kapi_is(const u8 *p, u32 seed, u32 from, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (p[i] != kapi_byte(seed, from + i))
			return false;
	return true;
}

#define KAPI_SAID	512

/* Report the result of a command in words; returns @ret. */
__printf(2, 3) int kapi_say(int ret, const char *fmt, ...);

int far_start(const char *link, u32 flags);
void far_stop(void);

#define NEAR_PAGES	(KAPI_SIZE / PAGE_SIZE)
#define NEAR_RECVS	2
#define NEAR_FLUSHED	5		/* enum ib_wc_status, as NEAR_ACCESS */
#define NEAR_ACCESS	10

/**
 * struct near - a channel of the near end
 * @chan: the channel
 * @polled: completions come from rclink_poll()
 * @counting: completions are only counted
 * @counted: number of completions counted
 * @done: completions to be taken
 * @ended: the channel has ended
 * @why: the reason, if @ended
 * @wait: for @done, @ended and @room
 * @room: a post may be tried again
 * @resumes: how often @room was reported
 * @busy: posts that were refused
 * @page: memory for data, exported as KAPI_NEAR
 * @region: of @page
 * @msg: NEAR_RECVS answers, then an order
 * @msg_region: of @msg
 * @far: the far region
 * @far_name: name of @far
 * @share: the share of the far end
 */
struct near {
	struct rclink_chan *chan;
	bool polled;
	bool counting;
	u32 counted;
	DECLARE_KFIFO(done, struct rclink_dev_cqe, 64);
	bool ended;
	int why;
	wait_queue_head_t wait;
	bool room;
	u32 resumes;
	u32 busy;
	struct page *page[NEAR_PAGES];
	u32 region;
	struct kapi_msg *msg;
	u32 msg_region;
	struct rclink_remote far;
	char far_name[RCLINK_DEV_REGION_LEN];
	struct rclink_remote share;
};

struct near *near_open(const char *link, bool polled);
struct near *near_open_with(const char *link, u32 flags);
void near_close(struct near *near);
void near_free(struct near *near);
bool near_is_over(const struct near *near);
int near_wait(struct near *near);
int near_take(struct near *near, struct rclink_dev_cqe *cqe);
int near_expect(struct near *near, u8 op, u32 status,
		struct rclink_dev_cqe *cqe);
int near_post(struct near *near, const struct rclink_dev_sqe *sqe);
int near_do(struct near *near, const struct rclink_dev_sqe *sqe);
int near_fails(struct near *near, const struct rclink_dev_sqe *sqe);
int near_post_recv(struct near *near, u32 slot);
int near_answer(struct near *near, u32 what, struct kapi_msg *msg,
		struct rclink_dev_cqe *cqe);
int near_right(struct near *near, u32 what);
int near_order(struct near *near, u32 what, u32 seed, u32 offset, u32 len);
int near_ask(struct near *near, u32 what, u32 seed, u32 offset, u32 len);

int near_data(const char *link, bool polled, u32 seed);
int near_withdrawn(const char *link, bool polled);
int near_closed(const char *link, bool polled);
int near_big(const char *link, bool polled, u32 seed);
int near_constant(const char *link, bool polled, u32 seed);
int near_invalidated(const char *link, bool polled);
int near_masked(const char *link, bool polled);
int near_table(const char *link);
int near_moves(struct near *near, u32 seed);

struct near *resume_open(const char *link, u32 flags);
int resume_post(struct near *near, const char *what);
int resume_waits(struct near *near);
int resume_goes_on(struct near *near, const char *what, bool replay);
int resume_fetch(struct near *near);
int resume_fetched(struct near *near, bool replay);

int share_begin(const char *how, u32 seed);
int share_is(u32 seed);
int share_end(u32 seed);
int share_lose(void);
void share_stop(void);
int share_use(struct near *near, u32 seed, u32 next);
int share_taken(struct near *near);

int limits_nonsense(const char *link);
int limits_batch(const char *link, bool polled, u32 seed);
int limits_shares(void);
int limits_flood(const char *link);
int limits_lost(const char *link);

/**
 * struct bare - QPs without rclink, wired to each other
 * @ib: the device
 * @port: of @ib
 * @pd: protection domain
 * @cq: of both QPs
 * @qp: the first one posts, the second one is written to
 * @buf: a page, source and target of the WRITEs
 * @sg: of @buf
 * @mr: of @buf
 */
struct bare {
	struct ib_device *ib;
	u32 port;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp[2];
	void *buf;
	struct scatterlist sg;
	struct ib_mr *mr;
};

int bare_open(struct bare *bare, const char *device, u32 port, u32 gid);
void bare_close(struct bare *bare);

struct seq_file;

int group_join(char **word);
int group_leave(char **word);
int group_part(char **word);
int group_full(char **word);
int group_max(char **word);
int group_say(char **word);
int group_send(char **word);
void group_stop(void);
void group_show(struct seq_file *seq);

int bench(const char *link, const char *device, u32 port, u32 gid);

#endif /* KAPI_H */
