// SPDX-License-Identifier: GPL-2.0
/* Devices as dev-get shows them, and the GID that a link takes. */
#include "rcl.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "harness.h"

#define GIDS_MAX	64

/* A port, from one message. */
struct port {
	unsigned int messages;
	char device[RCLINK_DEVICE_MAX + 1];
	uint32_t port;
	uint32_t chosen;
	bool has_chosen;
	char reason[128];
	unsigned int ngids;
	struct {
		uint32_t index;
		uint32_t type;
		uint8_t value[RCLINK_GID_LEN];
	} gid[GIDS_MAX];
	struct genl_msg m;
};

static void read_port(const struct genl_msg *m, void *arg)
{
	const struct nlattr *nla = (void *)(m->buf + NLMSG_HDRLEN + 4);
	const unsigned char *end = m->buf + m->nlh.nlmsg_len;
	struct port *p = arg;

	p->messages++;
	snprintf(p->device, sizeof(p->device), "%s",
		 genl_str(genl_attr(m, RCLINK_A_DEV_NAME)));
	p->port = genl_u32(genl_attr(m, RCLINK_A_DEV_PORT));
	p->has_chosen = genl_attr(m, RCLINK_A_DEV_CHOSEN_GID);
	p->chosen = genl_u32(genl_attr(m, RCLINK_A_DEV_CHOSEN_GID));
	snprintf(p->reason, sizeof(p->reason), "%s",
		 genl_str(genl_attr(m, RCLINK_A_DEV_REASON)));
	memcpy(p->m.buf, m->buf, m->nlh.nlmsg_len);
	p->ngids = 0;
	while ((unsigned char *)nla < end) {
		if ((nla->nla_type & NLA_TYPE_MASK) == RCLINK_A_DEV_GID &&
		    p->ngids < GIDS_MAX) {
			p->gid[p->ngids].index =
				genl_u32(genl_next(nla, RCLINK_A_GID_INDEX,
						   NULL));
			p->gid[p->ngids].type =
				genl_u32(genl_next(nla, RCLINK_A_GID_TYPE,
						   NULL));
			memcpy(p->gid[p->ngids++].value,
			       genl_str(genl_next(nla, RCLINK_A_GID_VALUE,
						  NULL)), RCLINK_GID_LEN);
		}
		nla = (void *)((char *)nla + NLA_ALIGN(nla->nla_len));
	}
}

FIXTURE(host)
{
	struct genl_sock s;
	struct port port;
};

FIXTURE_SETUP(host)
{
	struct genl_msg m;

	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	genl_begin(&m, &self->s, RCLINK_CMD_DEV_GET);
	ASSERT_EQ(0, genl_dump(&self->s, &m, read_port, &self->port));
	ASSERT_EQ(1, self->port.messages);
}

FIXTURE_TEARDOWN(host)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

static int ask_port(struct genl_sock *s, const char *device, uint32_t port,
		    struct genl_msg *answer, struct genl_ack *ack)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_DEV_GET);
	genl_put_str(&m, RCLINK_A_DEV_NAME, device);
	genl_put_u32(&m, RCLINK_A_DEV_PORT, port);
	return genl_ask(s, &m, answer, ack);
}

TEST_F(host, one_port_and_all_ports_say_the_same)
{
	struct genl_msg answer;

	ASSERT_EQ(0, ask_port(&self->s, self->port.device, self->port.port,
			      &answer, NULL));
	ASSERT_EQ(self->port.m.nlh.nlmsg_len, answer.nlh.nlmsg_len);
	EXPECT_EQ(0, memcmp(self->port.m.buf + NLMSG_HDRLEN,
			    answer.buf + NLMSG_HDRLEN,
			    answer.nlh.nlmsg_len - NLMSG_HDRLEN));
}

TEST_F(host, the_chosen_gid_is_in_the_table_and_has_a_reason)
{
	unsigned int i;
	int found = 0;

	ASSERT_TRUE(self->port.has_chosen);
	EXPECT_STRNE("", self->port.reason);
	for (i = 0; i < self->port.ngids; i++) {
		if (self->port.gid[i].index != self->port.chosen)
			continue;
		found++;
		EXPECT_EQ(rcl_is_ib() ? RCLINK_GID_TYPE_IB :
					RCLINK_GID_TYPE_ROCE_V2,
			  self->port.gid[i].type);
	}
	EXPECT_EQ(1, found);
}

