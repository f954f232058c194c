// SPDX-License-Identifier: GPL-2.0
#include "rcl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "slow.h"

char rcl_device[RCLINK_DEVICE_MAX + 1] = "rxe0";

__attribute__((constructor)) static void find_device(void)
{
	const char *name = getenv("RCL_DEV");

	if (name)
		snprintf(rcl_device, sizeof(rcl_device), "%s", name);
}

/* Is the first port of rcl_device an InfiniBand port? */
bool rcl_is_ib(void)
{
	char path[128], layer[32] = "";
	FILE *in;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/link_layer", rcl_device);
	in = fopen(path, "r");
	if (!in)
		return false;
	if (!fgets(layer, sizeof(layer), in))
		*layer = '\0';
	fclose(in);
	return !strcmp(layer, "InfiniBand\n");
}

void rcl_group_at(uint8_t mgid[RCLINK_GID_LEN], uint32_t *mlid)
{
	bool ib = rcl_is_ib();

	inet_pton(AF_INET6, ib ? "ff15::4:5:6" : "::ffff:239.1.2.3", mgid);
	*mlid = ib ? 0xc001 : 0;
}

int rcl_open(struct genl_sock *s)
{
	return genl_open(s, RCLINK_FAMILY_NAME);
}

int rcl_named(struct genl_sock *s, uint8_t cmd, const char *name,
	      struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, cmd);
	genl_put_str(&m, cmd == RCLINK_CMD_PING ? RCLINK_A_PING_LINK :
		     RCLINK_A_LINK_NAME, name);
	return genl_ask(s, &m, NULL, ack);
}

/* The peers of all links of the tests are on the same port. */
int rcl_new(struct genl_sock *s, const char *name)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u32(&m, RCLINK_A_LINK_LOOPBACK, 1);
	return genl_ask(s, &m, NULL, NULL);
}

int rcl_del(struct genl_sock *s, const char *name)
{
	return rcl_named(s, RCLINK_CMD_LINK_DEL, name, NULL);
}

int rcl_disconnect(struct genl_sock *s, const char *name)
{
	return rcl_named(s, RCLINK_CMD_LINK_DISCONNECT, name, NULL);
}

struct names {
	char (*name)[RCLINK_NAME_MAX + 1];
	size_t n;
};

static void add_name(const struct genl_msg *m, void *arg)
{
	struct names *names = arg;

	names->name = realloc(names->name,
			      (names->n + 1) * sizeof(*names->name));
	snprintf(names->name[names->n++], sizeof(*names->name), "%s",
		 genl_str(genl_attr(m, RCLINK_A_LINK_NAME)));
}

/* Delete every link, whoever left it. */
int rcl_clean(struct genl_sock *s)
{
	struct names names = {};
	struct genl_msg m;
	size_t i;
	int ret;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	ret = genl_dump(s, &m, add_name, &names);
	for (i = 0; i < names.n; i++)
		rcl_del(s, names.name[i]);
	free(names.name);
	return ret;
}

static void read_end(const struct nlattr *nest, struct rcl_end *end)
{
	const struct nlattr *qp = NULL;

	memset(end, 0, sizeof(*end));
#define GET(type)	genl_next(nest, RCLINK_A_ENDPOINT_##type, NULL)
	end->link_layer = genl_u32(GET(LINK_LAYER));
	memcpy(end->gid, genl_str(GET(GID)), sizeof(end->gid));
	end->lid = genl_u32(GET(LID));
	end->mtu = genl_u32(GET(MTU));
	end->rd_atomic = genl_u32(GET(RD_ATOMIC));
	end->atomics = genl_u32(GET(ATOMICS));
	end->epoch = genl_u64(GET(EPOCH));
	end->addr = genl_u64(GET(ADDR));
	end->rkey = genl_u32(GET(RKEY));
	end->length = genl_u32(GET(LENGTH));
	end->pkey = genl_u32(GET(PKEY));
	end->masked_atomics = genl_u32(GET(MASKED_ATOMICS));
#undef GET
	while ((qp = genl_next(nest, RCLINK_A_ENDPOINT_QP, qp))) {
		end->qp[end->nqps].qpn = genl_u32(genl_next(qp, RCLINK_A_QP_QPN,
							    NULL));
		end->qp[end->nqps].psn = genl_u32(genl_next(qp, RCLINK_A_QP_PSN,
							    NULL));
		end->nqps++;
	}
}

