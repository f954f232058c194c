// SPDX-License-Identifier: GPL-2.0
#include "raw_rig.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "far.h"
#include "slow.h"

#define PAGE		4096
#define SIM_WORDS	"pages=16"
#define SIM_EXTENT	(16 * PAGE)
#define LAB_EXTENT	(2 << 20)	/* no more, whatever the device can */
#define DONE_MS		20000
#define RW		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)

static size_t big_size(const struct raw *raw)
{
	return (size_t)RCLINK_DEV_PARTS_MAX * raw->extent + 1;
}

static int export(struct raw *raw, uint8_t *m, size_t len, const char *name,
		  uint32_t rights, enum handle to)
{
	struct rclink_remote remote = { 0 };
	uint32_t region;
	int ret;

	ret = rclink_region(raw->r.far, m, len, name, rights, &region);
	if (!ret)
		ret = rclink_import(raw->r.near, name, &remote);
	raw->handle[to] = remote.handle;
	return ret;
}

static int imports(struct raw *raw)
{
	uint8_t *m = raw->r.far_memory;
	struct rclink_remote remote = { 0 };
	int ret;

	ret = rclink_import(raw->r.near, RIG_REGION, &remote);
	if (!ret)
		ret = rclink_release(raw->r.near, &remote);
	raw->handle[RELEASED] = remote.handle;
	/* The first one of these takes its slot. */
	if (!ret)
		ret = export(raw, m, RIG_MEMORY, "all",
			     RW | RCLINK_REGION_ATOMIC, PEERS);
	if (!ret)
		ret = export(raw, m, RIG_MEMORY, "write", RCLINK_REGION_WRITE,
			     PEERS_WRITE);
	if (!ret)
		ret = export(raw, m, RIG_MEMORY, "read", RCLINK_REGION_READ,
			     PEERS_READ);
	if (!ret)
		ret = export(raw, m, RIG_MEMORY, "atomic",
			     RCLINK_REGION_ATOMIC, PEERS_ATOMIC);
	return ret ? ret : export(raw, raw->big, big_size(raw), "big", RW,
				  PEERS_BIG);
}

static int regions(struct raw *raw)
{
	struct rclink_remote remote = { 0 };
	struct rig *r = &raw->r;
	uint32_t region = 0;
	int ret;

	raw->handle[ONES] = UINT32_MAX;
	raw->handle[LOCAL] = r->near_region;
	raw->handle[OF_FAR] = r->far_region;
	ret = rclink_region(r->near, r->near_memory, PAGE, NULL, 0, &region);
	if (!ret)
		ret = rclink_withdraw(r->near, region);
	raw->handle[WITHDRAWN] = region;
	/* This one takes its slot. */
	if (!ret)
		ret = rclink_region(r->near, r->near_memory, RIG_MEMORY, "near",
				    RCLINK_REGION_READ |
				    RCLINK_REGION_READ_ONLY,
				    &raw->handle[READ_ONLY]);
	if (!ret)
		ret = rclink_import(r->far, "near", &remote);
	raw->handle[FARS_IMPORT] = remote.handle;
	return ret ? ret : rclink_region(r->near, raw->big, big_size(raw), NULL,
					 0, &raw->handle[BIG]);
}

static void *map(int prot, int flags, int fd, size_t len)
{
	void *addr = mmap(NULL, len, prot, flags, fd, 0);

	return addr == MAP_FAILED ? NULL : addr;
}

int raw_begin(struct raw *raw, bool sims)
{
	struct rig *r = &raw->r;
	int ret;

	raw->extent = sims ? SIM_EXTENT : LAB_EXTENT;
	ret = sims ? rig_begin_sims(r, SIM_WORDS) : rig_begin(r);
	if (!ret)
		ret = rig_link(r);
	if (!ret)
		ret = rig_open(r);
	if (ret)
		return ret;
	raw->fd = rclink_fd(r->near);
	raw->shared = map(PROT_READ | PROT_WRITE, MAP_SHARED, raw->fd,
			  sizeof(*raw->shared));
	raw->big = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       big_size(raw));
	if (!raw->shared || !raw->big)
		return -ENOMEM;
	ret = regions(raw);
	return ret ? ret : imports(raw);
}

void raw_end(struct raw *raw)
{
	munmap(raw->shared, sizeof(*raw->shared));
	if (raw->r.sims)
		rig_end_sims(&raw->r);
	else
		rig_end(&raw->r);
	munmap(raw->big, big_size(raw));
}

