// SPDX-License-Identifier: GPL-2.0
/*
 * Who may open channels: rights of users, when they are checked, and what
 * happens to a channel's file that is passed, inherited or left open. The far
 * end is the program far; the link is l. RCL_TOOL, RCL_GUEST and RCL_ASKS name
 * programs that everybody may run, the last one as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "far.h"
#include "harness.h"
#include "near.h"

#define LINK		"l"
#define DEVICE		"/dev/rclink"
#define SERVICES_MAX	4096	/* that a user may listen on */
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))
#define ALL_CAPS	~0ULL
#define NET_ADMIN	(UINT64_C(1) << CAP_NET_ADMIN)

/* A user, who is in the group of the device, too */
struct who {
	unsigned int uid;
	unsigned int gid;
	unsigned int more;	/* a supplementary group, or 0 */
	uint64_t caps;
	bool container;		/* with all caps in its own user namespace */
};

#define WHO(...)	((struct who) { __VA_ARGS__ })
#define USER(u, g)	WHO(.uid = (u), .gid = (g))
#define ROOT(c)		WHO(.caps = (c))
#define CONTAINER(u, g)	WHO(.uid = (u), .gid = (g), .container = true)
#define OWNER		USER(1000, 1000)
#define OWNER_IN_GROUP	USER(1000, 2000)
#define MEMBER		USER(3000, 2000)
#define MORE_MEMBER	WHO(.uid = 3000, .gid = 3000, .more = 2000)
#define OTHER		USER(3000, 3000)

/* Rights on a link of owner 1000, group 2000 */
static const struct {
	unsigned int mode;
	struct who who;
	bool may;
} rows[] = {
	{ 0600, OWNER, true }, { 0600, MEMBER, false }, { 0600, OTHER, false },
	{ 0400, OWNER, false }, { 0200, OWNER, false }, { 0000, OWNER, false },
	{ 0060, OWNER, false }, { 0060, OWNER_IN_GROUP, false },
	{ 0060, MEMBER, true }, { 0060, MORE_MEMBER, true },
	{ 0060, OTHER, false }, { 0040, MEMBER, false },
	{ 0020, MORE_MEMBER, false },
	{ 0006, OWNER, false }, { 0006, MEMBER, false },
	{ 0006, MORE_MEMBER, false }, { 0006, OTHER, true },
	{ 0004, OTHER, false }, { 0002, OTHER, false },
	{ 0660, OWNER, true }, { 0660, MEMBER, true }, { 0660, OTHER, false },
	/* Uid 0 does not count, the capability does. */
	{ 0660, ROOT(0), false },
	{ 0666, ROOT(0), true },
	{ 0000, ROOT(ALL_CAPS), true },
	{ 0000, WHO(.uid = 3000, .gid = 3000, .caps = NET_ADMIN), true },
	{ 0000, ROOT(ALL_CAPS & ~NET_ADMIN), false },
	/* A capability in a user namespace does not count. */
	{ 0000, CONTAINER(1000, 1000), false },
	{ 0060, CONTAINER(3000, 3000), false },
	{ 0060, CONTAINER(3000, 2000), true },
	{ 0600, CONTAINER(1000, 1000), true },
};

static bool set_link(const char *words)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), "%s set " LINK " %s", getenv("RCL_TOOL"),
		 words);
	return !system(cmd);
}

static bool set_mode(unsigned int mode)
{
	char words[64];

	snprintf(words, sizeof(words), "owner 1000 group 2000 mode %o", mode);
	return set_link(words);
}

static void keep_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	int i;

	if (syscall(SYS_capget, &head, data))
		_exit(97);
	for (i = 0; i < 2; i++, caps >>= 32) {
		data[i].permitted &= (uint32_t)caps;
		data[i].effective = data[i].permitted;
	}
	if (syscall(SYS_capset, &head, data))
		_exit(97);
}

/* Irreversible. The process can still open the device. */
static void become(const struct who *who)
{
	gid_t groups[] = { 0, who->more };
	struct stat st;

	if (stat(DEVICE, &st))
		_exit(99);
	groups[0] = st.st_gid;
	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(who->more ? 2 : 1, groups) ||
	    setresgid(who->gid, who->gid, who->gid) ||
	    setresuid(who->uid, who->uid, who->uid))
		_exit(99);
	keep_caps(who->caps);
	if (who->container && unshare(CLONE_NEWUSER))
		_exit(98);
}

/* The answer of an open device to a request for a service of nobody */
static int request(int fd, unsigned long request)
{
	struct rclink_dev_service s = {
		.link = LINK, .service = "nobody",
		.backlog = request == RCLINK_IOC_LISTEN,
	};

	return ioctl(fd, request, &s) ? -errno : 0;
}

/* A process that may connect finds only that nobody listens. */
static int answers(int fd)
{
	int ret = request(fd, RCLINK_IOC_CONNECT);

	return ret == -ECONNREFUSED ? 0 : ret;
}

