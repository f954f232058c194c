// SPDX-License-Identifier: GPL-2.0
/*
 * A module that uses every call of include/rclink.h, and is its example: far.c
 * accepts channels, near.c connects, trial.c moves data, share.c exports memory
 * to all links, limits.c asks for too much, resume.c has channels that outlive
 * an epoch, group.c is a member of a group, this file receives link events. A
 * test drives the module through files in /sys/kernel/debug/rclink_test:
 *
 *	run	write a command, see kapi_commands; fails as the command does
 *	said	what the last command had to say
 *	links	how often a link came up, went down, was deleted; the last event
 *	group	what came from the group that the module is a member of
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "kapi.h"

#define KAPI_LINE	128
#define KAPI_WORDS	5
#define KAPI_OVER	10000	/* milliseconds for a channel to be over */

static DEFINE_MUTEX(kapi_lock);	/* one command at a time; protects kapi_said */
static char kapi_said[KAPI_SAID];
static struct near *kapi_held;
static struct dentry *kapi_dir;

int kapi_say(int ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(kapi_said, sizeof(kapi_said), fmt, args);
	va_end(args);
	return ret;
}

static bool kapi_polled(const char *word)
{
	return !strcmp(word, "polled");
}

static int kapi_number(const char *word, u32 *n)
{
	return kstrtou32(word, 0, n);
}

static bool kapi_replay(const char *word)
{
	return !strcmp(word, "replay");
}

/* Of two words: events|polled plain|replay. */
static u32 kapi_flags(char **word)
{
	return (kapi_polled(word[0]) ? RCLINK_CHAN_POLLED : 0) |
	       (kapi_replay(word[1]) ? RCLINK_CHAN_REPLAY : 0);
}

static int kapi_listen(char **word)
{
	return far_start(word[1], 0);
}

static int kapi_listen_with(char **word)
{
	return far_start(word[1], kapi_flags(word + 2));
}

static int kapi_unlisten(char **word)
{
	far_stop();
	return 0;
}

static int kapi_data(char **word)
{
	u32 seed;

	return kapi_number(word[3], &seed) ? :
	       near_data(word[1], kapi_polled(word[2]), seed);
}

static int kapi_big(char **word)
{
	u32 seed;

	return kapi_number(word[3], &seed) ? :
	       near_big(word[1], kapi_polled(word[2]), seed);
}

static int kapi_constant(char **word)
{
	u32 seed;

	return kapi_number(word[3], &seed) ? :
	       near_constant(word[1], kapi_polled(word[2]), seed);
}

static int kapi_withdrawn(char **word)
{
	return near_withdrawn(word[1], kapi_polled(word[2]));
}

static int kapi_closed(char **word)
{
	return near_closed(word[1], kapi_polled(word[2]));
}

static int kapi_invalidated(char **word)
{
	return near_invalidated(word[1], kapi_polled(word[2]));
}

static int kapi_masked(char **word)
{
	return near_masked(word[1], kapi_polled(word[2]));
}

static int kapi_table(char **word)
{
	return near_table(word[1]);
}

static int kapi_nonsense(char **word)
{
	return limits_nonsense(word[1]);
}

static int kapi_batch(char **word)
{
	u32 seed;

	return kapi_number(word[3], &seed) ? :
	       limits_batch(word[1], kapi_polled(word[2]), seed);
}

static int kapi_flood(char **word)
{
	return limits_flood(word[1]);
}

static int kapi_lost(char **word)
{
	return limits_lost(word[1]);
}

static int kapi_share(char **word)
{
	u32 seed;

	return kapi_number(word[2], &seed) ? : share_begin(word[1], seed);
}

static int kapi_shared(char **word)
{
	u32 seed;

	return kapi_number(word[1], &seed) ? : share_is(seed);
}

static int kapi_unshare(char **word)
{
	u32 seed;

	return kapi_number(word[1], &seed) ? : share_end(seed);
}

static int kapi_unshare_lost(char **word)
{
	return share_lose();
}

static int kapi_shares(char **word)
{
	return limits_shares();
}

/* Use a share over a new channel; kapi_keep() uses the held channel. */
static int kapi_borrow(char **word)
{
	struct near *near;
	u32 seed, next;
	int ret;

	ret = kapi_number(word[3], &seed) ? : kapi_number(word[4], &next);
	if (ret)
		return ret;
	near = near_open(word[1], kapi_polled(word[2]));
	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = share_use(near, seed, next);
	near_close(near);
	return ret;
}

static int kapi_keep(char **word)
{
	u32 seed, next;

	if (!kapi_held)
		return -EINVAL;
	return kapi_number(word[1], &seed) ? :
	       kapi_number(word[2], &next) ? :
	       share_use(kapi_held, seed, next);
}

static int kapi_taken(char **word)
{
	return kapi_held ? share_taken(kapi_held) : -EINVAL;
}

