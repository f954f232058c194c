// SPDX-License-Identifier: GPL-2.0
#include "pingpong_report.h"

#include <stdio.h>

#include <json-c/json.h>

#include "out.h"
#include "pingpong.h"

#define NS_PER_S	1e9

void pingpong_report_lines(uint32_t size, uint32_t iters, uint64_t duration)
{
	uint64_t bytes = 2ULL * size * iters;
	double seconds = duration / NS_PER_S;

	printf("%llu bytes in %.2f seconds = %.2f Mbit/sec\n",
	       (unsigned long long)bytes, seconds, bytes * 8 / seconds / 1e6);
	printf("%u iters in %.2f seconds = %.2f usec/iter\n", iters, seconds,
	       seconds * 1e6 / iters);
}

void pingpong_report(const char *link, const char *service,
		     const struct rcl_pingpong *args, uint64_t duration,
		     bool json)
{
	struct json_object *doc;

	if (!json) {
		pingpong_report_lines(args->size, args->iters, duration);
		return;
	}
	doc = json_object_new_object();
	rcl_out_text(doc, "name", link);
	rcl_out_text(doc, "service", service);
	rcl_out_u64(doc, "size", args->size);
	rcl_out_u64(doc, "iters", args->iters);
	rcl_out_u64(doc, "bytes", 2ULL * args->size * args->iters);
	rcl_out_u64(doc, "duration", duration);
	rcl_out_json(stdout, doc);
	json_object_put(doc);
}
