// SPDX-License-Identifier: GPL-2.0
#include "sim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slow.h"

#define SIM_DIR	"/sys/kernel/debug/rdmasim"

/* A request that nobody answers fails soon: 8 ms a try, and one more try. */
#define SIM_TIMEOUT	11
#define SIM_RETRY	1

#define SIM_DOWN_MS	5000
#define SIM_GONE_MS	8000
#define SIM_PONG_MS	15000

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = strlen(text);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		ret = -errno;
	close(fd);
	return ret;
}

/* Append SIM_WORDS to the line; see lib.sh of rdmasim. */
int sim_new_device(const char *line)
{
	const char *words = getenv("SIM_WORDS");
	char text[128];

	snprintf(text, sizeof(text), "%s %s", line, words ? words : "");
	return put(SIM_DIR "/new_device", text);
}

int sim_del_device(const char *name)
{
	return put(SIM_DIR "/del_device", name);
}

int sim_put(const char *knob, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), SIM_DIR "/%s", knob);
	return put(path, text);
}

int sim_knob(const char *device, const char *knob, const char *format, ...)
{
	char path[128], text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(path, sizeof(path), SIM_DIR "/%s/%s", device, knob);
	return put(path, text);
}

/* How often a fault could have happened, or a negative errno. */
long sim_seen(const char *device, const char *fault)
{
	char path[128], name[32];
	long seen, found = -ENOENT;
	FILE *in;

	snprintf(path, sizeof(path), SIM_DIR "/%s/fault", device);
	in = fopen(path, "r");
	if (!in)
		return -errno;
	while (fscanf(in, "%31s seen %ld armed %*u", name, &seen) == 2)
		if (!strcmp(name, fault))
			found = seen;
	fclose(in);
	return found;
}

static long now_mapped(const char *device)
{
	char path[128];
	long n = -EIO;
	FILE *in;

	snprintf(path, sizeof(path), SIM_DIR "/%s/mapped", device);
	in = fopen(path, "r");
	if (!in)
		return -errno;
	if (fscanf(in, "%ld", &n) != 1)
		n = -EIO;
	fclose(in);
	return n;
}

/* How much is still mapped, or a negative errno. */
long sim_mapped_left(const char *device)
{
	long n;
	int ms;

	for (ms = slow(SIM_GONE_MS); (n = now_mapped(device)) && ms > 0;
	     ms -= 5)
		usleep(5000);
	return n;
}

/* Make a link with one more attribute, or none if @attr is 0. */
int sim_link(struct genl_sock *s, const char *name, const char *device,
	     uint16_t attr, uint32_t value)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_str(&m, RCLINK_A_LINK_DEVICE, device);
	genl_put_u32(&m, RCLINK_A_LINK_TIMEOUT, SIM_TIMEOUT);
	genl_put_u32(&m, RCLINK_A_LINK_RETRY, SIM_RETRY);
	if (attr)
		genl_put_u32(&m, attr, value);
	return genl_ask(s, &m, NULL, NULL);
}

static int new_with(const char *device, int lid, const char *words)
{
	char line[64];

	snprintf(line, sizeof(line), "%s ib %d %s", device, lid, words);
	return sim_new_device(line);
}

int sim_begin_with(struct genl_sock *s, const char *words, int *objects)
{
	int ret;

	ret = rcl_open(s);
	if (ret)
		return ret;
	ret = rcl_clean(s);
	/* A test that was killed may have left them. */
	sim_del_device(SIM_NEAR);
	sim_del_device(SIM_FAR);
	*objects = rcl_all_objects();
	if (!ret)
		ret = new_with(SIM_NEAR, 1, words);
	if (!ret)
		ret = new_with(SIM_FAR, 2, words);
	if (!ret)
		ret = sim_link(s, "a", SIM_NEAR, 0, 0);
	if (!ret)
		ret = sim_link(s, "b", SIM_FAR, 0, 0);
	return ret;
}

int sim_begin(struct genl_sock *s, int *objects)
{
	return sim_begin_with(s, "", objects);
}

void sim_end(struct genl_sock *s)
{
	rcl_clean(s);
	sim_del_device(SIM_NEAR);
	sim_del_device(SIM_FAR);
	genl_close(s);
}

int sim_up(struct genl_sock *s)
{
	return rcl_pair(s, "a", "b", RCLINK_LINK_STATE_UP);
}

int sim_ping(struct genl_sock *s, const char *name, uint32_t op, int64_t size)
{
	struct rcl_pong pong;
	int ret;

	ret = rcl_ping(s, name, op, size, 1, NULL);
	if (!ret)
		ret = rcl_pong(s, &pong, slow(SIM_PONG_MS));
	return ret ? ret : -(int)pong.error;
}

int sim_goes_down(struct genl_sock *s, const char *name, struct rcl_view *view)
{
	int ret = rcl_until(s, name, RCLINK_LINK_STATE_DOWN, SIM_DOWN_MS);

	return ret ? ret : rcl_view(s, name, view);
}

/* Take both ends down, bring them up again, and check the link by a ping. */
int sim_again(struct genl_sock *s)
{
	int ret;

	rcl_disconnect(s, "a");
	rcl_disconnect(s, "b");
	ret = rcl_until(s, "b", RCLINK_LINK_STATE_DOWN, SIM_DOWN_MS);
	if (!ret)
		ret = sim_up(s);
	return ret ? ret : sim_ping(s, "a", RCLINK_PING_OP_WRITE, 4097);
}

int sim_objects_left(int others)
{
	int ms, n;

	for (ms = slow(SIM_GONE_MS); (n = rcl_all_objects() - others) && ms > 0;
	     ms -= 5)
		usleep(5000);
	return n;
}

int sim_group(struct genl_sock *s, struct genl_ack *ack)
{
	uint8_t mgid[RCLINK_GID_LEN];
	struct genl_msg m;

	inet_pton(AF_INET6, "ff15::4:5:6", mgid);
	genl_begin(&m, s, RCLINK_CMD_GROUP_ADD);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, "g");
	genl_put_str(&m, RCLINK_A_GROUP_DEVICE, "sim0");
	genl_put_u32(&m, RCLINK_A_GROUP_PORT, 1);
	genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
	genl_put_u32(&m, RCLINK_A_GROUP_MLID, 0xc001);
	return genl_ask(s, &m, NULL, ack);
}
