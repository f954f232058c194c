// SPDX-License-Identifier: GPL-2.0
/* What is read from a configuration, and which mistakes are reported. */
#include "conf.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/resource.h>

#include <kselftest_harness.h>

#define PIN	"sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define MGID	"mgid = ff15::1\n"
#define BLANKS	"                                            "
#define LONG	"0123456789012345678901234567890123456789012345678901234567890"

/* The errno with which the name service fails; 0: it works. */
static int no_service;
static unsigned int asked;	/* names that were looked up */

typeof(getpwnam) __real_getpwnam, __wrap_getpwnam;
typeof(getgrnam) __real_getgrnam, __wrap_getgrnam;

struct passwd *__wrap_getpwnam(const char *name)
{
	asked++;
	if (!no_service)
		return __real_getpwnam(name);
	errno = no_service;
	return NULL;
}

struct group *__wrap_getgrnam(const char *name)
{
	asked++;
	if (!no_service)
		return __real_getgrnam(name);
	errno = no_service;
	return NULL;
}

struct reader {
	struct rcd_conf conf;
	struct rcd_report report;
	struct rcd_place place;		/* of the first complaint */
	char text[512];
	unsigned int complaints;
};

FIXTURE(conf)
{
	struct reader r;
};

static void hear(void *ctx, const struct rcd_place *place, const char *text)
{
	struct reader *r = ctx;

	if (r->complaints++)
		return;
	r->place = *place;
	snprintf(r->text, sizeof(r->text), "%s", text);
}

static unsigned int lived;

static void live(void)
{
	lived++;
}

FIXTURE_SETUP(conf)
{
	no_service = 0;
	asked = 0;
	lived = 0;
	rcd_conf_init(&self->r.conf);
	self->r.report.say = hear;
	self->r.report.alive = live;
	self->r.report.ctx = &self->r;
}

FIXTURE_TEARDOWN(conf)
{
	rcd_conf_free(&self->r.conf);
}

static int parse(struct reader *r, const char *file, const char *text,
		 size_t len)
{
	FILE *from = fmemopen((void *)text, len, "r");
	int ret;

	ret = rcd_conf_parse(&r->conf, from, file, &r->report);
	fclose(from);
	return ret;
}

static int read_text(struct reader *r, const char *text)
{
	int ret;

	ret = parse(r, "f", text, strlen(text));
	if (!ret)
		ret = rcd_conf_finish(&r->conf, &r->report);
	return ret;
}

TEST_F(conf, nothing_is_a_host_that_answers_nobody)
{
	EXPECT_EQ(0, read_text(&self->r, "\n# nothing\n; at all\n"));
	EXPECT_EQ(0, self->r.conf.num);
	EXPECT_STREQ("/etc/rclink/key.pem", self->r.conf.key);
	EXPECT_TRUE(self->r.conf.listens);
	EXPECT_EQ(7185, self->r.conf.port);
	EXPECT_STREQ("", self->r.conf.bind);
}

TEST_F(conf, a_name_that_cannot_be_asked_for_is_no_mistake)
{
	no_service = ECONNREFUSED;
	EXPECT_NE(0, read_text(&self->r, "[Link a]\nowner = root\n"));
	EXPECT_NE(NULL, strstr(self->r.text, "cannot be asked for"))
		TH_LOG("%s", self->r.text);
	EXPECT_NE(NULL, strstr(self->r.text, "Connection refused"));
	EXPECT_TRUE(self->r.conf.unasked);
}

/* A service that does not answer may take seconds to say so. */
TEST_F(conf, each_name_is_asked_for_once)
{
	static const char text[] =
		"[Link a]\npin = " PIN "\nowner = root\ngroup = root\n"
		"[Link b]\npin = " PIN "\ngroup = root\nowner = root\n";

	EXPECT_EQ(0, read_text(&self->r, text)) TH_LOG("%s", self->r.text);
	EXPECT_EQ(2, asked);
	/* The head of each section, and each name. */
	EXPECT_EQ(2 + 4, lived);
	no_service = ETIMEDOUT;
	rcd_conf_free(&self->r.conf);
	rcd_conf_init(&self->r.conf);
	EXPECT_NE(0, read_text(&self->r, text));
	EXPECT_EQ(4, asked);
	EXPECT_EQ(4, self->r.complaints);
}

