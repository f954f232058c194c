// SPDX-License-Identifier: GPL-2.0
/*
 * Many processes on one link, and processes that are killed.
 *
 * usage: stress LINK listen
 *        stress LINK many PROCESSES ROUNDS	each in a page of its own
 *        stress LINK same PROCESSES ROUNDS	all in the same page
 *        stress LINK kill TIMES SEED
 *
 * The listening end accepts all channels, and exports memory over the first
 * one; it prints "listening", and serves one run of one of the others. Those
 * first open a channel for that export, then one in each of their processes.
 */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"
#include "slow.h"

#define SERVICE		"stress"
#define REGION		"stress"
#define PAGE		4096
#define PROCESSES	64
#define COUNTER		((uint64_t)PROCESSES * PAGE)	/* behind the pages */
#define LOCK		(COUNTER + 8)
#define RECORD		(COUNTER + PAGE)	/* words that are all alike */
#define MEMORY		(RECORD + PAGE)
#define BACKLOG		64
#define KILL_MS		30
#define REACH_MS	20000
#define FIND_TRIES	5000		/* each of 2 ms and a round trip */
#define LOCK_TRIES	5000
#define LOCK_MS		16

static void pause_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000 };

	nanosleep(&pause, NULL);
}

/* The listening end closes a channel when the peer has closed it. */
struct held {
	struct rclink_chan *chan[BACKLOG + PROCESSES];
	struct pollfd fd[1 + BACKLOG + PROCESSES];
	unsigned int num;
};

static int take(struct held *h, struct rclink_listener *listener)
{
	struct rclink_chan *chan;
	uint32_t region;
	int ret;

	ret = rclink_accept(listener, &chan);
	if (ret)
		return say("accept", ret);
	if (h->num == BACKLOG + PROCESSES)
		return say("hold", -ENOSPC);
	h->chan[h->num++] = chan;
	h->fd[h->num] = (struct pollfd){ .fd = rclink_fd(chan) };
	if (h->num > 1)
		return 0;
	ret = rclink_region(chan, memory(MEMORY), MEMORY, REGION,
			    RCLINK_REGION_READ | RCLINK_REGION_WRITE |
			    RCLINK_REGION_ATOMIC, &region);
	return ret ? say("region", ret) : 0;
}

static void drop_ended(struct held *h)
{
	unsigned int i;

	for (i = h->num; i; i--) {
		if (!h->fd[i].revents)
			continue;
		rclink_close(h->chan[i - 1]);
		h->num--;
		h->chan[i - 1] = h->chan[h->num];
		h->fd[i] = h->fd[h->num + 1];
	}
}

static int do_listen(const char *link)
{
	struct rclink_listener *listener;
	static struct held h;
	int ret;

	ret = rclink_listen(&listener, link, SERVICE, BACKLOG, 0);
	if (ret)
		return say("listen", ret);
	puts("listening");
	fflush(stdout);
	h.fd[0] = (struct pollfd){
		.fd = rclink_listener_fd(listener), .events = POLLIN,
	};
	while (!ret && poll(h.fd, 1 + h.num, -1) > 0) {
		drop_ended(&h);
		if (h.fd[0].revents)
			ret = take(&h, listener);
	}
	return ret;
}

/* How far a process has come. */
enum stage {
	OPENS,
	ATTACHES,	/* its channel is open */
	MOVES,		/* data */
	STAGES,
};

/* Stage of the process to be killed, in shared memory; NULL otherwise. */
static atomic_uint *stage;

static void reach(enum stage now)
{
	if (stage)
		*stage = now;
}

struct near {
	struct rclink_chan *chan;
	struct rclink_remote far;
	uint8_t *out, *in;
	uint32_t out_region, in_region;
};

static int find(struct near *n)
{
	int i, ret = -ENOENT;

	for (i = 0; i < FIND_TRIES && ret == -ENOENT; i++) {
		pause_ms(2);
		ret = rclink_import(n->chan, REGION, &n->far);
	}
	return ret;
}

