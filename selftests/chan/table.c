// SPDX-License-Identifier: GPL-2.0
/*
 * Carry out each operation of a channel once, with both ends in this process,
 * which then checks the memory of both; or with the near end alone, which
 * checks the far memory by reading it.
 *
 * usage: table NEAR FAR	the two ends of a link of this host to itself
 *        table --echo LINK	with the service `echo` of the peer
 *        table GROUP		only sends, to service `text`
 *
 * prints OPERATION<TAB>works, or why not
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rclink.h>

#include "common.h"
#include "slow.h"

#define SERVICE		"table"
#define ECHO		"echo"		/* service, and a region of it */
#define ONCE		"echo.once"
#define SIZE		4096
#define WAIT_MS		20000
#define MARK		0x1122334455667788ULL
#define TO		16	/* offset in a far region */
#define ANSWER		64	/* offset in a near region */
#define ROOM		64	/* bytes for the answer */
#define IMM		0x12345678
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))

struct end {
	struct rclink_chan *chan;
	uint64_t *memory;
	uint32_t region;
};

/* brief: a far region that a SEND may invalidate */
struct both {
	struct end near, far;
	struct rclink_remote remote, brief;
	uint32_t brief_region;
	int brief_is;		/* result of registering brief */
};

static struct rclink_data word(const struct end *end)
{
	return rclink_piece(end->region, 0, sizeof(*end->memory));
}

static int send(struct both *b)
{
	return rclink_send(b->near.chan, word(&b->near), RCLINK_SQE_SIGNALED,
			   0);
}

static int send_imm(struct both *b)
{
	return rclink_send_imm(b->near.chan, word(&b->near), IMM,
			       RCLINK_SQE_SIGNALED, 0);
}

static int send_inv(struct both *b)
{
	return b->brief_is ? :
	       rclink_send_inv(b->near.chan, word(&b->near), &b->brief,
			       RCLINK_SQE_SIGNALED, 0);
}

static int write_to(struct both *b)
{
	return rclink_write(b->near.chan, word(&b->near), &b->remote, TO,
			    RCLINK_SQE_SIGNALED, 0);
}

static int write_imm(struct both *b)
{
	return rclink_write_imm(b->near.chan, word(&b->near), &b->remote, TO,
				IMM, RCLINK_SQE_SIGNALED, 0);
}

static int read_from(struct both *b)
{
	return rclink_read(b->near.chan, word(&b->near), &b->remote, TO,
			   RCLINK_SQE_SIGNALED, 0);
}

static int cas(struct both *b)
{
	return rclink_cas(b->near.chan, word(&b->near), &b->remote, TO, MARK,
			  7, RCLINK_SQE_SIGNALED, 0);
}

static int fadd(struct both *b)
{
	return rclink_fadd(b->near.chan, word(&b->near), &b->remote, TO, 7,
			   RCLINK_SQE_SIGNALED, 0);
}

static int mcas(struct both *b)
{
	return rclink_mcas(b->near.chan, word(&b->near), &b->remote, TO,
			   MARK & 0xff, 7, 0xff, 0xff, RCLINK_SQE_SIGNALED, 0);
}

static int mfadd(struct both *b)
{
	return rclink_mfadd(b->near.chan, word(&b->near), &b->remote, TO, 7,
			    0, RCLINK_SQE_SIGNALED, 0);
}

/*
 * near, far: the first word of the near memory afterwards, and the word at TO
 * of the far memory, or its first word if the far end receives; near_was,
 * far_was: the same before; flags: of the receiver's completion
 */
static const struct row {
	const char *name;
	int (*post)(struct both *b);
	uint64_t near_was, far_was, near, far;
	bool receives;
	uint32_t flags;
} rows[] = {
	{ "SEND", send, MARK, 0, MARK, MARK, true },
	{ "SEND with immediate", send_imm, MARK, 0, MARK, MARK, true,
	  RCLINK_CQE_IMM },
	{ "SEND with invalidate", send_inv, MARK, 0, MARK, MARK, true,
	  RCLINK_CQE_INVALIDATED },
	{ "WRITE", write_to, MARK, 0, MARK, MARK },
	{ "WRITE with immediate", write_imm, MARK, 0, MARK, MARK, false,
	  RCLINK_CQE_IMM | RCLINK_CQE_WRITTEN },
	{ "READ", read_from, 0, MARK, MARK, MARK },
	{ "compare and swap", cas, 0, MARK, MARK, 7 },
	{ "fetch and add", fadd, 0, MARK, MARK, MARK + 7 },
	{ "masked compare and swap", mcas, 0, MARK, MARK,
	  (MARK & ~0xffULL) | 7 },
	{ "masked fetch and add", mfadd, 0, MARK, MARK, MARK + 7 },
};

