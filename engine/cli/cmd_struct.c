/* foliolab struct: how structs lie in memory, the miniature's and the kernel's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/struct_diff.h"
#include "cli/struct_live.h"
#include "debuginfo/btf.h"
#include "debuginfo/dwarf_source.h"
#include "debuginfo/guard.h"
#include "debuginfo/layout.h"

enum {
	OPT_ALL,
	OPT_EXPAND,
	OPT_DIFF,
	OPT_BTF,
	OPT_VMLINUX,
	OPT_LIVE,
	OPT_AT,
	OPT_EVAL,
	OPT_FORMAT,
	OPT_OUTPUT,
};

static const struct cli_option struct_options[] = {
	{"all", NULL, NULL, "every struct, union and enum that has a name", OPT_ALL},
	{"expand", NULL, NULL, "unfold structs and unions that are members", OPT_EXPAND},
	{"kernel-btf", NULL, "[FILE]",
	 "the kernel's instead of the miniature's, from BTF (default " BTF_RUNNING_KERNEL ")",
	 OPT_BTF},
	{"vmlinux", NULL, "FILE",
	 "the kernel's, from the DWARF of a vmlinux or module with debug information "
	 "(linux-image-*-dbg)",
	 OPT_VMLINUX},
	{"diff", NULL, NULL,
	 "the miniature's beside the kernel's, field by field (default --kernel-btf)", OPT_DIFF},
	{"live", NULL, "EXPR",
	 "the values in a struct of a run: of the recording TRACE, played once more, or of -e OPS",
	 OPT_LIVE},
	{"at", NULL, "N", "with --live TRACE: at this event instead of at the end", OPT_AT},
	{NULL, "e", "OPS", "with --live: operations separated by ';' instead of a recording",
	 OPT_EVAL},
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{"output", "o", "FILE", "write to FILE instead of standard output", OPT_OUTPUT},
	MACHINE_OPTION_ROWS_AND_END,
};

#define NAMES_MAX 64

struct struct_args {
	const char *names[NAMES_MAX];
	unsigned int nr;
	bool all, diff, btf;
	unsigned int flags; /* LAYOUT_ */
	const char *btf_path, *vmlinux, *output;
	enum cli_format format;
	struct live_args live;
};

/* ---- which structs ---- */

/* One definition that is to be shown. */
struct showing {
	const struct struct_args *a;
	struct types *types;
	FILE *f;
	cJSON *list;	 /* JSON: where they are collected */
	unsigned int nr; /* shown so far */
	struct fl_error *err;
};

static int show_text(struct showing *s, struct type *t)
{
	if (s->nr++)
		fputc('\n', s->f);
	return layout_print(s->f, s->types, t, s->a->flags, s->err);
}

static int show_json(struct showing *s, struct type *t)
{
	cJSON *obj = layout_json(s->types, t, s->a->flags, s->err);

	if (!obj)
		return s->err->code;
	cJSON_AddItemToArray(s->list, obj);
	s->nr++;
	return 0;
}

static int show_type(struct showing *s, struct type *t)
{
	return s->list ? show_json(s, t) : show_text(s, t);
}

/* The struct, union or enum behind a typedef. */
static int show_definition(struct showing *s, const struct type *t)
{
	const struct type *inner = type_strip(t);

	if (!inner || !*type_keyword(inner))
		return fl_error_set(s->err, -EINVAL, s->types->path, 0,
				    "'%.80s' is neither struct, union nor enum", t->name);
	return show_type(s, (struct type *)inner);
}

/* In text all definitions of a name, in JSON the first. */
static int show_name(struct showing *s, const char *name)
{
	struct type *t;
	int ret;

	ret = type_find(s->types, name, 0, &t, s->err);
	if (!ret)
		ret = show_definition(s, t);
	for (u32 nr = 1; !ret && !s->list; nr++) {
		ret = type_find(s->types, name, nr, &t, s->err);
		if (ret == -ENOENT)
			return 0;
		if (!ret && t->kind != TYPE_TYPEDEF)
			ret = show_definition(s, t);
	}
	return ret;
}

static int show_wanted(struct showing *s)
{
	struct type *t;
	u32 pos = 0;
	int ret = 0;

	for (unsigned int i = 0; i < s->a->nr && !ret; i++)
		ret = show_name(s, s->a->names[i]);
	while (s->a->all && !ret && (ret = type_next(s->types, &pos, &t, s->err)) > 0)
		ret = show_type(s, t);
	return ret;
}

static int print_json(FILE *f, const cJSON *obj, struct fl_error *err)
{
	char *text = cJSON_Print(obj);

	if (!text)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	fprintf(f, "%s\n", text);
	free(text);
	return 0;
}

