// SPDX-License-Identifier: GPL-2.0
#include "listen_report.h"

#include <stdio.h>

#include "process.h"
#include "strangers.h"

void listen_report_up(const char *link, uint64_t epoch, const char *peer,
		      uint64_t ns)
{
	printf("%s: up, epoch %llu, peer %s, %.0f ms\n", link,
	       (unsigned long long)epoch, peer, (double)ns / NS_PER_MS);
}

void listen_report_not_up(const char *link, const char *from, bool given_up,
			  const char *err)
{
	static struct rch_strangers strangers;
	unsigned long left_out;

	if (*link) {
		printf("%s: not up, from %s: %s\n", link, from, err);
		return;
	}
	if (!rch_strangers_take(&strangers, &left_out))
		return;
	if (left_out)
		printf("%lu lines on callers without a link were left out\n",
		       left_out);
	printf(given_up ? "given up, from %s: %s\n" : "refused %s: %s\n", from,
	       err);
}
