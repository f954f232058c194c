// SPDX-License-Identifier: GPL-2.0
#include "listener.h"

#include <linux/cred.h>
#include <linux/string.h>

#include "chan.h"

static void rcl_listener_release(struct kref *ref)
{
	struct rcl_listener *listener =
		container_of(ref, struct rcl_listener, ref);

	put_cred(listener->cred);
	listener->ops->release(listener);
}

/**
 * rcl_listener_put - drop a reference
 * @listener: may be freed
 */
void rcl_listener_put(struct rcl_listener *listener)
{
	kref_put(&listener->ref, rcl_listener_release);
}

/**
 * rcl_listener_init - initialize a listener that does not listen yet
 * @listener: zeroed; has one reference afterwards, and needs @max and @flags
 * @ops: of the consumer's side
 * @cred: of the consumer, NULL for the kernel
 * @link: name
 * @service: name
 */
void rcl_listener_init(struct rcl_listener *listener,
		       const struct rcl_listener_ops *ops,
		       const struct cred *cred, const char *link,
		       const char *service)
{
	kref_init(&listener->ref);
	listener->ops = ops;
	listener->cred = get_cred(cred);
	listener->service.user = cred ? cred->fsuid : GLOBAL_ROOT_UID;
	strscpy(listener->service.link, link, sizeof(listener->service.link));
	strscpy(listener->service.name, service,
		sizeof(listener->service.name));
	init_waitqueue_head(&listener->wait);
	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->waiting);
}

/**
 * rcl_listener_is_full - may no further channel wait?
 * @listener: any
 *
 * Context: process context.
 * Return: true if none may.
 */
bool rcl_listener_is_full(struct rcl_listener *listener)
{
	bool full;

	spin_lock(&listener->lock);
	full = listener->n >= listener->max;
	spin_unlock(&listener->lock);
	return full;
}

/**
 * rcl_listener_add - have an open channel wait
 * @listener: that the channel was offered to
 * @chan: the listener takes a reference to it
 *
 * Context: process context.
 * Return: false when nobody accepts any more.
 */
bool rcl_listener_add(struct rcl_listener *listener, struct rcl_chan *chan)
{
	bool closed;

	spin_lock(&listener->lock);
	closed = listener->closed;
	if (!closed) {
		kref_get(&chan->lessee.ref);
		list_add_tail(&chan->backlog, &listener->waiting);
		listener->n++;
		/* Under the lock, so never after rcl_listener_shut(). */
		listener->ops->waiting(listener);
	}
	spin_unlock(&listener->lock);
	return !closed;
}

/**
 * rcl_listener_shut - note that nobody accepts any more
 * @listener: any
 *
 * Context: process context.
 */
void rcl_listener_shut(struct rcl_listener *listener)
{
	spin_lock(&listener->lock);
	listener->closed = true;
	spin_unlock(&listener->lock);
}

/**
 * rcl_listener_take - take out the next channel
 * @listener: any
 *
 * Context: process context.
 * Return: the channel with a reference, or NULL.
 */
struct rcl_chan *rcl_listener_take(struct rcl_listener *listener)
{
	struct rcl_chan *chan;

	spin_lock(&listener->lock);
	chan = list_first_entry_or_null(&listener->waiting, struct rcl_chan,
					backlog);
	if (chan) {
		list_del(&chan->backlog);
		listener->n--;
	}
	spin_unlock(&listener->lock);
	return chan;
}

/**
 * rcl_listener_untake - have a channel wait again, ahead of all others
 * @listener: not shut
 * @chan: from rcl_listener_take(); its reference is handed back
 *
 * Context: process context.
 */
void rcl_listener_untake(struct rcl_listener *listener, struct rcl_chan *chan)
{
	spin_lock(&listener->lock);
	list_add(&chan->backlog, &listener->waiting);
	listener->n++;
	listener->ops->waiting(listener);
	spin_unlock(&listener->lock);
}
