// SPDX-License-Identifier: GPL-2.0
#include "nl.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rclink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

/* The kernel builds dumps in pieces of at most this size. */
#define BUFFER_LEN	32768
#define ROOM_LEN	1048576
/* The answer is queued before send returns, so waiting is not expected. */
#define ANSWER_MS	5000
/* Bytes of "remote.qp.psn" and the like. */
#define PATH_LEN	80
/* What the kernel says about a string longer than its maximum. */
#define TOO_LONG	"Attribute failed policy validation"

struct rcl_nl {
	struct nl_sock *sock;
	int family;
	rcl_nl_fn *ntf;
	void *ntf_arg;
	/* The request under way. */
	bool busy;
	uint32_t seq;
	const struct nlmsghdr *req;
	const struct rcl_nl_names *names;
	rcl_nl_fn *fn;
	void *arg;
	bool changed;		/* the dump was interrupted */
	int ret;
	char *err;
	char buf[BUFFER_LEN];
};

/* An attribute found by its offset. */
struct place {
	const struct rcl_nl_names *inside;	/* names of what it nests */
	char path[PATH_LEN];
};

static void add_name(char *path, const struct rcl_nl_names *names, int type)
{
	size_t len = strlen(path);
	const char *dot = len ? "." : "";

	if (names && (size_t)type < names->num && names->name[type])
		snprintf(path + len, PATH_LEN - len, "%s%s", dot,
			 names->name[type]);
	else
		snprintf(path + len, PATH_LEN - len, "%sattribute %d", dot,
			 type);
}

/* The attribute among the rem bytes at pos that covers offset off of req. */
static const struct nlattr *covering(const struct nlmsghdr *req,
				     const struct nlattr *pos, int rem,
				     uint32_t off)
{
	const struct nlattr *nla;

	for (nla = pos; nla_ok(nla, rem); nla = nla_next(nla, &rem)) {
		size_t start = (const char *)nla - (const char *)req;

		if (off >= start && off < start + nla->nla_len)
			return nla;
	}
	return NULL;
}

static void find(const struct nlmsghdr *req, uint32_t off,
		 const struct rcl_nl_names *names, struct place *place)
{
	const struct genlmsghdr *genl = nlmsg_data(req);
	const struct nlattr *nla = genlmsg_attrdata(genl, 0);
	int rem = genlmsg_attrlen(genl, 0);

	place->inside = names;
	place->path[0] = '\0';
	for (;;) {
		nla = covering(req, nla, rem, off);
		if (!nla)
			return;
		names = place->inside;
		add_name(place->path, names, nla_type(nla));
		place->inside = NULL;
		if (names && names->nested &&
		    (size_t)nla_type(nla) < names->num)
			place->inside = names->nested[nla_type(nla)];
		if (!place->inside ||
		    off == (size_t)((const char *)nla - (const char *)req))
			return;
		rem = nla_len(nla);
		nla = nla_data(nla);
	}
}

/* Bytes of an error or end-of-dump message before the attributes. */
static int error_len(const struct nlmsghdr *hdr)
{
	const struct nlmsgerr *e = nlmsg_data(hdr);

	if (hdr->nlmsg_type == NLMSG_DONE)
		return sizeof(int);
	if (hdr->nlmsg_flags & NLM_F_CAPPED)
		return sizeof(*e);
	return sizeof(*e) + NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
}

static void attribute_name(struct nlattr **tb, const struct nlmsghdr *req,
			   const struct rcl_nl_names *names, char *path)
{
	struct place place = { .inside = names };

	if (tb[NLMSGERR_ATTR_MISS_TYPE]) {
		if (tb[NLMSGERR_ATTR_MISS_NEST])
			find(req, nla_get_u32(tb[NLMSGERR_ATTR_MISS_NEST]),
			     names, &place);
		add_name(place.path, place.inside,
			 nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]));
	} else if (tb[NLMSGERR_ATTR_OFFS]) {
		find(req, nla_get_u32(tb[NLMSGERR_ATTR_OFFS]), names, &place);
	}
	memcpy(path, place.path, PATH_LEN);
}

