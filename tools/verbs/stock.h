/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Talks to a peer that runs rdma-core's ibv_rc_pingpong: its exchange of
 * addresses, in the clear over TCP, and its way of sending and receiving.
 */
#ifndef RCV_STOCK_H
#define RCV_STOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rclink.h>

#define RCV_STOCK_PORT	18515
#define RCV_STOCK_LEN	52	/* "LID:QPN:PSN:GID" as hex digits, and a NUL */

struct rcv_stock_dest {
	uint32_t lid;
	uint32_t qpn;
	uint32_t psn;
	uint8_t gid[RCLINK_GID_LEN];	/* all 0: none */
};

struct rcv_stock_args {
	const char *host;	/* NULL: be the server */
	uint16_t tcp_port;
	const char *device;	/* "": the first one that is fit */
	uint32_t port;		/* of the device, 0: likewise */
	uint32_t gid_index;
	uint32_t sl;
	uint32_t mtu;		/* bytes */
	uint32_t size;
	uint32_t iters;
	uint32_t depth;
	bool events;
	bool stamps;
	bool check;		/* the peer runs with -c, too */
};

struct rcv_stock_result {
	char device[RCLINK_DEVICE_MAX + 1];
	struct rcv_stock_dest local, remote;
	uint64_t duration;	/* ns */
	bool extended;		/* the CQ was extended */
	bool stamps;		/* from the device: device_ns is set */
	uint64_t device_ns;	/* from first to last receive */
};

/* What each end sends, as text, and back. 0, or -EPROTO with a sentence. */
void rcv_stock_encode(const struct rcv_stock_dest *dest,
		      char text[RCV_STOCK_LEN]);
int rcv_stock_decode(const char text[RCV_STOCK_LEN],
		     struct rcv_stock_dest *dest, char *err);

/*
 * Is the peer told a GID? On InfiniBand, an ibv_rc_pingpong that is told one
 * uses its own, which it has only if started with -g. So one is sent only if
 * it was asked for, or if the port needs a GRH.
 */
bool rcv_stock_says_gid(uint32_t link_layer, bool needs_grh,
			uint32_t gid_index);

/* Do packets have a GRH? Both ends have to come to the same answer. */
bool rcv_stock_has_grh(const struct rcv_stock_dest *local,
		       const struct rcv_stock_dest *remote);

/*
 * Do all of it, until iters messages went in each direction. Returns 0, or a
 * negative errno with a sentence in err (RCL_ERR_LEN bytes). listening() is
 * called once a client can connect to the server.
 */
int rcv_stock_run(const struct rcv_stock_args *args,
		  void (*listening)(uint16_t port),
		  struct rcv_stock_result *result, char *err);

#endif /* RCV_STOCK_H */