TEST_F(conf, a_group_that_cannot_be_asked_for_is_no_mistake)
{
	no_service = ENOENT;
	EXPECT_NE(0, read_text(&self->r, "[Group g]\n" MGID "group = root\n"));
	EXPECT_NE(NULL, strstr(self->r.text, "cannot be asked for"))
		TH_LOG("%s", self->r.text);
	EXPECT_TRUE(self->r.conf.unasked);
}

TEST_F(conf, a_name_that_is_not_there_is_a_mistake)
{
	/* An errno left by something else must not matter. */
	errno = ECONNREFUSED;
	EXPECT_NE(0, read_text(&self->r, "[Link a]\nowner = no.such.user\n"));
	EXPECT_NE(NULL, strstr(self->r.text, "has no user"))
		TH_LOG("%s", self->r.text);
	EXPECT_FALSE(self->r.conf.unasked);
	self->r.complaints = 0;
	EXPECT_NE(0, read_text(&self->r, "[Link b]\ngroup = no.such.group\n"));
	EXPECT_NE(NULL, strstr(self->r.text, "has no group"))
		TH_LOG("%s", self->r.text);
	EXPECT_FALSE(self->r.conf.unasked);
}

TEST_F(conf, that_there_are_no_more_files_is_no_mistake)
{
	struct rlimit none, before;

	EXPECT_EQ(-EINVAL, rcd_conf_load(&self->r.conf, "/nowhere/f",
					 &self->r.report));
	EXPECT_FALSE(self->r.conf.unasked);
	EXPECT_EQ(1, self->r.complaints);
	rcd_conf_free(&self->r.conf);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	none = before;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EAGAIN, rcd_conf_load(&self->r.conf, "/nowhere/f",
					 &self->r.report));
	setrlimit(RLIMIT_NOFILE, &before);
	EXPECT_EQ(3, self->r.complaints);
}

TEST_F(conf, all_of_it)
{
	const struct rcd_link_conf *link;

	ASSERT_EQ(0, read_text(&self->r,
			       "[Host]\nkey = /k\ncert=/c\n"
			       "listen = [2001:db8::1]:99\n"
			       "[Link a]\n\tpin = " PIN "\n\tqps = 8\n"
			       "\tpeer = b.example:98 ; there\n"
			       "peer-link = z\ndev = rxe0\nmtu = auto\n"
			       "netdev = eth0.5\n"
			       "mode = 0660\nrecover = resume\n"
			       "rotate = 600\n"));
	EXPECT_STREQ("/k", self->r.conf.key);
	EXPECT_STREQ("/c", self->r.conf.cert);
	EXPECT_STREQ("2001:db8::1", self->r.conf.bind);
	EXPECT_EQ(99, self->r.conf.port);
	ASSERT_EQ(1, self->r.conf.num);
	link = &self->r.conf.link[0];
	EXPECT_STREQ("a", link->name);
	EXPECT_EQ(5, link->place.line);
	EXPECT_STREQ(PIN, rcd_link_identity(link));
	EXPECT_STREQ("b.example", link->host);
	EXPECT_EQ(98, link->port);
	EXPECT_STREQ("z", link->wanted);
	EXPECT_STREQ("rxe0", link->policy.device);
	EXPECT_STREQ("eth0.5", link->policy.netdev);
	EXPECT_EQ(8, link->policy.v[RCL_P_QPS]);
	EXPECT_EQ(0660, link->policy.v[RCL_P_MODE]);
	EXPECT_EQ(600, link->rotate);
	EXPECT_EQ(1u << RCL_P_QPS | 1u << RCL_P_MODE | 1u << RCL_P_MTU |
		  1u << RCL_P_RECOVER, link->policy.given);
}

TEST_F(conf, where_it_may_listen)
{
	static const struct {
		const char *line, *bind;
	} good[] = {
		{ "listen = 192.0.2.1\n", "192.0.2.1" },
		{ "listen = 0.0.0.0:7185\n", "0.0.0.0" },
		{ "listen = ::\n", "::" },
		{ "listen = [::ffff:192.0.2.1]:7185\n", "::ffff:192.0.2.1" },
		{ "listen = fe80::1%nosuch0\n", "fe80::1%nosuch0" },
	};
	unsigned int i;
	char text[64];

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		rcd_conf_init(&self->r.conf);
		sprintf(text, "[Host]\n%s", good[i].line);
		EXPECT_EQ(0, read_text(&self->r, text))
			TH_LOG("%s", self->r.text);
		EXPECT_STREQ(good[i].bind, self->r.conf.bind);
		EXPECT_EQ(7185, self->r.conf.port);
	}
}

