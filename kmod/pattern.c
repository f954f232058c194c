// SPDX-License-Identifier: GPL-2.0
#include "pattern.h"

/* Finalizer of splitmix64: every input bit changes half of the output. */
static u64 rcl_pattern_word(u32 seed, u32 index)
{
	u64 x = ((u64)seed << 32 | index) + 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/*
 * Byte by byte, so that hosts of either byte order agree; but they do not agree
 * on the number that an atomic sees in eight of the bytes.
 */
static u8 rcl_pattern_byte(u64 *word, u32 seed, u32 pos, bool first)
{
	if (first || pos % 8 == 0)
		*word = rcl_pattern_word(seed, pos / 8);
	return *word >> (pos % 8 * 8);
}

/**
 * rcl_pattern_fill - write the pattern of a seed
 * @buf: where
 * @offset: position of @buf in the pattern
 * @len: bytes
 * @seed: which pattern
 */
void rcl_pattern_fill(u8 *buf, u32 offset, u32 len, u32 seed)
{
	u64 word;
	u32 i;

	for (i = 0; i < len; i++)
		buf[i] = rcl_pattern_byte(&word, seed, offset + i, !i);
}

/**
 * rcl_pattern_check - compare with the pattern of a seed
 * @buf: what
 * @offset: position of @buf in the pattern
 * @len: bytes
 * @seed: which pattern
 *
 * Return: true if all bytes are as they should be.
 */
bool rcl_pattern_check(const u8 *buf, u32 offset, u32 len, u32 seed)
{
	u64 word;
	u32 i;

	for (i = 0; i < len; i++)
		if (buf[i] != rcl_pattern_byte(&word, seed, offset + i, !i))
			return false;
	return true;
}