static const char *completes(struct rclink_chan *chan,
			     struct rclink_dev_cqe *cqe)
{
	int ret = rclink_submit(chan, 1, slow(WAIT_MS));

	if (rclink_reap(chan, cqe, 1) != 1)
		return strerror(ret < 0 ? -ret : EIO);
	return cqe->status ? rclink_status_name(cqe->status) : NULL;
}

static bool told(const struct both *b, const struct row *row,
		 const struct rclink_dev_cqe *cqe)
{
	uint32_t want = row->flags & RCLINK_CQE_IMM ? IMM : b->brief_region;

	return cqe->flags == row->flags && (!row->flags || cqe->imm == want);
}

/* Returns what went wrong, or NULL. */
static const char *carry_out(struct both *b, const struct row *row)
{
	uint64_t *far = b->far.memory + (row->receives ? 0 : TO / 8);
	struct rclink_dev_cqe cqe;
	/* A WRITE with immediate takes a receive, too. */
	bool receives = row->receives || row->flags;
	const char *why;
	int ret;

	memset(b->far.memory, 0, SIZE);
	*b->near.memory = row->near_was;
	*far = row->far_was;
	ret = row->post(b);
	if (!ret && receives)
		ret = rclink_recv(b->far.chan, word(&b->far), 0);
	if (!ret)
		ret = rclink_submit(b->far.chan, 0, 0);
	if (ret < 0)
		return strerror(-ret);
	why = completes(b->near.chan, &cqe);
	if (why)
		return why;
	if (receives) {
		why = completes(b->far.chan, &cqe);
		if (why)
			return why;
		if (!told(b, row, &cqe))
			return "the receiver is told wrong";
	}
	return *b->near.memory == row->near && *far == row->far ?
	       NULL : "the data is wrong";
}

/* Take the completions of an operation and of the receive, if any. */
static const char *complete_both(struct both *b, bool receives,
				 struct rclink_dev_cqe *received)
{
	struct rclink_dev_cqe cqe;
	const char *why;
	int i;

	for (i = 0; i < 1 + receives; i++) {
		why = completes(b->near.chan, &cqe);
		if (why)
			return why;
		if (cqe.op == RCLINK_OP_RECV)
			*received = cqe;
	}
	return NULL;
}

static const char *write_word(struct both *b, uint64_t value)
{
	struct rclink_dev_cqe cqe;

	*b->near.memory = value;
	return write_to(b) ? "no WRITE" : completes(b->near.chan, &cqe);
}

/* The peer sends messages back; what is written is read back. */
static const char *carry_out_echo(struct both *b, const struct row *row)
{
	struct rclink_data answer = rclink_piece(b->near.region, ANSWER, ROOM);
	uint64_t *back = b->near.memory + ANSWER / 8;
	uint32_t imm = row->flags & RCLINK_CQE_IMM;
	bool receives = row->receives || row->flags;
	struct rclink_dev_cqe cqe = { 0 };
	const char *why = NULL;
	int ret = 0;

	memset(b->near.memory, 0, SIZE);
	if (!row->receives)
		why = write_word(b, row->far_was);
	*b->near.memory = row->near_was;
	if (!why && receives)
		ret = rclink_recv(b->near.chan, answer, 0);
	if (!why && !ret)
		ret = row->post(b);
	if (ret)
		return strerror(-ret);
	if (!why)
		why = complete_both(b, receives, &cqe);
	if (why)
		return why;
	if (receives && (cqe.len != 8 || cqe.flags != imm ||
			 (imm && cqe.imm != IMM)))
		return "the answer is wrong";
	if (*b->near.memory != row->near)
		return "the data is wrong";
	if (row->flags == RCLINK_CQE_INVALIDATED &&
	    rclink_import(b->near.chan, ONCE, &b->brief) != -ENOENT)
		return "it did not end";
	if (!row->receives) {
		if (read_from(b))
			return "no READ";
		back = b->near.memory;
		why = completes(b->near.chan, &cqe);
	}
	return why ? why : *back == row->far ? NULL : "the far data is wrong";
}

