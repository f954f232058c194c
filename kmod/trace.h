/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rclink

#if !defined(RCL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RCL_TRACE_H

#include <linux/tracepoint.h>

#include <uapi/linux/rclink.h>

TRACE_EVENT(rcl_link_state,
	TP_PROTO(const char *name, u64 epoch, u32 from, u32 to, u32 reason,
		 u32 wc_status),
	TP_ARGS(name, epoch, from, to, reason, wc_status),
	TP_STRUCT__entry(
		__array(char, name, RCLINK_NAME_MAX + 1)
		__field(u64, epoch)
		__field(u32, from)
		__field(u32, to)
		__field(u32, reason)
		__field(u32, wc_status)
	),
	TP_fast_assign(
		strscpy(__entry->name, name, sizeof(__entry->name));
		__entry->epoch = epoch;
		__entry->from = from;
		__entry->to = to;
		__entry->reason = reason;
		__entry->wc_status = wc_status;
	),
	TP_printk("link=%s epoch=%llu from=%u to=%u reason=%u wc_status=%u",
		  __entry->name, __entry->epoch, __entry->from, __entry->to,
		  __entry->reason, __entry->wc_status)
);

TRACE_EVENT(rcl_link_fail,
	TP_PROTO(const char *name, u32 reason, u32 wc_status, u32 vendor_err),
	TP_ARGS(name, reason, wc_status, vendor_err),
	TP_STRUCT__entry(
		__array(char, name, RCLINK_NAME_MAX + 1)
		__field(u32, reason)
		__field(u32, wc_status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		strscpy(__entry->name, name, sizeof(__entry->name));
		__entry->reason = reason;
		__entry->wc_status = wc_status;
		__entry->vendor_err = vendor_err;
	),
	TP_printk("link=%s reason=%u wc_status=%u vendor_err=0x%x",
		  __entry->name, __entry->reason, __entry->wc_status,
		  __entry->vendor_err)
);

TRACE_EVENT(rcl_link_err,
	TP_PROTO(const char *name, u32 request, int err),
	TP_ARGS(name, request, err),
	TP_STRUCT__entry(
		__array(char, name, RCLINK_NAME_MAX + 1)
		__field(u32, request)
		__field(int, err)
	),
	TP_fast_assign(
		strscpy(__entry->name, name, sizeof(__entry->name));
		__entry->request = request;
		__entry->err = err;
	),
	TP_printk("link=%s request=%u err=%d", __entry->name, __entry->request,
		  __entry->err)
);

TRACE_EVENT(rcl_group_state,
	TP_PROTO(const char *name, u32 kind, u32 to, u32 reason, u32 wc_status),
	TP_ARGS(name, kind, to, reason, wc_status),
	TP_STRUCT__entry(
		__array(char, name, RCLINK_NAME_MAX + 1)
		__field(u32, kind)
		__field(u32, to)
		__field(u32, reason)
		__field(u32, wc_status)
	),
	TP_fast_assign(
		strscpy(__entry->name, name, sizeof(__entry->name));
		__entry->kind = kind;
		__entry->to = to;
		__entry->reason = reason;
		__entry->wc_status = wc_status;
	),
	TP_printk("group=%s kind=%u to=%u reason=%u wc_status=%u",
		  __entry->name, __entry->kind, __entry->to, __entry->reason,
		  __entry->wc_status)
);

DECLARE_EVENT_CLASS(rcl_ctrl,
	TP_PROTO(u64 epoch, u8 type, u32 len),
	TP_ARGS(epoch, type, len),
	TP_STRUCT__entry(
		__field(u64, epoch)
		__field(u8, type)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->epoch = epoch;
		__entry->type = type;
		__entry->len = len;
	),
	TP_printk("epoch=%llu type=%u len=%u", __entry->epoch, __entry->type,
		  __entry->len)
);

DEFINE_EVENT(rcl_ctrl, rcl_ctrl_tx,
	TP_PROTO(u64 epoch, u8 type, u32 len),
	TP_ARGS(epoch, type, len));

DEFINE_EVENT(rcl_ctrl, rcl_ctrl_rx,
	TP_PROTO(u64 epoch, u8 type, u32 len),
	TP_ARGS(epoch, type, len));

#endif /* RCL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
