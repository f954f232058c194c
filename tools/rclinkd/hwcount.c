// SPDX-License-Identifier: GPL-2.0
/*
 * Somebody who guesses the PSN of a QP misses it most of the time. No QP fails
 * from that, and the module hears nothing; only the device counts it. It also
 * counts when packets are lost, which is why a few are no news.
 */
#include "hwcount.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <event2/event.h>

#include "call.h"
#include "job.h"
#include "link.h"
#include "links.h"
#include "log.h"
#include "process.h"
#include "text.h"

#define INTERVAL_S	15
#define LATE_NS		(INTERVAL_S * NS_PER_S * 3 / 2)	/* one was missed */
#define QUIET_NS	600000000000ULL	/* after a port's warning */
#define FILES		"/sys/class/infiniband/%s/ports/%u/hw_counters/%s"
#define METRIC		"rclinkd_port_unexpected_total"
#define PATH_LEN	160
#define TEXT_LEN	256

/* Each driver has its own names. */
static const struct {
	const char *name;
	uint64_t news;		/* at least this many an interval */
} counters[] = {
	/* requests with a PSN that was not expected ... */
	{ "out_of_seq_request", 100 },		/* rxe */
	{ "out_of_sequence", 100 },		/* mlx5 */
	{ "rq_num_oos", 100 },			/* mlx4 */
	{ "oos_drop_count", 100 },		/* bnxt_re */
	/* ... or with one that was seen before */
	{ "duplicate_request", 100 },		/* rxe, mlx5 */
	{ "rq_num_dup", 100 },			/* mlx4 */
	{ "dup_req", 100 },			/* bnxt_re */
	/* the peer's device says the same of this host's requests */
	{ "rcvd_seq_err", 100 },		/* rxe */
	{ "packet_seq_err", 100 },		/* mlx5 */
	/* requests without the right to access, here and at the peer */
	{ "resp_remote_access_errors", 1 },	/* mlx5 */
	{ "req_remote_access_errors", 1 },	/* mlx5 */
	{ "rq_num_rae", 1 },			/* mlx4 */
	{ "sq_num_rae", 1 },			/* mlx4 */
};

#define COUNTERS	(sizeof(counters) / sizeof(counters[0]))

struct port {
	LIST_ENTRY(port) node;
	char device[RCLINK_DEVICE_MAX + 1];
	uint32_t number;
	bool used;			/* by a link */
	bool has[COUNTERS];		/* it was read before */
	uint64_t value[COUNTERS];
	uint64_t said;			/* ns; 0: never */
	char links[TEXT_LEN];		/* that use it, ", " before each */
};

struct rcd_hwcount {
	const struct rcd_links *links;
	struct event *timer;
	uint64_t looked;		/* ns since the boot; 0: never */
	LIST_HEAD(, port) ports;
};

static void add_text(char *text, const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, TEXT_LEN - len, ", %s", more);
}

static bool read_one(const struct port *port, const char *name, uint64_t *value)
{
	char path[PATH_LEN];
	FILE *from;
	bool ok;

	snprintf(path, sizeof(path), FILES, port->device, port->number, name);
	from = fopen(path, "re");
	if (!from)
		return false;
	ok = fscanf(from, "%" SCNu64, value) == 1;
	fclose(from);
	return ok;
}

/* A counter's rise; for a device that was added again it begins at 0. */
static uint64_t read_again(struct port *port, size_t i)
{
	uint64_t before = port->value[i];
	bool had = port->has[i];

	port->has[i] = read_one(port, counters[i].name, &port->value[i]);
	if (!had || !port->has[i] || port->value[i] < before)
		return 0;
	return port->value[i] - before;
}

static void read_port(struct port *port)
{
	char text[TEXT_LEN] = "", one[80];
	uint64_t now = rcl_now(), rise;
	size_t i;

	for (i = 0; i < COUNTERS; i++) {
		rise = read_again(port, i);
		if (rise < counters[i].news)
			continue;
		snprintf(one, sizeof(one), "%s by %" PRIu64, counters[i].name,
			 rise);
		add_text(text, one);
	}
	if (!text[0] || (port->said && now - port->said < QUIET_NS))
		return;
	port->said = now;
	rcd_log(LOG_WARNING,
		"%s port %u: in %u s the device's counters rose: %s; links of that port: %s. Packets are lost on the way, or somebody guesses what only the two ends know: check the path; if it is well, look for an intruder in the RDMA network",
		port->device, port->number, INTERVAL_S, text + 2,
		port->links + 2);
}