/* The policy that the string breaks says how long it may be. */
static void say_too_long(struct nlattr *policy, char said[RCL_ERR_LEN])
{
	struct nlattr *max = policy ? nla_find(nla_data(policy),
					       nla_len(policy),
					       NL_POLICY_TYPE_ATTR_MAX_LENGTH) :
				      NULL;

	if (max && nla_len(max) == sizeof(uint32_t))
		snprintf(said, RCL_ERR_LEN, "longer than %u bytes",
			 nla_get_u32(max));
	else
		snprintf(said, RCL_ERR_LEN, "longer than it may be");
}

int rcl_nl_error(const struct nlmsghdr *hdr, const struct nlmsghdr *req,
		 const struct rcl_nl_names *names, char *err)
{
	static struct nla_policy policy[NLMSGERR_ATTR_MAX + 1] = {
		[NLMSGERR_ATTR_MSG] = { .type = NLA_STRING },
		[NLMSGERR_ATTR_OFFS] = { .type = NLA_U32 },
		[NLMSGERR_ATTR_MISS_TYPE] = { .type = NLA_U32 },
		[NLMSGERR_ATTR_MISS_NEST] = { .type = NLA_U32 },
		[NLMSGERR_ATTR_POLICY] = { .type = NLA_NESTED },
	};
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { NULL };
	int ret = *(const int *)nlmsg_data(hdr);
	int len = error_len(hdr);
	char said[RCL_ERR_LEN] = "";
	char path[PATH_LEN] = "";

	if (hdr->nlmsg_flags & NLM_F_ACK_TLVS &&
	    len <= nlmsg_datalen(hdr) &&
	    !nlmsg_parse((struct nlmsghdr *)hdr, len, tb, NLMSGERR_ATTR_MAX,
			 policy))
		attribute_name(tb, req, names, path);
	/* The module says what is not there; netlink does not. */
	if (ret == -ENOENT && !tb[NLMSGERR_ATTR_MSG])
		return rcl_fail(err, -ESHUTDOWN,
				"the rclink module was unloaded; run `modprobe rclink`");
	if (tb[NLMSGERR_ATTR_MSG])
		nla_strlcpy(said, tb[NLMSGERR_ATTR_MSG], sizeof(said));
	else
		snprintf(said, sizeof(said), "%s", strerror(-ret));
	if (ret == -EINVAL && !strcmp(said, TOO_LONG))
		say_too_long(tb[NLMSGERR_ATTR_POLICY], said);

	/* Many sentences begin with the attribute's name. */
	if (path[0] && !strstr(said, path))
		return rcl_fail(err, ret, "%s: %.160s", path, said);
	return rcl_fail(err, ret, "%s", said);
}

static void finish(struct rcl_nl *nl, const struct nlmsghdr *hdr)
{
	int code;

	nl->busy = false;
	if (nlmsg_datalen(hdr) < (int)sizeof(code)) {
		nl->ret = rcl_fail(nl->err, -EPROTO,
				   "the kernel's answer was cut short");
		return;
	}
	code = *(const int *)nlmsg_data(hdr);
	if (code < 0)
		nl->ret = rcl_nl_error(hdr, nl->req, nl->names, nl->err);
	else if (nl->changed && !nl->ret)
		nl->ret = rcl_fail(nl->err, -EAGAIN,
				   "something came or went each time that all were listed; try again");
}

static void take(struct rcl_nl *nl, const struct nlmsghdr *hdr)
{
	int ret;

	if (hdr->nlmsg_flags & NLM_F_DUMP_INTR)
		nl->changed = true;
	if (hdr->nlmsg_type == NLMSG_ERROR || hdr->nlmsg_type == NLMSG_DONE) {
		finish(nl, hdr);
	} else if (hdr->nlmsg_type == nl->family && nl->fn && !nl->ret) {
		ret = nl->fn(hdr, nl->arg);
		if (ret < 0)
			nl->ret = rcl_fail(nl->err, ret,
					   "cannot use the kernel's answer: %s",
					   strerror(-ret));
	}
}

static int handle(struct rcl_nl *nl, const struct nlmsghdr *hdr)
{
	if (nl->busy && hdr->nlmsg_seq == nl->seq)
		take(nl, hdr);
	else if (hdr->nlmsg_type == nl->family && nl->ntf)
		return nl->ntf(hdr, nl->ntf_arg);
	return 0;
}