static int new_with_gid(struct genl_sock *s, uint32_t index)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "a");
	genl_put_u32(&m, RCLINK_A_LINK_GID_INDEX, index);
	return genl_ask(s, &m, NULL, NULL);
}

TEST_F(host, each_gid_of_the_table_can_be_asked_for)
{
	struct rcl_end end;
	unsigned int i;

	for (i = 0; i < self->port.ngids; i++) {
		ASSERT_EQ(0, new_with_gid(&self->s, self->port.gid[i].index));
		ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
		EXPECT_EQ(0, memcmp(self->port.gid[i].value, end.gid,
				    sizeof(end.gid)));
		ASSERT_EQ(0, rcl_del(&self->s, "a"));
	}
}

TEST_F(host, without_a_wish_the_chosen_one_is_taken)
{
	struct rcl_end end;
	unsigned int i;

	ASSERT_EQ(0, new_with_gid(&self->s, RCLINK_GID_INDEX_AUTO));
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	for (i = 0; i < self->port.ngids; i++)
		if (self->port.gid[i].index == self->port.chosen)
			EXPECT_EQ(0, memcmp(self->port.gid[i].value, end.gid,
					    sizeof(end.gid)));
}

TEST_F(host, an_index_without_gid_is_refused)
{
	struct genl_ack ack;
	struct rcl_view view;
	int ret;

	ASSERT_EQ(0, new_with_gid(&self->s, 1000));
	ret = rcl_named(&self->s, RCLINK_CMD_LINK_PREPARE, "a", &ack);
	EXPECT_TRUE(ret == -ENODATA || ret == -ENODEV) TH_LOG("%d", ret);
	EXPECT_STRNE("", ack.text);
	EXPECT_EQ(0, rcl_view(&self->s, "a", &view));
	EXPECT_EQ(RCLINK_LINK_STATE_IDLE, view.state);
}

TEST_F(host, another_device_or_port_is_refused)
{
	struct genl_ack ack;

	EXPECT_EQ(-ENODEV, ask_port(&self->s, "no_such", 1, NULL, &ack));
	EXPECT_STRNE("", ack.text);
	EXPECT_EQ(-ENODEV, ask_port(&self->s, self->port.device, 0, NULL,
				    &ack));
	EXPECT_EQ(-ENODEV, ask_port(&self->s, self->port.device, 2, NULL,
				    &ack));
	EXPECT_EQ(-ENODEV, ask_port(&self->s, self->port.device, 0xffffffff,
				    NULL, &ack));
	EXPECT_STRNE("", ack.text);
}

/* Linux 6.1 cannot report a text when a dump fails to begin. */
static bool has_sentence(void)
{
	struct utsname name;

	return uname(&name) || strncmp(name.release, "6.1.", 4);
}

/* A dump would list all objects, and one be taken for the one named. */
TEST_F(host, a_dump_of_one_is_refused)
{
	static const struct {
		uint8_t cmd;
		uint16_t name;
	} dumps[] = {
		{ RCLINK_CMD_DEV_GET, RCLINK_A_DEV_NAME },
		{ RCLINK_CMD_LINK_GET, RCLINK_A_LINK_NAME },
		{ RCLINK_CMD_GROUP_GET, RCLINK_A_GROUP_NAME },
	};
	struct genl_ack ack = {};
	struct genl_msg m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		genl_begin(&m, &self->s, dumps[i].cmd);
		genl_put_str(&m, dumps[i].name, "a");
		ASSERT_EQ(0, genl_send(&self->s, &m, NLM_F_DUMP));
		EXPECT_EQ(-EINVAL, genl_wait_ack(&self->s, NULL, &ack));
		if (has_sentence())
			EXPECT_NE(NULL, strstr(ack.text, "NLM_F_DUMP"))
				TH_LOG("%u: %s", i, ack.text);
	}
}

TEST_HARNESS_MAIN
