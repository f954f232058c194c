/* SPDX-License-Identifier: GPL-2.0 */
/* Decodes attributes of a message, by a table of where they go in a struct. */
#ifndef RCL_FIELD_H
#define RCL_FIELD_H

#include <stddef.h>
#include <stdint.h>

struct nlattr;

/* The kind of an attribute; for a text, its size instead. */
enum { RCL_U32 = -1, RCL_U64 = -2, RCL_GID = -3 };

struct rcl_field {
	int attr;
	int kind;	/* size of a text, with the NUL, or one of these */
	size_t off;	/* in the struct */
};

/*
 * Decode what is in tb[] by a table of num fields. A text that is too long is
 * cut. Returns 0, or -EPROTO for anything else of a wrong length.
 */
int rcl_fields_get(struct nlattr **tb, const struct rcl_field *f, size_t num,
		   void *object);

/* One number: 0, or -EPROTO. */
int rcl_u32_get(const struct nlattr *nla, uint32_t *value);
int rcl_u64_get(const struct nlattr *nla, uint64_t *value);

/* 64-bit numbers, each at the index of its attribute; likewise. */
int rcl_u64s_get(const struct nlattr *nest, uint64_t *values, int num);

#endif /* RCL_FIELD_H */