/* The answer holds this host's end. */
static int ask_local(struct genl_sock *s, uint8_t cmd, const char *name,
		     bool rotate, struct rcl_end *end)
{
	const struct nlattr *local;
	struct genl_msg m, answer;
	int ret;

	genl_begin(&m, s, cmd);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	if (rotate)
		genl_put(&m, RCLINK_A_LINK_ROTATE, NULL, 0);
	ret = genl_ask(s, &m, &answer, NULL);
	if (ret)
		return ret;
	local = genl_attr(&answer, RCLINK_A_LINK_LOCAL);
	if (!local)
		return -EPROTO;
	read_end(local, end);
	return 0;
}

int rcl_prepare(struct genl_sock *s, const char *name, struct rcl_end *end)
{
	return ask_local(s, RCLINK_CMD_LINK_PREPARE, name, false, end);
}

/* For a link that is up, and stays up. */
int rcl_prepare_beside(struct genl_sock *s, const char *name,
		       struct rcl_end *end)
{
	return ask_local(s, RCLINK_CMD_LINK_PREPARE, name, true, end);
}

/* For a link that is prepared, connected or up. */
int rcl_local(struct genl_sock *s, const char *name, struct rcl_end *end)
{
	return ask_local(s, RCLINK_CMD_LINK_GET, name, false, end);
}

void rcl_put_end(struct genl_msg *m, const struct rcl_end *end)
{
	uint32_t nest = genl_nest(m, RCLINK_A_LINK_REMOTE);
	uint32_t qp, i;

	genl_put_u32(m, RCLINK_A_ENDPOINT_LINK_LAYER, end->link_layer);
	genl_put(m, RCLINK_A_ENDPOINT_GID, end->gid, sizeof(end->gid));
	genl_put_u32(m, RCLINK_A_ENDPOINT_LID, end->lid);
	genl_put_u32(m, RCLINK_A_ENDPOINT_MTU, end->mtu);
	genl_put_u32(m, RCLINK_A_ENDPOINT_RD_ATOMIC, end->rd_atomic);
	genl_put_u32(m, RCLINK_A_ENDPOINT_ATOMICS, end->atomics);
	genl_put_u64(m, RCLINK_A_ENDPOINT_EPOCH, end->epoch);
	genl_put_u64(m, RCLINK_A_ENDPOINT_ADDR, end->addr);
	genl_put_u32(m, RCLINK_A_ENDPOINT_RKEY, end->rkey);
	genl_put_u32(m, RCLINK_A_ENDPOINT_LENGTH, end->length);
	genl_put_u32(m, RCLINK_A_ENDPOINT_PKEY, end->pkey);
	genl_put_u32(m, RCLINK_A_ENDPOINT_MASKED_ATOMICS, end->masked_atomics);
	for (i = 0; i < end->nqps; i++) {
		qp = genl_nest(m, RCLINK_A_ENDPOINT_QP);
		genl_put_u32(m, RCLINK_A_QP_QPN, end->qp[i].qpn);
		genl_put_u32(m, RCLINK_A_QP_PSN, end->qp[i].psn);
		genl_nest_end(m, qp);
	}
	genl_nest_end(m, nest);
}

int rcl_connect(struct genl_sock *s, const char *name, uint64_t epoch,
		uint32_t role, const struct rcl_end *remote,
		struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_CONNECT);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u64(&m, RCLINK_A_LINK_EPOCH, epoch);
	genl_put_str(&m, RCLINK_A_LINK_PEER, "a peer");
	genl_put_u32(&m, RCLINK_A_LINK_ROLE, role);
	rcl_put_end(&m, remote);
	return genl_ask(s, &m, NULL, ack);
}

const uint8_t rcl_key[RCLINK_KEY_LEN] = {
	0x0f, 0xfd, 0xe2, 0x65, 0x42, 0x7c, 0x7a, 0x1d,
	0xd7, 0xcd, 0xe7, 0xf3, 0x29, 0xa8, 0x43, 0xf4,
	0xcb, 0xb0, 0x6b, 0xad, 0xcc, 0x45, 0xcf, 0x5c,
	0x64, 0xb8, 0x0a, 0xc1, 0xb2, 0xe4, 0x9d, 0xd1,
};

