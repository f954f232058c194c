// SPDX-License-Identifier: GPL-2.0
/* Memory of kernel modules, and of their peers: see include/rclink.h. */
#include <linux/err.h>
#include <linux/export.h>

#include "kapi.h"
#include "kapi-memory.h"
#include "region.h"
#include "remote.h"

static int rcl_kapi_register(struct rclink_chan *chan,
			     struct rcl_memory *memory, const char *name,
			     u32 rights, u32 *handle)
{
	int ret = -EINVAL;

	if (IS_ERR(memory))
		return PTR_ERR(memory);
	name = name ? : "";
	if (strnlen(name, RCLINK_DEV_REGION_LEN) < RCLINK_DEV_REGION_LEN)
		ret = rcl_region_check(&chan->chan, name, rights,
				       memory->npages);
	if (ret) {
		memory->free(memory);
		return ret;
	}
	return rcl_region_register(&chan->chan, memory, name, rights, handle);
}

/**
 * rclink_register_sg - register memory by a list of its pieces
 * @chan: any
 * @sgl: the list; each piece but the first begins at a page boundary, each but
 *	the last ends at one, and none is empty; only read, during the call
 * @nents: number of its pieces
 * @name: the peer may import it under this name; NULL for local use only
 * @rights: RCLINK_REGION_*, what the peer may do; 0 without @name; with
 *	RCLINK_REGION_READ_ONLY the device does not write there
 * @handle: names the memory in entries of this channel; valid after success
 *
 * The memory stays the caller's, who must keep it until rclink_withdraw() or
 * rclink_close() has returned. While it is registered the device and the
 * processor use it side by side, so it must be coherent for that device: on
 * machines where that needs bounce buffers or cache maintenance, it is not.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, -EINVAL, -EMSGSIZE for more than 4096 registrations of the device
 * can cover, -EEXIST for a name that the link has already, -EOPNOTSUPP for an
 * atomic right that the device does not have, for RCLINK_REGION_INVALIDATE if
 * one registration is too small, or for memory that the device reaches only
 * through bounce buffers, -ENOSPC, -ENOMEM, -EINTR for a fatal signal, the
 * reason if the channel is over, -EAGAIN while it is suspended, the errno of a
 * verbs call, or -ENOTRECOVERABLE if that failed midway, and the device did not
 * end what it had: then the memory must never be used for anything else.
 */
int rclink_register_sg(struct rclink_chan *chan, struct scatterlist *sgl,
		       unsigned int nents, const char *name, u32 rights,
		       u32 *handle)
{
	return rcl_kapi_register(chan, rcl_kapi_memory_sg(sgl, nents), name,
				 rights, handle);
}
EXPORT_SYMBOL_GPL(rclink_register_sg);

/**
 * rclink_register - register a buffer
 * @chan: any
 * @buf: from kmalloc(), vmalloc() or a page allocator
 * @len: bytes, 2 GiB - 1 at most
 * @name: as for rclink_register_sg()
 * @rights: as for rclink_register_sg()
 * @handle: names the memory in entries of this channel; valid after success
 *
 * Context: as for rclink_register_sg(), which also says whose the memory is.
 * Return: as for rclink_register_sg().
 */
int rclink_register(struct rclink_chan *chan, void *buf, size_t len,
		    const char *name, u32 rights, u32 *handle)
{
	return rcl_kapi_register(chan, rcl_kapi_memory(buf, len), name, rights,
				 handle);
}
EXPORT_SYMBOL_GPL(rclink_register);

/**
 * rclink_withdraw - end a registration
 * @chan: any
 * @handle: of rclink_register()
 *
 * What is in flight on it fails, here or at the peer. Afterwards neither the
 * device nor the peer accesses the memory, but completions of what succeeded
 * before may still be delivered.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, -ESTALE for no such region, or -EIO if the device did not end the
 * registration: then the memory must never be used for anything else.
 */
int rclink_withdraw(struct rclink_chan *chan, u32 handle)
{
	return rcl_region_withdraw(&chan->chan, handle);
}
EXPORT_SYMBOL_GPL(rclink_withdraw);

/**
 * rclink_import - find a region of the peer
 * @chan: any
 * @name: under which the peer registered it
 * @remote: set
 *
 * Context: may sleep; a signal interrupts it, but only a fatal one while the
 * peer has not answered an import that was interrupted before. Not from a
 * callback of rclink.
 * Return: 0, -ENOENT, -EINVAL, -ENOSPC beyond 64 at a time, -EINTR, -ENOMEM,
 * -EAGAIN while the link is down and the channel suspended, -ETIMEDOUT if for
 * 30 s the peer was busy, or did not go on with a channel, or 64 imports of
 * this channel had no answer, or if the link was rotated after that, or the
 * reason if the channel is over.
 */
int rclink_import(struct rclink_chan *chan, const char *name,
		  struct rclink_remote *remote)
{
	struct rcl_window window;
	int ret;

	if (!rcl_kapi_is_name(name, RCLINK_DEV_REGION_LEN))
		return -EINVAL;
	ret = rcl_chan_import(&chan->chan, name, &window, &remote->handle);
	if (ret)
		return ret;
	remote->len = window.len;
	remote->rights = window.rights;
	return 0;
}
EXPORT_SYMBOL_GPL(rclink_import);

/**
 * rclink_release - give an import back
 * @chan: any
 * @remote: of rclink_import(); must not be used any more afterwards
 *
 * What is in flight goes on, and another region can be imported instead.
 *
 * Context: process context. Not from a callback of rclink.
 * Return: 0, or -ESTALE for no such import.
 */
int rclink_release(struct rclink_chan *chan,
		   const struct rclink_remote *remote)
{
	return rcl_remote_release(&chan->chan, remote->handle);
}
EXPORT_SYMBOL_GPL(rclink_release);