/* One struct is an object, several are a list in one. */
static int show(FILE *f, struct types *types, const struct struct_args *a, struct fl_error *err)
{
	struct showing s = {.a = a, .types = types, .f = f, .err = err};
	cJSON *obj;
	int ret;

	if (a->format == FORMAT_TEXT)
		return show_wanted(&s);
	obj = cJSON_CreateObject();
	s.list = cJSON_AddArrayToObject(obj, "structs");
	ret = s.list ? show_wanted(&s) : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret)
		ret = print_json(f, !a->all && a->nr == 1 ? cJSON_GetArrayItem(s.list, 0) : obj,
				 err);
	cJSON_Delete(obj);
	return ret;
}

/* The structs that were named, of @types beside those of the kernel. */
static int show_diffs(FILE *f, struct types *ours, struct types *kernels,
		      const struct struct_args *a, struct fl_error *err)
{
	struct struct_diff d;
	struct type *our, *kernel;
	int ret = 0;

	for (unsigned int i = 0; i < a->nr && !ret; i++) {
		ret = type_find(ours, a->names[i], 0, &our, err);
		if (!ret)
			ret = type_find(kernels, a->names[i], 0, &kernel, err);
		if (!ret)
			ret = struct_diff(&d, ours, our, kernels, kernel, err);
		if (ret)
			break;
		ret = a->format == FORMAT_JSON ? struct_diff_json(f, our->name, &d, err)
					       : struct_diff_print(f, our->name, &d);
		struct_diff_fini(&d);
	}
	return ret;
}

/* ---- where from ---- */

struct job {
	const struct struct_args *a;
	struct dwarf_source own, kernel;
	struct btf_file btf;
};

static int produce(struct job *j, FILE *f, struct types *kernels, struct fl_error *err)
{
	if (j->a->diff)
		return show_diffs(f, &j->own.types.types, kernels, j->a, err);
	return show(f, kernels ? kernels : &j->own.types.types, j->a, err);
}

/* In the locked child. */
static int produce_from_vmlinux(void *ctx, FILE *f, struct guard_reply *keep, struct fl_error *err)
{
	struct job *j = ctx;
	int ret = dwarf_source_start(&j->kernel, err);

	if (!ret && j->kernel.built) {
		keep->keep = j->kernel.index.bytes;
		keep->keep_size = j->kernel.index.size;
	}
	return ret ? ret : produce(j, f, &j->kernel.types.types, err);
}

static int from_vmlinux(struct job *j, FILE *f, struct fl_error *err)
{
	struct guard_reply reply;
	int ret = dwarf_source_map(&j->kernel, j->a->vmlinux, err);

	if (!ret)
		ret = guard_run(j->a->vmlinux, produce_from_vmlinux, j, &reply, err);
	if (ret)
		return ret;
	fwrite(reply.text, 1, reply.text_size, f);
	if (reply.keep)
		dwarf_source_keep(&j->kernel, reply.keep, reply.keep_size);
	guard_reply_fini(&reply);
	return 0;
}

/* One name alone is found sooner; without its keyword. */
static const char *only_name(const struct struct_args *a)
{
	const char *blank = a->nr == 1 ? strchr(a->names[0], ' ') : NULL;

	if (a->all || a->nr != 1)
		return NULL;
	return blank ? blank + 1 : a->names[0];
}

static int from_source(struct job *j, FILE *f, struct fl_error *err)
{
	bool btf = j->a->btf || (j->a->diff && !j->a->vmlinux);
	int ret = 0;

	if (j->a->live.expression)
		return struct_live(&j->a->live, j->a->format, f, err);
	if (j->a->diff || !(btf || j->a->vmlinux))
		ret = dwarf_source_own(&j->own, only_name(j->a), err);
	if (!ret && j->a->vmlinux)
		return from_vmlinux(j, f, err);
	if (!ret && btf)
		ret = btf_open(&j->btf, j->a->btf_path ? j->a->btf_path : BTF_RUNNING_KERNEL, err);
	return ret ? ret : produce(j, f, btf ? &j->btf.types : NULL, err);
}

static int write_out(const char *path, const char *text, size_t size, struct fl_error *err)
{
	struct out o;
	int ret = out_open(&o, path, err);

	if (ret)
		return ret;
	fwrite(text, 1, size, o.f);
	return out_commit(&o, err);
}

/* Nothing is written before all of it is known to be right. */
static int run(const struct struct_args *a, struct fl_error *err)
{
	struct job j = {.a = a};
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int ret;

	if (!f)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = from_source(&j, f, err);
	btf_close(&j.btf);
	dwarf_source_close(&j.kernel);
	dwarf_source_close(&j.own);
	if (fclose(f) && !ret)
		ret = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret)
		ret = write_out(a->output, text, size, err);
	free(text);
	return ret;
}

/* ---- the command ---- */

static int take_name(struct struct_args *a, const char *name, struct fl_error *err)
{
	if (a->nr == NAMES_MAX)
		return fl_error_set(err, -E2BIG, NULL, 0, "too many names, expected at most %d",
				    NAMES_MAX);
	a->names[a->nr++] = name;
	return 0;
}