int rcl_activate(struct genl_sock *s, const char *name, uint64_t epoch,
		 struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_ACTIVATE);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u64(&m, RCLINK_A_LINK_EPOCH, epoch);
	genl_put(&m, RCLINK_A_LINK_KEY, rcl_key, sizeof(rcl_key));
	return genl_ask(s, &m, NULL, ack);
}

int rcl_replace(struct genl_sock *s, const char *name, uint64_t epoch,
		struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_REPLACE);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u64(&m, RCLINK_A_LINK_EPOCH, epoch);
	return genl_ask(s, &m, NULL, ack);
}

int rcl_view(struct genl_sock *s, const char *name, struct rcl_view *view)
{
	const struct nlattr *stats, *nla;
	struct genl_msg m, answer;
	int ret;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	ret = genl_ask(s, &m, &answer, NULL);
	if (ret)
		return ret;
	memset(view, 0, sizeof(*view));
	view->id = genl_u32(genl_attr(&answer, RCLINK_A_LINK_ID));
	view->state = genl_u32(genl_attr(&answer, RCLINK_A_LINK_STATE));
	view->reason = genl_u32(genl_attr(&answer, RCLINK_A_LINK_REASON));
	view->wc_status = genl_u32(genl_attr(&answer, RCLINK_A_LINK_WC_STATUS));
	view->vendor_err = genl_u32(genl_attr(&answer,
					      RCLINK_A_LINK_VENDOR_ERR));
	nla = genl_attr(&answer, RCLINK_A_LINK_DEVICE);
	snprintf(view->device, sizeof(view->device), "%s",
		 nla ? genl_str(nla) : "");
	view->port = genl_u32(genl_attr(&answer, RCLINK_A_LINK_PORT));
	view->epoch = genl_u64(genl_attr(&answer, RCLINK_A_LINK_EPOCH));
	view->standby = genl_u32(genl_attr(&answer,
					   RCLINK_A_LINK_STANDBY_STATE));
	view->standby_epoch = genl_u64(genl_attr(&answer,
						 RCLINK_A_LINK_STANDBY_EPOCH));
	view->event_seq = genl_u64(genl_attr(&answer, RCLINK_A_LINK_EVENT_SEQ));
	snprintf(view->reason_text, sizeof(view->reason_text), "%s",
		 genl_str(genl_attr(&answer, RCLINK_A_LINK_REASON_TEXT)));
	view->secrets = genl_attr(&answer, RCLINK_A_LINK_LOCAL) ||
			genl_attr(&answer, RCLINK_A_LINK_REMOTE);
	stats = genl_attr(&answer, RCLINK_A_LINK_STATS);
	if (!stats)
		return -EPROTO;
	view->pings = genl_u64(genl_next(stats, RCLINK_A_STATS_PINGS, NULL));
	view->ping_errors = genl_u64(genl_next(stats,
					       RCLINK_A_STATS_PING_ERRORS,
					       NULL));
	view->resumes = genl_u64(genl_next(stats, RCLINK_A_STATS_CHAN_RESUMES,
					   NULL));
	view->resends = genl_u64(genl_next(stats, RCLINK_A_STATS_CHAN_RESENDS,
					   NULL));
	return 0;
}

/* Return: a counter of a link (RCLINK_A_STATS_*), UINT64_MAX if unknown. */
uint64_t rcl_stat(struct genl_sock *s, const char *name, uint16_t counter)
{
	const struct nlattr *stats, *value = NULL;
	struct genl_msg m, answer;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	if (genl_ask(s, &m, &answer, NULL))
		return UINT64_MAX;
	stats = genl_attr(&answer, RCLINK_A_LINK_STATS);
	if (stats)
		value = genl_next(stats, counter, NULL);
	return value ? genl_u64(value) : UINT64_MAX;
}

struct faults {
	uint32_t reason;
	int n;
};