static int open_device(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fprintf(stderr, "# cannot open the device: %s\n",
			strerror(errno));
	return fd;
}

static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The answer to both requests, as a positive errno or 0 */
static int verdict(const struct who *who)
{
	pid_t pid = fork();
	int ret;

	if (!pid) {
		become(who);
		ret = answers(open_device());
		if (request(open_device(), RCLINK_IOC_LISTEN) != ret)
			_exit(96);
		_exit(-ret);
	}
	return status_of(pid);
}

TEST(owner_group_and_mode_are_as_of_a_file)
{
	unsigned int i, last = ~0;

	for (i = 0; i < NUM(rows); i++) {
		if (rows[i].mode != last)
			ASSERT_TRUE(set_mode(rows[i].mode));
		last = rows[i].mode;
		EXPECT_EQ(rows[i].may ? 0 : EACCES, verdict(&rows[i].who))
			TH_LOG("row %u: mode %o", i, rows[i].mode);
	}
}

TEST(a_right_is_that_of_who_opened)
{
	const struct who other = OTHER;
	int roots, owners, others;

	ASSERT_TRUE(set_mode(0600));
	roots = open_device();
	ASSERT_EQ(0, seteuid(1000));
	owners = open(DEVICE, O_RDWR);
	EXPECT_EQ(-1, owners);
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, fchmod(roots, 0666));
	ASSERT_EQ(0, seteuid(1000));
	owners = open_device();
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, seteuid(3000));
	others = open_device();
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, fchmod(roots, 0660));

	/* The process is root now, which does not help. */
	EXPECT_EQ(-EACCES, answers(others));
	EXPECT_EQ(0, answers(owners));
	/* The mode counts at the time of the request. */
	ASSERT_TRUE(set_mode(0));
	EXPECT_EQ(-EACCES, answers(owners));
	become(&other);
	EXPECT_EQ(-EACCES, answers(owners));
	/* The process is not root any more, which does no harm. */
	EXPECT_EQ(0, answers(roots));
	EXPECT_EQ(0, request(roots, RCLINK_IOC_LISTEN));
}

/* Run a setuid program of root as @who, on a file of @who or of its own. */
static int asks_as_root(const struct who *who, bool own)
{
	pid_t pid = fork();
	char fd[16];

	if (pid)
		return status_of(pid);
	become(who);
	snprintf(fd, sizeof(fd), "%d", open(DEVICE, O_RDWR));
	execl(getenv("RCL_ASKS"), "asks", own ? NULL : fd, NULL);
	_exit(95);
}

TEST(a_setuid_program_lends_no_right)
{
	const struct who owner = OWNER, other = OTHER;

	ASSERT_TRUE(set_mode(0600));
	EXPECT_EQ(EACCES, asks_as_root(&other, false));
	EXPECT_EQ(0, asks_as_root(&other, true));
	EXPECT_EQ(0, asks_as_root(&owner, false));
}

TEST(a_link_that_is_not_there_is_nobodys)
{
	const struct who other = OTHER;
	struct rclink_listener *listener;
	struct rclink_chan *chan;

	ASSERT_TRUE(set_mode(0));
	become(&other);
	EXPECT_EQ(-ENODEV, rclink_connect(&chan, "no.link", "s", 0));
	EXPECT_EQ(0, rclink_listen(&listener, "no.link", "s", 1, 0));
	/* Nor does a listener keep another from the same name. */
	EXPECT_EQ(0, rclink_listen(&listener, "no.link", "s", 1, 0));
}

/*
 * On a link that need not exist. The limit of files allows for all listeners.
 */
TEST(so_many_listeners_of_a_user)
{
	const struct rlimit files = { SERVICES_MAX + 100, SERVICES_MAX + 100 };
	const struct who other = OTHER;
	struct rclink_listener *listener, *more;
	char name[16];
	int i;

	ASSERT_TRUE(set_mode(0));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	become(&other);
	for (i = 0; i < SERVICES_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ASSERT_EQ(0, rclink_listen(&listener, "no.link", name, 1, 0));
	}
	EXPECT_EQ(-ENOSPC, rclink_listen(&more, "no.link", "more", 1, 0));
	rclink_listener_close(listener);
	EXPECT_EQ(0, rclink_listen(&more, "no.link", "more", 1, 0));
}

FIXTURE(chan)
{
	struct rclink_chan *chan;
	struct near near;
};

FIXTURE_SETUP(chan)
{
	ASSERT_TRUE(set_mode(0));
	ASSERT_EQ(0, rclink_connect(&self->chan, LINK, FAR_SERVICE,
				    RCLINK_CONNECT_WAIT));
}

FIXTURE_TEARDOWN(chan)
{
	rclink_close(self->chan);
}

