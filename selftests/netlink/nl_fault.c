// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation below every command fails once, wherever it is made: the
 * command says so or works, the link is in a state that it may be in, and what
 * was allocated before is given back. Needs the debug kernel.
 */
#include "rcl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "harness.h"

#define STEPS_MAX	2000	/* more than any command allocates */
#define SETTLE_MS	300	/* for what a command leaves to others */
#define SWEEP_S		600

/* One command, and what is there before it. */
struct sweep {
	const char *word;
	uint32_t state;		/* of both links before, 0 for no links */
	int (*run)(struct genl_sock *s);
	uint32_t until;		/* state that it leads to later, or 0 */
	int other;		/* errno that device or network may give */
};

static struct rcl_end ends[2];

static int run_new(struct genl_sock *s)
{
	return rcl_new(s, "a");
}

static int run_set(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_SET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, "a");
	genl_put_str(&m, RCLINK_A_LINK_DEVICE, rcl_device);
	genl_put_u32(&m, RCLINK_A_LINK_QPS, 2);
	return genl_ask(s, &m, NULL, NULL);
}

static int run_del(struct genl_sock *s)
{
	return rcl_del(s, "a");
}

static int run_get(struct genl_sock *s)
{
	return rcl_named(s, RCLINK_CMD_LINK_GET, "a", NULL);
}

static void ignore(const struct genl_msg *m, void *arg)
{
	(void)m;
	(void)arg;
}

static int run_dump(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	return genl_dump(s, &m, ignore, NULL);
}

static int run_dev_get(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_DEV_GET);
	genl_put_str(&m, RCLINK_A_DEV_NAME, rcl_device);
	genl_put_u32(&m, RCLINK_A_DEV_PORT, 1);
	return genl_ask(s, &m, NULL, NULL);
}

static int run_dev_dump(struct genl_sock *s)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_DEV_GET);
	return genl_dump(s, &m, ignore, NULL);
}

static int run_prepare(struct genl_sock *s)
{
	struct rcl_end end;

	return rcl_prepare(s, "a", &end);
}

static int run_connect(struct genl_sock *s)
{
	return rcl_connect(s, "a", ends[0].epoch, RCLINK_ROLE_INITIATOR,
			   &ends[1], NULL);
}

static int run_activate(struct genl_sock *s)
{
	int ret;

	ret = rcl_activate(s, "a", 1, NULL);
	return ret ? ret : rcl_activate(s, "b", 1, NULL);
}

static int run_disconnect(struct genl_sock *s)
{
	return rcl_disconnect(s, "a");
}

static int run_pings(struct genl_sock *s)
{
	struct rcl_pong pong = {};
	uint32_t op;
	int ret;

	for (op = RCLINK_PING_OP_SEND; op <= RCLINK_PING_OP_FADD; op++) {
		ret = rcl_ping(s, "a", op, -1, op, NULL);
		/* a result may be lost for want of memory */
		if (!ret)
			ret = rcl_pong(s, &pong, SETTLE_MS);
		if (ret == -ETIMEDOUT)
			ret = 0;
		if (ret)
			return ret;
		if (pong.error && pong.error != ENOMEM &&
		    pong.error != ENOTCONN)
			return -(int)pong.error;
	}
	return 0;
}

FIXTURE(host)
{
	struct genl_sock s;
};

FIXTURE_VARIANT(host)
{
	struct sweep sweep;
};

FIXTURE_VARIANT_ADD(host, new)
{
	.sweep = { "new", 0, run_new },
};

FIXTURE_VARIANT_ADD(host, set)
{
	.sweep = { "set", RCLINK_LINK_STATE_IDLE, run_set },
};

FIXTURE_VARIANT_ADD(host, del)
{
	.sweep = { "del", RCLINK_LINK_STATE_UP, run_del },
};

FIXTURE_VARIANT_ADD(host, get)
{
	.sweep = { "get", RCLINK_LINK_STATE_PREPARED, run_get },
};

FIXTURE_VARIANT_ADD(host, dump)
{
	.sweep = { "dump", RCLINK_LINK_STATE_PREPARED, run_dump },
};

FIXTURE_VARIANT_ADD(host, dev_get)
{
	.sweep = { "dev-get", 0, run_dev_get },
};

FIXTURE_VARIANT_ADD(host, dev_dump)
{
	.sweep = { "dev-dump", 0, run_dev_dump },
};

FIXTURE_VARIANT_ADD(host, prepare)
{
	/* rxe opens a socket for each QP */
	.sweep = { "prepare", RCLINK_LINK_STATE_IDLE, run_prepare, 0,
		   -ENFILE },
};

FIXTURE_VARIANT_ADD(host, connect)
{
	/* no neighbour entry */
	.sweep = { "connect", RCLINK_LINK_STATE_PREPARED, run_connect, 0,
		   -ENOBUFS },
};

FIXTURE_VARIANT_ADD(host, activate)
{
	.sweep = { "activate", RCLINK_LINK_STATE_CONNECTED, run_activate,
		   RCLINK_LINK_STATE_UP },
};

FIXTURE_VARIANT_ADD(host, disconnect)
{
	.sweep = { "disconnect", RCLINK_LINK_STATE_UP, run_disconnect,
		   RCLINK_LINK_STATE_DOWN },
};

FIXTURE_VARIANT_ADD(host, ping)
{
	.sweep = { "ping", RCLINK_LINK_STATE_UP, run_pings },
};