int raw_submit(struct raw *raw, uint32_t count, uint32_t *taken)
{
	struct rclink_dev_submit arg = { .count = count };
	int ret = ioctl(raw->fd, RCLINK_IOC_SUBMIT, &arg) ? -errno : 0;

	*taken = arg.count;
	return ret;
}

int raw_completes(struct raw *raw)
{
	struct rclink_dev_submit arg = {
		.wait = 1, .timeout_ms = slow(DONE_MS),
	};
	struct rclink_dev_cqe cqe;

	if (ioctl(raw->fd, RCLINK_IOC_SUBMIT, &arg))
		return -errno;
	if (rclink_reap(raw->r.near, &cqe, 1) != 1)
		return -EIO;
	return cqe.status ? -EREMOTEIO : 0;
}

uint32_t raw_head(const struct raw *raw)
{
	return __atomic_load_n(&raw->shared->sq.head, __ATOMIC_ACQUIRE);
}

void raw_set_tail(struct raw *raw, uint32_t tail)
{
	__atomic_store_n(&raw->shared->sq.tail, tail, __ATOMIC_RELEASE);
}

struct rclink_dev_sqe *raw_entry(struct raw *raw, uint32_t i)
{
	return &raw->shared->sqe[(raw_head(raw) + i) % RCLINK_DEV_DEPTH];
}

void raw_put(struct raw *raw, const struct rclink_dev_sqe *sqe)
{
	*raw_entry(raw, 0) = *sqe;
	raw_set_tail(raw, raw_head(raw) + 1);
}

uint64_t raw_moved(struct raw *raw)
{
	struct genl_sock *s = &raw->r.s;

	return rcl_stat(s, RIG_NEAR, RCLINK_A_STATS_CHAN_OPS) +
	       rcl_stat(s, RIG_FAR, RCLINK_A_STATS_CHAN_OPS) +
	       rcl_stat(s, RIG_NEAR, RCLINK_A_STATS_CHAN_RECVS) +
	       rcl_stat(s, RIG_FAR, RCLINK_A_STATS_CHAN_RECVS);
}

void raw_fill(struct raw *raw, uint32_t seed)
{
	far_fill(raw->near, seed, RIG_MEMORY);
	far_fill(raw->far, ~seed, RIG_MEMORY);
	memcpy(raw->r.near_memory, raw->near, RIG_MEMORY);
	memcpy(raw->r.far_memory, raw->far, RIG_MEMORY);
}

/* The far end's word that an atomic is for */
static uint64_t word(const struct raw *raw)
{
	uint64_t old;

	memcpy(&old, raw->far + RAW_FAR_AT, sizeof(old));
	return old;
}

struct rclink_dev_sqe raw_right(const struct raw *raw, uint8_t op)
{
	bool compares = 1U << op & (OP(CAS) | OP(MCAS));
	struct rclink_dev_sqe sqe = {
		.op = op, .user_data = RAW_TAG, .num_sge = 1,
		.flags = op == RCLINK_OP_RECV ? 0 : RCLINK_SQE_SIGNALED,
		.remote = raw->handle[op == RCLINK_OP_SEND_INV ? BRIEF : PEERS],
		.remote_offset = RAW_FAR_AT, .imm = RAW_IMM, .swap = RAW_SWAP,
		.compare_add = compares ? word(raw) : RAW_ADD,
		.sge[0] = {
			.offset = RAW_NEAR_AT, .region = raw->handle[LOCAL],
			.len = 1U << op & ATOMICS ? sizeof(uint64_t) : RAW_SIZE,
		},
	};

	if (op == RCLINK_OP_MCAS) {
		sqe.compare_mask = UINT64_MAX;
		sqe.swap_mask = UINT64_MAX;
	}
	return sqe;
}

/* A receive gets what the far end sends from where others read. */
void raw_foresee(struct raw *raw, uint8_t op, uint32_t recv_at)
{
	uint8_t *near = raw->near + RAW_NEAR_AT, *far = raw->far + RAW_FAR_AT;
	uint64_t old = word(raw), new = old + RAW_ADD;

	if (1U << op & SENDS) {
		memcpy(raw->far + recv_at, near, RAW_SIZE);
	} else if (1U << op & WRITES) {
		memcpy(far, near, RAW_SIZE);
	} else if (1U << op & ATOMICS) {
		if (op == RCLINK_OP_CAS || op == RCLINK_OP_MCAS)
			new = RAW_SWAP;
		memcpy(near, &old, sizeof(old));
		memcpy(far, &new, sizeof(new));
	} else {
		memcpy(near, far, RAW_SIZE);
	}
}
