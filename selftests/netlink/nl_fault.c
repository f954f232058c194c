// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation that a command of the family makes, wherever it is made,
 * fails once: the command reports the failure, in words, or works, link and
 * group are in a valid state, and what was allocated before is freed. Needs the
 * debug kernel.
 */
#include "rcl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands.h"
#include "fault.h"
#include "harness.h"

#define STEPS_MAX	2000	/* more than any command allocates */
#define SWEEP_S		600

/* One command, and the state before it. */
struct sweep {
	const char *word;
	uint8_t cmd;
	bool dump;		/* the dump of the command */
	uint32_t state;		/* of both links before it; 0: no links */
	bool standby;		/* both have prepared another epoch */
	bool connected;		/* and connected it */
	bool group;		/* there is a group, whose key is for a */
	int (*run)(struct genl_sock *s);
	uint32_t until;		/* state that follows later, or 0 */
	uint64_t epoch;		/* epoch that is up then, or 0 */
	bool stays;		/* the links stay up in any case */
	int others[2];		/* other errnos of the device or network */
};

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
	.sweep = {
		.word = "new",
		.cmd = RCLINK_CMD_LINK_NEW,
		.run = run_new,
	},
};

FIXTURE_VARIANT_ADD(host, set)
{
	.sweep = {
		.word = "set",
		.cmd = RCLINK_CMD_LINK_SET,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_set,
	},
};

FIXTURE_VARIANT_ADD(host, del)
{
	.sweep = {
		.word = "del",
		.cmd = RCLINK_CMD_LINK_DEL,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_del,
	},
};

FIXTURE_VARIANT_ADD(host, get)
{
	.sweep = {
		.word = "get",
		.cmd = RCLINK_CMD_LINK_GET,
		.state = RCLINK_LINK_STATE_PREPARED,
		.run = run_get,
	},
};

FIXTURE_VARIANT_ADD(host, dump)
{
	.sweep = {
		.word = "dump",
		.cmd = RCLINK_CMD_LINK_GET,
		.state = RCLINK_LINK_STATE_PREPARED,
		.run = run_dump,
		.dump = true,
	},
};

FIXTURE_VARIANT_ADD(host, dev_get)
{
	.sweep = {
		.word = "dev-get",
		.cmd = RCLINK_CMD_DEV_GET,
		.run = run_dev_get,
	},
};

FIXTURE_VARIANT_ADD(host, dev_dump)
{
	.sweep = {
		.word = "dev-dump",
		.cmd = RCLINK_CMD_DEV_GET,
		.run = run_dev_dump,
		.dump = true,
	},
};

FIXTURE_VARIANT_ADD(host, prepare)
{
	.sweep = {
		.word = "prepare",
		.cmd = RCLINK_CMD_LINK_PREPARE,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_prepare,
		.others = { -ENFILE },	/* rxe opens a socket for each QP */
	},
};

FIXTURE_VARIANT_ADD(host, connect)
{
	.sweep = {
		.word = "connect",
		.cmd = RCLINK_CMD_LINK_CONNECT,
		.state = RCLINK_LINK_STATE_PREPARED,
		.run = run_connect,
		.others = { -ENOBUFS },	/* no neighbour entry */
	},
};

FIXTURE_VARIANT_ADD(host, activate)
{
	.sweep = {
		.word = "activate",
		.cmd = RCLINK_CMD_LINK_ACTIVATE,
		.state = RCLINK_LINK_STATE_CONNECTED,
		.run = run_activate,
		.until = RCLINK_LINK_STATE_UP,
	},
};

FIXTURE_VARIANT_ADD(host, disconnect)
{
	.sweep = {
		.word = "disconnect",
		.cmd = RCLINK_CMD_LINK_DISCONNECT,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_disconnect,
		.until = RCLINK_LINK_STATE_DOWN,
	},
};

FIXTURE_VARIANT_ADD(host, replace)
{
	.sweep = {
		.word = "replace",
		.cmd = RCLINK_CMD_LINK_REPLACE,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_replace,
		.until = RCLINK_LINK_STATE_DOWN,
	},
};

