// SPDX-License-Identifier: GPL-2.0
#include "conf.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MORE		"conf.d/*.conf"
#define PATTERN_LEN	(2 * RCD_PATH_LEN + sizeof(MORE))

/* Returns NULL after saying why. */
static FILE *open_file(struct rcd_conf *conf, const char *file,
		       const struct rcd_report *report)
{
	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
	struct rcd_place place = { .line = 0 };
	struct stat st;

	conf->unasked |= !from && rcl_may_pass(errno);
	if (from && !fstat(fd, &st) && S_ISREG(st.st_mode))
		return from;
	snprintf(place.file, sizeof(place.file), "%s", file);
	if (from)
		rcd_say(report, &place,
			"this is not a regular file; give one, or remove it");
	else
		rcd_say(report, &place, "cannot read it: %s; %s",
			strerror(errno), errno == ENOENT ?
			"rclink.conf(5) tells what to write, and of a sample" :
			"see what it is, and who may read it");
	if (from)
		fclose(from);
	else if (fd >= 0)
		close(fd);
	return NULL;
}

static int add_file(struct rcd_conf *conf, const char *file,
		    const struct rcd_report *report)
{
	FILE *from = open_file(conf, file, report);
	int ret;

	if (!from) {
		conf->unclear = true;
		return -EINVAL;
	}
	ret = rcd_conf_parse(conf, from, file, report);
	fclose(from);
	return ret;
}

static int on_glob_error(const char *path, int error)
{
	(void)path;
	return error != ENOENT;
}

/* The files beside file; the name of its directory is not a pattern. */
static void set_pattern(const char *file, char pattern[PATTERN_LEN])
{
	const char *slash = strrchr(file, '/');
	const char *end = slash ? slash + 1 : file;

	for (; file < end; file++) {
		if (strchr("*?[\\", *file))
			*pattern++ = '\\';
		*pattern++ = *file;
	}
	strcpy(pattern, MORE);
}

static int add_more(struct rcd_conf *conf, const char *file,
		    const struct rcd_report *report)
{
	char pattern[PATTERN_LEN];
	struct rcd_place place = { .line = 0 };
	int ret;
	glob_t found;
	size_t i;

	set_pattern(file, pattern);
	ret = glob(pattern, 0, on_glob_error, &found);
	if (ret == GLOB_NOMATCH)
		return 0;
	if (ret) {
		conf->unasked |= ret == GLOB_NOSPACE || rcl_may_pass(errno);
		snprintf(place.file, sizeof(place.file), "%s", file);
		rcd_say(report, &place,
			"cannot look for %s beside it: see who may read that directory",
			MORE);
		conf->unclear = true;
		return -EINVAL;
	}
	for (i = 0; i < found.gl_pathc; i++)
		if (add_file(conf, found.gl_pathv[i], report))
			ret = -EINVAL;
	globfree(&found);
	return ret;
}

int rcd_conf_load(struct rcd_conf *conf, const char *file,
		  const struct rcd_report *report)
{
	int ret, more, whole;

	rcd_conf_init(conf);
	snprintf(conf->place.file, sizeof(conf->place.file), "%s", file);
	ret = add_file(conf, file, report);
	more = add_more(conf, file, report);
	whole = rcd_conf_finish(conf, report);
	if (!ret && !more && !whole)
		return 0;
	return conf->unasked ? -EAGAIN : -EINVAL;
}
