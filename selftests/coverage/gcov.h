/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RCL_COVERAGE_GCOV_H
#define RCL_COVERAGE_GCOV_H

#include <linux/types.h>

/*
 * What gcc 12 or 13 generates for an object at -fprofile-arcs, as libgcc reads
 * it. Only the first kind of counters is in use: how often an arc was taken.
 */
#define GCOV_KINDS	8

struct gcov_counters {
	u32 n;
	s64 *value;
};

struct gcov_function {
	const void *key;
	u32 ident;
	u32 lines_sum;
	u32 arcs_sum;
	struct gcov_counters arcs;
};

struct gcov_info {
	u32 version;
	struct gcov_info *next;
	u32 stamp;
	u32 sum;
	const char *filename;		/* absolute, of the .gcda */
	const void *merge[GCOV_KINDS];	/* functions of the kinds in use */
	u32 functions;
	const struct gcov_function *const *function;
};

/* The section of a module that has one pointer per object: sections.lds */
extern struct gcov_info *rcl_coverage_begin[];
extern struct gcov_info *rcl_coverage_end[];

/* init_module() and cleanup_module() of kmod/main.c have these names here. */
int rcl_module_init(void);
void rcl_module_exit(void);

void __gcov_merge_add(s64 *counter, u32 counters);
void rcl_coverage_take(struct gcov_info **info, size_t n);

#endif
