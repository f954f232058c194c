// SPDX-License-Identifier: GPL-2.0
/* Who may ask for what, and who gets to see secrets. */
#include "catalog.h"
#include "rcl.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/genetlink.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define USER	1000
#define MANY	100	/* links: more than fit into one part of a dump */

static const uint8_t changing[] = {
	RCLINK_CMD_LINK_NEW, RCLINK_CMD_LINK_SET, RCLINK_CMD_LINK_DEL,
	RCLINK_CMD_LINK_PREPARE, RCLINK_CMD_LINK_CONNECT,
	RCLINK_CMD_LINK_ACTIVATE, RCLINK_CMD_LINK_DISCONNECT, RCLINK_CMD_PING,
	RCLINK_CMD_LINK_NOTE, RCLINK_CMD_LINK_REPLACE, RCLINK_CMD_LINK_ROTATE,
	RCLINK_CMD_GROUP_ADD, RCLINK_CMD_GROUP_DEL, RCLINK_CMD_GROUP_REGIONS,
	RCLINK_CMD_GROUP_SET,
};

FIXTURE(host)
{
	struct genl_sock s;
	struct rcl_end end;
};

FIXTURE_SETUP(host)
{
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	ASSERT_EQ(0, rcl_prepare(&self->s, "b", &self->end));
}

FIXTURE_TEARDOWN(host)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

static void become_user(void)
{
	if (setgroups(0, NULL) || setresgid(USER, USER, USER) ||
	    setresuid(USER, USER, USER))
		_exit(99);
}

/* Try all changing commands: 0 if each of them ends with this error. */
static int all_end_with(struct genl_sock *s, int error)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(changing); i++) {
		ret = rcl_named(s, changing[i], changing[i] ==
				RCLINK_CMD_LINK_NEW ? "fresh" : "b", NULL);
		if (ret != error) {
			fprintf(stderr, "# command %u: %d\n", changing[i], ret);
			return 1;
		}
	}
	return 0;
}

/* Run in a child, because privileges that are dropped do not come back. */
static int in_child(int (*run)(struct genl_sock *s), struct genl_sock *s)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(run(s));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int user_with_own_socket(struct genl_sock *roots)
{
	struct genl_sock s;

	(void)roots;
	become_user();
	if (rcl_open(&s))
		return 2;
	return all_end_with(&s, -EPERM);
}

static int user_with_roots_socket(struct genl_sock *roots)
{
	become_user();
	return all_end_with(roots, -EPERM);
}

static bool write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return ok;
}

/* Root in a new user namespace, with every capability there. */
static void become_other_root(int more)
{
	if (unshare(CLONE_NEWUSER | more) ||
	    !write_file("/proc/self/setgroups", "deny") ||
	    !write_file("/proc/self/uid_map", "0 0 1") ||
	    !write_file("/proc/self/gid_map", "0 0 1"))
		_exit(98);
}

static int root_of_a_namespace(struct genl_sock *roots)
{
	struct genl_sock s;

	(void)roots;
	become_other_root(0);
	if (rcl_open(&s))
		return 2;
	return all_end_with(&s, -EPERM);
}

static int root_of_a_network(struct genl_sock *roots)
{
	struct genl_sock s;

	become_other_root(CLONE_NEWNET);
	/* The family is not there, and knowing its number does not help. */
	if (rcl_open(&s) != -ENOENT)
		return 2;
	if (genl_open(&s, "nlctrl"))
		return 3;
	s.family = roots->family;
	return all_end_with(&s, -ENOENT);
}

#define EXPECT_NO_CHANGE(run) do { \
	uint64_t before = rcl_links_digest(&self->s); \
	EXPECT_EQ(0, in_child(run, &self->s)); \
	EXPECT_EQ(before, rcl_links_digest(&self->s)); \
} while (0)

TEST(each_command_is_for_root_but_those_that_only_read)
{
	static const uint8_t reading[] = {
		RCLINK_CMD_DEV_GET, RCLINK_CMD_LINK_GET, RCLINK_CMD_RECORD_GET,
		RCLINK_CMD_GROUP_GET,
	};
	struct catalog c;
	unsigned int i;
	bool roots;

	ASSERT_EQ(0, catalog_read(&c, RCLINK_FAMILY_NAME));
	ASSERT_EQ(ARRAY_SIZE(reading) + ARRAY_SIZE(changing), c.ncmds);
	for (i = 0; i < c.ncmds; i++) {
		roots = c.cmds[i].flags & GENL_ADMIN_PERM;
		EXPECT_EQ(roots, !!memchr(changing, c.cmds[i].cmd,
					  ARRAY_SIZE(changing)));
		EXPECT_NE(roots, !!memchr(reading, c.cmds[i].cmd,
					  ARRAY_SIZE(reading)));
	}
}

