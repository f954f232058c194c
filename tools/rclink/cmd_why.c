// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <stdlib.h>
#include <time.h>

#include <json-c/json.h>

#include "call.h"
#include "link.h"
#include "nl.h"
#include "out.h"
#include "story.h"

static const char help[] =
"usage: rclink why NAME [-j]\n\n"
"What happened to a link, oldest first, then how it is now, the most likely\n"
"cause, and what to do. The module keeps the last 64 entries of each link; what\n"
"comes again while the state stays the same is one entry.\n\n"
"  -j, --json   one object\n";

static const struct option options[] = {
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void tell(struct rcl_story *story, bool json)
{
	struct json_object *doc;

	story->now = clock_ns(CLOCK_BOOTTIME);
	story->realtime = clock_ns(CLOCK_REALTIME) - (int64_t)story->now;
	doc = rcl_story_doc(story);
	if (json)
		rcl_out_json(stdout, doc);
	else
		rcl_story_print(stdout, doc);
	json_object_put(doc);
}

/* The state is read first: the record may know more, but not less. */
static int why(struct rcl_nl *nl, const char *name, bool json, char *err)
{
	struct rcl_link_info *info = NULL;
	struct rcl_entry *entries = NULL;
	struct rcl_dev_info *devs = NULL;
	struct rcl_story story = { 0 };
	size_t num;
	int ret;

	ret = rcl_call_links(nl, name, &info, &num, err);
	if (!ret)
		ret = rcl_call_record(nl, name, &entries, &story.num, err);
	if (!ret)
		ret = rcl_call_devs(nl, NULL, &devs, &story.ndevs, err);
	if (!ret) {
		story.info = info;
		story.entries = entries;
		story.devs = devs;
		tell(&story, json);
	}
	rcl_call_devs_free(devs, story.ndevs);
	free(entries);
	free(info);
	return ret;
}

int cmd_why(int argc, char **argv)
{
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	bool json = false;
	char **words;
	int c, ret;

	while ((c = cli_getopt(argc, argv, options, help)) != -1)
		json |= c == 'j';
	words = cli_operands(argc, argv, 1, 1);

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = why(nl, words[0], json, err);
	rcl_nl_close(nl);
	return ret ? cli_refused(argv[0], words[0], ret, err) : CLI_OK;
}
