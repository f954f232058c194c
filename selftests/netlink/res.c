// SPDX-License-Identifier: GPL-2.0
/* Count the RDMA objects on this host: the module's, or all of them. */
#include "rcl.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NLDEV(op)	RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##op)

/* How many RDMA objects of a kind (pd, cq, qp, mr) the module has. */
int rcl_objects(const char *kind)
{
	char command[80], line[1024];
	FILE *out;
	int n = 0;

	snprintf(command, sizeof(command), "rdma resource show %s", kind);
	out = popen(command, "r");
	if (!out)
		return -errno;
	while (fgets(line, sizeof(line), out))
		n += !!strstr(line, "[rclink]");
	return pclose(out) ? -EIO : n;
}

static const struct nlattr *first(const struct nlmsghdr *nlh, uint16_t type)
{
	const char *p = (const char *)nlh + NLMSG_HDRLEN;
	const char *end = (const char *)nlh + nlh->nlmsg_len;

	while (p + NLA_HDRLEN <= end) {
		const struct nlattr *nla = (const void *)p;

		if ((nla->nla_type & NLA_TYPE_MASK) == type)
			return nla;
		p += NLA_ALIGN(nla->nla_len);
	}
	return NULL;
}

static int add_up(const struct nlmsghdr *nlh)
{
	const struct nlattr *summary, *entry = NULL;
	int sum = 0;

	summary = first(nlh, RDMA_NLDEV_ATTR_RES_SUMMARY);
	if (!summary)
		return 0;
	while ((entry = genl_next(summary, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY,
				  entry)))
		sum += genl_u64(genl_next(entry,
				RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, NULL));
	return sum;
}

/*
 * How many RDMA objects there are, of all kinds, devices and owners: cheap
 * enough to be asked after every step of a test.
 */
int rcl_all_objects(void)
{
	struct nlmsghdr ask = {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = NLDEV(RES_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	char buf[16384] __attribute__((aligned(4)));
	struct nlmsghdr *nlh;
	int sum = 0;
	int fd, n;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (fd < 0)
		return -errno;
	if (send(fd, &ask, sizeof(ask), 0) < 0)
		goto err_close;
	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0)
			goto err_close;
		for (nlh = (void *)buf; NLMSG_OK(nlh, (unsigned int)n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_type == NLMSG_DONE) {
				close(fd);
				return sum;
			}
			sum += add_up(nlh);
		}
	}

err_close:
	close(fd);
	return -errno;
}