TEST_F(host, a_user_may_change_nothing)
{
	EXPECT_NO_CHANGE(user_with_own_socket);
}

TEST_F(host, a_socket_of_root_does_not_help_a_user)
{
	EXPECT_NO_CHANGE(user_with_roots_socket);
}

TEST_F(host, root_of_a_user_namespace_may_change_nothing)
{
	EXPECT_NO_CHANGE(root_of_a_namespace);
}

TEST_F(host, another_network_namespace_has_no_rclink)
{
	EXPECT_NO_CHANGE(root_of_a_network);
}

/* Even a part of the key would be too much. */
static bool has_key(const struct genl_msg *m)
{
	unsigned int i;

	for (i = 0; i < sizeof(rcl_key); i += 8)
		if (memmem(m->buf, m->nlh.nlmsg_len, rcl_key + i, 8))
			return true;
	return false;
}

/* Look for a whole attribute: a small number may be elsewhere by chance. */
static bool has_u32(const struct genl_msg *m, uint32_t value)
{
	const uint16_t len = NLA_HDRLEN + sizeof(value);
	unsigned int i;

	for (i = NLMSG_HDRLEN; i + len <= m->nlh.nlmsg_len; i += NLA_ALIGNTO)
		if (!memcmp(m->buf + i, &len, sizeof(len)) &&
		    !memcmp(m->buf + i + NLA_HDRLEN, &value, sizeof(value)))
			return true;
	return false;
}

/* How many secrets m has: the address, the rkey, PSNs, and 1 for all QPNs. */
static unsigned int numbers_of(const struct genl_msg *m,
			       const struct rcl_end *end)
{
	unsigned int i, n, qpns = 0;

	n = !!memmem(m->buf, m->nlh.nlmsg_len, &end->addr, 8);
	n += has_u32(m, end->rkey);
	for (i = 0; i < end->nqps; i++) {
		n += !!memmem(m->buf, m->nlh.nlmsg_len, &end->qp[i].psn, 4);
		qpns += has_u32(m, end->qp[i].qpn);
	}
	/* QPNs are small: one may be there by chance, but not all of them. */
	return n + (qpns == end->nqps);
}

struct seen {
	unsigned int links;
	unsigned int secrets;	/* messages with what only root may see */
	unsigned int keys;	/* messages with what nobody may see */
	const struct rcl_end *end;
};

static void look(const struct genl_msg *m, void *arg)
{
	struct seen *seen = arg;

	seen->links++;
	if (genl_attr(m, RCLINK_A_LINK_LOCAL) ||
	    genl_attr(m, RCLINK_A_LINK_REMOTE) ||
	    numbers_of(m, seen->end))
		seen->secrets++;
	if (genl_attr(m, RCLINK_A_LINK_KEY) || has_key(m))
		seen->keys++;
}

/* 10 for each link, and 1 for each that shows a secret; -2 for a key. */
static int count_seen(struct genl_sock *s, const struct rcl_end *end)
{
	struct seen seen = { .end = end };
	struct rcl_view view;
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	if (genl_dump(s, &m, look, &seen) || rcl_view(s, "b", &view))
		return -1;
	if (seen.keys)
		return -2;
	return 10 * seen.links + seen.secrets + view.secrets;
}

static const struct rcl_end *secret_end;

static int user_looks(struct genl_sock *roots)
{
	struct genl_sock s;

	(void)roots;
	become_user();
	if (rcl_open(&s))
		return 2;
	return count_seen(&s, secret_end);
}

TEST_F(host, a_user_sees_links_without_secrets)
{
	secret_end = &self->end;
	EXPECT_EQ(20, in_child(user_looks, &self->s));
}

TEST_F(host, root_sees_the_secrets)
{
	EXPECT_EQ(22, count_seen(&self->s, &self->end));
}

static int user_asks_for_links(struct genl_sock *roots)
{
	struct genl_msg m;

	become_user();
	genl_begin(&m, roots, RCLINK_CMD_LINK_GET);
	return !!genl_send(roots, &m, NLM_F_DUMP);
}

