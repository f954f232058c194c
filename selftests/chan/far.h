/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The far end of the tests of operations obeys one struct order at a time, and
 * answers each with a struct answer. Data that it is told to receive or to send
 * follow the answer. At any time it has posted exactly the receives that are
 * needed next.
 */
#ifndef FAR_H
#define FAR_H

#include <stdbool.h>
#include <stdint.h>

#include <rclink.h>

#define FAR_SERVICE	"ops"
#define FAR_NEAR	"near"		/* exported by the ready near end */
#define FAR_REGION	"far"		/* of FAR_MEMORY bytes, all rights */
#define FAR_READ_ONLY	"far.read"	/* of a page, to be read */
#define FAR_BRIEF	"far.brief"	/* of a page, to be ended by the peer */
#define FAR_ALL		"far.all"	/* memory of FAR_REGION, to all links */
#define FAR_MEMORY	((1 << 20) + 8192)
#define FAR_BIG		"far.big"	/* of FAR_BIG_SIZE bytes, by FAR_GROW */
#define FAR_BIG_SIZE	((16 << 20) + 777)
#define FAR_BIG_AT	1235		/* offset in its first page */
#define FAR_GIANT	"far.giant"	/* of FAR_GIANT_SIZE bytes */
#define FAR_GIANT_SIZE	0x40000000
#define FAR_GIANT_TURN	(6 << 20)	/* its memory repeats after so much */

enum far_what {
	FAR_RECV = 1,	/* post @post bytes, answer, receive, answer again */
	FAR_SEND,	/* answer, then send @size bytes of @seed */
	FAR_SEND_IMM,	/* the same, with @seed as immediate */
	FAR_CHECK,	/* are @size bytes at @offset of the region of @seed? */
	FAR_FILL,	/* fill these bytes from @seed */
	FAR_PEEK,	/* answer the 8 bytes at @offset */
	FAR_POKE,	/* set them to @value, and answer what they were */
	FAR_WITHDRAW,	/* withdraw the region */
	FAR_DEAF,	/* answer, and post no more receives */
	FAR_CLOSE,	/* answer, and end the channel */
	FAR_LAST,	/* answer which status ended the channel before */
	FAR_LEND,	/* export FAR_BRIEF again, and answer with its handle */
	FAR_GROW,	/* region and buffer are of FAR_BIG_SIZE from now on */
	FAR_SWELL,	/* from now on the region is FAR_GIANT */
	FAR_SHARE,	/* export the memory as FAR_ALL, too, in a new share */
	FAR_UNSHARE,	/* withdraw FAR_ALL */
	FAR_DIE,	/* kill the process; no answer */
};

struct order {
	uint32_t what;
	uint32_t size;
	uint32_t post;
	uint32_t seed;
	uint64_t offset;
	uint64_t value;
};

struct answer {
	uint32_t right;		/* data was what it must be */
	uint32_t len;		/* of the completion */
	uint32_t imm;
	uint32_t flags;
	uint64_t value;
};

/* Byte @i of the data of @seed, the same at both ends. */
static inline uint8_t far_byte(uint32_t seed, uint32_t i)
{
	uint32_t x = (i >> 2) * 2654435761u + seed * 40503u;

	return (x ^ x >> 15) >> (i & 3);
}

static inline void far_fill(uint8_t *to, uint32_t seed, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		to[i] = far_byte(seed, i);
}

static inline bool far_is(const uint8_t *data, uint32_t seed, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (data[i] != far_byte(seed, i))
			return false;
	return true;
}

#endif /* FAR_H */
