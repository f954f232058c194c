/* SPDX-License-Identifier: GPL-2.0 */
/* TCP sockets that wait for callers, and the callers' addresses as text. */
#ifndef RCL_SOCKET_H
#define RCL_SOCKET_H

#include <stdint.h>

#include <netinet/in.h>

#define RCL_ADDRESS_LEN	56	/* "[v6]:port" */

/*
 * Listen on a numeric address or, with NULL, on all addresses of both families.
 * Returns a non-blocking socket, or a negative errno with a sentence in err.
 */
int rcl_socket_listen(const char *bind, uint16_t port, char *err);

/* Convert an address of either family to IPv6. */
void rcl_address_v6(const struct sockaddr *addr, struct sockaddr_in6 *v6);

/* Returns buf. */
const char *rcl_address_text(const struct sockaddr_in6 *addr,
			     char buf[RCL_ADDRESS_LEN]);

#endif /* RCL_SOCKET_H */
