// SPDX-License-Identifier: GPL-2.0
#include "stock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../kmod/endpoint.h"
#include "../../kmod/gid.h"
#include "fail.h"

static const char hex[] = "0123456789abcdef";

/* Exactly that many digits; advances text. */
static bool get(const char **text, unsigned int digits, uint32_t *value)
{
	const char *at;

	for (*value = 0; digits--; (*text)++) {
		if (**text == '\0')
			return false;
		at = strchr(hex, **text);
		if (!at)
			return false;
		*value = *value << 4 | (at - hex);
	}
	return true;
}

static bool get_gid(const char **text, uint8_t *gid)
{
	uint32_t byte;
	int i;

	for (i = 0; i < RCLINK_GID_LEN; i++) {
		if (!get(text, 2, &byte))
			return false;
		gid[i] = byte;
	}
	return true;
}

int rcv_stock_decode(const char text[RCV_STOCK_LEN],
		     struct rcv_stock_dest *dest, char *err)
{
	if (!get(&text, 4, &dest->lid) || *text++ != ':' ||
	    !get(&text, 6, &dest->qpn) || *text++ != ':' ||
	    !get(&text, 6, &dest->psn) || *text++ != ':' ||
	    !get_gid(&text, dest->gid) || *text)
		return rcl_fail(err, -EPROTO,
				"what the peer sent is no address of ibv_rc_pingpong; does that run there?");
	if (!rcl_qpn_is_usable(dest->qpn))
		return rcl_fail(err, -EPROTO,
				"the peer's QPN %u belongs to nobody; does ibv_rc_pingpong run there?",
				dest->qpn);
	return 0;
}

void rcv_stock_encode(const struct rcv_stock_dest *dest,
		      char text[RCV_STOCK_LEN])
{
	int i, n;

	n = snprintf(text, RCV_STOCK_LEN, "%04x:%06x:%06x:",
		     dest->lid & 0xffff, dest->qpn & RCL_24BIT_MAX,
		     dest->psn & RCL_24BIT_MAX);
	for (i = 0; i < RCLINK_GID_LEN; i++)
		n += snprintf(text + n, RCV_STOCK_LEN - n, "%02x",
			      dest->gid[i]);
}

bool rcv_stock_says_gid(uint32_t link_layer, bool needs_grh,
			uint32_t gid_index)
{
	return link_layer != RCLINK_LINK_LAYER_INFINIBAND || needs_grh ||
	       gid_index != RCLINK_GID_INDEX_AUTO;
}

/* The peer uses one if it is told a GID, and can if it sends its own. */
bool rcv_stock_has_grh(const struct rcv_stock_dest *local,
		       const struct rcv_stock_dest *remote)
{
	return !rcl_gid_is_zero(local->gid) && !rcl_gid_is_zero(remote->gid);
}
