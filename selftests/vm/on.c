// SPDX-License-Identifier: GPL-2.0
/*
 * on: run a command on another guest of the lab, over the management link.
 *
 *   on N CMD ARGS...   as host N: stdin, stdout, stderr and exit status are
 *                      those of CMD; if on dies, CMD's process group dies too
 *   on --serve         what every guest runs
 *
 * Both directions of the connection carry frames: one byte type, three bytes
 * length, then the bytes. Each direction has a process of its own at each end,
 * so blocking I/O cannot deadlock. The management link is a wire between guests
 * of one test run and reaches nothing else: there is nothing to authenticate.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ON_PORT		71
#define ON_MAX		65536	/* bytes of one frame, arguments included */
#define ON_ARGS		1024
#define ON_FAILED	255	/* exit status when there is no connection */

enum { ON_ARGV = 'A', ON_IN = 'I', ON_OUT = 'O', ON_ERR = 'E', ON_EXIT = 'X' };

static char buf[ON_MAX + 1];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "on: %s: %s\n", what, strerror(errno));
	exit(ON_FAILED);
}

static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

static bool read_all(int fd, char *p, size_t len)
{
	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

static bool send_frame(int fd, char type, const char *p, uint32_t len)
{
	uint32_t head = htonl((uint32_t)type << 24 | len);

	return write_all(fd, (char *)&head, sizeof(head)) &&
	       write_all(fd, p, len);
}

/* The frame's bytes are in buf, with a NUL behind them. */
static bool recv_frame(int fd, char *type, uint32_t *len)
{
	uint32_t head;

	if (!read_all(fd, (char *)&head, sizeof(head)))
		return false;
	head = ntohl(head);
	*type = head >> 24;
	*len = head & 0xffffff;
	if (*len > ON_MAX || !read_all(fd, buf, *len))
		return false;
	buf[*len] = '\0';
	return true;
}

/* Forward one chunk of @from as a frame; false at its end. */
static bool pump(int from, int to, char type)
{
	ssize_t n = read(from, buf, ON_MAX);

	if (n < 0 && errno == EINTR)
		return true;
	return n > 0 && send_frame(to, type, buf, n);
}

static void sockaddr_of(struct sockaddr_in *addr, const char *host)
{
	char text[32];

	snprintf(text, sizeof(text), "192.0.2.%d", 128 + atoi(host));
	memset(addr, 0, sizeof(*addr));
	addr->sin_family = AF_INET;
	addr->sin_port = htons(ON_PORT);
	if (inet_pton(AF_INET, text, &addr->sin_addr) != 1) {
		errno = EINVAL;
		die(host);
	}
}

/* The commands of one test are many and short. */
static void no_delay(int sock)
{
	int one = 1;

	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static uint32_t pack(char *argv[])
{
	uint32_t len = 0;

	for (; *argv; argv++) {
		size_t n = strlen(*argv) + 1;

		if (n > ON_MAX - len) {
			errno = E2BIG;
			die("arguments");
		}
		memcpy(buf + len, *argv, n);
		len += n;
	}
	return len;
}

static int client(const char *host, char *argv[])
{
	struct sockaddr_in addr;
	uint32_t len;
	char type;
	int sock;

	sockaddr_of(&addr, host);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0 || connect(sock, (struct sockaddr *)&addr, sizeof(addr)))
		die(host);
	no_delay(sock);
	if (!send_frame(sock, ON_ARGV, buf, pack(argv)))
		die(host);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (pump(STDIN_FILENO, sock, ON_IN))
			;
		send_frame(sock, ON_IN, buf, 0);
		_exit(0);
	}
	while (recv_frame(sock, &type, &len)) {
		if (type == ON_EXIT)
			return (unsigned char)buf[0];
		if (!write_all(type == ON_ERR ? STDERR_FILENO : STDOUT_FILENO,
			       buf, len))
			return ON_FAILED;
	}
	errno = ECONNRESET;
	die(host);
}

