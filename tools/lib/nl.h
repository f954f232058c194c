/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink to the module: sockets for requests, and sockets that listen
 * to its events. Knows messages, but the meaning of no attribute.
 *
 * Nothing here blocks for longer than the kernel works on a request. Sockets
 * are non-blocking; rcl_nl_fd() is for the caller's event loop.
 */
#ifndef RCL_NL_H
#define RCL_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>

#include "fail.h"

struct nl_msg;
struct rcl_nl;

/*
 * Names of the attributes of one set, so that a refusal can say which one was
 * wrong. Indexed by attribute; nested[] has the sets of nested attributes and
 * may be NULL.
 */
struct rcl_nl_names {
	size_t num;
	const char *const *name;
	const struct rcl_nl_names *const *nested;
};

/* Called for each message of the family; < 0 fails the request. */
typedef int rcl_nl_fn(const struct nlmsghdr *hdr, void *arg);

/* All that return int: 0 or a negative errno with a sentence in err. */

/* A socket for requests. NULL when the module is not there. */
struct rcl_nl *rcl_nl_open(char *err);

/* A socket that hears the events of the module. */
struct rcl_nl *rcl_nl_listen(char *err);

/* Room for events: 1 MiB; without CAP_NET_ADMIN up to net.core.rmem_max. */
void rcl_nl_make_room(struct rcl_nl *nl);

/* Is the module there? To open a socket may load it. */
bool rcl_nl_is_loaded(void);

/* A socket that hears families come and go; the module need not be there. */
struct rcl_nl *rcl_nl_listen_families(char *err);

enum rcl_nl_news {
	RCL_NL_NO_NEWS,
	RCL_NL_LOADED,
	RCL_NL_UNLOADED,
};

/* What a message of that socket says about the module. */
enum rcl_nl_news rcl_nl_news(const struct nlmsghdr *hdr);

void rcl_nl_close(struct rcl_nl *nl);
int rcl_nl_fd(const struct rcl_nl *nl);

/*
 * A new message for command cmd; flags such as NLM_F_DUMP. NULL if out of
 * memory, with a sentence in err.
 */
struct nl_msg *rcl_nl_msg(const struct rcl_nl *nl, uint8_t cmd, int flags,
			  char *err);

/* Wipe and free a message; it may hold a key. */
void rcl_nl_msg_free(struct nl_msg *msg);

/* fn gets the messages that answer no request. */
void rcl_nl_notify(struct rcl_nl *nl, rcl_nl_fn *fn, void *arg);

/*
 * Send msg, which is wiped and freed, and wait for the end of the answer. put
 * is the result of putting attributes into it: not 0 if they did not fit. fn
 * may be NULL. -EAGAIN: a dump was interrupted by a change, ask again.
 */
int rcl_nl_request(struct rcl_nl *nl, struct nl_msg *msg, int put,
		   const struct rcl_nl_names *names, rcl_nl_fn *fn, void *arg,
		   char *err);

/*
 * Hand all messages that are there to the function of rcl_nl_notify().
 * -ENOBUFS: messages were lost, ask for a dump.
 */
int rcl_nl_receive(struct rcl_nl *nl, char *err);

/*
 * What the kernel said in the error message hdr about the request req: the
 * sentence, and the name of the attribute. Returns the negative errno:
 * -ESHUTDOWN if the module was unloaded since the socket was opened.
 */
int rcl_nl_error(const struct nlmsghdr *hdr, const struct nlmsghdr *req,
		 const struct rcl_nl_names *names, char *err);

#endif /* RCL_NL_H */
