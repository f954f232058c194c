/* SPDX-License-Identifier: GPL-2.0 */
/* What the module said, as documents for out.h. */
#ifndef RCL_DOC_H
#define RCL_DOC_H

#include <stddef.h>
#include <stdint.h>

struct json_object;
struct rcl_dev_info;
struct rcl_latency;
struct rcl_link_info;

/* All about a link; secrets only if the module sent them. */
struct json_object *rcl_doc_link(const struct rcl_link_info *info);

/* Round trips: how many, percentiles, and each bucket. */
struct json_object *rcl_doc_latency(const struct rcl_latency *latency);

/* The counters of a link, and its round trips. */
struct json_object *rcl_doc_stats(const struct rcl_link_info *info);

/* What a work request told of a failure, or the number of an event. */
void rcl_doc_add_wc(struct json_object *obj, uint32_t status,
		    uint32_t vendor_err);

/* Name, state and what changed; kind in words. */
struct json_object *rcl_doc_event(const struct rcl_link_info *info,
				  const char *kind);

/* An event of a device that came, or of a port of it. */
struct json_object *rcl_doc_dev_event(const struct rcl_dev_info *info);

/* A port with its GIDs. */
struct json_object *rcl_doc_dev(const struct rcl_dev_info *info);

/* A port, with the GID to use or NULL, and the reason for that. */
struct json_object *rcl_doc_port(const struct rcl_dev_info *info,
				 const char *gid, const char *reason);
/* Append an array of these to another one, as sentences. */
void rcl_doc_tell_ports(struct json_object *ports, struct json_object *said);

#endif /* RCL_DOC_H */