/* Pass the client's input to the command; kill that if the client goes. */
static void feed(int sock, int to, pid_t pid)
{
	uint32_t len;
	char type;

	while (recv_frame(sock, &type, &len)) {
		if (!len && to >= 0) {
			close(to);
			to = -1;
		} else if (to >= 0 && !write_all(to, buf, len)) {
			close(to);
			to = -1;
		}
	}
	kill(-pid, SIGKILL);
}

static pid_t spawn(int io[3], char *argv[])
{
	int in[2], out[2], err[2];
	pid_t pid;

	if (pipe(in) || pipe(out) || pipe(err))
		die("pipe");
	pid = fork();
	if (!pid) {
		setsid();
		signal(SIGPIPE, SIG_DFL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		closefrom(STDERR_FILENO + 1);
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	io[0] = in[1];
	io[1] = out[0];
	io[2] = err[0];
	return pid;
}

/*
 * Ends with the command, not with the last holder of its output: a command may
 * leave a daemon behind. What is in the pipes when it ends is still delivered.
 */
static int collect(int sock, int out, int err, pid_t pid)
{
	struct pollfd p[] = {
		{ .fd = out, .events = POLLIN },
		{ .fd = err, .events = POLLIN },
		{ .fd = pidfd_open(pid, 0), .events = POLLIN },
	};
	int status;

	for (;;) {
		bool ended = p[2].revents;

		if (poll(p, 3, ended ? 0 : -1) < 0)
			continue;
		if (p[0].revents && !pump(out, sock, ON_OUT))
			p[0].fd = -1;
		if (p[1].revents && !pump(err, sock, ON_ERR))
			p[1].fd = -1;
		if (ended && !(p[0].revents | p[1].revents))
			break;
	}
	if (waitpid(pid, &status, 0) != pid)
		return ON_FAILED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

static void serve_one(int sock)
{
	char *argv[ON_ARGS + 1], args[ON_MAX + 1], status, type;
	pid_t pid, feeder;
	uint32_t len;
	int io[3], n = 0;

	no_delay(sock);
	if (!recv_frame(sock, &type, &len) || type != ON_ARGV || !len)
		return;
	memcpy(args, buf, len + 1);
	for (char *p = args; p < args + len && n < ON_ARGS; p += strlen(p) + 1)
		argv[n++] = p;
	argv[n] = NULL;
	signal(SIGCHLD, SIG_DFL);
	pid = spawn(io, argv);
	feeder = fork();
	if (!feeder) {
		close(io[1]);
		close(io[2]);
		feed(sock, io[0], pid);
		_exit(0);
	}
	close(io[0]);
	status = collect(sock, io[1], io[2], pid);
	kill(feeder, SIGKILL);
	waitpid(feeder, NULL, 0);
	send_frame(sock, ON_EXIT, &status, 1);
	/*
	 * A socket that is closed with unread input resets the connection, and
	 * what was lost on the way then never comes. The client goes when it
	 * has read all of it.
	 */
	shutdown(sock, SHUT_WR);
	while (read(sock, buf, ON_MAX) > 0)
		;
}

static int serve(void)
{
	struct sockaddr_in addr;
	int one = 1, sock;

	sockaddr_of(&addr, "0");
	addr.sin_addr.s_addr = htonl(INADDR_ANY);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (sock < 0 || bind(sock, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(sock, 64))
		die("serve");
	for (;;) {
		int conn = accept4(sock, NULL, NULL, SOCK_CLOEXEC);

		if (conn < 0)
			continue;
		if (!fork()) {
			close(sock);
			serve_one(conn);
			_exit(0);
		}
		close(conn);
	}
}

int main(int argc, char *argv[])
{
	if (argc == 2 && !strcmp(argv[1], "--serve"))
		return serve();
	if (argc < 3) {
		fprintf(stderr, "usage: on N CMD ARGS... | on --serve\n");
		return ON_FAILED;
	}
	return client(argv[1], argv + 2);
}