FIXTURE_VARIANT_ADD(host, rotate)
{
	.sweep = {
		.word = "rotate",
		.cmd = RCLINK_CMD_LINK_ROTATE,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_rotate,
		.stays = true,
	},
};

FIXTURE_VARIANT_ADD(host, prepare_beside)
{
	.sweep = {
		.word = "prepare beside",
		.cmd = RCLINK_CMD_LINK_PREPARE,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_prepare_beside,
		.stays = true,
		.others = { -ENFILE },
	},
};

FIXTURE_VARIANT_ADD(host, connect_beside)
{
	.sweep = {
		.word = "connect beside",
		.cmd = RCLINK_CMD_LINK_CONNECT,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_connect,
		.standby = true,
		.stays = true,
		.others = { -ENOBUFS },
	},
};

FIXTURE_VARIANT_ADD(host, activate_beside)
{
	.sweep = {
		.word = "activate beside",
		.cmd = RCLINK_CMD_LINK_ACTIVATE,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_activate_beside,
		.standby = true,
		.connected = true,
		.until = RCLINK_LINK_STATE_UP,
		.epoch = 2,
	},
};

FIXTURE_VARIANT_ADD(host, ping)
{
	.sweep = {
		.word = "ping",
		.cmd = RCLINK_CMD_PING,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_pings,
	},
};

FIXTURE_VARIANT_ADD(host, note)
{
	.sweep = {
		.word = "note",
		.cmd = RCLINK_CMD_LINK_NOTE,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_note,
		.stays = true,
	},
};

FIXTURE_VARIANT_ADD(host, record_get)
{
	.sweep = {
		.word = "record-get",
		.cmd = RCLINK_CMD_RECORD_GET,
		.state = RCLINK_LINK_STATE_UP,
		.run = run_record_get,
		.stays = true,
	},
};

FIXTURE_VARIANT_ADD(host, group_add)
{
	.sweep = {
		.word = "group-add",
		.cmd = RCLINK_CMD_GROUP_ADD,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_group_add,
		.others = { -ENFILE, -ENOBUFS },	/* of IGMP */
	},
};

FIXTURE_VARIANT_ADD(host, group_set)
{
	.sweep = {
		.word = "group-set",
		.cmd = RCLINK_CMD_GROUP_SET,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_group_set,
		.group = true,
	},
};

FIXTURE_VARIANT_ADD(host, group_del)
{
	.sweep = {
		.word = "group-del",
		.cmd = RCLINK_CMD_GROUP_DEL,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_group_del,
		.group = true,
	},
};

FIXTURE_VARIANT_ADD(host, group_get)
{
	.sweep = {
		.word = "group-get",
		.cmd = RCLINK_CMD_GROUP_GET,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_group_get,
		.group = true,
	},
};

FIXTURE_VARIANT_ADD(host, group_dump)
{
	.sweep = {
		.word = "group-dump",
		.cmd = RCLINK_CMD_GROUP_GET,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_group_dump,
		.group = true,
		.dump = true,
	},
};

FIXTURE_VARIANT_ADD(host, group_regions)
{
	.sweep = {
		.word = "group-regions",
		.cmd = RCLINK_CMD_GROUP_REGIONS,
		.state = RCLINK_LINK_STATE_IDLE,
		.run = run_group_regions,
		.group = true,
	},
};

/* Delete all links, and the group of these tests. */
static int clean(struct genl_sock *s)
{
	int ret;

	ret = rcl_named(s, RCLINK_CMD_GROUP_DEL, "g", NULL);
	return ret && ret != -ENOENT ? ret : rcl_clean(s);
}

FIXTURE_SETUP(host)
{
	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, clean(&self->s));
}

FIXTURE_TEARDOWN(host)
{
	clean(&self->s);
	genl_close(&self->s);
}

