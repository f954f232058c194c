// SPDX-License-Identifier: GPL-2.0
#include "target.h"

#include <string.h>

static bool copy(char *to, size_t size, const char *text, size_t len)
{
	if (!len || len >= size)
		return false;
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

bool target_parse(const char *text, const char *service, struct target *target)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);

	if (colon)
		service = colon + 1;
	return !strchr(service, ':') &&
	       copy(target->link, sizeof(target->link), text, len) &&
	       copy(target->service, sizeof(target->service), service,
		    strlen(service));
}