#define ENTRY(field) \
	genl_u32(genl_next(entry, RCLINK_A_ENTRY_##field, NULL))

static void add_fault(const struct nlattr *entry, void *arg)
{
	struct faults *faults = arg;

	faults->n += ENTRY(KIND) == RCLINK_ENTRY_KIND_FAILURE &&
		     ENTRY(REASON) == faults->reason && ENTRY(QP);
}

static void take_failure(const struct nlattr *entry, void *arg)
{
	struct rcl_failure *failure = arg;

	if (ENTRY(KIND) != RCLINK_ENTRY_KIND_FAILURE)
		return;
	failure->reason = ENTRY(REASON);
	failure->wc_status = ENTRY(WC_STATUS);
	failure->vendor_err = ENTRY(VENDOR_ERR);
	failure->times = ENTRY(TIMES);
	failure->has_qp = genl_next(entry, RCLINK_A_ENTRY_QP, NULL);
	failure->qp = ENTRY(QP);
}

int rcl_record(struct genl_sock *s, const char *name, uint64_t number,
	       struct genl_msg *answer, struct nlattr **all)
{
	struct genl_msg m;
	int ret;

	genl_begin(&m, s, RCLINK_CMD_RECORD_GET);
	genl_put_str(&m, RCLINK_A_RECORD_LINK, name);
	if (number)
		genl_put_u64(&m, RCLINK_A_RECORD_NUMBER, number);
	ret = genl_ask(s, &m, answer, NULL);
	if (ret)
		return ret;
	*all = (void *)(answer->buf + NLMSG_HDRLEN);
	(*all)->nla_len = answer->nlh.nlmsg_len - NLMSG_HDRLEN;
	return 0;
}

/* One answer may not have room for all entries. */
static int each_entry(struct genl_sock *s, const char *name,
		      void (*each)(const struct nlattr *entry, void *arg),
		      void *arg)
{
	const struct nlattr *entry;
	uint64_t next = 0, before;
	struct genl_msg answer;
	struct nlattr *all;
	int ret;

	do {
		before = next;
		ret = rcl_record(s, name, next, &answer, &all);
		if (ret)
			return ret;
		entry = NULL;
		while ((entry = genl_next(all, RCLINK_A_RECORD_ENTRY, entry))) {
			each(entry, arg);
			next = 1 + genl_u64(genl_next(entry,
						      RCLINK_A_ENTRY_NUMBER,
						      NULL));
		}
	} while (next != before);
	return 0;
}

/* Count the failures of pooled QPs. */
int rcl_faults(struct genl_sock *s, const char *name, uint32_t reason)
{
	struct faults faults = { .reason = reason };

	return each_entry(s, name, add_fault, &faults) ? : faults.n;
}

int rcl_last_failure(struct genl_sock *s, const char *name,
		     struct rcl_failure *failure)
{
	memset(failure, 0, sizeof(*failure));
	return each_entry(s, name, take_failure, failure) ? :
	       failure->times ? 0 : -ENOENT;
}

int64_t rcl_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static bool is_in(const struct rcl_view *view, uint64_t state)
{
	return view->state == state;
}

static bool has_told(const struct rcl_view *view, uint64_t seq)
{
	return view->event_seq >= seq;
}

/* Return: 0 when the link gets there, -ETIMEDOUT if not. */
static int until(struct genl_sock *s, const char *name, int ms,
		 bool (*is)(const struct rcl_view *view, uint64_t what),
		 uint64_t what)
{
	int64_t end = rcl_now_ms() + slow(ms);
	struct rcl_view view;
	bool over;
	int ret;

	/* Look a last time: this process may not have run meanwhile. */
	do {
		over = rcl_now_ms() >= end;
		ret = rcl_view(s, name, &view);
		if (ret || is(&view, what))
			return ret;
		usleep(10000);
	} while (!over);
	return -ETIMEDOUT;
}

int rcl_until(struct genl_sock *s, const char *name, uint32_t state, int ms)
{
	return until(s, name, ms, is_in, state);
}

/*
 * A link can be seen in a state before the event of it has a number. One work
 * item does both, and whatever is asked of the link: once it has refused a
 * request, it has done both.
 */
void rcl_settle(struct genl_sock *s, const char *name)
{
	rcl_replace(s, name, 0, NULL);
}

/* An event is heard before a dump shows its number. */
int rcl_until_told(struct genl_sock *s, const char *name, uint64_t seq, int ms)
{
	return until(s, name, ms, has_told, seq);
}

/* Bring two links of this host to a state, each the other's peer. */
int rcl_pair(struct genl_sock *s, const char *a, const char *b, uint32_t state)
{
	const char *name[2] = { a, b };
	struct rcl_end end[2];
	uint64_t epoch;
	int ret = 0;
	int i;

	for (i = 0; !ret && i < 2; i++)
		ret = rcl_prepare(s, name[i], &end[i]);
	if (ret || state == RCLINK_LINK_STATE_PREPARED)
		return ret;
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_connect(s, name[i], end[i].epoch,
				  RCLINK_ROLE_INITIATOR + i, &end[!i], NULL);
	if (ret || state == RCLINK_LINK_STATE_CONNECTED)
		return ret;
	epoch = end[0].epoch > end[1].epoch ? end[0].epoch : end[1].epoch;
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_activate(s, name[i], epoch, NULL);
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_until(s, name[i], RCLINK_LINK_STATE_UP, 10000);
	for (i = 0; !ret && i < 2; i++)
		rcl_settle(s, name[i]);
	return ret;
}

/* @size, @count: negative to leave it out */
int rcl_pings(struct genl_sock *s, const char *name, uint32_t op, int64_t size,
	      uint64_t cookie, int64_t count, struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_PING);
	genl_put_str(&m, RCLINK_A_PING_LINK, name);
	genl_put_u32(&m, RCLINK_A_PING_OP, op);
	if (size >= 0)
		genl_put_u32(&m, RCLINK_A_PING_SIZE, size);
	genl_put_u64(&m, RCLINK_A_PING_COOKIE, cookie);
	if (count >= 0)
		genl_put_u32(&m, RCLINK_A_PING_COUNT, count);
	return genl_ask(s, &m, NULL, ack);
}

int rcl_ping(struct genl_sock *s, const char *name, uint32_t op, int64_t size,
	     uint64_t cookie, struct genl_ack *ack)
{
	return rcl_pings(s, name, op, size, cookie, -1, ack);
}

/* Wait for the next result of a ping. */
int rcl_pong(struct genl_sock *s, struct rcl_pong *pong, int ms)
{
	const struct nlattr *rtt = NULL;
	struct genl_msg m;
	int ret;

	do {
		ret = genl_recv(s, &m, ms);
		if (ret)
			return ret;
	} while (m.nlh.nlmsg_type != s->family ||
		 genl_cmd(&m) != RCLINK_CMD_PING_NTF);
	memset(pong, 0, sizeof(*pong));
	pong->op = genl_u32(genl_attr(&m, RCLINK_A_PING_OP));
	pong->size = genl_u32(genl_attr(&m, RCLINK_A_PING_SIZE));
	pong->cookie = genl_u64(genl_attr(&m, RCLINK_A_PING_COOKIE));
	pong->error = genl_u32(genl_attr(&m, RCLINK_A_PING_ERROR));
	snprintf(pong->reason, sizeof(pong->reason), "%s",
		 genl_str(genl_attr(&m, RCLINK_A_PING_REASON_TEXT)));
	while ((rtt = genl_more(&m, RCLINK_A_PING_RTT, rtt))) {
		if (!pong->ok++ || genl_u64(rtt) < pong->rtt)
			pong->rtt = genl_u64(rtt);
	}
	return 0;
}

static void digest_link(const struct genl_msg *m, void *arg)
{
	uint64_t *digest = arg;
	uint32_t i;

	/* FNV-1a over all attributes */
	for (i = NLMSG_HDRLEN; i < m->nlh.nlmsg_len; i++)
		*digest = (*digest ^ m->buf[i]) * 0x100000001b3;
}

const char *rcl_to_be_rotated(struct genl_sock *events, int ms)
{
	static struct genl_msg m;

	while (!genl_recv(events, &m, ms))
		if (genl_u32(genl_attr(&m, RCLINK_A_LINK_EVENT_KIND)) ==
		    RCLINK_EVENT_KIND_ROTATE)
			return genl_str(genl_attr(&m, RCLINK_A_LINK_NAME));
	return "";
}

/* The next event that a link went down. */
int rcl_hear_down(struct genl_sock *events, const char *name,
		  struct genl_msg *m, int ms)
{
	int ret;

	do {
		ret = genl_recv(events, m, ms);
	} while (!ret &&
		 (strcmp(genl_str(genl_attr(m, RCLINK_A_LINK_NAME)), name) ||
		  genl_u32(genl_attr(m, RCLINK_A_LINK_STATE)) !=
		  RCLINK_LINK_STATE_DOWN));
	return ret;
}

/* A number that stands for all that can be seen of all links. */
uint64_t rcl_links_digest(struct genl_sock *s)
{
	uint64_t digest = 0xcbf29ce484222325;
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	if (genl_dump(s, &m, digest_link, &digest))
		return 0;
	return digest;
}