FIXTURE_SETUP(host)
{
	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
}

FIXTURE_TEARDOWN(host)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

/* Both links as they are to be before the command. */
static int get_ready(struct genl_sock *s, uint32_t state)
{
	int ret;

	ret = rcl_clean(s);
	if (ret || !state)
		return ret;
	ret = rcl_new(s, "a");
	if (!ret)
		ret = rcl_new(s, "b");
	if (ret || state == RCLINK_LINK_STATE_IDLE)
		return ret;
	if (state != RCLINK_LINK_STATE_PREPARED)
		return rcl_pair(s, "a", "b", state);
	ret = rcl_prepare(s, "a", &ends[0]);
	return ret ? ret : rcl_prepare(s, "b", &ends[1]);
}

/* A link that the command failed on is as before, or down. */
static bool state_is_sound(struct genl_sock *s, const struct sweep *sweep,
			   int failed)
{
	struct rcl_view view;
	int ret = rcl_view(s, "a", &view);

	if (ret == -ENOENT)
		return !sweep->state || (sweep->run == run_del && !failed);
	if (ret)
		return false;
	return !failed || view.state == sweep->state ||
	       view.state == RCLINK_LINK_STATE_DOWN;
}

/*
 * The failure that is armed still has to happen, or the number of allocations
 * is not known: so prepare a link until it does.
 */
static void drain(struct genl_sock *s, struct fault *f)
{
	struct rcl_end end;

	while (fault_pending(f)) {
		rcl_new(s, "drain");
		rcl_prepare(s, "drain", &end);
		rcl_del(s, "drain");
	}
}

/* Return: whether there was a k-th allocation. */
static bool one_step(struct __test_metadata *_metadata, struct genl_sock *s,
		     struct fault *f, const struct sweep *sweep,
		     unsigned long k)
{
	bool happened;
	int ret;

	ASSERT_EQ(0, get_ready(s, sweep->state));
	fault_arm(f, k);
	ret = sweep->run(s);
	if (!ret && sweep->until)
		rcl_until(s, "a", sweep->until, SETTLE_MS);
	happened = !fault_pending(f);
	drain(s, f);
	fault_disarm(f);

	EXPECT_TRUE(!ret || (happened && (ret == -ENOMEM ||
					  ret == sweep->other)))
		TH_LOG("%s, %s %lu: %d", sweep->word, f->knob, k, ret);
	EXPECT_TRUE(state_is_sound(s, sweep, ret))
		TH_LOG("%s, %s %lu: bad state", sweep->word, f->knob, k);
	return happened;
}

static void sweep_all(struct __test_metadata *_metadata, struct genl_sock *s,
		      const char *knob, const struct sweep *sweep)
{
	struct fault f;
	unsigned long k;
	int objects;

	ASSERT_EQ(0, rcl_clean(s));
	objects = rcl_all_objects();
	ASSERT_LE(0, objects);
	ASSERT_EQ(0, fault_init(&f, knob));
	for (k = 1; k < STEPS_MAX; k++) {
		if (!one_step(_metadata, s, &f, sweep, k))
			break;
		ASSERT_EQ(0, rcl_clean(s));
		ASSERT_EQ(objects, rcl_all_objects())
			TH_LOG("%s, %s %lu: objects are left", sweep->word,
			       knob, k);
	}
	EXPECT_GT(STEPS_MAX, k);
	printf("# %s: %lu of %s\n", sweep->word, k - 1, knob);
	/* and it works again */
	EXPECT_EQ(0, get_ready(s, sweep->state));
	EXPECT_EQ(0, sweep->run(s));
	if (sweep->until)
		EXPECT_EQ(0, rcl_until(s, "a", sweep->until, 5000));
}

TEST_F_TIMEOUT(host, each_slab_allocation_may_fail, SWEEP_S)
{
	sweep_all(_metadata, &self->s, "failslab", &variant->sweep);
}

TEST_F_TIMEOUT(host, each_page_allocation_may_fail, SWEEP_S)
{
	sweep_all(_metadata, &self->s, "fail_page_alloc", &variant->sweep);
}

/* The module is that of $RCLINK_KO. */
FIXTURE(module)
{
	int fd;
};

FIXTURE_SETUP(module)
{
	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	self->fd = open(getenv("RCLINK_KO") ?: "", O_RDONLY);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, fault_nth_setup(NULL));
	ASSERT_EQ(0, syscall(SYS_delete_module, "rclink", 0));
}

FIXTURE_TEARDOWN(module)
{
	close(self->fd);
}

TEST_F_TIMEOUT(module, loading_may_fail_at_each_allocation, SWEEP_S)
{
	unsigned long left = 0;
	unsigned int n;
	int ret;

	for (n = 1; n < STEPS_MAX; n++) {
		fault_nth(n);
		ret = syscall(SYS_finit_module, self->fd, "", 0) ? -errno : 0;
		left = fault_nth(0);
		EXPECT_TRUE(!ret || ret == -ENOMEM)
			TH_LOG("allocation %u: %d", n, ret);
		if (left)
			break;
		if (!ret)
			ASSERT_EQ(0, syscall(SYS_delete_module, "rclink", 0));
	}
	printf("# load: %u allocations\n", n - 1);
	/* that there were some, and that the last time was like any other */
	EXPECT_LT(10, n);
	EXPECT_NE(0, left);
	EXPECT_EQ(0, ret);
}

TEST_HARNESS_MAIN