TEST_F(conf, by_ca)
{
	ASSERT_EQ(0, read_text(&self->r,
			       "[Link a]\nname = B.Example\npeer = b\n"
			       "[Host]\nca = /ca\ncrl = /crl\n"
			       "listen = none\n"));
	EXPECT_STREQ("b.example", rcd_link_identity(&self->r.conf.link[0]));
	EXPECT_STREQ("a", self->r.conf.link[0].wanted);
	EXPECT_FALSE(self->r.conf.listens);
}

TEST_F(conf, groups)
{
	static const uint8_t v4[RCLINK_GID_LEN] = {
		[10] = 0xff, 0xff, 239, 1, 2, 3
	};
	const struct rcl_group_info *want;

	ASSERT_EQ(0, read_text(&self->r,
			       "[Group g]\nmgid = 239.1.2.3\nlink = a, b\n"
			       "link=c\n[Link a]\npin = " PIN "\n"
			       "[Link b]\npin = " PIN "\n"
			       "[Link c]\npin = " PIN "\n"
			       "[Group h]\nmgid = ff15::1\nfrom = a\n"
			       "dev = rxe0\nport = 1\ngid-index = 3\n"
			       "mlid = 0xc001\n"
			       "[Group i]\nmgid = ff15::1\nqkey = 0x11111111\n"
			       "dev = auto\nport = auto\n"
			       "gid-index = auto\nowner = 7\nmode = 0640\n"));
	ASSERT_EQ(3, self->r.conf.ngroups);
	EXPECT_EQ(1, self->r.conf.group[0].place.line);
	want = &self->r.conf.group[0].want;
	EXPECT_STREQ("g", want->name);
	EXPECT_EQ(0, memcmp(v4, want->mgid, sizeof(v4)));
	ASSERT_EQ(3, want->nlinks);
	EXPECT_STREQ("a", want->link[0]);
	EXPECT_STREQ("b", want->link[1]);
	EXPECT_STREQ("c", want->link[2]);
	EXPECT_STREQ("", want->from);
	EXPECT_FALSE(want->has_qkey || want->has_gid_index);
	want = &self->r.conf.group[1].want;
	EXPECT_EQ(0xff, want->mgid[0]);
	EXPECT_STREQ("a", want->from);
	EXPECT_STREQ("rxe0", want->device);
	EXPECT_EQ(1, want->port);
	EXPECT_TRUE(want->has_gid_index);
	EXPECT_EQ(3, want->gid_index);
	EXPECT_EQ(0xc001, want->mlid);
	EXPECT_EQ(0, want->nlinks);
	want = &self->r.conf.group[2].want;
	EXPECT_TRUE(want->has_qkey);
	EXPECT_EQ(0x11111111, want->qkey);
	EXPECT_STREQ("", want->device);
	EXPECT_EQ(0, want->port);
	EXPECT_EQ(RCLINK_GID_INDEX_AUTO, want->gid_index);
	EXPECT_EQ(1u << RCL_P_OWNER | 1u << RCL_P_MODE, want->access.given);
	EXPECT_EQ(7, want->access.v[RCL_P_OWNER]);
	EXPECT_EQ(0640, want->access.v[RCL_P_MODE]);
}

/* One link more than a group may have; the group first names all but one. */
TEST_F(conf, a_group_has_32_links)
{
	char text[8192];
	int len = 0, i;

	for (i = 0; i <= RCLINK_GROUP_LINKS_MAX; i++)
		len += sprintf(text + len, "[Link l%d]\npin = " PIN "\n", i);
	len += sprintf(text + len, "[Group g]\nmgid = ff15::1\n");
	for (i = 0; i < RCLINK_GROUP_LINKS_MAX; i++)
		len += sprintf(text + len, "link = l%d\n", i);
	EXPECT_EQ(0, read_text(&self->r, text));
	rcd_conf_free(&self->r.conf);
	rcd_conf_init(&self->r.conf);
	sprintf(text + len, "link = l%d\n", i);
	EXPECT_EQ(-EINVAL, read_text(&self->r, text));
	EXPECT_NE(NULL, strstr(self->r.text, "more than 32"));
}

