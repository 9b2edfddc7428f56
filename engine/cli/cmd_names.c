/* foliolab names: which functions of the miniature a kernel has. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "debuginfo/kernel_names.h"

enum { OPT_VMLINUX, OPT_BTF, OPT_MAP, OPT_MISSING, OPT_FORMAT };

static const struct cli_option names_options[] = {
	{"kernel-btf", NULL, "[FILE]", "the kernel's BTF (default, of the running kernel)",
	 OPT_BTF},
	{"vmlinux", NULL, "FILE", "a vmlinux or module with debug information", OPT_VMLINUX},
	{"system-map", NULL, "FILE", "System.map, or a copy of /proc/kallsyms", OPT_MAP},
	{"missing", NULL, NULL, "only those that the kernel does not have", OPT_MISSING},
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{0},
};

struct names_args {
	enum kernel_names_from from;
	const char *path;
	bool given, missing;
	enum cli_format format;
};

struct names_show {
	const struct names_args *a;
	struct own_functions own;
	struct kernel_names kernel;
	size_t common;
};

/* ---- what is printed ---- */

static void show_text(struct out *o, const void *data)
{
	const struct names_show *s = data;

	for (size_t i = 0; i < s->own.nr; i++) {
		const struct own_function *f = &s->own.functions[i];

		if (!f->in_kernel || !s->a->missing)
			fprintf(o->f, "%c %-36s %s:%u\n", f->in_kernel ? 'y' : '-', f->name,
				f->file, f->line);
	}
	fprintf(o->f, "%zu of %zu functions are in %s\n", s->common, s->own.nr, s->a->path);
}

static cJSON *show_json(const void *data)
{
	const struct names_show *s = data;
	cJSON *obj = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(obj, "functions");

	for (size_t i = 0; i < s->own.nr; i++) {
		const struct own_function *f = &s->own.functions[i];
		cJSON *one;

		if (f->in_kernel && s->a->missing)
			continue;
		one = cJSON_CreateObject();
		cJSON_AddStringToObject(one, "name", f->name);
		cJSON_AddStringToObject(one, "file", f->file);
		json_add_u64(one, "line", f->line);
		cJSON_AddBoolToObject(one, "in_kernel", f->in_kernel);
		cJSON_AddItemToArray(list, one);
	}
	json_add_u64(obj, "in_kernel", s->common);
	json_add_u64(obj, "all", s->own.nr);
	return obj;
}

static int run(const struct names_args *a, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct names_show s = {.a = a};
	int ret = own_functions_load(&s.own, err);

	if (!ret)
		ret = kernel_names_load(&s.kernel, a->from, a->path, err);
	if (!ret) {
		s.common = own_functions_match(&s.own, &s.kernel);
		ret = cli_show(&result, &s, a->format, NULL, err);
	}
	kernel_names_fini(&s.kernel);
	own_functions_fini(&s.own);
	return ret;
}

/* ---- the command ---- */

static int take_kernel(struct names_args *a, enum kernel_names_from from, const char *path,
		       struct fl_error *err)
{
	if (a->given)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "a second kernel, expected one of --kernel-btf, --vmlinux, "
				    "--system-map");
	a->given = true;
	a->from = from;
	if (path)
		a->path = path;
	return 0;
}

static int take(struct cli_args *args, struct names_args *a, int id, const char *value,
		struct fl_error *err)
{
	switch (id) {
	case OPT_BTF:
		return take_kernel(a, KERNEL_NAMES_BTF, value, err);
	case OPT_VMLINUX:
		return take_kernel(a, KERNEL_NAMES_VMLINUX, value, err);
	case OPT_MAP:
		return take_kernel(a, KERNEL_NAMES_MAP, value, err);
	case OPT_MISSING:
		a->missing = true;
		return 0;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	default:
		return cli_unexpected(args, value, err);
	}
}

static int cmd_names_main(struct cli_args *args)
{
	struct names_args a = {.from = KERNEL_NAMES_BTF, .path = BTF_RUNNING_KERNEL};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (id == CLI_HELP)
			return cli_help(args);
		if (take(args, &a, id, value, &err))
			return cli_fail(&err);
	}
	if (!ret)
		ret = run(&a, &err);
	return ret ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_names = {
	.name = "names",
	.synopsis = "[--kernel-btf [FILE] | --vmlinux FILE | --system-map FILE] [options]",
	.summary = "List the miniature's mm, fs and block functions and whether a kernel has them.",
	.options = names_options,
	.details =
		"A kernel without a function may have inlined it everywhere (System.map and BTF\n"
		"then do not name it, a vmlinux's debug information does), be of a version that\n"
		"does not have it, or have it in a module.\n"
		"\n"
		"JSON keys:\n"
		"  functions        [{name, file, line, in_kernel}]\n"
		"  in_kernel, all   how many\n",
	.run = cmd_names_main,
};