/* To a group: there is no far memory to check. */
static const char *carry_out_alone(struct both *b, const struct row *row)
{
	struct rclink_dev_cqe cqe;
	int ret;

	*b->near.memory = MARK;
	ret = row->post(b);
	return ret ? strerror(-ret) : completes(b->near.chan, &cqe);
}

static int begin_end(struct end *end, const char *name, unsigned int rights)
{
	int ret;

	end->memory = memory(SIZE);
	ret = rclink_region(end->chan, end->memory, SIZE, name, rights,
			    &end->region);
	/* If the device has no atomics, ask for the other rights. */
	if (ret == -EOPNOTSUPP)
		ret = rclink_region(end->chan, end->memory, SIZE, name,
				    rights & ~RCLINK_REGION_ATOMIC,
				    &end->region);
	return ret;
}

static int begin(struct both *b, const char *near, const char *far)
{
	struct rclink_listener *listener;
	void *brief;
	int ret;

	ret = rclink_listen(&listener, far, SERVICE, 1, 0);
	if (!ret)
		ret = rclink_connect(&b->near.chan, near, SERVICE,
				     RCLINK_CONNECT_WAIT);
	if (!ret)
		ret = rclink_accept(listener, &b->far.chan);
	if (!ret)
		ret = begin_end(&b->near, NULL, 0);
	if (!ret)
		ret = begin_end(&b->far, "all", RCLINK_REGION_READ |
				RCLINK_REGION_WRITE | RCLINK_REGION_ATOMIC);
	if (!ret)
		ret = rclink_import(b->near.chan, "all", &b->remote);
	if (ret)
		return ret;
	b->brief_is = rclink_memory(b->far.chan, &brief, SIZE, "brief",
				    RCLINK_REGION_READ |
				    RCLINK_REGION_INVALIDATE, &b->brief_region);
	return b->brief_is ? 0 :
	       rclink_import(b->near.chan, "brief", &b->brief);
}

/* The peer may export @name only some time after the channel is open. */
static int find(struct both *b, const char *name, struct rclink_remote *remote)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int i, ret = -ENOENT;

	for (i = 0; i < slow(WAIT_MS) / 10 && ret == -ENOENT; i++) {
		ret = rclink_import(b->near.chan, name, remote);
		if (ret == -ENOENT)
			nanosleep(&pause, NULL);
	}
	return ret;
}

static int begin_echo(struct both *b, const char *link)
{
	return rclink_connect(&b->near.chan, link, ECHO,
			      RCLINK_CONNECT_WAIT) ? :
	       begin_end(&b->near, NULL, 0) ? :
	       find(b, ECHO, &b->remote) ? : find(b, ONCE, &b->brief);
}

static int begin_group(struct both *b, const char *group)
{
	return rclink_join(&b->near.chan, group, "text", 0) ? :
	       begin_end(&b->near, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *(*carry)(struct both *b, const struct row *row);
	struct both b = { 0 };
	const char *why;
	unsigned int i;
	int ret;

	if (argc == 2) {
		carry = carry_out_alone;
		ret = begin_group(&b, argv[1]);
	} else if (argc == 3 && !strcmp(argv[1], "--echo")) {
		carry = carry_out_echo;
		ret = begin_echo(&b, argv[2]);
	} else if (argc == 3) {
		carry = carry_out;
		ret = begin(&b, argv[1], argv[2]);
	} else {
		fprintf(stderr,
			"usage: table NEAR FAR | --echo LINK | GROUP\n");
		return 2;
	}
	if (ret)
		return say("begin", ret);
	for (i = 0; i < NUM(rows); i++) {
		why = carry(&b, &rows[i]);
		printf("%s\t%s\n", rows[i].name, why ? why : "works");
	}
	rclink_close(b.near.chan);
	if (b.far.chan)
		rclink_close(b.far.chan);
	return 0;
}
