// SPDX-License-Identifier: GPL-2.0
/*
 * One membership of a group at a time. A test drives it by commands and reads
 * its counters in the file "group" of main.c. Messages are those of
 * group/flow.c, a number and bytes that follow from it, so that a process can
 * be at the other end.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "kapi.h"

#define GROUP_NUMBERS	65536	/* message numbers that are told apart */
#define GROUP_GAP	2000	/* microseconds between two messages */
#define GROUP_SLOW	30	/* milliseconds that a slow callback takes */
#define GROUP_WAIT	10000	/* milliseconds to wait for a callback */

/**
 * struct group - the membership, and what its callbacks have reported
 * @member: the membership, or NULL
 * @number: of the next message to send
 * @slow: the callback for messages sleeps for GROUP_SLOW
 * @busy: a slow callback is running
 * @wait: woken when @busy is set
 * @lock: protects the members below
 * @full: messages are refused, as if there were no room
 * @left: the membership has been left, so no callback may come any more
 * @got: correct messages
 * @twice: correct messages whose number had come before
 * @other: messages with other content; the last one is @text
 * @ended: calls of the callback for the end
 * @late: callbacks that came too late or with a wrong argument
 * @sender: of the last message
 * @gid: of the last message
 * @text: see @other
 * @numbers: of the messages that came
 */
struct group {
	struct rclink_member *member;
	u32 number;
	bool slow;
	bool busy;
	wait_queue_head_t wait;
	spinlock_t lock;	/* protects the members below */
	bool full;
	bool left;
	u32 got;
	u32 twice;
	u32 other;
	u32 ended;
	u32 late;
	u32 sender;
	u8 gid[RCLINK_GID_LEN];
	char text[32];
	DECLARE_BITMAP(numbers, GROUP_NUMBERS);
};

static struct group group = {
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(group.wait),
	.lock = __SPIN_LOCK_UNLOCKED(group.lock),
};

static u8 group_byte(u32 number, u32 i)
{
	return number * 31 + i * 7 + (i >> 8);
}

static void group_fill(u8 *data, u32 number, u32 len)
{
	u32 i;

	memcpy(data, &number, sizeof(number));
	for (i = sizeof(number); i < len; i++)
		data[i] = group_byte(number, i);
}

static bool group_is(const u8 *data, u32 len, u32 *number)
{
	u32 i;

	if (len < sizeof(*number))
		return false;
	memcpy(number, data, sizeof(*number));
	for (i = sizeof(*number); i < len; i++)
		if (data[i] != group_byte(*number, i))
			return false;
	return true;
}

static void group_take(const void *data, u32 len, u32 sender, const u8 *gid)
{
	u32 number;

	lockdep_assert_held(&group.lock);
	group.sender = sender;
	memcpy(group.gid, gid, sizeof(group.gid));
	if (group_is(data, len, &number)) {
		group.got++;
		group.twice += __test_and_set_bit(number % GROUP_NUMBERS,
						  group.numbers);
		return;
	}
	group.other++;
	len = min_t(u32, len, sizeof(group.text) - 1);
	memcpy(group.text, data, len);
	group.text[len] = 0;
}

static bool group_received(struct rclink_member *member, void *ctx,
			   const void *data, u32 len, u32 sender, const u8 *gid)
{
	bool slow = READ_ONCE(group.slow);
	bool room;

	if (slow) {
		WRITE_ONCE(group.busy, true);
		wake_up(&group.wait);
		msleep(GROUP_SLOW);
	}
	spin_lock(&group.lock);
	group.late += group.left || group.ended || ctx != &group ||
		      len > RCLINK_GROUP_LEN_MAX;
	room = !group.full;
	if (room)
		group_take(data, len, sender, gid);
	spin_unlock(&group.lock);
	if (slow)
		WRITE_ONCE(group.busy, false);
	return room;
}

static void group_ended(struct rclink_member *member, void *ctx)
{
	spin_lock(&group.lock);
	group.late += group.left || ctx != &group;
	group.ended++;
	spin_unlock(&group.lock);
}

static const struct rclink_group_ops group_ops = {
	.received = group_received,
	.ended = group_ended,
};

