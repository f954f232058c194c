// SPDX-License-Identifier: GPL-2.0
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rcl.h"

#define DEBUGFS		"/sys/kernel/debug"
/* All modules of x86-64, wherever the layout was moved to. */
#define MODULES_START	0xffffffffa0000000UL
#define MODULES_END	0xffffffffff000000UL
#define ALWAYS		1000000000	/* times; more than any test uses up */
/*
 * It must not fail, because it then puts a trace into the log: the device's
 * driver uses it, and the module for rings only.
 */
#define VMALLOC		"__vmalloc_node_range_noprof"

static int write_value(const char *file, unsigned long value)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%lu", value);
	int fd = open(file, O_WRONLY);
	int ret = 0;

	if (fd < 0 || write(fd, text, len) != len)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Return: the value, 0 if there is none. */
static unsigned long read_value(const char *file)
{
	char text[32] = "";
	FILE *in = fopen(file, "r");

	if (!in)
		return 0;
	if (!fgets(text, sizeof(text), in))
		text[0] = '\0';
	fclose(in);
	return strtoul(text, NULL, 0);
}

static int set(const char *knob, const char *name, unsigned long value)
{
	char file[128];
	int ret;

	snprintf(file, sizeof(file), DEBUGFS "/%s/%s", knob, name);
	ret = write_value(file, value);
	if (ret)
		fprintf(stderr, "# %s: %s\n", file, strerror(-ret));
	return ret;
}

static void count_file(const struct fault *f, char *file, size_t size)
{
	snprintf(file, size, "/run/rclink-test-%s", f->knob);
}

bool fault_there(void)
{
	return !access(DEBUGFS "/failslab/require-start", W_OK);
}

/* A range of the kernel's code. */
struct text {
	unsigned long start;
	unsigned long end;
};

static const struct text all_modules = { MODULES_START, MODULES_END };

static void add_symbol(struct text *text, const char *line)
{
	unsigned long address;
	char type;

	if (sscanf(line, "%lx %c", &address, &type) != 2 ||
	    (type != 't' && type != 'T'))
		return;
	if (address < text->start)
		text->start = address;
	/* the last function is not longer than that */
	if (address + 4096 > text->end)
		text->end = address + 4096;
}

/* Find a function of the kernel, which ends at the symbol behind it. */
static void find_function(struct text *text, const char *line,
			  const char *name)
{
	char symbol[256] = "";
	unsigned long address;

	if (text->end ||
	    sscanf(line, "%lx %*c %255s", &address, symbol) != 2)
		return;
	if (text->start && address > text->start)
		text->end = address;
	else if (!strcmp(symbol, name))
		text->start = address;
}

/*
 * Find the module's code, from its first function to its last, and that of one
 * function of the kernel, below which nothing is to fail.
 */
static int read_symbols(struct text *text, struct text *spared,
			const char *name)
{
	char line[512];
	FILE *in;

	*text = (struct text){ .start = ~0UL };
	memset(spared, 0, sizeof(*spared));
	in = fopen("/proc/kallsyms", "r");
	if (!in)
		return -errno;
	while (fgets(line, sizeof(line), in)) {
		if (strstr(line, "\t[rclink]"))
			add_symbol(text, line);
		if (!strchr(line, '['))
			find_function(spared, line, name);
	}
	fclose(in);
	return spared->end && text->end ? 0 : -ENOENT;
}

/* Find one function of the module, whose symbols are in no order. */
static int read_function(struct text *text, const char *name)
{
	char line[512], symbol[256];
	unsigned long address;
	FILE *in;

	*text = (struct text){ .end = ~0UL };
	in = fopen("/proc/kallsyms", "r");
	if (!in)
		return -errno;
	while (fgets(line, sizeof(line), in))
		if (strstr(line, "\t[rclink]") &&
		    sscanf(line, "%lx %*c %255s", &address, symbol) == 2 &&
		    !strcmp(symbol, name))
			text->start = address;
	rewind(in);
	while (fgets(line, sizeof(line), in))
		if (strstr(line, "\t[rclink]") &&
		    sscanf(line, "%lx", &address) == 1 &&
		    address > text->start && address < text->end)
			text->end = address;
	fclose(in);
	return text->start && text->end != ~0UL ? 0 : -ENOENT;
}

