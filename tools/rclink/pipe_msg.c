// SPDX-License-Identifier: GPL-2.0
#include "pipe_msg.h"

#include <endian.h>
#include <string.h>

#define HEAD_LEN	8	/* type and version */
#define GRANT_LEN	(HEAD_LEN + 8)
#define SUM_LEN		(8 + PIPE_SHA_LEN)

static void put32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return be32toh(value);
}

size_t pipe_sum_pack(const struct pipe_sum *sum, uint8_t *buf)
{
	uint64_t total = htobe64(sum->total);

	memcpy(buf, &total, sizeof(total));
	memcpy(buf + sizeof(total), sum->sha, PIPE_SHA_LEN);
	return SUM_LEN;
}

bool pipe_sum_unpack(struct pipe_sum *sum, const uint8_t *buf, size_t len)
{
	uint64_t total;

	if (len != SUM_LEN)
		return false;
	memcpy(&total, buf, sizeof(total));
	sum->total = be64toh(total);
	memcpy(sum->sha, buf + sizeof(total), PIPE_SHA_LEN);
	return true;
}

size_t pipe_msg_pack(const struct pipe_msg *msg, uint8_t *buf)
{
	size_t len;

	put32(buf, msg->type);
	put32(buf + 4, PIPE_VERSION);
	buf += HEAD_LEN;
	switch (msg->type) {
	case PIPE_GRANT:
		put32(buf, msg->granted);
		put32(buf + 4, msg->size);
		return GRANT_LEN;
	case PIPE_DONE:
		return HEAD_LEN + pipe_sum_pack(&msg->sum, buf);
	case PIPE_FAILED:
		break;
	}
	len = strnlen(msg->text, PIPE_TEXT_LEN);
	memcpy(buf, msg->text, len);
	return HEAD_LEN + len;
}

void pipe_text_unpack(char text[PIPE_TEXT_LEN + 1], const uint8_t *buf,
		      size_t len)
{
	size_t i;

	for (i = 0; i < len && i < PIPE_TEXT_LEN; i++) {
		if (buf[i] < ' ' || buf[i] > '~')
			break;
		text[i] = buf[i];
	}
	text[i] = '\0';
}

bool pipe_msg_unpack(struct pipe_msg *msg, const uint8_t *buf, size_t len)
{
	if (len < HEAD_LEN || len > PIPE_MSG_LEN ||
	    get32(buf + 4) != PIPE_VERSION)
		return false;
	msg->type = get32(buf);
	buf += HEAD_LEN;
	len -= HEAD_LEN;
	switch (msg->type) {
	case PIPE_GRANT:
		if (len != GRANT_LEN - HEAD_LEN)
			return false;
		msg->granted = get32(buf);
		msg->size = get32(buf + 4);
		return true;
	case PIPE_DONE:
		return pipe_sum_unpack(&msg->sum, buf, len);
	case PIPE_FAILED:
		pipe_text_unpack(msg->text, buf, len);
		return true;
	}
	return false;
}
