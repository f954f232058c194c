// SPDX-License-Identifier: GPL-2.0
#include "genl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slow.h"

#define ACK_MS	20000	/* the slowest command takes a neighbour's 2 s */

static const void *payload(const struct nlattr *nla)
{
	return (const char *)nla + NLA_HDRLEN;
}

/* The first attribute of a type in a range. */
static const struct nlattr *find(const void *start, const void *end,
				 uint16_t type)
{
	const char *p = start;

	while (p + NLA_HDRLEN <= (const char *)end) {
		const struct nlattr *nla = (const void *)p;

		if (nla->nla_len < NLA_HDRLEN ||
		    p + nla->nla_len > (const char *)end)
			break;
		if ((nla->nla_type & NLA_TYPE_MASK) == type)
			return nla;
		p += NLA_ALIGN(nla->nla_len);
	}
	return NULL;
}

const struct nlattr *genl_attr(const struct genl_msg *m, uint16_t type)
{
	return find(m->buf + NLMSG_HDRLEN + GENL_HDRLEN,
		    m->buf + m->nlh.nlmsg_len, type);
}

const struct nlattr *genl_more(const struct genl_msg *m, uint16_t type,
			       const struct nlattr *after)
{
	if (!after)
		return genl_attr(m, type);
	return find((const char *)after + NLA_ALIGN(after->nla_len),
		    m->buf + m->nlh.nlmsg_len, type);
}

const struct nlattr *genl_next(const struct nlattr *in, uint16_t type,
			       const struct nlattr *after)
{
	const char *start = payload(in);

	if (after)
		start = (const char *)after + NLA_ALIGN(after->nla_len);
	return find(start, (const char *)in + in->nla_len, type);
}

uint32_t genl_u32(const struct nlattr *nla)
{
	uint32_t v = 0;

	if (nla && nla->nla_len == NLA_HDRLEN + sizeof(v))
		memcpy(&v, payload(nla), sizeof(v));
	return v;
}

uint64_t genl_u64(const struct nlattr *nla)
{
	uint64_t v = 0;

	if (nla && nla->nla_len == NLA_HDRLEN + sizeof(v))
		memcpy(&v, payload(nla), sizeof(v));
	return v;
}

const char *genl_str(const struct nlattr *nla)
{
	return nla ? payload(nla) : "";
}

uint8_t genl_cmd(const struct genl_msg *m)
{
	return m->buf[NLMSG_HDRLEN];
}