/* Read and handle one datagram: 0, or a negative errno. */
static int receive(struct rcl_nl *nl)
{
	struct sockaddr_nl from = { 0 };
	struct iovec iov = { nl->buf, sizeof(nl->buf) };
	struct msghdr msg = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	struct nlmsghdr *hdr;
	int ret, len;

	len = recvmsg(rcl_nl_fd(nl), &msg, MSG_DONTWAIT);
	if (len < 0)
		return -errno;
	if (msg.msg_flags & MSG_TRUNC)
		return -ENOBUFS;
	if (from.nl_pid)	/* not from the kernel */
		return 0;
	for (hdr = (struct nlmsghdr *)nl->buf; nlmsg_ok(hdr, len);
	     hdr = nlmsg_next(hdr, &len)) {
		ret = handle(nl, hdr);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int rcl_nl_receive(struct rcl_nl *nl, char *err)
{
	int ret;

	do {
		ret = receive(nl);
	} while (!ret || ret == -EINTR);
	if (ret == -EAGAIN)
		return 0;
	if (ret == -ENOBUFS)
		return rcl_fail(err, ret, "events were lost");
	return rcl_fail(err, ret, "netlink: %s", strerror(-ret));
}

static int wait_answer(struct rcl_nl *nl)
{
	struct pollfd pfd = { .fd = rcl_nl_fd(nl), .events = POLLIN };
	int ret;

	ret = poll(&pfd, 1, ANSWER_MS);
	if (!ret)
		return rcl_fail(nl->err, -ETIMEDOUT,
				"the kernel did not answer");
	if (ret < 0 && errno != EINTR)
		return rcl_fail(nl->err, -errno, "poll: %s", strerror(errno));
	return 0;
}

static int receive_answer(struct rcl_nl *nl)
{
	int ret;

	while (nl->busy) {
		ret = receive(nl);
		if (ret == -EAGAIN)
			ret = wait_answer(nl);
		else if (ret == -EINTR)
			continue;
		else if (ret)
			rcl_fail(nl->err, ret, "netlink: %s", strerror(-ret));
		if (ret)
			return ret;
	}
	return nl->ret;
}

int rcl_nl_request(struct rcl_nl *nl, struct nl_msg *msg, int put,
		   const struct rcl_nl_names *names, rcl_nl_fn *fn, void *arg,
		   char *err)
{
	int ret;

	if (put) {
		rcl_nl_msg_free(msg);
		return rcl_fail(err, -EMSGSIZE, "the request is too long");
	}
	nl_complete_msg(nl->sock, msg);
	nl->busy = true;
	nl->seq = nlmsg_hdr(msg)->nlmsg_seq;
	nl->req = nlmsg_hdr(msg);
	nl->names = names;
	nl->fn = fn;
	nl->arg = arg;
	nl->changed = false;
	nl->ret = 0;
	nl->err = err;

	ret = nl_send(nl->sock, msg);
	if (ret < 0)
		ret = rcl_fail(err, -EIO, "netlink: %s", nl_geterror(ret));
	else
		ret = receive_answer(nl);
	nl->busy = false;
	nl->req = NULL;
	rcl_nl_msg_free(msg);
	return ret;
}

struct nl_msg *rcl_nl_msg(const struct rcl_nl *nl, uint8_t cmd, int flags,
			  char *err)
{
	struct nl_msg *msg;

	msg = nlmsg_alloc();
	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
			       flags, cmd, RCLINK_FAMILY_VERSION))
		return msg;
	nlmsg_free(msg);
	rcl_fail(err, -ENOMEM, "out of memory");
	return NULL;
}

void rcl_nl_msg_free(struct nl_msg *msg)
{
	explicit_bzero(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

void rcl_nl_notify(struct rcl_nl *nl, rcl_nl_fn *fn, void *arg)
{
	nl->ntf = fn;
	nl->ntf_arg = arg;
}

/*
 * Have sentences and offsets in refusals, but no copy of the request: it may
 * hold a key, and its sender still has it.
 */
static int set_options(struct rcl_nl *nl)
{
	int fd = rcl_nl_fd(nl);
	int on = 1;

	if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on)))
		return -errno;
	return nl_socket_set_nonblocking(nl->sock);
}

bool rcl_nl_is_loaded(void)
{
	return !access("/sys/module/rclink", F_OK);
}

