/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink with every byte in the hands of the test: attributes of any
 * type and length, and refusals in full. A library would correct what has to be
 * wrong here.
 */
#ifndef GENL_H
#define GENL_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GENL_MSG_MAX	131072
#define GENL_KEPT_MAX	1024

/* A request under construction, or an answer. */
struct genl_msg {
	union {
		struct nlmsghdr nlh;
		unsigned char buf[GENL_MSG_MAX];
	};
};

/* What the acknowledgment said. */
struct genl_ack {
	int error;		/* 0 or a negative errno */
	char text[256];		/* sentence, empty without one */
	uint32_t offset;	/* of the bad attribute in the request, or 0 */
	uint32_t missing;	/* type of the missing attribute, or 0 */
};

struct genl_sock {
	int fd;
	uint16_t family;
	uint32_t group;		/* of the family's events */
	uint32_t seq;
	struct genl_ack ack;	/* of the last request or dump that ended */
	/* Messages that came in before the awaited acknowledgment. */
	unsigned char *kept[GENL_KEPT_MAX];
	unsigned int nkept;
};

int genl_open(struct genl_sock *s, const char *family);
void genl_close(struct genl_sock *s);
int genl_join(struct genl_sock *s);

void genl_begin(struct genl_msg *m, const struct genl_sock *s, uint8_t cmd);
void *genl_put(struct genl_msg *m, uint16_t type, const void *data,
	       size_t len);
void genl_put_u32(struct genl_msg *m, uint16_t type, uint32_t value);
void genl_put_u64(struct genl_msg *m, uint16_t type, uint64_t value);
void genl_put_str(struct genl_msg *m, uint16_t type, const char *text);
uint32_t genl_nest(struct genl_msg *m, uint16_t type);
void genl_nest_end(struct genl_msg *m, uint32_t start);

int genl_send(struct genl_sock *s, struct genl_msg *m, uint16_t flags);
int genl_recv(struct genl_sock *s, struct genl_msg *m, int ms);
int genl_wait_ack(struct genl_sock *s, struct genl_msg *answer,
		  struct genl_ack *ack);
int genl_ask(struct genl_sock *s, struct genl_msg *m, struct genl_msg *answer,
	     struct genl_ack *ack);
int genl_dump_rest(struct genl_sock *s,
		   void (*each)(const struct genl_msg *m, void *arg),
		   void *arg);
int genl_dump(struct genl_sock *s, struct genl_msg *m,
	      void (*each)(const struct genl_msg *m, void *arg), void *arg);

uint8_t genl_cmd(const struct genl_msg *m);
const struct nlattr *genl_attr(const struct genl_msg *m, uint16_t type);
/* An attribute that may occur more than once; the first if @after is NULL. */
const struct nlattr *genl_more(const struct genl_msg *m, uint16_t type,
			       const struct nlattr *after);
const struct nlattr *genl_next(const struct nlattr *in, uint16_t type,
			       const struct nlattr *after);
uint32_t genl_u32(const struct nlattr *nla);
uint64_t genl_u64(const struct nlattr *nla);
const char *genl_str(const struct nlattr *nla);

#endif /* GENL_H */