/* Open a channel, and hold it while something happens to its link. */
static int kapi_hold(char **word)
{
	struct near *near;

	if (kapi_held)
		return -EBUSY;
	near = near_open(word[1], kapi_polled(word[2]));
	if (IS_ERR(near))
		return PTR_ERR(near);
	kapi_held = near;
	return 0;
}

/* The channel must end with that errno; post, register, import return it. */
static int kapi_over(char **word)
{
	struct near *near = kapi_held;
	struct rclink_remote remote;
	struct rclink_dev_sqe sqe;
	unsigned int taken;
	u32 why, handle;
	int i;

	if (!near || kapi_number(word[1], &why))
		return -EINVAL;
	for (i = 0; !near_is_over(near) && i < KAPI_OVER; i++) {
		if (near->polled && rclink_poll(near->chan, 8) == -(int)why)
			break;
		usleep_range(1000, 2000);
	}
	if (i == KAPI_OVER)
		return kapi_say(-ETIME, "nobody tells the end");
	if (!near->polled && near->why != -(int)why)
		return kapi_say(-EIO, "the end is %d", near->why);
	rclink_prep_send(&sqe, 0, 0);
	if (rclink_post(near->chan, &sqe, 1, &taken) != -(int)why ||
	    rclink_register(near->chan, near->msg, 1, NULL, 0, &handle) !=
	    -(int)why ||
	    rclink_import(near->chan, "any", &remote) != -(int)why)
		return kapi_say(-EIO, "a call says something else");
	return rclink_withdraw(near->chan, near->region);
}

/* Move data over a channel, if a queue pair is free now. */
static int kapi_at_once(char **word)
{
	struct near *near;
	u32 seed;
	int ret;

	ret = kapi_number(word[2], &seed);
	if (ret)
		return ret;
	near = near_open_with(word[1], 0);
	if (IS_ERR(near))
		return PTR_ERR(near);
	ret = near_moves(near, seed);
	near_close(near);
	return ret;
}

/* Like kapi_hold(), on a link whose channels outlive an epoch. */
static int kapi_stay(char **word)
{
	struct near *near;

	if (kapi_held)
		return -EBUSY;
	near = resume_open(word[1], kapi_flags(word + 2));
	if (IS_ERR(near))
		return PTR_ERR(near);
	kapi_held = near;
	return 0;
}

static int kapi_fly(char **word)
{
	return kapi_held ? resume_post(kapi_held, word[1]) : -EINVAL;
}

static int kapi_waits(char **word)
{
	return kapi_held ? resume_waits(kapi_held) : -EINVAL;
}

static int kapi_goes_on(char **word)
{
	return kapi_held ? resume_goes_on(kapi_held, word[1],
					  kapi_replay(word[2])) : -EINVAL;
}

static int kapi_fetch(char **word)
{
	return kapi_held ? resume_fetch(kapi_held) : -EINVAL;
}

static int kapi_fetched(char **word)
{
	return kapi_held ? resume_fetched(kapi_held, kapi_replay(word[1])) :
			   -EINVAL;
}

static int kapi_drop(char **word)
{
	if (!kapi_held)
		return -EINVAL;
	near_close(kapi_held);
	kapi_held = NULL;
	return 0;
}

static int kapi_bench(char **word)
{
	u32 port, gid;

	return kapi_number(word[3], &port) ? :
	       kapi_number(word[4], &gid) ? :
	       bench(word[1], word[2], port, gid);
}

static const struct {
	const char *name;
	int words;
	int (*run)(char **word);
} kapi_commands[] = {
	{ "listen", 2, kapi_listen },		/* LINK */
	/* LINK events|polled plain|replay */
	{ "listen_with", 4, kapi_listen_with },
	{ "unlisten", 1, kapi_unlisten },
	{ "data", 4, kapi_data },		/* LINK events|polled SEED */
	{ "big", 4, kapi_big },			/* LINK events|polled SEED */
	{ "constant", 4, kapi_constant },	/* LINK events|polled SEED */
	{ "withdrawn", 3, kapi_withdrawn },	/* LINK events|polled */
	{ "closed", 3, kapi_closed },		/* LINK events|polled */
	{ "invalidated", 3, kapi_invalidated },	/* LINK events|polled */
	{ "masked", 3, kapi_masked },		/* LINK events|polled */
	{ "table", 2, kapi_table },		/* LINK */
	{ "nonsense", 2, kapi_nonsense },	/* LINK */
	{ "batch", 4, kapi_batch },		/* LINK events|polled SEED */
	{ "flood", 2, kapi_flood },		/* LINK */
	{ "lost", 2, kapi_lost },		/* LINK */
	{ "share", 3, kapi_share },		/* buffer|list|constant SEED */
	{ "shared", 2, kapi_shared },		/* SEED */
	{ "unshare", 2, kapi_unshare },		/* SEED */
	{ "unshare_lost", 1, kapi_unshare_lost },
	{ "shares", 1, kapi_shares },
	/* LINK events|polled SEED NEXT */
	{ "borrow", 5, kapi_borrow },
	{ "keep", 3, kapi_keep },		/* SEED NEXT */
	{ "taken", 1, kapi_taken },
	{ "hold", 3, kapi_hold },		/* LINK events|polled */
	{ "over", 2, kapi_over },		/* ERRNO */
	{ "at_once", 3, kapi_at_once },		/* LINK SEED */
	/* LINK events|polled plain|replay */
	{ "stay", 4, kapi_stay },
	{ "fly", 2, kapi_fly },			/* lost|answered|idle */
	{ "waits", 1, kapi_waits },
	{ "goes_on", 3, kapi_goes_on },		/* as fly, plain|replay */
	{ "fetch", 1, kapi_fetch },
	{ "fetched", 2, kapi_fetched },		/* plain|replay */
	{ "drop", 1, kapi_drop },
	{ "bench", 5, kapi_bench },		/* LINK DEVICE PORT GID */
	{ "group_join", 2, group_join },	/* GROUP */
	{ "group_leave", 1, group_leave },
	{ "group_part", 1, group_part },
	{ "group_full", 1, group_full },
	{ "group_max", 1, group_max },
	{ "group_say", 2, group_say },		/* WORD */
	{ "group_send", 3, group_send },	/* SIZE COUNT */
};

