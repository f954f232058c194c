/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of the netlink family for tests, and the objects of a host. */
#ifndef RCL_TEST_H
#define RCL_TEST_H

#include <linux/rclink.h>

#include "genl.h"

#define RCL_QPS_MAX	80	/* more than is allowed, to send too many */

/* One end of a link; may hold invalid values on purpose. */
struct rcl_end {
	uint32_t link_layer;
	uint8_t gid[RCLINK_GID_LEN];
	uint32_t lid;
	uint32_t mtu;
	uint32_t rd_atomic;
	uint32_t atomics;
	uint64_t epoch;
	uint64_t addr;
	uint32_t rkey;
	uint32_t length;
	uint32_t pkey;
	uint32_t masked_atomics;
	uint32_t nqps;
	struct {
		uint32_t qpn;
		uint32_t psn;
	} qp[RCL_QPS_MAX];
};

/* A link as link-get shows it. */
struct rcl_view {
	uint32_t id;
	uint32_t state;
	uint32_t reason;
	uint32_t wc_status;
	uint32_t vendor_err;
	char device[RCLINK_DEVICE_MAX + 1];	/* "" and 0: any */
	uint32_t port;
	uint64_t epoch;
	uint32_t standby;	/* state of the epoch beside it */
	uint64_t standby_epoch;	/* 0: there is none */
	uint64_t event_seq;
	uint64_t pings;
	uint64_t ping_errors;
	uint64_t resumes;	/* of channels */
	uint64_t resends;
	char reason_text[128];
	bool secrets;		/* has local or remote end */
};

/* A failure as the record shows it. */
struct rcl_failure {
	uint32_t reason;
	uint32_t wc_status;
	uint32_t vendor_err;
	uint32_t times;
	bool has_qp;		/* it belongs to the link, or to its pool */
	uint32_t qp;		/* 0: the control QP */
};

/* A result of a ping. */
struct rcl_pong {
	uint32_t op;
	uint32_t size;
	uint64_t cookie;
	uint32_t error;
	char reason[128];
	uint32_t ok;
	uint64_t rtt;		/* the shortest of these; 0 for none */
};

/* The device that tests use on this host, rxe0 by default. */
extern char rcl_device[RCLINK_DEVICE_MAX + 1];
bool rcl_is_ib(void);
/* An address that a group can have on that device. */
void rcl_group_at(uint8_t mgid[RCLINK_GID_LEN], uint32_t *mlid);

int rcl_open(struct genl_sock *s);
int rcl_clean(struct genl_sock *s);

int rcl_named(struct genl_sock *s, uint8_t cmd, const char *name,
	      struct genl_ack *ack);
int rcl_new(struct genl_sock *s, const char *name);
int rcl_del(struct genl_sock *s, const char *name);
int rcl_prepare(struct genl_sock *s, const char *name, struct rcl_end *end);
int rcl_prepare_beside(struct genl_sock *s, const char *name,
		       struct rcl_end *end);
void rcl_put_end(struct genl_msg *m, const struct rcl_end *end);
int rcl_connect(struct genl_sock *s, const char *name, uint64_t epoch,
		uint32_t role, const struct rcl_end *remote,
		struct genl_ack *ack);
/* The key of rcl_activate(): bytes found nowhere by chance, none of them 0. */
extern const uint8_t rcl_key[RCLINK_KEY_LEN];
int rcl_activate(struct genl_sock *s, const char *name, uint64_t epoch,
		 struct genl_ack *ack);
int rcl_disconnect(struct genl_sock *s, const char *name);
int rcl_local(struct genl_sock *s, const char *name, struct rcl_end *end);
int rcl_replace(struct genl_sock *s, const char *name, uint64_t epoch,
		struct genl_ack *ack);
int rcl_view(struct genl_sock *s, const char *name, struct rcl_view *view);
uint64_t rcl_stat(struct genl_sock *s, const char *name, uint16_t counter);
/* A link's record from that number on; @all: its attributes, as if nested. */
int rcl_record(struct genl_sock *s, const char *name, uint64_t number,
	       struct genl_msg *answer, struct nlattr **all);
/* How many failures of pooled QPs are on record for that reason. */
int rcl_faults(struct genl_sock *s, const char *name, uint32_t reason);
/* The last failure on record; -ENOENT if there is none. */
int rcl_last_failure(struct genl_sock *s, const char *name,
		     struct rcl_failure *failure);
/* The time of a clock that nobody sets. */
int64_t rcl_now_ms(void);
int rcl_until(struct genl_sock *s, const char *name, uint32_t state, int ms);
void rcl_settle(struct genl_sock *s, const char *name);
int rcl_until_told(struct genl_sock *s, const char *name, uint64_t seq, int ms);

int rcl_pair(struct genl_sock *s, const char *a, const char *b,
	     uint32_t state);

int rcl_ping(struct genl_sock *s, const char *name, uint32_t op, int64_t size,
	     uint64_t cookie, struct genl_ack *ack);
int rcl_pings(struct genl_sock *s, const char *name, uint32_t op, int64_t size,
	      uint64_t cookie, int64_t count, struct genl_ack *ack);
int rcl_pong(struct genl_sock *s, struct rcl_pong *pong, int ms);

int rcl_hear_down(struct genl_sock *events, const char *name,
		  struct genl_msg *m, int ms);
/* The name of the next link to be rotated, or "" if there is none in @ms. */
const char *rcl_to_be_rotated(struct genl_sock *events, int ms);

uint64_t rcl_links_digest(struct genl_sock *s);
int rcl_objects(const char *kind);
int rcl_all_objects(void);

#endif /* RCL_TEST_H */
