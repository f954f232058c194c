// SPDX-License-Identifier: GPL-2.0
/* Commands that take several requests. The module that answers is a fake. */
#include "call.h"

#include <errno.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <kselftest_harness.h>

#define FAMILY	0x20
#define PORTS	3	/* of the device */

static int refusal[PORTS];	/* what asking for a port returns */
static unsigned int asked;

struct nl_msg *rcl_nl_msg(const struct rcl_nl *nl, uint8_t cmd, int flags,
			  char *err)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, 0, 1, FAMILY, 0, 0, cmd, 1))
		abort();
	return msg;
}

/* A port answers with its name and number, as in the question. */
int rcl_nl_request(struct rcl_nl *nl, struct nl_msg *msg, int put,
		   const struct rcl_nl_names *names, rcl_nl_fn *fn, void *arg,
		   char *err)
{
	struct nlattr *port = genlmsg_attrdata(nlmsg_data(nlmsg_hdr(msg)), 0);
	uint32_t number;
	int ret;

	port = nla_next(port, &(int){ 4096 });
	number = nla_get_u32(port);
	asked++;
	if (put || nla_type(port) != RCLINK_A_DEV_PORT)
		abort();
	if (number > PORTS)
		ret = rcl_fail(err, -ENODEV, "there is no port %u", number);
	else if (refusal[number - 1])
		ret = rcl_fail(err, refusal[number - 1], "port %u", number);
	else
		ret = fn(nlmsg_hdr(msg), arg);
	nlmsg_free(msg);
	return ret;
}

FIXTURE(devs)
{
	struct rcl_dev_info *infos;
	size_t num;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(devs)
{
	asked = 0;
	memset(refusal, 0, sizeof(refusal));
}

FIXTURE_TEARDOWN(devs)
{
	rcl_call_devs_free(self->infos, self->num);
}

#define ASK()	\
	rcl_call_devs(NULL, "hca", &self->infos, &self->num, self->err)

TEST_F(devs, all_ports_of_a_device)
{
	EXPECT_EQ(0, ASK());
	ASSERT_EQ(PORTS, self->num);
	EXPECT_STREQ("hca", self->infos[0].name);
	EXPECT_EQ(PORTS, self->infos[PORTS - 1].port);
}

TEST_F(devs, a_port_that_cannot_be_read_hides_no_other_one)
{
	refusal[0] = -EIO;
	refusal[1] = -EINVAL;
	EXPECT_EQ(0, ASK());
	ASSERT_EQ(1, self->num);
	EXPECT_EQ(3, self->infos[0].port);
}

TEST_F(devs, if_none_can_be_read_the_first_one_says_why)
{
	refusal[0] = -EIO;
	refusal[1] = -EINVAL;
	refusal[2] = -EINVAL;
	EXPECT_EQ(-EIO, ASK());
	EXPECT_STREQ("port 1", self->err);
}

TEST_F(devs, of_a_device_that_is_not_there)
{
	refusal[0] = -ENODEV;
	EXPECT_EQ(-ENODEV, ASK());
	EXPECT_STREQ("there is no such RDMA device", self->err);
}

TEST_F(devs, a_list_that_was_broken_off_is_not_whole)
{
	refusal[1] = -ETIMEDOUT;
	EXPECT_EQ(-ETIMEDOUT, ASK());
	EXPECT_STREQ("port 2", self->err);
}

/* A timeout is 5 s long. */
TEST_F(devs, a_module_that_does_not_answer_is_asked_no_more)
{
	refusal[0] = -ETIMEDOUT;
	EXPECT_EQ(-ETIMEDOUT, ASK());
	EXPECT_EQ(1, asked);
}

TEST_HARNESS_MAIN
