// SPDX-License-Identifier: GPL-2.0
#include "group-msg.h"

#include <linux/errno.h>
#include <linux/string.h>

#include <uapi/linux/rclink_dev.h>

/*
 * To be raised when this layout, or that of announce.c, changes, together with
 * RCL_MSG_VERSION: otherwise hosts of both versions would still share a key.
 */
#define RCL_GROUP_MSG_VERSION	2

/**
 * rcl_group_msg_begin - write the head of a text
 * @buf: has room for RCL_GROUP_MSG_HEAD bytes and the name
 * @kind: RCL_GROUP_MSG_*
 * @service: service that RCL_GROUP_MSG_DATA is for, else empty
 *
 * Return: number of bytes written.
 */
u32 rcl_group_msg_begin(u8 *buf, u8 kind, const char *service)
{
	u32 len = strlen(service);

	buf[0] = RCL_GROUP_MSG_VERSION;
	buf[1] = kind;
	buf[2] = len;
	buf[3] = 0;
	memcpy(buf + RCL_GROUP_MSG_HEAD, service, len);
	return RCL_GROUP_MSG_HEAD + len;
}

static bool rcl_group_msg_is_service(const u8 *buf, u32 len)
{
	return buf[2] && buf[2] < RCLINK_DEV_SERVICE_LEN &&
	       buf[2] <= len - RCL_GROUP_MSG_HEAD &&
	       !memchr(buf + RCL_GROUP_MSG_HEAD, 0, buf[2]);
}

/**
 * rcl_group_msg_kind - check the head of an unsealed text, and get its kind
 * @buf: the text
 * @len: its bytes
 *
 * Return: RCL_GROUP_MSG_*, or -EBADMSG when its head is invalid.
 */
int rcl_group_msg_kind(const u8 *buf, u32 len)
{
	if (len < RCL_GROUP_MSG_HEAD || buf[0] != RCL_GROUP_MSG_VERSION ||
	    buf[3])
		return -EBADMSG;
	if (buf[1] == RCL_GROUP_MSG_ANNOUNCE && !buf[2])
		return RCL_GROUP_MSG_ANNOUNCE;
	if (buf[1] == RCL_GROUP_MSG_DATA && rcl_group_msg_is_service(buf, len))
		return RCL_GROUP_MSG_DATA;
	return -EBADMSG;
}

/**
 * rcl_group_msg_service_len - how long is the name after the head?
 * @buf: text of kind RCL_GROUP_MSG_DATA
 *
 * Return: bytes.
 */
u32 rcl_group_msg_service_len(const u8 *buf)
{
	return buf[2];
}