static const struct {
	const char *text;
	unsigned int line;
	const char *says;
} bad[] = {
	{ "x = 1\n", 1, "before any section" },
	{ "[Nosuch]\nx = 1\n", 1, "no section [Nosuch]" },
	{ "[host]\nx = 1\n", 1, "no section [host]" },
	{ "[Nosuch]\n[Host]\ncert = /c\n", 1, "no section [Nosuch]" },
	{ "[Link]\n", 1, "no section [Link]" },
	{ "[Host]\n", 1, "nothing below" },
	{ "[Link a]\n", 1, "nothing below" },
	{ "[Host]\n[Link a]\npin=" PIN "\n", 1, "nothing below" },
	{ "[Host\nkey = /k\n", 1, "no [SECTION]" },
	{ "\n[Host]\ncert = /c\nkey\n", 4, "no [SECTION]" },
	{ "[Host]\nkey = /k\n[Host]\ncert = /c\n", 3, "at f:1 already" },
	{ "[Host]\nnosuch = 1\n", 2, "no key 'nosuch'" },
	{ "[Host]\nkey = k\n", 2, "absolute" },
	{ "[Host]\nkey =\n", 2, "absolute" },
	{ "[Host]\nkey = /k\nkey = /k\n", 3, "twice" },
	{ "[Host]\nlisten = [::1\n", 2, "no address" },
	{ "[Host]\nlisten = b.example\n", 2, "no address" },
	{ "[Host]\nlisten = 192.0.2\n", 2, "no address" },
	{ "[Host]\nlisten = 192.0.2.1 x\n", 2, "no address" },
	{ "[Host]\nlisten = 7185\n", 2, "no address" },
	{ "[Host]\nlisten = *:7185\n", 2, "no address" },
	{ "[Host]\nlisten = no\n", 2, "no address" },
	{ "[Host]\nlisten = [fe80::1]:0\n", 2, "no address" },
	{ "[Host]\nlisten = 192.0.2.1%eth0\n", 2, "no address" },
	{ "[Host]\nlisten = none\nlisten = ::\n", 3, "twice" },
	{ "[Host]\ncrl = /crl\n", 2, "no ca" },
	{ "[Link]\npin = " PIN "\n", 1, "no section [Link]" },
	{ "[Link ]\npin = " PIN "\n", 1, "1 to 31" },
	{ "[Link a/b]\npin = " PIN "\n", 1, "1 to 31" },
	{ "[Link " LONG "]\npin = " PIN "\n", 1, "1 to 31" },
	/* inih would cut this section's name short. */
	{ "[Link" BLANKS "a b]\npin = " PIN "\n", 1, "1 to 31" },
	{ "[Link a]\nqps = 1\n", 1, "needs a pin" },
	{ "[Link a]\npin = md5:00\n", 2, "pin: " },
	{ "[Link a]\nqps = 8 # each\n", 2, "only ` ;` begins a comment" },
	{ "[Link a]\npin = " PIN "\nname = x.y\n", 1, "keep the pin" },
	{ "[Link a]\nname = x.y\n", 1, "needs a pin" },
	{ "[Link a]\nname = *.y\n", 2, "wildcard" },
	{ "[Host]\nca = /ca\n[Link a]\npin = " PIN "\n", 3, "needs a name" },
	{ "[Link a]\npin = " PIN "\n[Link a]\nqps = 1\n", 3, "at f:1" },
	{ "[Link a]\npin = " PIN "\npeer = [::\n", 3, "HOST:PORT" },
	{ "[Link a]\npeer = x:0\n", 2, "HOST:PORT" },
	{ "[Link a]\npeer = x\npeer = y\n", 3, "twice" },
	{ "[Link a]\npeer-link = -\n", 2, "peer-link: name" },
	{ "[Link a]\nkey = /k\n", 2, "no key 'key'" },
	{ "[Link a]\nqps = 65\n", 2, "1 to 64, not 65" },
	{ "[Link a]\nqps = -1\n", 2, "number" },
	{ "[Link a]\nqps = 1\nqps = 1\n", 3, "twice" },
	{ "[Link a]\nmtu = 1500\n", 2, "mtu must be" },
	{ "[Link a]\nmode = 888\n", 2, "octal" },
	{ "[Link a]\nowner = no.such.user\n", 2, "no user" },
	{ "[Link a]\ndevice =\n", 2, "dev must be" },
	{ "[Link a]\nnetdev = 1234567890123456\n", 2, "1 to 15 characters" },
	{ "[Link a]\nnetdev = auto\nnetdev = a\n", 3, "netdev is given twice" },
	{ "[Link a]\nrotate = 9\n", 2, "rotate must be 10 to" },
	{ "[Link a]\nrotate = 1h\n", 2, "rotate must be 10 to" },
	{ "[Link a]\nrotate = +60\n", 2, "rotate must be 10 to" },
	{ "[Link a]\nrotate = -18446744073709551556\n", 2,
	  "rotate must be 10 to" },
	{ "[Link a]\nrotate = 60\nrotate = 60\n", 3, "twice" },
	{ "[Link a]\npin = " PIN "\npeer = b\nrotate = 60\n", 1,
	  "add recover = resume" },
	{ "[Host]\nlisten = none\n[Link a]\npin = " PIN "\n", 3,
	  "no peer to dial" },
	{ "[Group]\n" MGID, 1, "no section [Group]" },
	{ "[Group a b]\n" MGID, 1, "1 to 31" },
	{ "[Group g]\n", 1, "nothing below" },
	{ "[Group g]\nport = 1\n", 1, "needs an mgid" },
	{ "[Group g]\n" MGID "[Group g]\n" MGID, 3, "at f:1 already" },
	{ "[Group g]\nmgid = 192.0.2.1\n", 2, "must be a multicast" },
	{ "[Group g]\nmgid = fe80::1\n", 2, "must be a multicast" },
	{ "[Group g]\nmgid = ::\n", 2, "must be a multicast" },
	{ "[Group g]\nmgid = x\n", 2, "no address" },
	{ "[Group g]\n" MGID MGID, 3, "twice" },
	{ "[Group g]\nqps = 1\n", 2, "[Group g] has no key 'qps'" },
	{ "[Group g]\nmtu = 1024\n", 2, "[Group g] has no key 'mtu'" },
	{ "[Group g]\nno-link = a\n", 2, "[Group g] has no key" },
	{ "[Group g]\ndevice =\n", 2, "dev must be" },
	{ "[Group g]\ndev = " LONG LONG "\n", 2, "dev must be" },
	{ "[Group g]\ndev = a\ndevice = b\n", 3, "twice" },
	{ "[Group g]\nport = 0\n", 2, "port must be a number from 1" },
	{ "[Group g]\nport = 1\nport = 1\n", 3, "twice" },
	{ "[Group g]\nport = auto\nport = 1\n", 3, "twice" },
	{ "[Group g]\ndev = auto\ndev = a\n", 3, "twice" },
	{ "[Group g]\ngid-index = 4294967295\n", 2, "gid-index must be" },
	{ "[Group g]\ngid-index = auto\ngid-index = 1\n", 3, "twice" },
	{ "[Group g]\nmlid = 0xbfff\n", 2, "mlid must be" },
	{ "[Group g]\nmlid = 0xffff\n", 2, "mlid must be" },
	{ "[Group g]\nmlid = 0xc000\nmlid = 0xc000\n", 3, "twice" },
	{ "[Group g]\nqkey = 0x100000000\n", 2, "qkey must be" },
	{ "[Group g]\nqkey = 0\nqkey = 0\n", 3, "twice" },
	{ "[Group g]\nlink =\n", 2, "link: name must be" },
	{ "[Group g]\nlink = a, ,-\n", 2, "link: name must be" },
	{ "[Group g]\nlink = a b a\n", 2, "link a is given twice" },
	{ "[Group g]\nlink = a\nlink = a\n", 3, "link a is given twice" },
	{ "[Group g]\nlink = " LONG "\n", 2, "link: name must be" },
	{ "[Group g]\nfrom = a b\n", 2, "from: name must be" },
	{ "[Group g]\nfrom = " LONG "\n", 2, "from: name must be" },
	{ "[Group g]\nfrom = a\nfrom = a\n", 3, "twice" },
	{ "[Group g]\n" MGID "from = a\n", 1, "from is a, but there is no" },
	{ "[Group g]\n" MGID "link = a\n", 1, "link is a, but there is no" },
	{ "[Link a]\npin = " PIN "\n[Group g]\n" MGID "from = a\nlink = a\n",
	  3, "from and link" },
	{ "[Link a]\npin = " PIN "\n[Group g]\n" MGID "from = a\nqkey = 1\n",
	  3, "from and qkey" },
};

