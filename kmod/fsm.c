// SPDX-License-Identifier: GPL-2.0
#include "fsm.h"

#include <linux/errno.h>
#include <linux/stddef.h>

struct rcl_place {
	int ret;		/* 0 or a negative errno */
	const char *why;	/* with an errno */
};

#define OK		{ 0, NULL }
#define NO(err, text)	{ -(err), text }

static const char not_prepared[] =
	"the link is not prepared: start a new exchange";
static const char not_connected[] =
	"the link does not know its peer yet: connect it first";
static const char under_way[] =
	"an exchange is under way: wait for its end, or disconnect the link";
static const char no_epoch[] =
	"the link is not connected: there is nothing to end";
static const char not_up[] =
	"the link is not up: no other epoch can take its place";

static const struct rcl_place places[][RCL_REQ_MAX] = {
	[RCLINK_LINK_STATE_IDLE] = {
		[RCL_REQ_PREPARE]	= OK,
		[RCL_REQ_CONNECT]	= NO(ENOTCONN, not_prepared),
		[RCL_REQ_ACTIVATE]	= NO(ENOTCONN, not_prepared),
		[RCL_REQ_DISCONNECT]	= NO(ENOTCONN, no_epoch),
		[RCL_REQ_REPLACE ... RCL_REQ_ROTATE] = NO(ENOTCONN, not_up),
	},
	[RCLINK_LINK_STATE_PREPARED] = {
		[RCL_REQ_PREPARE]	= NO(EBUSY, under_way),
		[RCL_REQ_CONNECT]	= OK,
		[RCL_REQ_ACTIVATE]	= NO(ENOTCONN, not_connected),
		[RCL_REQ_DISCONNECT]	= OK,
		[RCL_REQ_REPLACE ... RCL_REQ_ROTATE] = NO(ENOTCONN, not_up),
	},
	[RCLINK_LINK_STATE_CONNECTED] = {
		[RCL_REQ_PREPARE]	= NO(EBUSY, under_way),
		[RCL_REQ_CONNECT]	= NO(EBUSY, "the peer is known"),
		[RCL_REQ_ACTIVATE]	= OK,
		[RCL_REQ_DISCONNECT]	= OK,
		[RCL_REQ_REPLACE ... RCL_REQ_ROTATE] = NO(ENOTCONN, not_up),
	},
	[RCLINK_LINK_STATE_UP] = {
		[RCL_REQ_PREPARE]	= NO(EBUSY,
			"the link is up: disconnect it first"),
		[RCL_REQ_CONNECT]	= NO(EBUSY, "the link is up"),
		[RCL_REQ_ACTIVATE]	= NO(EBUSY, "the link is up"),
		[RCL_REQ_DISCONNECT]	= OK,
		[RCL_REQ_REPLACE ... RCL_REQ_ROTATE] = OK,
	},
	[RCLINK_LINK_STATE_DOWN] = {
		[RCL_REQ_PREPARE]	= OK,
		[RCL_REQ_CONNECT]	= NO(ENOTCONN, not_prepared),
		[RCL_REQ_ACTIVATE]	= NO(ENOTCONN, not_prepared),
		[RCL_REQ_DISCONNECT]	= NO(ENOTCONN, no_epoch),
		[RCL_REQ_REPLACE ... RCL_REQ_ROTATE] = NO(ENOTCONN, not_up),
	},
};

/**
 * rcl_fsm_check - is a request allowed in a state?
 * @state: state of the link
 * @kind: what is requested
 * @why: set to a sentence when it is refused
 *
 * Return: 0, or -EBUSY or -ENOTCONN when it is not.
 */
int rcl_fsm_check(enum rclink_link_state state, enum rcl_request_kind kind,
		  const char **why)
{
	const struct rcl_place *place = &places[state][kind];

	if (place->ret)
		*why = place->why;
	return place->ret;
}
