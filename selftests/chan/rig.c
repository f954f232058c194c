// SPDX-License-Identifier: GPL-2.0
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"
#include "sim.h"
#include "slow.h"

#define DEVICE		"/dev/rclink"
#define UP_MS		10000
#define DONE_MS		20000
#define POLL_MS		10

static uint8_t *memory(void)
{
	void *addr = mmap(NULL, RIG_MEMORY, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return addr == MAP_FAILED ? NULL : addr;
}

int rig_begin(struct rig *r)
{
	int ret;

	memset(r, 0, sizeof(*r));
	r->listener = -1;
	r->values = (struct rig_values){ -1, -1, -1, -1, -1, -1 };
	/* 2 s: rxe is not fit for retransmission (testing.rst). */
	r->values.timeout = 19;
	r->near_memory = memory();
	r->far_memory = memory();
	if (!r->near_memory || !r->far_memory)
		return -ENOMEM;
	ret = rcl_open(&r->s);
	return ret ? ret : rcl_clean(&r->s);
}

static void unlisten(struct rig *r)
{
	if (r->listener >= 0)
		close(r->listener);
	r->listener = -1;
}

void rig_end(struct rig *r)
{
	rig_close(r);
	unlisten(r);
	rcl_clean(&r->s);
	genl_close(&r->s);
	munmap(r->near_memory, RIG_MEMORY);
	munmap(r->far_memory, RIG_MEMORY);
}

static void del_sims(void)
{
	sim_del_device(SIM_NEAR);
	sim_del_device(SIM_FAR);
}

int rig_new_sim(const char *name, const char *words)
{
	char line[64];

	snprintf(line, sizeof(line), "%s ib %d %s", name,
		 strcmp(name, SIM_NEAR) ? 2 : 1, words);
	return sim_new_device(line);
}

int rig_begin_sims(struct rig *r, const char *words)
{
	int ret = rig_begin(r);

	/* A test that was killed may have left them. */
	del_sims();
	r->sims = true;
	r->values.timeout = 11;
	r->values.retry = 1;
	if (!ret)
		ret = rig_new_sim(SIM_NEAR, words);
	return ret ? ret : rig_new_sim(SIM_FAR, words);
}

void rig_end_sims(struct rig *r)
{
	rig_end(r);
	del_sims();
}

int rig_device(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int call(int fd, unsigned long request, const void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int rig_listen(int fd, const char *service)
{
	struct rclink_dev_service s = { .link = RIG_FAR, .backlog = 8 };

	strcpy(s.service, service);
	return call(fd, RCLINK_IOC_LISTEN, &s);
}

int rig_connect(int fd, unsigned int flags)
{
	struct rclink_dev_service s = {
		.link = RIG_NEAR, .service = RIG_SERVICE, .flags = flags,
	};

	return call(fd, RCLINK_IOC_CONNECT, &s);
}

int rig_accept(const struct rig *r)
{
	return call(r->listener, RCLINK_IOC_ACCEPT, NULL);
}

int rig_region(int fd, struct rclink_dev_region *arg)
{
	return call(fd, RCLINK_IOC_REGION, arg);
}

int rig_memory(int fd, struct rclink_dev_region *arg)
{
	return call(fd, RCLINK_IOC_MEMORY, arg);
}

int rig_withdraw(int fd, uint32_t handle)
{
	return call(fd, RCLINK_IOC_WITHDRAW, &handle);
}

static int listen_again(struct rig *r)
{
	int ret;

	unlisten(r);
	ret = rig_device();
	if (ret < 0)
		return ret;
	r->listener = ret;
	if (fcntl(r->listener, F_SETFL, O_NONBLOCK))
		return -errno;
	return rig_listen(r->listener, RIG_SERVICE);
}

static bool is_in(struct rig *r, const char *name, uint32_t state)
{
	struct rcl_view view;

	return !rcl_view(&r->s, name, &view) && view.state == state;
}

static bool both_up(struct rig *r)
{
	return is_in(r, RIG_NEAR, RCLINK_LINK_STATE_UP) &&
	       is_in(r, RIG_FAR, RCLINK_LINK_STATE_UP);
}

static void put_value(struct genl_msg *m, uint16_t attr, int value)
{
	if (value >= 0)
		genl_put_u32(m, attr, value);
}

static int new_link(struct rig *r, const char *name)
{
	const struct rig_values *v = &r->values;
	struct genl_msg m;

	genl_begin(&m, &r->s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	if (r->sims)
		genl_put_str(&m, RCLINK_A_LINK_DEVICE,
			     strcmp(name, RIG_NEAR) ? SIM_FAR : SIM_NEAR);
	else
		genl_put_u32(&m, RCLINK_A_LINK_LOOPBACK, 1);
	put_value(&m, RCLINK_A_LINK_TIMEOUT, v->timeout);
	put_value(&m, RCLINK_A_LINK_RETRY, v->retry);
	put_value(&m, RCLINK_A_LINK_RNR_RETRY, v->rnr_retry);
	put_value(&m, RCLINK_A_LINK_HEARTBEAT, v->heartbeat);
	put_value(&m, RCLINK_A_LINK_RECOVER, v->recover);
	put_value(&m, RCLINK_A_LINK_QPS, v->qps);
	return genl_ask(&r->s, &m, NULL, NULL);
}

static bool one_down(struct rig *r)
{
	return is_in(r, RIG_NEAR, RCLINK_LINK_STATE_DOWN) ||
	       is_in(r, RIG_FAR, RCLINK_LINK_STATE_DOWN);
}

/* After a failed allocation, one end may be down long before the other. */
static int until_up(struct rig *r)
{
	int ms;

	for (ms = slow(UP_MS); ms > 0 && !one_down(r); ms -= POLL_MS) {
		if (both_up(r))
			return 0;
		usleep(POLL_MS * 1000);
	}
	return both_up(r) ? 0 : -ETIMEDOUT;
}

static int bring_up(struct rig *r)
{
	int ret;

	ret = rcl_clean(&r->s);
	if (!ret)
		ret = new_link(r, RIG_NEAR);
	if (!ret)
		ret = new_link(r, RIG_FAR);
	if (!ret)
		ret = rcl_pair(&r->s, RIG_NEAR, RIG_FAR,
			       RCLINK_LINK_STATE_CONNECTED);
	if (!ret)
		ret = rcl_activate(&r->s, RIG_NEAR, 1, NULL);
	if (!ret)
		ret = rcl_activate(&r->s, RIG_FAR, 1, NULL);
	return ret ? ret : until_up(r);
}

int rig_link(struct rig *r)
{
	int ret = 0;

	if (!both_up(r))
		ret = bring_up(r);
	if (!ret && r->listener < 0)
		ret = listen_again(r);
	if (ret)
		unlisten(r);
	return ret;
}

int rig_rotate(struct genl_sock *s)
{
	static const char *const name[] = { RIG_NEAR, RIG_FAR };
	struct rcl_end end[2];
	uint64_t epoch;
	int ret = 0;
	int i;

	for (i = 0; !ret && i < 2; i++)
		ret = rcl_prepare_beside(s, name[i], &end[i]);
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_connect(s, name[i], end[i].epoch,
				  RCLINK_ROLE_INITIATOR + i, &end[!i], NULL);
	if (ret)
		return ret;
	epoch = end[0].epoch > end[1].epoch ? end[0].epoch : end[1].epoch;
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_activate(s, name[i], epoch, NULL);
	return ret;
}

static int adopt(struct rclink_chan **chan, int fd)
{
	int ret;

	if (fd < 0)
		return fd;
	ret = rclink_adopt(chan, fd);
	if (ret)
		close(fd);
	return ret;
}

/* The far end waits in the backlog when the near one is open. */
static int open_both(struct rig *r)
{
	int fd = rig_device();
	int ret;

	if (fd < 0)
		return fd;
	ret = rig_connect(fd, RCLINK_CONNECT_WAIT | r->flags);
	if (ret) {
		close(fd);
		return ret;
	}
	ret = adopt(&r->near, fd);
	return ret ? ret : adopt(&r->far, rig_accept(r));
}

int rig_open(struct rig *r)
{
	int ret = open_both(r);

	if (!ret)
		ret = rclink_region(r->near, r->near_memory, RIG_MEMORY, NULL,
				    0, &r->near_region);
	if (!ret)
		ret = rclink_region(r->far, r->far_memory, RIG_MEMORY,
				    RIG_REGION, RCLINK_REGION_WRITE |
				    RCLINK_REGION_READ, &r->far_region);
	if (!ret)
		ret = rclink_import(r->near, RIG_REGION, &r->remote);
	return ret;
}

/* An accept without memory for its file leaves the channel in the backlog. */
static int accept_at_last(const struct rig *r)
{
	int fd;

	do {
		fd = rig_accept(r);
	} while (fd == -ENOMEM);
	return fd;
}

/* Also closes what a failed rig_open() may have left in the backlog. */
void rig_close(struct rig *r)
{
	int fd;

	rclink_close(r->near);
	rclink_close(r->far);
	r->near = NULL;
	r->far = NULL;
	while (r->listener >= 0 && (fd = accept_at_last(r)) >= 0)
		close(fd);
}

int rig_completes(struct rclink_chan *chan)
{
	struct rclink_dev_cqe cqe;
	int ret = rclink_submit(chan, 1, slow(DONE_MS));

	if (rclink_reap(chan, &cqe, 1) != 1)
		return ret < 0 ? ret : -EIO;
	return cqe.status ? -EREMOTEIO : 0;
}

int rig_moves(struct rig *r, uint32_t seed)
{
	struct rclink_data data = rclink_piece(r->near_region, 0, RIG_MOVED);
	int ret;

	far_fill(r->near_memory, seed, RIG_MOVED);
	memset(r->far_memory, 0, RIG_MOVED);
	ret = rclink_write(r->near, data, &r->remote, 1, RCLINK_SQE_SIGNALED,
			   0);
	if (!ret)
		ret = rig_completes(r->near);
	if (!ret && !far_is(r->far_memory + 1, seed, RIG_MOVED))
		ret = -EILSEQ;
	if (ret)
		return ret;
	far_fill(r->far_memory, ~seed, RIG_MOVED);
	ret = rclink_read(r->near, data, &r->remote, 0, RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rig_completes(r->near);
	if (!ret && !far_is(r->near_memory, ~seed, RIG_MOVED))
		ret = -EILSEQ;
	return ret;
}

int rig_sends(struct rig *r)
{
	int ret;

	far_fill(r->near_memory, 5, RIG_MOVED);
	ret = rclink_recv(r->far, rclink_piece(r->far_region, 0, RIG_MOVED), 0);
	if (!ret)
		ret = rclink_submit(r->far, 0, 0);
	if (ret < 0)
		return ret;
	ret = rclink_send(r->near, rclink_piece(r->near_region, 0, RIG_MOVED),
			  RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rig_completes(r->near);
	if (!ret)
		ret = rig_completes(r->far);
	return ret || far_is(r->far_memory, 5, RIG_MOVED) ? ret : -EILSEQ;
}

int rig_offer(struct rig *r, void *m, uint32_t len, uint32_t *region,
	      struct rclink_remote *remote)
{
	int ret = rclink_region(r->far, m, len, RIG_OFFERED,
				RCLINK_REGION_WRITE | RCLINK_REGION_READ,
				region);

	return ret ? ret : rclink_import(r->near, RIG_OFFERED, remote);
}

int rig_take_back(struct rig *r, uint32_t region,
		  const struct rclink_remote *remote)
{
	int ret = rclink_release(r->near, remote);

	return ret ? ret : rclink_withdraw(r->far, region);
}

long rig_pinned(void)
{
	FILE *in = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (in && fgets(line, sizeof(line), in))
		sscanf(line, "VmPin: %ld", &kib);
	if (in)
		fclose(in);
	return kib;
}

int rig_until_objects(int want, int ms)
{
	int have;

	ms = slow(ms);
	for (; (have = rcl_all_objects()) != want && ms > 0; ms -= POLL_MS)
		usleep(POLL_MS * 1000);
	return have;
}

int rig_reads(struct rig *r, const struct rclink_remote *remote, uint32_t seed)
{
	struct rclink_data data;
	int ret;

	data = rclink_piece(r->near_region, 0, RIG_MOVED);
	memset(r->near_memory, 0, RIG_MOVED);
	ret = rclink_read(r->near, data, remote, 0, RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rig_completes(r->near);
	return ret ? ret : far_is(r->near_memory, seed, RIG_MOVED) ?
			   0 : -EILSEQ;
}