TEST_F(conf, what_is_wrong_is_said_with_its_line)
{
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		self->r.complaints = 0;
		rcd_conf_free(&self->r.conf);
		rcd_conf_init(&self->r.conf);
		EXPECT_EQ(-EINVAL, read_text(&self->r, bad[i].text))
			TH_LOG("bad[%u]", i);
		EXPECT_EQ(bad[i].line, self->r.place.line)
			TH_LOG("bad[%u]: %s", i, self->r.text);
		EXPECT_STREQ("f", self->r.place.file);
		EXPECT_NE(NULL, strstr(self->r.text, bad[i].says))
			TH_LOG("bad[%u]: %s", i, self->r.text);
	}
}

TEST_F(conf, all_that_is_wrong_is_said)
{
	EXPECT_EQ(-EINVAL, read_text(&self->r,
				     "[Host]\nx=1\ny=1\n[Z]\nz=1\n"));
	EXPECT_EQ(3, self->r.complaints);
}

static const struct {
	const char *text;
	unsigned int complaints;
} together[] = {
	{ "[Link a]\nqps = 0\n[Link b]\nqps = 1\n", 2 },
	{ "[Link a]\nqps = 0\n[Group g]\nlink = a\n", 2 },
	{ "[Group g]\nport = 0\n[Group h]\n" MGID "link = a\n", 2 },
	/* What only follows from the first mistake is not reported. */
	{ "[Link a]\npin = x\n[Group g]\n" MGID "link = a\n", 1 },
	{ "[Host]\nca = ca\n[Link a]\nname = x.y\n", 1 },
	{ "[Lnik a]\npin = " PIN "\n[Group g]\n" MGID "link = a\n", 1 },
	{ "[Link a]\nqps = 1\npin\n[Link b]\nqps = 1\n", 1 },
};

