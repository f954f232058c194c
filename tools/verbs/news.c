// SPDX-License-Identifier: GPL-2.0
#include "news.h"

#include <infiniband/verbs.h>

#include <linux/rclink.h>

/* A pooled QP belongs to its lessee, which learns from completions. */
static uint32_t of_qp(const struct rcv_watched *w,
		      const struct ibv_async_event *e)
{
	if (e->element.qp != w->ctrl)
		return RCLINK_DOWN_REASON_NONE;
	return e->event_type == IBV_EVENT_QP_FATAL || w->vague ?
	       RCLINK_DOWN_REASON_QP_FATAL : RCLINK_DOWN_REASON_ACCESS;
}

static uint32_t of_port(const struct rcv_watched *w,
			const struct ibv_async_event *e)
{
	if ((uint32_t)e->element.port_num != w->port)
		return RCLINK_DOWN_REASON_NONE;
	if (e->event_type == IBV_EVENT_PORT_ERR)
		return RCLINK_DOWN_REASON_PORT_DOWN;
	/* Packets carry the LID, whatever became of the GID. */
	if (e->event_type == IBV_EVENT_LID_CHANGE || !w->gid_holds)
		return RCLINK_DOWN_REASON_GID_CHANGED;
	return RCLINK_DOWN_REASON_NONE;
}

uint32_t rcv_news_reason(const struct rcv_watched *w,
			 const struct ibv_async_event *e)
{
	switch (e->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		return of_qp(w, e);
	case IBV_EVENT_CQ_ERR:
		return RCLINK_DOWN_REASON_QP_FATAL;
	case IBV_EVENT_DEVICE_FATAL:
		return w->gone ? RCLINK_DOWN_REASON_DEVICE_REMOVED :
				 RCLINK_DOWN_REASON_DEVICE_FATAL;
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	/* A changed InfiniBand GID is reported by the latter of these alone. */
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		return of_port(w, e);
	default:
		return RCLINK_DOWN_REASON_NONE;
	}
}