static bool pass(int to, int fd)
{
	char data = 0, control[CMSG_SPACE(sizeof(int))]
		__attribute__((aligned(8))) = { 0 };
	struct iovec iov = { .iov_base = &data, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(to, &msg, 0) == 1;
}

/* Run the guest without access to the device, in its own namespaces. */
static pid_t container(int from)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(from, 0);
	execlp("setpriv", "setpriv", "--reuid=1000", "--regid=1000",
	       "--clear-groups", "unshare", "-Urn", getenv("RCL_GUEST"), NULL);
	_exit(95);
}

TEST_F(chan, a_passed_file_is_all_that_a_container_needs)
{
	int pair[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	pid = container(pair[1]);
	ASSERT_TRUE(pass(pair[0], rclink_fd(self->chan)));
	EXPECT_EQ(0, status_of(pid));
	/* The container and its memory are gone; the channel is not. */
	ASSERT_EQ(0, near_join(&self->near, self->chan));
	EXPECT_EQ(0, near_moves(&self->near, 1));
}

TEST_F(chan, a_child_that_closes_leaves_the_channel_to_its_parent)
{
	pid_t pid;

	ASSERT_EQ(0, near_greet(&self->near, self->chan));
	pid = fork();
	if (!pid) {
		rclink_close(self->chan);
		_exit(0);
	}
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(0, near_moves(&self->near, 1));
}

TEST_F(chan, a_parent_that_closes_leaves_the_channel_to_its_child)
{
	int pair[2];
	pid_t pid;
	char c = 0;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		if (read(pair[1], &c, 1) != 1 ||
		    near_greet(&self->near, self->chan))
			_exit(1);
		_exit(near_moves(&self->near, 3) != 0);
	}
	rclink_close(self->chan);
	self->chan = NULL;
	ASSERT_EQ(1, write(pair[0], &c, 1));
	EXPECT_EQ(0, status_of(pid));
}

TEST_F(chan, parent_and_child_use_it_in_turn)
{
	uint32_t turn;
	pid_t pid;

	ASSERT_EQ(0, near_greet(&self->near, self->chan));
	for (turn = 0; turn < 3; turn++) {
		pid = fork();
		if (!pid) {
			if (near_join(&self->near, self->chan))
				_exit(1);
			_exit(near_moves(&self->near, turn) != 0);
		}
		EXPECT_EQ(0, status_of(pid));
		EXPECT_EQ(0, near_moves(&self->near, 10 + turn));
	}
}

/* After fork both processes write; the device moves the data of the parent. */
TEST_F(chan, registered_memory_stays_with_the_parent)
{
	int pair[2];
	pid_t pid;
	char c = 0;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ASSERT_EQ(0, near_greet(&self->near, self->chan));
	far_fill(self->near.memory, 1, NEAR_SIZE);
	pid = fork();
	if (!pid) {
		if (!far_is(self->near.memory, 1, NEAR_SIZE))
			_exit(1);
		far_fill(self->near.memory, 2, NEAR_SIZE);
		if (write(pair[1], &c, 1) != 1 || read(pair[1], &c, 1) != 1)
			_exit(2);
		/* The parent has written and read by now. */
		_exit(!far_is(self->near.memory, 2, NEAR_SIZE));
	}
	ASSERT_EQ(1, read(pair[0], &c, 1));
	EXPECT_EQ(0, near_sends(&self->near, 1));
	far_fill(self->near.memory, 3, NEAR_SIZE);
	EXPECT_EQ(0, near_sends(&self->near, 3));
	EXPECT_EQ(0, near_reads(&self->near, 4));
	ASSERT_EQ(1, write(pair[0], &c, 1));
	EXPECT_EQ(0, status_of(pid));
	EXPECT_TRUE(far_is(self->near.memory, 4, NEAR_SIZE));
}

static int runs_with(int fd)
{
	char text[16];
	pid_t pid = fork();

	snprintf(text, sizeof(text), "%d", fd);
	if (!pid) {
		execl(getenv("RCL_GUEST"), "guest", text, NULL);
		_exit(95);
	}
	return status_of(pid);
}

TEST_F(chan, exec_closes_it_unless_told_otherwise)
{
	int fd = rclink_fd(self->chan);
	struct rclink_listener *listener;

	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	ASSERT_EQ(0, rclink_listen(&listener, LINK, "exec", 1, 0));
	EXPECT_EQ(FD_CLOEXEC, fcntl(rclink_listener_fd(listener), F_GETFD));
	rclink_listener_close(listener);
	EXPECT_EQ(EXIT_FAILURE, runs_with(fd));
	ASSERT_EQ(0, fcntl(fd, F_SETFD, 0));
	EXPECT_EQ(0, runs_with(fd));
	ASSERT_EQ(0, near_join(&self->near, self->chan));
	EXPECT_EQ(0, near_moves(&self->near, 5));
}

TEST_HARNESS_MAIN
