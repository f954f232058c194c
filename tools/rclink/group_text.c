// SPDX-License-Identifier: GPL-2.0
#include "group_chan.h"

#include <stdio.h>

const char *group_text(const uint8_t *data, size_t len, char *to)
{
	char *at = to;
	size_t i;

	for (i = 0; i < len; i++) {
		if (data[i] >= ' ' && data[i] < 0x7f && data[i] != '\\')
			*at++ = data[i];
		else
			at += sprintf(at, "\\x%02x", data[i]);
	}
	*at = 0;
	return to;
}
