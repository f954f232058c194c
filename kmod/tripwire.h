/* SPDX-License-Identifier: GPL-2.0 */
/* What an intruder would set off: counted, and logged with the link's name. */
#ifndef RCL_TRIPWIRE_H
#define RCL_TRIPWIRE_H

#include <linux/types.h>

struct rcl_reason;
struct rcl_stats;

void rcl_tripwire_count(struct rcl_stats *stats,
			const struct rcl_reason *reason);
bool rcl_tripwire_is_access(const struct rcl_reason *reason);
void rcl_tripwire_log(const char *link, bool live,
		      const struct rcl_reason *reason);
void rcl_tripwire_log_rotation(const char *link, bool access);

#endif /* RCL_TRIPWIRE_H */