/* Let allocations fail also if they may sleep, of any size; log nothing. */
static int setup(const char *knob, const struct text *require,
		 const struct text *reject)
{
	int ret;

	ret = set(knob, "probability", 0);
	if (!ret)
		ret = set(knob, "verbose", 0);
	if (!ret && strcmp(knob, "fail_usercopy"))
		ret = set(knob, "ignore-gfp-wait", 0);
	if (!ret && !strcmp(knob, "fail_page_alloc"))
		ret = set(knob, "min-order", 0);
	if (!ret)
		ret = set(knob, "task-filter", 0);
	if (!ret)
		ret = set(knob, "space", 0);
	if (!ret)
		ret = set(knob, "require-start", require->start);
	if (!ret)
		ret = set(knob, "require-end", require->end);
	if (!ret)
		ret = set(knob, "reject-start", reject->start);
	if (!ret)
		ret = set(knob, "reject-end", reject->end);
	return ret;
}

static int init(struct fault *f, const char *knob, const struct text *require,
		const struct text *reject)
{
	char file[64];

	f->knob = knob;
	count_file(f, file, sizeof(file));
	f->count = read_value(file);
	return setup(knob, require, reject);
}

int fault_init(struct fault *f, const char *knob)
{
	return fault_init_but(f, knob, VMALLOC);
}

int fault_init_but(struct fault *f, const char *knob, const char *function)
{
	struct text module, spared;
	int ret;

	ret = read_symbols(&module, &spared, function);
	return ret ? ret : init(f, knob, &module, &spared);
}

int fault_init_below(struct fault *f, const char *knob, const char *function)
{
	struct text module, vmalloc, text;
	int ret;

	ret = read_symbols(&module, &vmalloc, VMALLOC);
	if (!ret)
		ret = read_function(&text, function);
	return ret ? ret : init(f, knob, &text, &vmalloc);
}

/* The k-th allocation from now on is to fail. */
void fault_arm(struct fault *f, unsigned long k)
{
	f->next = f->count + k;
	/* with an interval of 1 the kernel does not count */
	if (f->next == 1)
		f->next = 2;
	set(f->knob, "times", 0);
	set(f->knob, "interval", f->next);
	set(f->knob, "probability", 100);
	set(f->knob, "times", 1);
}

bool fault_pending(struct fault *f)
{
	char file[128];

	snprintf(file, sizeof(file), DEBUGFS "/%s/times", f->knob);
	return read_value(file);
}

void fault_drain(struct genl_sock *s, struct fault *f)
{
	struct rcl_end end;

	while (fault_pending(f)) {
		rcl_new(s, "drain");
		rcl_prepare(s, "drain", &end);
		rcl_del(s, "drain");
	}
}

/* To be called after the failure has happened. */
void fault_disarm(struct fault *f)
{
	char file[64];

	set(f->knob, "probability", 0);
	f->count = f->next;
	count_file(f, file, sizeof(file));
	close(open(file, O_WRONLY | O_CREAT, 0600));
	write_value(file, f->count);
}

/* Prepare fault_percent(), which sets the probability only. */
int fault_percent_setup(const char *knob)
{
	struct text module, vmalloc;
	int ret;

	ret = read_symbols(&module, &vmalloc, VMALLOC);
	if (!ret)
		ret = setup(knob, &module, &vmalloc);
	if (!ret)
		ret = set(knob, "interval", 1);
	if (!ret)
		ret = set(knob, "times", ALWAYS);
	return ret;
}

/* From now on @percent of the allocations below the module fail, at random. */
int fault_percent(const char *knob, unsigned int percent)
{
	return set(knob, "probability", percent);
}

/* Return: how often @knob has fired since fault_percent_setup(). */
unsigned long fault_fired(const char *knob)
{
	char file[128];

	snprintf(file, sizeof(file), DEBUGFS "/%s/times", knob);
	return ALWAYS - read_value(file);
}

/* Prepare fault_nth(): the caller's allocations and copies below any module. */
int fault_nth_setup(void)
{
	static const char * const knobs[] = {
		"failslab", "fail_page_alloc", "fail_usercopy"
	};
	struct text text, vmalloc;
	unsigned int i;
	int ret;

	ret = read_symbols(&text, &vmalloc, VMALLOC);
	for (i = 0; !ret && i < sizeof(knobs) / sizeof(knobs[0]); i++)
		ret = setup(knobs[i], &all_modules, &vmalloc);
	return ret;
}

/* Return: what was left of the last count, 0 when it has fired. */
unsigned long fault_nth(unsigned int n)
{
	unsigned long left = read_value("/proc/thread-self/fail-nth");

	write_value("/proc/thread-self/fail-nth", n);
	return left;
}
