// SPDX-License-Identifier: GPL-2.0
#include "out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "text.h"

#define GAP	2	/* blanks between columns */

void rcl_out_u64(struct json_object *obj, const char *key, uint64_t value)
{
	json_object_object_add(obj, key, json_object_new_uint64(value));
}

void rcl_out_known(struct json_object *obj, const char *key, uint64_t value)
{
	if (value)
		rcl_out_u64(obj, key, value);
	else
		json_object_object_add(obj, key, NULL);
}

void rcl_out_text(struct json_object *obj, const char *key, const char *text)
{
	struct json_object *value = NULL;
	char *copy;

	copy = text ? strdup(text) : NULL;
	if (copy) {
		rcl_make_printable(copy);
		value = json_object_new_string(copy);
		free(copy);
	}
	json_object_object_add(obj, key, value);
}

void rcl_out_gid(struct json_object *obj, const char *key,
		 const uint8_t gid[RCLINK_GID_LEN])
{
	char buf[RCL_GID_TEXT_LEN];

	rcl_out_text(obj, key,
		     rcl_gid_is_unset(gid) ? NULL : rcl_gid_text(gid, buf));
}

void rcl_out_append(struct json_object *array, const char *fmt, ...)
{
	char text[RCL_OUT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rcl_make_printable(text);
	json_object_array_add(array, json_object_new_string(text));
}

uint64_t rcl_out_get_u64(struct json_object *obj, const char *key)
{
	struct json_object *value = json_object_object_get(obj, key);

	return value ? json_object_get_uint64(value) : 0;
}

const char *rcl_out_get_text(struct json_object *obj, const char *key)
{
	struct json_object *value = json_object_object_get(obj, key);

	return value ? json_object_get_string(value) : "";
}

static void cell(struct json_object *row, const struct rcl_col *col, char *buf)
{
	struct json_object *value = json_object_object_get(row, col->key);

	buf[0] = '\0';
	if (col->text)
		col->text(row, col->key, buf);
	else if (value)
		snprintf(buf, RCL_CELL_LEN, "%s",
			 json_object_get_string(value));
	if (!buf[0])
		strcpy(buf, "-");
}

static void print_cell(FILE *to, const char *text, size_t width, int last)
{
	if (last)
		fprintf(to, "%s\n", text);
	else
		fprintf(to, "%-*s", (int)width + GAP, text);
}

void rcl_out_table(FILE *to, struct json_object *rows,
		   const struct rcl_col *cols, size_t num, const char *indent)
{
	size_t rows_num = json_object_array_length(rows);
	size_t width[num];
	char buf[RCL_CELL_LEN];
	size_t r, c;

	for (c = 0; c < num; c++) {
		width[c] = strlen(cols[c].head);
		for (r = 0; r < rows_num; r++) {
			cell(json_object_array_get_idx(rows, r), &cols[c], buf);
			if (strlen(buf) > width[c])
				width[c] = strlen(buf);
		}
	}
	fputs(indent, to);
	for (c = 0; c < num; c++)
		print_cell(to, cols[c].head, width[c], c + 1 == num);
	for (r = 0; r < rows_num; r++) {
		fputs(indent, to);
		for (c = 0; c < num; c++) {
			cell(json_object_array_get_idx(rows, r), &cols[c], buf);
			print_cell(to, buf, width[c], c + 1 == num);
		}
	}
}

void rcl_out_block(FILE *to, struct json_object *obj,
		   const struct rcl_col *cols, size_t num, const char *indent)
{
	char buf[RCL_CELL_LEN];
	size_t width = 0;
	size_t c;

	for (c = 0; c < num; c++)
		if (strlen(cols[c].head) > width)
			width = strlen(cols[c].head);
	for (c = 0; c < num; c++) {
		cell(obj, &cols[c], buf);
		fprintf(to, "%s%-*s%s\n", indent, (int)width + GAP,
			cols[c].head, buf);
	}
}

void rcl_out_json(FILE *to, struct json_object *doc)
{
	int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		    JSON_C_TO_STRING_NOSLASHESCAPE;

	fprintf(to, "%s\n", json_object_to_json_string_ext(doc, flags));
}

void rcl_out_json_line(FILE *to, struct json_object *doc)
{
	int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;

	fprintf(to, "%s\n", json_object_to_json_string_ext(doc, flags));
}