TEST_F(conf, sections_are_judged_beside_bad_lines)
{
	unsigned int i;

	for (i = 0; i < sizeof(together) / sizeof(together[0]); i++) {
		self->r.complaints = 0;
		rcd_conf_free(&self->r.conf);
		rcd_conf_init(&self->r.conf);
		parse(&self->r, "f", together[i].text,
		      strlen(together[i].text));
		EXPECT_EQ(-EINVAL, rcd_conf_finish(&self->r.conf,
						   &self->r.report))
			TH_LOG("together[%u]", i);
		EXPECT_EQ(together[i].complaints, self->r.complaints)
			TH_LOG("together[%u]: %s", i, self->r.text);
	}
}

TEST_F(conf, several_files_make_one)
{
	static const char a[] = "[Host]\nkey = /k\n[Link a]\npin = " PIN "\n";
	static const char b[] = "[Link b]\npin = " PIN "\n";
	static const char c[] = "\n[Link a]\nqps = 1\n";

	EXPECT_EQ(0, parse(&self->r, "1", a, strlen(a)));
	EXPECT_EQ(0, parse(&self->r, "2", b, strlen(b)));
	EXPECT_EQ(0, rcd_conf_finish(&self->r.conf, &self->r.report));
	EXPECT_EQ(2, self->r.conf.num);
	EXPECT_EQ(-EINVAL, parse(&self->r, "3", c, strlen(c)));
	EXPECT_STREQ("3", self->r.place.file);
	EXPECT_EQ(2, self->r.place.line);
	EXPECT_NE(NULL, strstr(self->r.text, "1:3"));
}

TEST_F(conf, lines_that_are_no_text)
{
	static const char zero[] = "[Host]\nkey = /a\0b\n";
	char text[1024];

	EXPECT_EQ(-EINVAL, parse(&self->r, "f", zero, sizeof(zero) - 1));
	EXPECT_EQ(2, self->r.place.line);
	self->r.complaints = 0;
	memset(text, 'x', sizeof(text));
	memcpy(text, "\nkey = ", 7);
	text[sizeof(text) - 1] = '\n';
	EXPECT_EQ(-EINVAL, parse(&self->r, "f", text, sizeof(text)));
	EXPECT_EQ(2, self->r.place.line);
}

TEST_HARNESS_MAIN