static int take_live(struct live_args *a, int id, const char *value, struct fl_error *err)
{
	switch (id) {
	case OPT_LIVE:
		a->expression = value;
		return 0;
	case OPT_AT:
		return recording_args_number("--at", value, &a->at, err);
	default:
		return workload_arg_set_ops(&a->workload, value, err);
	}
}

static int take(struct struct_args *a, int id, const char *value, struct fl_error *err)
{
	if (machine_option_is(id))
		return machine_option_set(&a->live.machine, id, value, err);
	switch (id) {
	case OPT_LIVE:
	case OPT_AT:
	case OPT_EVAL:
		return take_live(&a->live, id, value, err);
	case OPT_ALL:
		a->all = true;
		return 0;
	case OPT_EXPAND:
		a->flags |= LAYOUT_EXPAND;
		return 0;
	case OPT_DIFF:
		a->diff = true;
		return 0;
	case OPT_BTF:
		a->btf = true;
		a->btf_path = value;
		return 0;
	case OPT_VMLINUX:
		a->vmlinux = value;
		return 0;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	case OPT_OUTPUT:
		a->output = value;
		return 0;
	default:
		return take_name(a, value, err);
	}
}

/* The recording is what without --live would be a name. */
static int check_live(struct struct_args *a, struct fl_error *err)
{
	struct live_args *live = &a->live;

	if (a->all || a->diff || a->btf || a->vmlinux)
		return fl_error_set(err, -EINVAL, "--live", 0,
				    "values are the miniature's, expected no --all, --diff, "
				    "--kernel-btf and --vmlinux beside it");
	for (unsigned int i = 0; i < a->nr; i++)
		if (recording_args_path(&live->recording, a->names[i], err))
			return err->code;
	if (!live->recording.path == !live->workload.ops)
		return fl_error_set(err, -EINVAL, "--live", 0,
				    "expected either a recording or -e OPS beside it");
	if (live->at != ~0ull && !live->recording.path)
		return fl_error_set(err, -EINVAL, "--at", 0, "expected a recording beside it");
	return machine_options_check(&live->machine, err);
}

static int check(struct struct_args *a, struct fl_error *err)
{
	if (a->live.expression)
		return check_live(a, err);
	if (a->live.at != ~0ull || a->live.workload.ops)
		return fl_error_set(err, -EINVAL, a->live.workload.ops ? "-e" : "--at", 0,
				    "expected --live beside it");
	if (a->btf && a->vmlinux)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "--kernel-btf and --vmlinux together, expected one of them");
	if (a->all == (a->nr > 0) || (a->all && a->diff))
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "%s, expected the name of a struct, union or enum%s",
				    a->all ? "--all and something else" : "no name",
				    a->diff ? "" : ", or --all");
	return 0;
}

static int cmd_struct_main(struct cli_args *args)
{
	struct struct_args a = {.format = FORMAT_TEXT};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	live_args_init(&a.live);
	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (id == CLI_HELP)
			return cli_help(args);
		if (take(&a, id, value, &err))
			return cli_fail(&err);
	}
	if (!ret)
		ret = check(&a, &err);
	if (!ret)
		ret = run(&a, &err);
	return ret ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_struct = {
	.name = "struct",
	.synopsis = "NAME... [--expand] [--kernel-btf [FILE] | --vmlinux FILE] [--diff]\n"
		    "--all [options]\n"
		    "--live EXPR (TRACE [--at N] | -e OPS [machine options])",
	.summary = "Show how structs lie in memory: the miniature's, the kernel's, or both.",
	.options = struct_options,
	.details =
		"NAME is a struct, union, enum or a typedef of one: folio, 'struct xarray'.\n"
		"Offsets count from the start of the outermost struct. The index of a vmlinux is\n"
		"kept in $XDG_CACHE_HOME/foliolab under its build id.\n"
		"\n"
		"Examples:\n"
		"  foliolab struct folio file_ra_state\n"
		"  foliolab struct folio --kernel-btf\n"
		"  foliolab struct address_space --diff\n"
		"\n"
		"JSON keys:\n"
		"  name, size     of the struct; bytes\n"
		"  members        [{name, type, offset, size, bit_offset, bit_size}]: bytes; for\n"
		"                 bit-fields bit_offset counts from offset, else bit_size is 0;\n"
		"                 what is unfolded has names like lru.next\n"
		"  values         of an enum instead: [{name, value}]\n"
		"  structs        with --all or several names: [{name, size, members}]\n"
		"With --diff: name, size, kernel_size, fields [{name, kernel_name, what, offset,\n"
		"size, kernel_offset, kernel_size, reason}]; what is \"same\", \"renamed\",\n"
		"\"only here\" or \"only there\".\n",
	.run = cmd_struct_main,
};
