/* SPDX-License-Identifier: GPL-2.0 */
/* Which request is allowed in which state of a link: a pure table. */
#ifndef RCL_FSM_H
#define RCL_FSM_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

/* What a link can be asked; a link that fails goes down in any state. */
enum rcl_request_kind {
	RCL_REQ_PREPARE,
	RCL_REQ_CONNECT,
	RCL_REQ_ACTIVATE,
	RCL_REQ_DISCONNECT,
	RCL_REQ_REPLACE,
	RCL_REQ_ROTATE,
	RCL_REQ_MAX
};

int rcl_fsm_check(enum rclink_link_state state, enum rcl_request_kind kind,
		  const char **why);

#endif /* RCL_FSM_H */
