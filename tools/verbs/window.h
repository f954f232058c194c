/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory windows of type 2, tried on one device between two QPs of this
 * process: what a window allows works, and what it does not is refused.
 */
#ifndef RCV_WINDOW_H
#define RCV_WINDOW_H

#include <stdbool.h>

struct rcv_hca;

/*
 * Calls told() for each promise, with whether it was kept. Returns 0 if all
 * could be tried, or a negative errno with a sentence in err (RCL_ERR_LEN).
 */
int rcv_window_try(struct rcv_hca *hca,
		   void (*told)(void *ctx, const char *what, bool kept),
		   void *ctx, char *err);

#endif /* RCV_WINDOW_H */
