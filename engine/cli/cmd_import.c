/*
 * foliolab import: a real kernel's trace as a recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/import_text.h"
#include "lib/strutil.h"

enum { OPT_OUTPUT, OPT_INO, OPT_DEV, OPT_DISK, OPT_KERNEL, OPT_PAGE_SIZE, OPT_SKIP };

static const struct cli_option options[] = {
	{"output", "o", "OUT", "write the recording there instead of standard output", OPT_OUTPUT},
	{"ino", NULL, "N",
	 "the file with this inode number, decimal or 0x-hexadecimal (default: "
	 "the one with the most events)",
	 OPT_INO},
	{"dev", NULL, "MAJOR:MINOR", "the file on this device", OPT_DEV},
	{"disk", NULL, "MAJOR:MINOR",
	 "block events of this device belong to the file's, too: the "
	 "disk of its partition",
	 OPT_DISK},
	{"kernel", NULL, "RELEASE", "which kernel it was, where the trace does not say",
	 OPT_KERNEL},
	{"page-size", NULL, "SIZE", "of that machine: 4k (default), 16k or 64k", OPT_PAGE_SIZE},
	{"skip-damaged", NULL, NULL, "count lines that cannot be read and go on", OPT_SKIP},
	{0},
};

struct import_args {
	const char *path, *output, *kernel;
	struct import_options options;
	s64 page_size;
	bool help;
};

static int parse_dev(const char *option, const char *value, u32 *dev, struct fl_error *err)
{
	unsigned int major, minor;
	int n = 0;

	if (sscanf(value, "%4u:%7u%n", &major, &minor, &n) != 2 || value[n] || major >> 12 ||
	    minor >> 20)
		return fl_error_set(err, -EINVAL, option, 0, "'%.40s', expected MAJOR:MINOR",
				    value);
	*dev = IMPORT_DEV(major, minor);
	return 0;
}

static int parse_ino(const char *value, u64 *ino, struct fl_error *err)
{
	char *end;

	errno = 0;
	*ino = strtoull(value, &end, 0);
	if (errno || *end || *value < '0' || *value > '9' || !*ino)
		return fl_error_set(err, -EINVAL, "--ino", 0, "'%.40s', expected an inode number",
				    value);
	return 0;
}

static int parse_page_size(const char *value, s64 *size, struct fl_error *err)
{
	if (parse_size(value, size) || (*size != 4096 && *size != 16384 && *size != 65536))
		return fl_error_set(err, -EINVAL, "--page-size", 0,
				    "'%.40s', expected 4k, 16k or 64k", value);
	return 0;
}

static int set_path(struct import_args *a, const char *value, struct fl_error *err)
{
	if (a->path)
		return fl_error_set(err, -EINVAL, NULL, 0, "a second trace '%.40s', expected one",
				    value);
	a->path = value;
	return 0;
}

static int set_option(struct import_args *a, int id, const char *value, struct fl_error *err)
{
	switch (id) {
	case CLI_HELP:
		a->help = true;
		break;
	case CLI_POSITIONAL:
		return set_path(a, value, err);
	case OPT_OUTPUT:
		a->output = value;
		break;
	case OPT_INO:
		return parse_ino(value, &a->options.ino, err);
	case OPT_DEV:
		a->options.has_dev = true;
		return parse_dev("--dev", value, &a->options.dev, err);
	case OPT_DISK:
		return parse_dev("--disk", value, &a->options.disk, err);
	case OPT_KERNEL:
		a->kernel = value;
		break;
	case OPT_PAGE_SIZE:
		return parse_page_size(value, &a->page_size, err);
	case OPT_SKIP:
		a->options.skip_damaged = true;
		break;
	}
	return 0;
}

static int parse(struct cli_args *args, struct import_args *a, struct fl_error *err)
{
	const char *value;
	int id, ret;

	*a = (struct import_args){.page_size = 4096};
	while (!a->help && (ret = cli_next(args, &id, &value, err)) > 0) {
		ret = set_option(a, id, value, err);
		if (ret)
			return ret;
	}
	if (a->help || ret)
		return a->help ? 0 : ret;
	if (!a->path)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "no trace, expected the text of one (- for standard input)");
	if ((!a->output || !strcmp(a->output, "-")) && isatty(STDOUT_FILENO))
		return fl_error_set(err, -EINVAL, "-o", 0,
				    "missing, expected the file to write the recording to");
	return 0;
}

/* A pipe cannot be read twice. */
static FILE *copy_of(FILE *f)
{
	FILE *copy = tmpfile();
	char buf[65536];
	size_t n;

	while (copy && (n = fread(buf, 1, sizeof(buf), f)) > 0)
		if (fwrite(buf, 1, n, copy) != n)
			break;
	if (copy && (ferror(f) || ferror(copy) || fseek(copy, 0, SEEK_SET))) {
		fclose(copy);
		copy = NULL;
	}
	return copy;
}

static int open_text(const char *path, FILE **ret, struct fl_error *err)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin, *copy;

	*ret = f;
	if (f && !fseek(f, 0, SEEK_SET))
		return 0;
	copy = f ? copy_of(f) : NULL;
	if (!copy)
		fl_error_set(err, errno ? -errno : -EIO, path, 0,
			     "%s, expected the text of an ftrace trace", strerror(errno));
	if (f && f != stdin)
		fclose(f);
	*ret = copy;
	return copy ? 0 : -EINVAL;
}

static int import(const struct import_args *a, struct fl_error *err)
{
	struct recording_info info = {.source = "imported", .page_size = a->page_size};
	struct import_result result;
	struct out out;
	FILE *text;
	int ret = open_text(a->path, &text, err);

	if (ret)
		return ret;
	snprintf(info.kernel, sizeof(info.kernel), "%s", a->kernel ? a->kernel : "");
	ret = out_open(&out, a->output, err);
	if (!ret) {
		ret = trace_import(text, a->path, &a->options, out.f, &info, &result, err);
		if (ret)
			out_abort(&out);
		else
			ret = out_commit(&out, err);
	}
	if (text != stdin)
		fclose(text);
	if (!ret)
		import_result_print(stderr, &info, &result);
	return ret;
}

static int cmd_import_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct import_args a;

	if (parse(args, &a, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return import(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_import = {
	.name = "import",
	.synopsis = "FILE -o OUT [options]",
	.summary = "Make a recording of a real kernel's trace, for replay and export.",
	.options = options,
	.details =
		"FILE is the text of /sys/kernel/tracing/trace, of trace-cmd report, of host "
		"trace\n"
		"--format text, or - for standard input. One file's events are kept: filemap,\n"
		"readahead, ext4 and writeback events by device and inode, block events by "
		"device.\n"
		"Time counts from the first of them. What was left out is told on standard error.\n"
		"\n"
		"Examples:\n"
		"  trace-cmd record -e filemap -e readahead -e block cat data\n"
		"  trace-cmd report > data.txt\n"
		"  foliolab import data.txt -o data.flt\n"
		"  foliolab replay data.flt\n",
	.run = cmd_import_main,
};