/* The kernel makes all but a dump's first part when somebody reads it. */
TEST_F(host, what_a_user_asked_for_has_no_secrets_whoever_reads_it)
{
	struct seen seen = { .end = &self->end };
	char name[16];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		ASSERT_EQ(0, rcl_new(&self->s, name));
	}
	ASSERT_EQ(0, rcl_prepare(&self->s, name, &self->end));
	ASSERT_EQ(0, in_child(user_asks_for_links, &self->s));
	self->s.seq++;
	EXPECT_EQ(0, genl_dump_rest(&self->s, look, &seen));
	EXPECT_EQ(MANY + 2, seen.links);
	EXPECT_EQ(0, seen.secrets);
}

/* Get the record of link b, byte for byte. */
static int read_record(struct genl_sock *s, struct genl_msg *answer)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_RECORD_GET);
	genl_put_str(&m, RCLINK_A_RECORD_LINK, "b");
	return genl_ask(s, &m, answer, NULL);
}

static struct genl_msg roots_record;

/* 0 if the user gets the same record as root. */
static int user_reads_the_record(struct genl_sock *roots)
{
	struct genl_msg answer;
	struct genl_sock s;

	(void)roots;
	become_user();
	if (rcl_open(&s) || read_record(&s, &answer))
		return 2;
	return answer.nlh.nlmsg_len != roots_record.nlh.nlmsg_len ||
	       memcmp(answer.buf + NLMSG_HDRLEN,
		      roots_record.buf + NLMSG_HDRLEN,
		      answer.nlh.nlmsg_len - NLMSG_HDRLEN);
}

TEST_F(host, a_user_reads_the_record_as_root_does_and_no_secret)
{
	struct genl_msg *m = &roots_record;

	ASSERT_EQ(0, read_record(&self->s, m));
	ASSERT_NE(NULL, genl_attr(m, RCLINK_A_RECORD_ENTRY));
	EXPECT_EQ(0, in_child(user_reads_the_record, &self->s));
	EXPECT_EQ(0, numbers_of(m, &self->end));
}

static int user_looks_at_devices(struct genl_sock *roots)
{
	struct seen seen = { .end = secret_end };
	struct genl_sock s;
	struct genl_msg m;

	(void)roots;
	become_user();
	if (rcl_open(&s))
		return 2;
	genl_begin(&m, &s, RCLINK_CMD_DEV_GET);
	if (genl_dump(&s, &m, look, &seen))
		return 3;
	if (seen.secrets || seen.keys)
		return 5;
	return seen.links ? 0 : 4;
}

TEST_F(host, a_user_may_look_at_devices)
{
	secret_end = &self->end;
	EXPECT_EQ(0, in_child(user_looks_at_devices, &self->s));
}

TEST_F(host, events_carry_no_secrets)
{
	struct seen seen = { .end = &self->end };
	struct genl_sock events;
	struct rcl_end other;
	struct genl_msg m;

	ASSERT_EQ(0, rcl_open(&events));
	ASSERT_EQ(0, genl_join(&events));
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &other));
	EXPECT_EQ(0, rcl_connect(&self->s, "a", other.epoch,
				 RCLINK_ROLE_INITIATOR, &self->end, NULL));
	EXPECT_EQ(0, rcl_del(&self->s, "a"));
	while (!genl_recv(&events, &m, 500))
		look(&m, &seen);
	EXPECT_EQ(4, seen.links);
	EXPECT_EQ(0, seen.secrets);
	EXPECT_EQ(0, seen.keys);
}

#define QKEY	0x5ec4e7a1

static int add_group(struct genl_sock *s)
{
	uint8_t mgid[RCLINK_GID_LEN];
	struct genl_msg m;
	uint32_t mlid;

	rcl_group_at(mgid, &mlid);
	genl_begin(&m, s, RCLINK_CMD_GROUP_ADD);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
	genl_put_u32(&m, RCLINK_A_GROUP_MLID, mlid);
	genl_put_u32(&m, RCLINK_A_GROUP_QKEY, QKEY);
	genl_put_str(&m, RCLINK_A_GROUP_LINK, "a");
	return genl_ask(s, &m, NULL, NULL);
}

/* 10 for each message, and 1 for each that has the Q_Key. */
static void look_at_group(const struct genl_msg *m, void *arg)
{
	static const uint32_t qkey = QKEY;
	int *seen = arg;

	*seen += 10;
	*seen += genl_attr(m, RCLINK_A_GROUP_QKEY) ||
		 memmem(m->buf, m->nlh.nlmsg_len, &qkey, sizeof(qkey));
}

