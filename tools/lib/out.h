/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output. A command makes one document (JSON objects); it is printed as it is
 * with -j, or shown to a person in columns that only pick and format its
 * values, so that the two cannot differ.
 */
#ifndef RCL_OUT_H
#define RCL_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/rclink.h>

struct json_object;

/* For rcl_col.text: any longer text is cut. */
#define RCL_CELL_LEN	256

/* What rcl_out_append() makes: likewise. */
#define RCL_OUT_LEN	1024

struct rcl_col {
	const char *head;
	const char *key;
	/*
	 * Writes the cell for row into buf (RCL_CELL_LEN bytes); NULL for the
	 * value as it is.
	 */
	void (*text)(struct json_object *row, const char *key, char *buf);
};

/* Build: add a value to an object. NULL text becomes null. */
void rcl_out_u64(struct json_object *obj, const char *key, uint64_t value);
void rcl_out_text(struct json_object *obj, const char *key, const char *text);
/* null for one that is all zero */
void rcl_out_gid(struct json_object *obj, const char *key,
		 const uint8_t gid[RCLINK_GID_LEN]);
/* null for 0, which the module uses for "not yet known" */
void rcl_out_known(struct json_object *obj, const char *key, uint64_t value);

/* Append a text to an array. */
__attribute__((format(printf, 2, 3)))
void rcl_out_append(struct json_object *array, const char *fmt, ...);

/* Look up: 0 or "" when there is no such value. */
uint64_t rcl_out_get_u64(struct json_object *obj, const char *key);
const char *rcl_out_get_text(struct json_object *obj, const char *key);

/* Show an array as a table, or one object as lines of head and value. */
void rcl_out_table(FILE *to, struct json_object *rows,
		   const struct rcl_col *cols, size_t num, const char *indent);
void rcl_out_block(FILE *to, struct json_object *obj,
		   const struct rcl_col *cols, size_t num, const char *indent);

/* Print as JSON: a whole document, or one line of many. */
void rcl_out_json(FILE *to, struct json_object *doc);
void rcl_out_json_line(FILE *to, struct json_object *doc);

#endif /* RCL_OUT_H */
