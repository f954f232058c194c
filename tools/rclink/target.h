/* SPDX-License-Identifier: GPL-2.0 */
/* LINK[:SERVICE], as channels are named on the command line. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>

#include <linux/rclink_dev.h>

struct target {
	char link[RCLINK_DEV_LINK_LEN];
	char service[RCLINK_DEV_SERVICE_LEN];
};

/* Return whether text is such a name; service is used if it has none. */
bool target_parse(const char *text, const char *service, struct target *target);

#endif /* TARGET_H */
