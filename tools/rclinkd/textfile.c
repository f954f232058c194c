// SPDX-License-Identifier: GPL-2.0
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

#include "call.h"
#include "conf.h"
#include "group.h"
#include "hwcount.h"
#include "job.h"
#include "links.h"
#include "log.h"
#include "metrics.h"

#define INTERVAL_S	15	/* collectors seldom look more often */
#define NEW		".new"	/* suffix while it is being written */

struct rcd_textfile {
	const struct rcd_links *links;
	const struct rcd_hwcount *hwcount;
	struct event *timer;
	char file[RCD_PATH_LEN];	/* "": none is written */
	int error;			/* that was logged, or 0 */
};

static void print_one(FILE *to, const char *name, const char *type,
		      const char *help, uint64_t value)
{
	rcl_metrics_head(to, name, type, help);
	fprintf(to, "%s %llu\n", name, (unsigned long long)value);
}

static void print_tally(FILE *to, const char *link, const char *by,
			const uint64_t *tally)
{
	static const char *const word[RCD_OUTCOMES] = {
		[RCD_UP] = "up",
		[RCD_FAILED] = "failed",
		[RCD_GIVEN_UP] = "given_up",
	};
	int i;

	for (i = 0; i < RCD_OUTCOMES; i++)
		fprintf(to,
			"rclinkd_exchanges_total{link=\"%s\",by=\"%s\",outcome=\"%s\"} %llu\n",
			link, by, word[i], (unsigned long long)tally[i]);
}

/* The name of a link needs no quoting. */
static int print_links(FILE *to, const struct rcd_links *links)
{
	struct rcd_link_state *states;
	size_t i, num;

	states = rcd_links_states(links, &num);
	if (!states)
		return -ENOMEM;
	rcl_metrics_head(to, "rclinkd_exchanges_total", "counter",
			 "Exchanges that ended, by who began them and how");
	for (i = 0; i < num; i++) {
		print_tally(to, states[i].name, "us", states[i].tally.dialled);
		print_tally(to, states[i].name, "peer",
			    states[i].tally.answered);
	}
	rcl_metrics_head(to, "rclinkd_link_failures", "gauge",
			 "Failures of a link, by which its next try waits longer");
	for (i = 0; i < num; i++)
		fprintf(to, "rclinkd_link_failures{link=\"%s\"} %u\n",
			states[i].name, states[i].failures);
	rcl_metrics_head(to, "rclinkd_link_wait_seconds", "gauge",
			 "Until a link is dialled, to come up or to rotate; 0 if that does not wait");
	for (i = 0; i < num; i++)
		fprintf(to, "rclinkd_link_wait_seconds{link=\"%s\"} %.3f\n",
			states[i].name, states[i].waits);
	free(states);
	return 0;
}

static int print_daemon(FILE *to, const struct rcd_links *links)
{
	struct rcd_count count = rcd_links_count(links);

	print_one(to, "rclinkd_links_wanted", "gauge",
		  "Links that are configured", count.links);
	print_one(to, "rclinkd_links_up", "gauge",
		  "Those of them that are up", count.up);
	print_one(to, "rclinkd_dials", "gauge",
		  "Exchanges that this host began", count.dials);
	print_one(to, "rclinkd_answers", "gauge",
		  "Exchanges that peers began", count.answers);
	print_one(to, "rclinkd_refused_total", "counter",
		  "Callers that got no link", count.refused);
	return print_links(to, links);
}

/* The kernel's metrics are left out while it cannot be asked. */
static int print_all(FILE *to, const struct rcd_textfile *t)
{
	struct rcl_nl *nl = rch_hub_requests(rcd_links_hub(t->links));
	struct rcl_group_info *groups;
	struct rcl_link_info *infos;
	char ignored[RCL_ERR_LEN];
	size_t num;

	if (nl && !rcl_call_links(nl, NULL, &infos, &num, ignored)) {
		rcl_metrics_print(to, infos, num);
		free(infos);
	}
	if (nl && !rcl_call_groups(nl, NULL, &groups, &num, ignored)) {
		rcl_metrics_print_groups(to, groups, num);
		free(groups);
	}
	rcd_hwcount_print(t->hwcount, to);
	return print_daemon(to, t->links);
}

/* Readable by everybody; follows nobody else's file or link. */
static FILE *create(const char *name)
{
	FILE *to;
	int fd;

	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	to = fchmod(fd, 0644) ? NULL : fdopen(fd, "w");
	if (!to)
		close(fd);
	return to;
}

static int replace(const struct rcd_textfile *t)
{
	char new[RCD_PATH_LEN + sizeof(NEW)];
	int ret, error;
	FILE *to;

	snprintf(new, sizeof(new), "%s" NEW, t->file);
	to = create(new);
	if (!to)
		return -errno;
	ret = print_all(to, t);
	errno = 0;
	if (!ret && (fflush(to) || ferror(to)))
		ret = errno ? -errno : -EIO;
	error = fclose(to);
	if (!ret && (error || rename(new, t->file)))
		ret = -errno;
	if (ret)
		unlink(new);
	return ret;
}

/* The unit may write to two directories, if they were there at its start. */
static const char *advice(int error)
{
	if (error != -EROFS)
		return "";
	return "; rclinkd(8) says where it may write; new ones need a restart";
}

static void write_now(struct rcd_textfile *t)
{
	static const struct timeval interval = { .tv_sec = INTERVAL_S };
	int ret;

	if (!t->file[0])
		return;
	ret = replace(t);
	if (ret && ret != t->error)
		rcd_log(LOG_WARNING,
			"cannot write metrics to %s: %s%s; links go on, and so does trying",
			t->file, strerror(-ret), advice(ret));
	else if (!ret && t->error)
		rcd_log(LOG_NOTICE, "metrics are written to %s again", t->file);
	t->error = ret;
	event_add(t->timer, &interval);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	write_now(arg);
}

void rcd_textfile_set(struct rcd_textfile *t, const char *file)
{
	event_del(t->timer);
	if (strcmp(t->file, file)) {
		/* Nobody would write to it any more. */
		if (t->file[0])
			unlink(t->file);
		t->error = 0;
	}
	strcpy(t->file, file);
	write_now(t);
}

struct rcd_textfile *rcd_textfile_new(struct event_base *base,
				      const struct rcd_links *links,
				      const struct rcd_hwcount *hwcount,
				      char *err)
{
	struct rcd_textfile *t = calloc(1, sizeof(*t));

	if (t)
		t->timer = evtimer_new(base, on_timer, t);
	if (!t || !t->timer) {
		free(t);
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	t->links = links;
	t->hwcount = hwcount;
	return t;
}

void rcd_textfile_free(struct rcd_textfile *t)
{
	if (!t)
		return;
	event_free(t->timer);
	free(t);
}