static int kapi_run(char *line)
{
	char *word[KAPI_WORDS];
	int words = 0;
	int i;

	while (line && words < KAPI_WORDS)
		word[words++] = strsep(&line, " ");
	for (i = 0; i < ARRAY_SIZE(kapi_commands); i++)
		if (!strcmp(word[0], kapi_commands[i].name) &&
		    words == kapi_commands[i].words)
			return kapi_commands[i].run(word);
	return -EINVAL;
}

static ssize_t kapi_run_write(struct file *file, const char __user *from,
			      size_t len, loff_t *pos)
{
	char line[KAPI_LINE] = "";
	int ret;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	mutex_lock(&kapi_lock);
	kapi_said[0] = 0;
	ret = kapi_run(strim(line));
	mutex_unlock(&kapi_lock);
	return ret ? : len;
}

static const struct file_operations kapi_run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = kapi_run_write,
};

static int kapi_said_show(struct seq_file *seq, void *v)
{
	mutex_lock(&kapi_lock);
	seq_printf(seq, "%s\n", kapi_said);
	mutex_unlock(&kapi_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kapi_said);

static DEFINE_SPINLOCK(kapi_links_lock);	/* protects the four below */
static u32 kapi_up, kapi_down, kapi_deleted;
static char kapi_last[128] = "none";

/* Runs in the link's work item, so it only takes notes. */
static int kapi_link_event(struct notifier_block *nb, unsigned long kind,
			   void *data)
{
	const struct rclink_link_event *event = data;

	spin_lock(&kapi_links_lock);
	if (kind == RCLINK_EVENT_KIND_DELETED)
		kapi_deleted++;
	else if (event->state == RCLINK_LINK_STATE_UP)
		kapi_up++;
	else if (event->state == RCLINK_LINK_STATE_DOWN)
		kapi_down++;
	scnprintf(kapi_last, sizeof(kapi_last), "%s state %u epoch %llu: %s",
		  event->link, event->state, event->epoch, event->text);
	spin_unlock(&kapi_links_lock);
	return NOTIFY_OK;
}

static struct notifier_block kapi_nb = {
	.notifier_call = kapi_link_event,
};

static int kapi_links_show(struct seq_file *seq, void *v)
{
	spin_lock(&kapi_links_lock);
	seq_printf(seq, "up %u down %u deleted %u last %s\n", kapi_up,
		   kapi_down, kapi_deleted, kapi_last);
	spin_unlock(&kapi_links_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kapi_links);

static int kapi_group_show(struct seq_file *seq, void *v)
{
	group_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kapi_group);

static int __init kapi_init(void)
{
	int ret;

	ret = rclink_register_notifier(&kapi_nb);
	if (ret)
		return ret;
	kapi_dir = debugfs_create_dir("rclink_test", NULL);
	debugfs_create_file("run", 0200, kapi_dir, NULL, &kapi_run_fops);
	debugfs_create_file("said", 0400, kapi_dir, NULL, &kapi_said_fops);
	debugfs_create_file("links", 0400, kapi_dir, NULL, &kapi_links_fops);
	debugfs_create_file("group", 0400, kapi_dir, NULL, &kapi_group_fops);
	return 0;
}

static void __exit kapi_exit(void)
{
	debugfs_remove(kapi_dir);
	if (kapi_held)
		near_close(kapi_held);
	group_stop();
	far_stop();
	share_stop();
	rclink_unregister_notifier(&kapi_nb);
}

module_init(kapi_init);
module_exit(kapi_exit);

MODULE_DESCRIPTION("Uses every call of rclink's kernel interface");
MODULE_LICENSE("GPL");