static struct port *find(struct rcd_hwcount *all, const char *device,
			 uint32_t number)
{
	struct port *port;

	LIST_FOREACH(port, &all->ports, node)
		if (port->number == number && !strcmp(port->device, device))
			return port;
	port = calloc(1, sizeof(*port));
	if (!port)
		return NULL;
	strcpy(port->device, device);
	port->number = number;
	LIST_INSERT_HEAD(&all->ports, port, node);
	return port;
}

static void find_used(struct rcd_hwcount *all,
		      const struct rcl_link_info *infos, size_t num)
{
	struct port *port;
	size_t i;

	for (i = 0; i < num; i++) {
		if (!infos[i].used_device[0])
			continue;
		port = find(all, infos[i].used_device, infos[i].used_port);
		if (!port)
			continue;
		port->used = true;
		add_text(port->links, infos[i].name);
	}
}

/* A rise over more than an interval, because nobody looked, is no news. */
static void begin_round(struct rcd_hwcount *all)
{
	const uint64_t now = rcl_since_boot();
	const bool late = now - all->looked > LATE_NS;
	struct port *port;

	all->looked = now;
	LIST_FOREACH(port, &all->ports, node) {
		port->used = false;
		port->links[0] = '\0';
		if (late)
			memset(port->has, 0, sizeof(port->has));
	}
}

static void look(struct rcd_hwcount *all)
{
	struct rcl_nl *nl = rch_hub_requests(rcd_links_hub(all->links));
	struct rcl_link_info *infos;
	struct port *port, *next;
	char ignored[RCL_ERR_LEN];
	size_t num;

	if (!nl || rcl_call_links(nl, NULL, &infos, &num, ignored))
		return;
	begin_round(all);
	find_used(all, infos, num);
	free(infos);
	for (port = LIST_FIRST(&all->ports); port; port = next) {
		next = LIST_NEXT(port, node);
		if (port->used) {
			read_port(port);
			continue;
		}
		LIST_REMOVE(port, node);
		free(port);
	}
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	look(arg);
}

void rcd_hwcount_print(const struct rcd_hwcount *all, FILE *to)
{
	const struct port *port;
	size_t i;

	fprintf(to,
		"# HELP %s What only devices count, in their drivers' words.\n# TYPE %s counter\n",
		METRIC, METRIC);
	LIST_FOREACH(port, &all->ports, node) {
		for (i = 0; i < COUNTERS; i++) {
			if (!port->has[i])
				continue;
			fprintf(to, "%s{device=", METRIC);
			rcl_print_quoted(to, port->device);
			fprintf(to, ",port=\"%u\",counter=\"%s\"} %" PRIu64,
				port->number, counters[i].name, port->value[i]);
			fputc('\n', to);
		}
	}
}

struct rcd_hwcount *rcd_hwcount_new(struct event_base *base,
				    const struct rcd_links *links, char *err)
{
	static const struct timeval interval = { .tv_sec = INTERVAL_S };
	struct rcd_hwcount *all = calloc(1, sizeof(*all));

	if (all)
		all->timer = event_new(base, -1, EV_PERSIST, on_timer, all);
	if (!all || !all->timer || event_add(all->timer, &interval)) {
		rcl_fail(err, -ENOMEM, "out of memory");
		rcd_hwcount_free(all);
		return NULL;
	}
	LIST_INIT(&all->ports);
	all->links = links;
	look(all);
	return all;
}

void rcd_hwcount_free(struct rcd_hwcount *all)
{
	struct port *port;

	if (!all)
		return;
	while (!LIST_EMPTY(&all->ports)) {
		port = LIST_FIRST(&all->ports);
		LIST_REMOVE(port, node);
		free(port);
	}
	if (all->timer)
		event_free(all->timer);
	free(all);
}