/* Messages may come before the join has returned. */
static void group_reset(void)
{
	spin_lock(&group.lock);
	group.full = false;
	group.left = false;
	group.got = 0;
	group.twice = 0;
	group.other = 0;
	group.ended = 0;
	group.text[0] = 0;
	bitmap_zero(group.numbers, GROUP_NUMBERS);
	spin_unlock(&group.lock);
}

/**
 * group_join - join a group
 * @word: command, GROUP
 *
 * Return: 0, or a negative errno.
 */
int group_join(char **word)
{
	struct rclink_member *member;

	if (group.member)
		return -EBUSY;
	group_reset();
	member = rclink_group_join(word[1], "text", &group_ops, &group);
	if (IS_ERR(member))
		return PTR_ERR(member);
	group.member = member;
	return 0;
}

/**
 * group_stop - leave the group, if one was joined
 */
void group_stop(void)
{
	if (!group.member)
		return;
	rclink_group_leave(group.member);
	group.member = NULL;
	spin_lock(&group.lock);
	group.late += READ_ONCE(group.busy);
	group.left = true;
	spin_unlock(&group.lock);
}

/**
 * group_leave - leave the group
 * @word: command
 *
 * Return: 0 or -ENOTCONN.
 */
int group_leave(char **word)
{
	if (!group.member)
		return -ENOTCONN;
	group_stop();
	return 0;
}

/**
 * group_part - leave the group while a callback runs
 * @word: command
 *
 * Return: 0, -ENOTCONN, or -ETIME when no callback comes.
 */
int group_part(char **word)
{
	long left;

	if (!group.member)
		return -ENOTCONN;
	WRITE_ONCE(group.slow, true);
	left = wait_event_timeout(group.wait, READ_ONCE(group.busy),
				  msecs_to_jiffies(GROUP_WAIT));
	group_stop();
	WRITE_ONCE(group.slow, false);
	return left ? 0 : -ETIME;
}

/**
 * group_full - refuse messages from now on, as if there were no room
 * @word: command
 *
 * Return: 0.
 */
int group_full(char **word)
{
	spin_lock(&group.lock);
	group.full = true;
	spin_unlock(&group.lock);
	return 0;
}

/**
 * group_max - say how long a message may be
 * @word: command
 *
 * Return: 0 or -ENOTCONN.
 */
int group_max(char **word)
{
	if (!group.member)
		return -ENOTCONN;
	return kapi_say(0, "%u", rclink_group_max(group.member));
}

/**
 * group_say - send a word as it is
 * @word: command, WORD
 *
 * Return: 0, or a negative errno.
 */
int group_say(char **word)
{
	if (!group.member)
		return -ENOTCONN;
	return rclink_group_send(group.member, word[1], strlen(word[1]));
}

/**
 * group_send - send messages
 * @word: command, SIZE, COUNT
 *
 * Return: 0, or a negative errno.
 */
int group_send(char **word)
{
	u32 size, count;
	int ret = 0;
	u8 *data;

	if (!group.member)
		return -ENOTCONN;
	if (kstrtou32(word[1], 0, &size) || kstrtou32(word[2], 0, &count) ||
	    size < sizeof(group.number) || size > SZ_1M)
		return -EINVAL;
	data = kvmalloc(size, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	for (; !ret && count; count--) {
		group_fill(data, group.number, size);
		ret = rclink_group_send(group.member, data, size);
		group.number += !ret;
		usleep_range(GROUP_GAP, 2 * GROUP_GAP);
	}
	kvfree(data);
	return ret;
}

/**
 * group_show - show what was received and how many messages were sent
 * @seq: gets it, as JSON
 *
 * A join resets the counts, but not those of sent messages and late callbacks.
 */
void group_show(struct seq_file *seq)
{
	spin_lock(&group.lock);
	seq_printf(seq, "{\"sent\":%u,\"got\":%u,\"twice\":%u,\"other\":%u,",
		   group.number, group.got, group.twice, group.other);
	seq_printf(seq, "\"ended\":%u,\"late\":%u,\"sender\":%u,",
		   group.ended, group.late, group.sender);
	seq_printf(seq, "\"from\":\"%pI6c\",\"text\":\"%s\"}\n", group.gid,
		   group.text);
	spin_unlock(&group.lock);
}