/* Look at the only group twice: in a dump, and by its name. */
static int groups_seen(struct genl_sock *s)
{
	struct genl_msg m, answer;
	int seen = 0;

	genl_begin(&m, s, RCLINK_CMD_GROUP_GET);
	if (genl_dump(s, &m, look_at_group, &seen))
		return -1;
	genl_begin(&m, s, RCLINK_CMD_GROUP_GET);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	if (genl_ask(s, &m, &answer, NULL))
		return -1;
	look_at_group(&answer, &seen);
	return seen;
}

static int user_looks_at_groups(struct genl_sock *roots)
{
	struct genl_sock s;

	(void)roots;
	become_user();
	if (rcl_open(&s))
		return 2;
	return groups_seen(&s);
}

TEST_F(host, a_user_sees_groups_and_their_events_without_Q_Key)
{
	struct genl_sock events;
	struct genl_msg m;
	int seen = 0;

	ASSERT_EQ(0, rcl_open(&events));
	ASSERT_EQ(0, genl_join(&events));
	ASSERT_EQ(0, add_group(&self->s));
	EXPECT_EQ(22, groups_seen(&self->s));
	EXPECT_EQ(20, in_child(user_looks_at_groups, &self->s));
	EXPECT_EQ(0, rcl_named(&self->s, RCLINK_CMD_GROUP_DEL, "g", NULL));
	while (!genl_recv(&events, &m, 500)) {
		EXPECT_EQ(RCLINK_CMD_GROUP_NTF, genl_cmd(&m));
		look_at_group(&m, &seen);
	}
	EXPECT_LE(20, seen);
	EXPECT_EQ(0, seen % 10);
	genl_close(&events);
}

/* The module has a key from activate on. */
FIXTURE(up)
{
	struct genl_sock s;
	struct genl_sock events;	/* has all events from the setup on */
	struct rcl_end end;
};

FIXTURE_SETUP(up)
{
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	ASSERT_EQ(0, rcl_open(&self->events));
	ASSERT_EQ(0, genl_join(&self->events));
	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	ASSERT_EQ(0, rcl_pair(&self->s, "a", "b", RCLINK_LINK_STATE_UP));
	ASSERT_EQ(0, rcl_local(&self->s, "b", &self->end));
}

FIXTURE_TEARDOWN(up)
{
	rcl_clean(&self->s);
	genl_close(&self->events);
	genl_close(&self->s);
}

/* Ask about link b; returns the whole answer. */
static int ask_of_b(struct genl_sock *s, uint8_t cmd, bool rotate,
		    struct genl_msg *answer)
{
	struct genl_msg m;

	answer->nlh.nlmsg_len = NLMSG_HDRLEN;
	genl_begin(&m, s, cmd);
	genl_put_str(&m, cmd == RCLINK_CMD_RECORD_GET ? RCLINK_A_RECORD_LINK :
		     RCLINK_A_LINK_NAME, "b");
	if (rotate)
		genl_put(&m, RCLINK_A_LINK_ROTATE, NULL, 0);
	return genl_ask(s, &m, answer, NULL);
}

TEST_F(up, root_sees_all_of_a_link_but_its_key)
{
	struct seen seen = { .end = &self->end };
	struct genl_msg m;

	ASSERT_EQ(0, ask_of_b(&self->s, RCLINK_CMD_LINK_GET, false, &m));
	EXPECT_NE(NULL, genl_attr(&m, RCLINK_A_LINK_LOCAL));
	EXPECT_NE(NULL, genl_attr(&m, RCLINK_A_LINK_REMOTE));
	EXPECT_EQ(NULL, genl_attr(&m, RCLINK_A_LINK_KEY));
	EXPECT_FALSE(has_key(&m));
	/* All that must not be found in other tests is found here. */
	EXPECT_LT(0, self->end.nqps);
	EXPECT_EQ(3 + self->end.nqps, numbers_of(&m, &self->end));
	genl_begin(&m, &self->s, RCLINK_CMD_LINK_GET);
	ASSERT_EQ(0, genl_dump(&self->s, &m, look, &seen));
	EXPECT_EQ(2, seen.links);
	EXPECT_EQ(2, seen.secrets);
	EXPECT_EQ(0, seen.keys);
}

TEST_F(up, a_user_sees_neither_secrets_nor_key_of_a_link_that_is_up)
{
	secret_end = &self->end;
	EXPECT_EQ(20, in_child(user_looks, &self->s));
}