static int attach(struct near *n, const char *link)
{
	int ret;

	ret = rclink_connect(&n->chan, link, SERVICE,
			     RCLINK_CONNECT_WAIT | RCLINK_CHAN_POLLED);
	if (ret)
		return say("connect", ret);
	reach(ATTACHES);
	ret = find(n);
	n->out = memory(PAGE);
	n->in = memory(PAGE);
	if (!ret)
		ret = rclink_region(n->chan, n->out, PAGE, NULL, 0,
				    &n->out_region);
	if (!ret)
		ret = rclink_region(n->chan, n->in, PAGE, NULL, 0,
				    &n->in_region);
	return ret ? say("attach", ret) : 0;
}

/* Submit; all @num signaled operations must complete without an error. */
static int finish(struct near *n, unsigned int num)
{
	struct rclink_dev_cqe cqe;
	int ret = rclink_submit(n->chan, num, slow(30000));

	if (ret < 0)
		return say("submit", ret);
	while (num--) {
		if (rclink_reap(n->chan, &cqe, 1) != 1)
			return say("reap", -EIO);
		if (cqe.status) {
			fprintf(stderr, "stress: %s: %s\n",
				rclink_op_name(cqe.op),
				rclink_status_name(cqe.status));
			return -EIO;
		}
	}
	return 0;
}

/* Write a page and read it back, then add one to the counter. */
static int go_round(struct near *n, uint64_t page, uint32_t seed)
{
	uint32_t *word = (uint32_t *)n->out;
	uint32_t i;

	for (i = 0; i < PAGE / sizeof(*word); i++)
		word[i] = (i + 1) * 2654435761u ^ seed;
	memset(n->in, 0, PAGE);
	rclink_write(n->chan, rclink_piece(n->out_region, 0, PAGE), &n->far,
		     page * PAGE, 0, 0);
	rclink_read(n->chan, rclink_piece(n->in_region, 0, PAGE), &n->far,
		    page * PAGE, RCLINK_SQE_SIGNALED, 0);
	if (finish(n, 1))
		return -EIO;
	if (memcmp(n->in, n->out, PAGE))
		return say("data", -EBADMSG);
	rclink_fadd(n->chan, rclink_piece(n->in_region, 0, 8), &n->far,
		    COUNTER, 1, RCLINK_SQE_SIGNALED, 0);
	return finish(n, 1);
}

/* Swap the owner of the lock, 0 for none, after what was queued before. */
static int pass_lock(struct near *n, uint64_t from, uint64_t to, uint64_t *old)
{
	int ret;

	rclink_cas(n->chan, rclink_piece(n->in_region, 0, 8), &n->far, LOCK,
		   from, to, RCLINK_SQE_SIGNALED, 0);
	ret = finish(n, 1);
	memcpy(old, n->in, sizeof(*old));
	return ret;
}

static int take_lock(struct near *n, uint64_t me)
{
	uint64_t old;
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (pass_lock(n, 0, me, &old))
			return -EIO;
		if (!old)
			return 0;
		pause_ms(1 + random() % LOCK_MS);
	}
	return say("lock", -ETIME);
}

/* Under the lock, replace the record by its next version. */
static int next_version(struct near *n, uint64_t page, uint32_t seed)
{
	const uint64_t *in = (const uint64_t *)n->in;
	uint64_t *out = (uint64_t *)n->out;
	uint64_t me = page + 1, old;
	uint32_t i;

	if (take_lock(n, me))
		return -EIO;
	rclink_read(n->chan, rclink_piece(n->in_region, 0, PAGE), &n->far,
		    RECORD, RCLINK_SQE_SIGNALED, 0);
	if (finish(n, 1))
		return -EIO;
	for (i = 0; i < PAGE / sizeof(*in); i++) {
		if (in[i] != in[0])
			return say("record", -EBADMSG);
		out[i] = in[0] + 1;
	}
	rclink_write(n->chan, rclink_piece(n->out_region, 0, PAGE), &n->far,
		     RECORD, 0, 0);
	if (pass_lock(n, me, 0, &old))
		return -EIO;
	return old == me ? 0 : say("owner of the lock", -EBADMSG);
}

