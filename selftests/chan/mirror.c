// SPDX-License-Identifier: GPL-2.0
/*
 * The service `echo` (channels.rst) of a process over the module, for one
 * channel after the other; prints what came, and how much of its memory was
 * changed.
 *
 * usage: mirror LINK [WORD]
 *	none		exports no memory
 *	small		exports 16 bytes
 *	read		exports it for READs only, and nothing to invalidate
 *	share		the same to all links, and for WRITEs as well
 *	withdraw	withdraws it when a message comes, before the answer
 *	mute		answers nothing
 */
#include <stdbool.h>
#include <unistd.h>

#include <rclink.h>

#include "common.h"

#define SERVICE	"echo"
#define ONCE	"echo.once"
#define SIZE	65536
#define SMALL	16
#define PERIOD	251
#define BUFFERS	2	/* one receives while the other is sent */
#define TRIES	100
#define PAUSE_US	50000

struct mirror {
	const char *word;
	struct rclink_chan *chan;
	struct rclink_share *share;
	uint8_t *memory, *buffers;
	uint32_t all, once, buffer;	/* handles */
};

static bool is(const struct mirror *m, const char *word)
{
	return !strcmp(m->word, word);
}

/* A new share for each channel, so that none finds it registered already. */
static int show_all(struct mirror *m)
{
	int ret = rclink_share(&m->share);

	return ret ? ret : rclink_share_region(m->share, m->memory, SIZE,
					       SERVICE, RCLINK_REGION_READ |
					       RCLINK_REGION_WRITE, &m->all);
}

static int show(struct mirror *m)
{
	int ret;

	if (is(m, "none"))
		return 0;
	if (is(m, "share"))
		return show_all(m);
	if (is(m, "read"))
		return rclink_region(m->chan, m->memory, SIZE, SERVICE,
				     RCLINK_REGION_READ, &m->all);
	ret = rclink_region(m->chan, m->memory, is(m, "small") ? SMALL : SIZE,
			    SERVICE, RCLINK_REGION_READ | RCLINK_REGION_WRITE |
			    RCLINK_REGION_ATOMIC, &m->all);
	return ret ? ret : rclink_region(m->chan, m->memory, SIZE, ONCE,
					 RCLINK_REGION_READ |
					 RCLINK_REGION_INVALIDATE, &m->once);
}

static int post(struct mirror *m, unsigned int i)
{
	memset(m->buffers + i * SIZE, 0, SIZE);
	return rclink_recv(m->chan, rclink_piece(m->buffer, i * SIZE, SIZE), i);
}

/* How many bytes from the first on are as the peer sends and writes them? */
static uint32_t sent(const uint8_t *data)
{
	uint32_t i;

	for (i = 0; i < SIZE && data[i] == (i + 1) % PERIOD; i++)
		;
	return i;
}

static void tell(const struct mirror *m, const struct rclink_dev_cqe *cqe)
{
	printf("came: %u bytes, %u of them here", cqe->len,
	       sent(m->buffers + cqe->user_data * SIZE));
	if (cqe->flags & RCLINK_CQE_IMM)
		printf(", immediate 0x%x", cqe->imm);
	if (cqe->flags & RCLINK_CQE_INVALIDATED)
		printf(", ends %s", cqe->imm == m->once ? ONCE : "another");
	putchar('\n');
}

/* The memory behind the changed bytes must be as it was. */
static void tell_memory(const struct mirror *m)
{
	uint32_t n = sent(m->memory), i;

	for (i = n; i < SIZE && m->memory[i] == i % PERIOD; i++)
		;
	printf("memory: %u bytes changed%s\n", n, i < SIZE ? ", or worse" : "");
	fflush(stdout);
}

static int answer(struct mirror *m, const struct rclink_dev_cqe *cqe)
{
	struct rclink_data data = rclink_piece(m->buffer, cqe->user_data * SIZE,
					       cqe->len);

	if (cqe->flags & RCLINK_CQE_IMM)
		return rclink_send_imm(m->chan, data, cqe->imm, 0, 0);
	return rclink_send(m->chan, data, 0, 0);
}

static int take(struct mirror *m, const struct rclink_dev_cqe *cqe)
{
	int ret = post(m, (cqe->user_data + 1) % BUFFERS);

	tell(m, cqe);
	if (cqe->flags & RCLINK_CQE_INVALIDATED || is(m, "withdraw"))
		ret = rclink_withdraw(m->chan, m->once);
	if (!ret && is(m, "withdraw"))
		ret = rclink_withdraw(m->chan, m->all);
	if (!ret && !is(m, "mute"))
		ret = answer(m, cqe);
	return ret;
}

/* Only receives complete, and operations that fail. */
static void serve(struct mirror *m)
{
	struct rclink_dev_cqe cqe;
	uint32_t i;
	int ret;

	for (i = 0; i < SIZE; i++)
		m->memory[i] = i % PERIOD;
	ret = show(m);
	if (!ret)
		ret = rclink_region(m->chan, m->buffers, BUFFERS * SIZE, NULL,
				    0, &m->buffer);
	if (!ret)
		ret = post(m, 0);
	while (!ret) {
		rclink_submit(m->chan, 1, 0);
		if (rclink_reap(m->chan, &cqe, 1) != 1 || cqe.status)
			break;
		ret = take(m, &cqe);
	}
	if (ret)
		say("serve", ret);
	tell_memory(m);
}

int main(int argc, char **argv)
{
	struct mirror m = { .word = argc > 2 ? argv[2] : "" };
	struct rclink_listener *listener;
	int ret, tries = 0;

	if (argc < 2)
		return 2;
	m.memory = memory(SIZE);
	m.buffers = memory(BUFFERS * SIZE);
	/* A mirror that was killed just before may still listen. */
	do
		ret = rclink_listen(&listener, argv[1], SERVICE, 8, 0);
	while (ret == -EADDRINUSE && tries++ < TRIES && !usleep(PAUSE_US));
	if (ret)
		return say("listen", ret) != 0;
	puts("listening");
	fflush(stdout);
	while (!(ret = rclink_accept(listener, &m.chan))) {
		serve(&m);
		rclink_close(m.chan);
		rclink_share_close(m.share);
		m.share = NULL;
	}
	return say("accept", ret) != 0;
}