/* The refusal of a key is in the record, too. */
TEST_F(up, the_key_is_not_in_the_record)
{
	struct genl_msg m;

	EXPECT_EQ(-EBUSY, rcl_activate(&self->s, "b", self->end.epoch, NULL));
	ASSERT_EQ(0, ask_of_b(&self->s, RCLINK_CMD_RECORD_GET, false, &m));
	EXPECT_NE(NULL, genl_attr(&m, RCLINK_A_RECORD_ENTRY));
	EXPECT_FALSE(has_key(&m));
}

TEST_F(up, the_key_is_not_in_what_comes_of_a_request)
{
	struct genl_msg m;

	ASSERT_EQ(0, ask_of_b(&self->s, RCLINK_CMD_LINK_PREPARE, true, &m));
	EXPECT_NE(NULL, genl_attr(&m, RCLINK_A_LINK_LOCAL));
	EXPECT_EQ(NULL, genl_attr(&m, RCLINK_A_LINK_KEY));
	EXPECT_FALSE(has_key(&m));
	ASSERT_EQ(0, rcl_ping(&self->s, "b", RCLINK_PING_OP_SEND, -1, 1, NULL));
	ASSERT_EQ(0, genl_recv(&self->s, &m, 5000));
	EXPECT_EQ(RCLINK_CMD_PING_NTF, genl_cmd(&m));
	EXPECT_FALSE(has_key(&m));
}

TEST_F(up, the_key_is_in_no_event)
{
	struct seen seen = { .end = &self->end };
	unsigned int ups = 0;
	struct genl_msg m;

	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	ASSERT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, 5000));
	ASSERT_EQ(0, rcl_del(&self->s, "a"));
	ASSERT_EQ(0, rcl_del(&self->s, "b"));
	while (!genl_recv(&self->events, &m, 500)) {
		ups += genl_u32(genl_attr(&m, RCLINK_A_LINK_STATE)) ==
		       RCLINK_LINK_STATE_UP;
		look(&m, &seen);
	}
	/* created, prepared, connected, up, down, deleted */
	EXPECT_EQ(2 * 6, seen.links);
	EXPECT_EQ(2, ups);
	EXPECT_EQ(0, seen.secrets);
	EXPECT_EQ(0, seen.keys);
}

/* Get the NACK by a socket whose NACKs contain the whole request. */
static int get_nack(struct genl_msg *request, struct genl_msg *nack)
{
	const struct nlmsgerr *err = (void *)(nack->buf + NLMSG_HDRLEN);
	static const int off;
	struct genl_sock s;
	int ret;

	ret = rcl_open(&s);
	if (ret)
		return ret;
	setsockopt(s.fd, SOL_NETLINK, NETLINK_CAP_ACK, &off, sizeof(off));
	ret = genl_send(&s, request, NLM_F_ACK);
	if (!ret)
		ret = genl_recv(&s, nack, 5000);
	genl_close(&s);
	if (ret)
		return ret;
	if (nack->nlh.nlmsg_type != NLMSG_ERROR ||
	    nack->nlh.nlmsg_len < NLMSG_HDRLEN + sizeof(err->error) +
				  request->nlh.nlmsg_len)
		return -EPROTO;
	return err->error;
}

/* Netlink itself refuses a key of another length, and sends that back. */
TEST_F(up, the_key_of_a_step_that_is_refused_does_not_come_back)
{
	uint8_t longer[sizeof(rcl_key) + 1] = { 0 };
	struct genl_msg m, nack;

	genl_begin(&m, &self->s, RCLINK_CMD_LINK_ACTIVATE);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "b");
	genl_put_u64(&m, RCLINK_A_LINK_EPOCH, self->end.epoch);
	genl_put(&m, RCLINK_A_LINK_KEY, rcl_key, sizeof(rcl_key));
	EXPECT_EQ(-EBUSY, get_nack(&m, &nack));
	EXPECT_FALSE(has_key(&nack));

	memcpy(longer, rcl_key, sizeof(rcl_key));
	genl_begin(&m, &self->s, RCLINK_CMD_LINK_ACTIVATE);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "b");
	genl_put_u64(&m, RCLINK_A_LINK_EPOCH, self->end.epoch);
	genl_put(&m, RCLINK_A_LINK_KEY, longer, sizeof(longer));
	EXPECT_GT(0, get_nack(&m, &nack));
	EXPECT_TRUE(has_key(&nack));
}

TEST_HARNESS_MAIN
