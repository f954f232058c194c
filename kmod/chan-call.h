/* SPDX-License-Identifier: GPL-2.0 */
/* What a channel asks the link for. */
#ifndef RCL_CHAN_CALL_H
#define RCL_CHAN_CALL_H

#include "lessee.h"

#define RCL_FETCH_MS	30000	/* that a peer may take to register a region */

struct rcl_chan;
struct rcl_window;

int rcl_chan_call(struct rcl_chan *chan, struct rcl_call *call,
		  const unsigned long *until);
int rcl_chan_fetch(struct rcl_chan *chan, const char *name,
		   struct rcl_window *window, const unsigned long *until);

#endif /* RCL_CHAN_CALL_H */