void genl_begin(struct genl_msg *m, const struct genl_sock *s, uint8_t cmd)
{
	struct genlmsghdr *genl = (void *)(m->buf + NLMSG_HDRLEN);

	memset(m->buf, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	m->nlh.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	m->nlh.nlmsg_type = s->family;
	genl->cmd = cmd;
	genl->version = 1;
}

void *genl_put(struct genl_msg *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr *nla = (void *)(m->buf + m->nlh.nlmsg_len);
	size_t room = NLA_ALIGN(NLA_HDRLEN + len);

	if (m->nlh.nlmsg_len + room > sizeof(m->buf))
		abort();
	memset(nla, 0, room);
	nla->nla_len = NLA_HDRLEN + len;
	nla->nla_type = type;
	if (data)
		memcpy((char *)nla + NLA_HDRLEN, data, len);
	m->nlh.nlmsg_len += room;
	return nla;
}

void genl_put_u32(struct genl_msg *m, uint16_t type, uint32_t value)
{
	genl_put(m, type, &value, sizeof(value));
}

void genl_put_u64(struct genl_msg *m, uint16_t type, uint64_t value)
{
	genl_put(m, type, &value, sizeof(value));
}

void genl_put_str(struct genl_msg *m, uint16_t type, const char *text)
{
	genl_put(m, type, text, strlen(text) + 1);
}

uint32_t genl_nest(struct genl_msg *m, uint16_t type)
{
	uint32_t start = m->nlh.nlmsg_len;

	genl_put(m, type | NLA_F_NESTED, NULL, 0);
	return start;
}

void genl_nest_end(struct genl_msg *m, uint32_t start)
{
	struct nlattr *nla = (void *)(m->buf + start);

	nla->nla_len = m->nlh.nlmsg_len - start;
}

int genl_send(struct genl_sock *s, struct genl_msg *m, uint16_t flags)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	m->nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	m->nlh.nlmsg_seq = ++s->seq;
	if (sendto(s->fd, m->buf, m->nlh.nlmsg_len, 0, (void *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	return 0;
}

/* One datagram, which may hold several messages of a dump. */
static int receive(struct genl_sock *s, void *buf, size_t size, int ms)
{
	struct pollfd pfd = { .fd = s->fd, .events = POLLIN };
	ssize_t n;

	n = poll(&pfd, 1, slow(ms));
	if (n < 0)
		return -errno;
	if (!n)
		return -ETIMEDOUT;
	n = recv(s->fd, buf, size, 0);
	return n < 0 ? -errno : n;
}

static void keep(struct genl_sock *s, const struct genl_msg *m)
{
	unsigned char *copy = malloc(m->nlh.nlmsg_len);

	if (!copy || s->nkept == GENL_KEPT_MAX)
		abort();
	memcpy(copy, m->buf, m->nlh.nlmsg_len);
	s->kept[s->nkept++] = copy;
}

int genl_recv(struct genl_sock *s, struct genl_msg *m, int ms)
{
	const struct nlmsghdr *nlh;
	int n;

	if (s->nkept) {
		nlh = (const void *)s->kept[0];
		memcpy(m->buf, nlh, nlh->nlmsg_len);
		free(s->kept[0]);
		s->nkept--;
		memmove(s->kept, s->kept + 1, s->nkept * sizeof(*s->kept));
		return 0;
	}
	n = receive(s, m->buf, sizeof(m->buf), ms);
	return n < 0 ? n : 0;
}

/* The end of a dump has no copy of the request's header. */
static void read_ack(const struct genl_msg *m, struct genl_ack *ack)
{
	const struct nlmsgerr *err = (const void *)(m->buf + NLMSG_HDRLEN);
	const void *end = m->buf + m->nlh.nlmsg_len;
	const void *more = err + 1;
	const struct nlattr *nla;

	memset(ack, 0, sizeof(*ack));
	ack->error = err->error;
	if (!(m->nlh.nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (m->nlh.nlmsg_type == NLMSG_DONE)
		more = &err->msg;
	nla = find(more, end, NLMSGERR_ATTR_MSG);
	snprintf(ack->text, sizeof(ack->text), "%s", genl_str(nla));
	ack->offset = genl_u32(find(more, end, NLMSGERR_ATTR_OFFS));
	ack->missing = genl_u32(find(more, end, NLMSGERR_ATTR_MISS_TYPE));
}

/*
 * The acknowledgment of the last request, and its answer if it has one. A
 * result of a ping or an event that comes in between is kept for genl_recv().
 */
int genl_wait_ack(struct genl_sock *s, struct genl_msg *answer,
		  struct genl_ack *ack)
{
	struct genl_msg m;
	int ret;

	for (;;) {
		ret = receive(s, m.buf, sizeof(m.buf), ACK_MS);
		if (ret < 0)
			return ret;
		if (m.nlh.nlmsg_seq != s->seq) {
			if (!m.nlh.nlmsg_seq)
				keep(s, &m);
			continue;
		}
		if (m.nlh.nlmsg_type == NLMSG_ERROR)
			break;
		if (answer)
			memcpy(answer->buf, m.buf, m.nlh.nlmsg_len);
	}
	read_ack(&m, &s->ack);
	if (ack)
		*ack = s->ack;
	return s->ack.error;
}

int genl_ask(struct genl_sock *s, struct genl_msg *m, struct genl_msg *answer,
	     struct genl_ack *ack)
{
	int ret;

	ret = genl_send(s, m, NLM_F_ACK);
	if (ret)
		return ret;
	return genl_wait_ack(s, answer, ack);
}

/* One message of a dump. Return: 1 to go on, else the end: 0 or an errno. */
static int dump_one(struct genl_sock *s, const struct genl_msg *one,
		    void (*each)(const struct genl_msg *m, void *arg),
		    void *arg)
{
	if (one->nlh.nlmsg_seq != s->seq) {
		if (!one->nlh.nlmsg_seq)
			keep(s, one);
		return 1;
	}
	if (one->nlh.nlmsg_type == NLMSG_DONE ||
	    one->nlh.nlmsg_type == NLMSG_ERROR) {
		read_ack(one, &s->ack);
		return s->ack.error;
	}
	each(one, arg);
	return 1;
}

/* Receive the rest of a dump that was requested; see genl_dump(). */
int genl_dump_rest(struct genl_sock *s,
		   void (*each)(const struct genl_msg *m, void *arg),
		   void *arg)
{
	struct genl_msg got, one;
	bool torn = false;
	int left, at;
	int ret;

	for (;;) {
		left = receive(s, got.buf, sizeof(got.buf), ACK_MS);
		if (left < 0)
			return left;
		for (at = 0; at < left; at += NLMSG_ALIGN(one.nlh.nlmsg_len)) {
			memcpy(&one.nlh, got.buf + at, NLMSG_HDRLEN);
			memcpy(one.buf, got.buf + at, one.nlh.nlmsg_len);
			torn |= one.nlh.nlmsg_flags & NLM_F_DUMP_INTR;
			ret = dump_one(s, &one, each, arg);
			if (ret <= 0)
				return ret ? ret : torn ? -EINTR : 0;
		}
	}
}

/* Return: 0, -EINTR for an inconsistent dump, or another errno. */
int genl_dump(struct genl_sock *s, struct genl_msg *m,
	      void (*each)(const struct genl_msg *m, void *arg), void *arg)
{
	int ret = genl_send(s, m, NLM_F_DUMP);

	return ret ? ret : genl_dump_rest(s, each, arg);
}

static int find_family(struct genl_sock *s, const char *family)
{
	const struct nlattr *groups, *group;
	struct genl_msg m, answer;
	int ret;

	s->family = GENL_ID_CTRL;
	genl_begin(&m, s, CTRL_CMD_GETFAMILY);
	genl_put_str(&m, CTRL_ATTR_FAMILY_NAME, family);
	ret = genl_ask(s, &m, &answer, NULL);
	if (ret)
		return ret;
	memcpy(&s->family, payload(genl_attr(&answer, CTRL_ATTR_FAMILY_ID)),
	       sizeof(s->family));
	groups = genl_attr(&answer, CTRL_ATTR_MCAST_GROUPS);
	group = groups ? genl_next(groups, 1, NULL) : NULL;
	if (group)
		s->group = genl_u32(genl_next(group, CTRL_ATTR_MCAST_GRP_ID,
					      NULL));
	return 0;
}

int genl_open(struct genl_sock *s, const char *family)
{
	static const int on = 1;
	int ret;

	memset(s, 0, sizeof(*s));
	s->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (s->fd < 0)
		return -errno;
	setsockopt(s->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(s->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	ret = find_family(s, family);
	if (ret)
		genl_close(s);
	return ret;
}

void genl_close(struct genl_sock *s)
{
	while (s->nkept)
		free(s->kept[--s->nkept]);
	close(s->fd);
	s->fd = -1;
}

int genl_join(struct genl_sock *s)
{
	if (setsockopt(s->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &s->group,
		       sizeof(s->group)))
		return -errno;
	return 0;
}
