/* SPDX-License-Identifier: GPL-2.0 */
/* What is worth an entry in a link's record. */
#ifndef RCL_RECORDER_H
#define RCL_RECORDER_H

#include <linux/types.h>

#include "record.h"

struct rcl_link;
struct rcl_reason;
struct rcl_request;
struct rcl_slot;

/**
 * struct rcl_entry_info - an entry as it was when asked for
 * @number: of the entry
 * @entry: its @text points to the copy below, if it has one
 * @text: copy of the text
 */
struct rcl_entry_info {
	u64 number;
	struct rcl_entry entry;
	char text[RCLINK_NOTE_MAX + 1];
};

void rcl_recorder_state(struct rcl_slot *slot, u32 from);
void rcl_recorder_failure(struct rcl_slot *slot,
			  const struct rcl_reason *reason, u32 qp);
void rcl_recorder_refused(struct rcl_slot *slot,
			  const struct rcl_request *req);
int rcl_recorder_note(struct rcl_link *link, const char *text);
int rcl_recorder_read(struct rcl_link *link, u64 number,
		      struct rcl_entry_info *info);

#endif /* RCL_RECORDER_H */