/* Bring both links to @state, in their first epoch. */
static int get_links(struct genl_sock *s, uint32_t state)
{
	int ret;

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

/* Prepare the second epoch of both links beside the first. */
static int get_standby(struct genl_sock *s, bool connected)
{
	int ret;

	ret = rcl_prepare_beside(s, "a", &ends[0]);
	if (!ret)
		ret = rcl_prepare_beside(s, "b", &ends[1]);
	if (!ret && connected)
		ret = run_connect(s);
	if (!ret && connected)
		ret = rcl_connect(s, "b", ends[1].epoch, RCLINK_ROLE_RESPONDER,
				  &ends[0], NULL);
	return ret;
}

/* Bring about the state that the command needs. */
static int get_ready(struct genl_sock *s, const struct sweep *sweep)
{
	int ret;

	ret = clean(s);
	if (!ret && sweep->state)
		ret = get_links(s, sweep->state);
	if (!ret && sweep->standby)
		ret = get_standby(s, sweep->connected);
	if (!ret && sweep->group)
		ret = run_group_add(s);
	return ret;
}

/* Wait for the state that the command leads to. */
static int settle(struct genl_sock *s, const struct sweep *sweep, int ms)
{
	struct rcl_view view;
	int ret = 0;

	if (!sweep->until)
		return 0;
	if (!sweep->epoch)
		return rcl_until(s, "a", sweep->until, ms);
	for (ms = slow(ms); ms > 0; ms -= 10) {
		ret = rcl_view(s, "a", &view);
		if (ret || (view.state == sweep->until &&
			    view.epoch == sweep->epoch))
			return ret;
		usleep(10000);
	}
	return -ETIMEDOUT;
}

/* Both links are up in their first epoch, and move data. */
static bool still_up(struct genl_sock *s)
{
	static const char * const names[] = { "a", "b" };
	struct rcl_pong pong;
	struct rcl_view view;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (rcl_view(s, names[i], &view) ||
		    view.state != RCLINK_LINK_STATE_UP || view.epoch != 1 ||
		    rcl_ping(s, names[i], RCLINK_PING_OP_SEND, -1, 1, NULL) ||
		    rcl_pong(s, &pong, slow(5000)) || pong.error)
			return false;
	return true;
}

/*
 * If the command failed, the link is as before, or down; if it did not, it has
 * done its work.
 */
static bool link_is_sound(struct genl_sock *s, const struct sweep *sweep,
			  int failed)
{
	struct rcl_view view;
	int ret;

	if (sweep->stays)
		return still_up(s);
	ret = rcl_view(s, "a", &view);
	if (!failed && !is_done(sweep->cmd, ret, &view))
		return false;
	if (ret == -ENOENT)
		return !sweep->state || (sweep->run == run_del && !failed);
	if (ret)
		return false;
	return !failed || view.state == sweep->state ||
	       view.state == RCLINK_LINK_STATE_DOWN;
}

/* The group is there exactly if the outcome of the command says so. */
static bool group_is_sound(struct genl_sock *s, const struct sweep *sweep,
			   int failed)
{
	bool there = sweep->group;
	int ret;

	if (sweep->cmd == RCLINK_CMD_GROUP_ADD)
		there = !failed;
	else if (sweep->cmd == RCLINK_CMD_GROUP_DEL)
		there = failed;
	ret = run_group_get(s);
	return there ? !ret : ret == -ENOENT;
}

static bool may_fail_with(const struct sweep *sweep, int error)
{
	return error == -ENOMEM || error == sweep->others[0] ||
	       error == sweep->others[1];
}

/* Return: whether there was a k-th allocation. */
static bool one_step(struct __test_metadata *_metadata, struct genl_sock *s,
		     struct fault *f, const struct sweep *sweep,
		     unsigned long k)
{
	bool happened, told;
	int ret;

	ASSERT_EQ(0, get_ready(s, sweep));
	fault_arm(f, k);
	ret = sweep->run(s);
	told = s->ack.text[0];
	if (!ret)
		settle(s, sweep, SETTLE_MS);
	happened = !fault_pending(f);
	fault_drain(s, f);
	fault_disarm(f);

	EXPECT_TRUE(!ret || (happened && may_fail_with(sweep, ret)))
		TH_LOG("%s, %s %lu: %d", sweep->word, f->knob, k, ret);
	/* Only what is below the module fails, so the module knew of it. */
	EXPECT_TRUE(ret != -ENOMEM || told)
		TH_LOG("%s, %s %lu: no text", sweep->word, f->knob, k);
	EXPECT_TRUE(link_is_sound(s, sweep, ret))
		TH_LOG("%s, %s %lu: bad state", sweep->word, f->knob, k);
	EXPECT_TRUE(group_is_sound(s, sweep, ret))
		TH_LOG("%s, %s %lu: group", sweep->word, f->knob, k);
	return happened;
}

static void sweep_all(struct __test_metadata *_metadata, struct genl_sock *s,
		      const char *knob, const struct sweep *sweep,
		      unsigned long least)
{
	struct fault f;
	unsigned long k;
	int objects;

	ASSERT_EQ(0, clean(s));
	objects = rcl_all_objects();
	ASSERT_LE(0, objects);
	ASSERT_EQ(0, fault_init(&f, knob));
	for (k = 1; k < STEPS_MAX; k++) {
		if (!one_step(_metadata, s, &f, sweep, k))
			break;
		ASSERT_EQ(0, clean(s));
		ASSERT_EQ(objects, rcl_all_objects())
			TH_LOG("%s, %s %lu: objects are left", sweep->word,
			       knob, k);
	}
	EXPECT_GT(STEPS_MAX, k);
	EXPECT_LE(least, k - 1);
	printf("# %s: %lu of %s\n", sweep->word, k - 1, knob);
	/* and it works again */
	EXPECT_EQ(0, get_ready(s, sweep));
	EXPECT_EQ(0, sweep->run(s));
	EXPECT_EQ(0, settle(s, sweep, 5000));
}

TEST_F_TIMEOUT(host, each_slab_allocation_may_fail, SWEEP_S)
{
	sweep_all(_metadata, &self->s, "failslab", &variant->sweep, 1);
}

/* Some commands need no page. */
TEST_F_TIMEOUT(host, each_page_allocation_may_fail, SWEEP_S)
{
	sweep_all(_metadata, &self->s, "fail_page_alloc", &variant->sweep, 0);
}

static bool is_swept(uint8_t cmd, bool dump)
{
	const struct __fixture_variant_metadata *v;
	const struct __fixture_metadata *f;
	const struct sweep *sweep;

	for (f = __fixture_list; f; f = f->next) {
		if (strcmp(f->name, "host"))
			continue;
		for (v = f->variant; v; v = v->next) {
			/* all that a variant has */
			sweep = v->data;
			if (sweep->cmd == cmd && sweep->dump == dump)
				return true;
		}
	}
	return false;
}

/* Ask the kernel for its commands, so that no new one is forgotten. */
TEST(every_command_of_the_family_is_swept)
{
	static const struct {
		uint32_t flag;
		bool dump;
	} ways[] = {
		{ GENL_CMD_CAP_DO, false }, { GENL_CMD_CAP_DUMP, true }
	};
	const struct nlattr *ops, *op;
	struct genl_msg m, answer;
	unsigned int i, n;
	struct genl_sock s;
	uint32_t cmd;

	ASSERT_EQ(0, genl_open(&s, "nlctrl"));
	genl_begin(&m, &s, CTRL_CMD_GETFAMILY);
	genl_put_str(&m, CTRL_ATTR_FAMILY_NAME, RCLINK_FAMILY_NAME);
	ASSERT_EQ(0, genl_ask(&s, &m, &answer, NULL));
	ops = genl_attr(&answer, CTRL_ATTR_OPS);
	ASSERT_NE(NULL, ops);
	for (n = 1; (op = genl_next(ops, n, NULL)); n++) {
		cmd = genl_u32(genl_next(op, CTRL_ATTR_OP_ID, NULL));
		for (i = 0; i < ARRAY_SIZE(ways); i++) {
			if (!(genl_u32(genl_next(op, CTRL_ATTR_OP_FLAGS,
						 NULL)) & ways[i].flag))
				continue;
			EXPECT_TRUE(is_swept(cmd, ways[i].dump))
				TH_LOG("command %u, %s", cmd,
				       ways[i].dump ? "dump" : "do");
		}
	}
	EXPECT_LT(15, n);
	genl_close(&s);
}

/* The module is the file $RCLINK_KO. */
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
	ASSERT_EQ(0, fault_nth_setup());
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
	/* There were some, and the last load without a fault succeeded. */
	EXPECT_LT(10, n);
	EXPECT_NE(0, left);
	EXPECT_EQ(0, ret);
}

TEST_HARNESS_MAIN