static int find_family(struct rcl_nl *nl, char *err)
{
	nl->family = genl_ctrl_resolve(nl->sock, RCLINK_FAMILY_NAME);
	if (nl->family >= 0)
		return 0;
	if (rcl_nl_is_loaded())
		return rcl_fail(err, -ENOENT,
				"there is no rclink in this network namespace; use the one that the host booted with");
	return rcl_fail(err, -ENOENT,
			"the rclink module is not loaded; run `modprobe rclink`");
}

/* The socket blocks on answers until set_options() has run. */
static struct rcl_nl *open_any(char *err)
{
	struct rcl_nl *nl;

	nl = calloc(1, sizeof(*nl));
	if (nl)
		nl->sock = nl_socket_alloc();
	if (!nl || !nl->sock) {
		rcl_fail(err, -ENOMEM, "out of memory");
		goto err_close;
	}
	if (genl_connect(nl->sock)) {
		rcl_fail(err, -errno, "cannot open a netlink socket: %s",
			 strerror(errno));
		goto err_close;
	}
	return nl;

err_close:
	rcl_nl_close(nl);
	return NULL;
}

static struct rcl_nl *open_socket(char *err)
{
	struct rcl_nl *nl = open_any(err);

	if (nl && find_family(nl, err)) {
		rcl_nl_close(nl);
		return NULL;
	}
	return nl;
}

struct rcl_nl *rcl_nl_open(char *err)
{
	struct rcl_nl *nl;

	nl = open_socket(err);
	if (nl && set_options(nl)) {
		rcl_fail(err, -EIO, "cannot set up a netlink socket");
		rcl_nl_close(nl);
		return NULL;
	}
	return nl;
}

static struct rcl_nl *join(struct rcl_nl *nl, const char *family,
			   const char *name, char *err)
{
	int group;

	if (!nl)
		return NULL;
	group = genl_ctrl_resolve_grp(nl->sock, family, name);
	if (group < 0 || nl_socket_add_membership(nl->sock, group) ||
	    set_options(nl)) {
		rcl_fail(err, -EIO, "cannot listen to the events of %s",
			 family);
		rcl_nl_close(nl);
		return NULL;
	}
	return nl;
}

struct rcl_nl *rcl_nl_listen(char *err)
{
	return join(open_socket(err), RCLINK_FAMILY_NAME, RCLINK_MCGRP_EVENTS,
		    err);
}

void rcl_nl_make_room(struct rcl_nl *nl)
{
	const int len = ROOM_LEN;

	/* Beyond net.core.rmem_max with CAP_NET_ADMIN, else up to that. */
	if (setsockopt(rcl_nl_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &len,
		       sizeof(len)))
		setsockopt(rcl_nl_fd(nl), SOL_SOCKET, SO_RCVBUF, &len,
			   sizeof(len));
}

struct rcl_nl *rcl_nl_listen_families(char *err)
{
	struct rcl_nl *nl = open_any(err);

	if (nl)
		nl->family = GENL_ID_CTRL;
	return join(nl, "nlctrl", "notify", err);
}

enum rcl_nl_news rcl_nl_news(const struct nlmsghdr *hdr)
{
	static struct nla_policy policy[CTRL_ATTR_MAX + 1] = {
		[CTRL_ATTR_FAMILY_NAME] = { .type = NLA_STRING },
	};
	struct nlmsghdr *msg = (struct nlmsghdr *)hdr;
	struct nlattr *tb[CTRL_ATTR_MAX + 1];

	if (genlmsg_parse(msg, 0, tb, CTRL_ATTR_MAX, policy) ||
	    !tb[CTRL_ATTR_FAMILY_NAME] ||
	    nla_strcmp(tb[CTRL_ATTR_FAMILY_NAME], RCLINK_FAMILY_NAME))
		return RCL_NL_NO_NEWS;
	switch (genlmsg_hdr(msg)->cmd) {
	case CTRL_CMD_NEWFAMILY:
		return RCL_NL_LOADED;
	case CTRL_CMD_DELFAMILY:
		return RCL_NL_UNLOADED;
	default:
		return RCL_NL_NO_NEWS;
	}
}

void rcl_nl_close(struct rcl_nl *nl)
{
	if (!nl)
		return;
	nl_socket_free(nl->sock);
	free(nl);
}

int rcl_nl_fd(const struct rcl_nl *nl)
{
	return nl_socket_get_fd(nl->sock);
}
