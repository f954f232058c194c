/* SPDX-License-Identifier: GPL-2.0 */
/* What has a place in which state of a link: a pure table. */
#ifndef RCL_FSM_H
#define RCL_FSM_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

/* What can happen to a link; what fails goes down in any state. */
enum rcl_input {
	RCL_IN_PREPARE,
	RCL_IN_CONNECT,
	RCL_IN_ACTIVATE,
	RCL_IN_PROVEN,		/* hello made the round trip both ways */
	RCL_IN_DISCONNECT,
	RCL_IN_RENEW,		/* another epoch is to take the place of this */
	RCL_IN_MAX
};

int rcl_fsm_check(enum rclink_link_state state, enum rcl_input in,
		  const char **why);

#endif /* RCL_FSM_H */