static int counted(struct near *n, uint64_t at, uint64_t *value)
{
	rclink_read(n->chan, rclink_piece(n->in_region, 0, 8), &n->far, at,
		    RCLINK_SQE_SIGNALED, 0);
	if (finish(n, 1))
		return -EIO;
	memcpy(value, n->in, sizeof(*value));
	return 0;
}

typedef int round_fn(struct near *n, uint64_t page, uint32_t seed);

static int work(const char *link, round_fn *round, unsigned int page,
		unsigned int rounds)
{
	struct near n = { 0 };
	unsigned int i;

	if (attach(&n, link))
		return EXIT_FAILURE;
	reach(MOVES);
	for (i = 0; i < rounds; i++)
		if (round(&n, page, page * 1000 + i))
			return EXIT_FAILURE;
	rclink_close(n.chan);
	return EXIT_SUCCESS;
}

/* Each round adds one to the word at @at. */
static int do_many(const char *link, struct near *keeper, round_fn *round,
		   uint64_t at, unsigned int num, unsigned int rounds)
{
	uint64_t before, after;
	unsigned int i;
	int status, bad = 0;

	if (!num || num > PROCESSES || counted(keeper, at, &before))
		return -EINVAL;
	for (i = 0; i < num; i++)
		if (!fork())
			exit(work(link, round, i, rounds));
	while (wait(&status) > 0)
		bad += status != 0;
	if (counted(keeper, at, &after))
		return -EIO;
	printf("%u of %u processes failed, counted %llu of %u\n", bad, num,
	       (unsigned long long)(after - before), num * rounds);
	return bad || after - before != num * rounds ? -EIO : 0;
}

/* Wait until the process reaches that stage, but not for ever. */
static void until_at(uint32_t there)
{
	int ms;

	for (ms = slow(REACH_MS); ms && *stage < there; ms--)
		pause_ms(1);
}

/* Pause for a random time, mostly a short one. */
static void pause_any(void)
{
	const struct timespec pause = {
		.tv_nsec = random() % (slow(KILL_MS) * 1000000L) >>
			   random() % 8,
	};

	nanosleep(&pause, NULL);
}

/* Kill processes while they open, attach or move data; some in each stage. */
static int do_kill(const char *link, struct near *keeper, unsigned int times,
		   unsigned int seed)
{
	unsigned int at[STAGES] = { 0 };
	unsigned int i;
	int status;

	srandom(seed);
	stage = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stage == MAP_FAILED)
		return say("memory", -errno);
	for (i = 0; i < times; i++) {
		pid_t pid;

		reach(OPENS);
		pid = fork();
		if (!pid)
			exit(work(link, go_round, i % PROCESSES, UINT32_MAX));
		until_at(i % STAGES);
		pause_any();
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
			return say("a process that was to be killed", -ECHILD);
		at[*stage]++;
	}
	printf("killed %u processes: %u opened, %u attached, %u moved data\n",
	       times, at[OPENS], at[ATTACHES], at[MOVES]);
	for (i = 0; i < STAGES; i++)
		if (!at[i])
			return say("a stage that nobody died in", -ENOENT);
	return go_round(keeper, 0, seed);
}

int main(int argc, char **argv)
{
	struct near keeper = { 0 };
	unsigned int a, b;
	int ret;

	if (argc == 3 && !strcmp(argv[2], "listen"))
		return do_listen(argv[1]) != 0;
	if (argc != 5)
		return 2;
	a = strtoul(argv[3], NULL, 0);
	b = strtoul(argv[4], NULL, 0);
	if (attach(&keeper, argv[1]))
		return EXIT_FAILURE;
	if (!strcmp(argv[2], "many"))
		ret = do_many(argv[1], &keeper, go_round, COUNTER, a, b);
	else if (!strcmp(argv[2], "same"))
		ret = do_many(argv[1], &keeper, next_version, RECORD, a, b);
	else
		ret = do_kill(argv[1], &keeper, a, b);
	rclink_close(keeper.chan);
	return ret != 0;
}
