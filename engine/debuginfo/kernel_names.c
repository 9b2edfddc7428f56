#include "debuginfo/kernel_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debuginfo/code.h"
#include "debuginfo/dwarf_source.h"
#include "debuginfo/guard.h"

#define LINE_MAX_BYTES 4096

/* ---- names of a kernel ---- */

/* A name a line, without what the compiler added to it; names that are none are left out. */
static void print_name(FILE *f, const char *name)
{
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return;
	if (len)
		fprintf(f, "%.*s\n", (int)len, name);
}

static int print_btf(FILE *f, const char *path, struct fl_error *err)
{
	struct btf_file b;
	const char *name;
	u32 pos = 0;
	int ret = btf_open(&b, path, err);

	if (ret)
		return ret;
	while ((name = btf_next_function(&b, &pos)))
		print_name(f, name);
	btf_close(&b);
	return 0;
}

/* In the locked child: symbols, and functions that DWARF alone knows. */
static int print_vmlinux(void *ctx, FILE *f, struct guard_reply *keep, struct fl_error *err)
{
	struct dwarf_source *s = ctx;
	struct elf_symbol symbol;
	u64 pos = 0;
	int ret = dwarf_source_start(s, err);

	if (ret)
		return ret;
	while (elf_next_symbol(&s->file.elf, &pos, &symbol))
		if (symbol.function)
			print_name(f, symbol.name);
	for (u32 i = 0; i < s->index.nr; i++)
		if (s->index.entries[i].kind == DWARF_FUNCTION)
			print_name(f, dwarf_index_name(&s->index, i));
	if (s->built) {
		keep->keep = s->index.bytes;
		keep->keep_size = s->index.size;
	}
	return 0;
}

static int guard_vmlinux(FILE *f, const char *path, struct fl_error *err)
{
	struct dwarf_source s;
	struct guard_reply reply = {0};
	int ret = dwarf_source_map(&s, path, err);

	if (!ret)
		ret = guard_run(path, print_vmlinux, &s, &reply, err);
	if (!ret) {
		fwrite(reply.text, 1, reply.text_size, f);
		if (reply.keep)
			dwarf_source_keep(&s, reply.keep, reply.keep_size);
		guard_reply_fini(&reply);
	}
	dwarf_source_close(&s);
	return ret;
}

/* "ffffffff81000000 T name": only code. */
static int print_map(FILE *f, const char *path, struct fl_error *err)
{
	char line[LINE_MAX_BYTES], name[512], type;
	FILE *map = fopen(path, "re");
	unsigned int nr = 0;

	if (!map)
		return fl_error_set(err, -errno, path, 0, "%s, expected a System.map",
				    strerror(errno));
	while (fgets(line, sizeof(line), map)) {
		nr++;
		if (sscanf(line, "%*x %c %511s", &type, name) != 2) {
			fclose(map);
			return fl_error_set(err, -EINVAL, path, nr,
					    "no symbol, expected 'address type name'");
		}
		if (strchr("tTwW", type))
			print_name(f, name);
	}
	fclose(map);
	return nr ? 0 : fl_error_set(err, -EINVAL, path, 0, "empty, expected a System.map");
}

static int print_names(FILE *f, enum kernel_names_from from, const char *path, struct fl_error *err)
{
	switch (from) {
	case KERNEL_NAMES_BTF:
		return print_btf(f, path, err);
	case KERNEL_NAMES_VMLINUX:
		return guard_vmlinux(f, path, err);
	default:
		return print_map(f, path, err);
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Cut the text into names, sort them. */
static int list_names(struct kernel_names *k, size_t size)
{
	size_t lines = 0, kept = 0;
	char *p = k->text;

	for (size_t i = 0; i < size; i++)
		lines += k->text[i] == '\n';
	k->names = calloc(lines + 1, sizeof(*k->names));
	if (!k->names)
		return -ENOMEM;
	for (char *end; (end = strchr(p, '\n')); p = end + 1) {
		*end = 0;
		k->names[k->nr++] = p;
	}
	if (k->nr)
		qsort(k->names, k->nr, sizeof(*k->names), compare_names);
	for (size_t i = 0; i < k->nr; i++)
		if (!kept || strcmp(k->names[kept - 1], k->names[i]))
			k->names[kept++] = k->names[i];
	k->nr = kept;
	return 0;
}

int kernel_names_load(struct kernel_names *k, enum kernel_names_from from, const char *path,
		      struct fl_error *err)
{
	size_t size = 0;
	FILE *f;
	int ret;

	memset(k, 0, sizeof(*k));
	f = open_memstream(&k->text, &size);
	if (!f)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = print_names(f, from, path, err);
	if ((fclose(f) || (!ret && list_names(k, size))) && !ret)
		ret = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (ret)
		kernel_names_fini(k);
	return ret;
}

void kernel_names_fini(struct kernel_names *k)
{
	free(k->names);
	free(k->text);
	memset(k, 0, sizeof(*k));
}

bool kernel_names_have(const struct kernel_names *k, const char *name)
{
	return k->nr && bsearch(&name, k->names, k->nr, sizeof(*k->names), compare_names);
}

/* ---- functions of the miniature ---- */

static const char *const folders[] = {"engine/mm/", "engine/fs/", "engine/block/"};

static int add_function(void *ctx, const struct code_function *f)
{
	struct own_functions *o = ctx;
	struct own_function *own;

	if (o->nr == o->room) {
		size_t room = o->room ? 2 * o->room : 512;
		struct own_function *more = realloc(o->functions, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		o->functions = more;
		o->room = room;
	}
	own = &o->functions[o->nr++];
	*own = (struct own_function){
		.name = strdup(f->name), .file = strdup(f->file), .line = f->line};
	return own->name && own->file ? 0 : -ENOMEM;
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct own_function *a = pa, *b = pb;
	int ret = strcmp(a->name, b->name);

	return ret ? ret : strcmp(a->file, b->file);
}

static void free_function(struct own_function *f)
{
	free(f->name);
	free(f->file);
}

/* A name counts once, however many units and files have it. */
static void sort_functions(struct own_functions *o)
{
	size_t kept = 0;

	if (o->nr)
		qsort(o->functions, o->nr, sizeof(*o->functions), compare_functions);
	for (size_t i = 0; i < o->nr; i++) {
		if (kept && !strcmp(o->functions[kept - 1].name, o->functions[i].name))
			free_function(&o->functions[i]);
		else
			o->functions[kept++] = o->functions[i];
	}
	o->nr = kept;
}

int own_functions_load(struct own_functions *o, struct fl_error *err)
{
	struct code_map map = {0};
	struct dwarf_file d;
	int ret;

	memset(o, 0, sizeof(*o));
	ret = dwarf_file_map_own(&d, err);
	if (!ret)
		ret = dwarf_file_start(&d, err);
	if (!ret)
		ret = code_map_init(&map, &d, err);
	for (size_t i = 0; i < ARRAY_SIZE(folders) && !ret; i++)
		ret = code_each_function(&map, folders[i], add_function, o, err);
	code_map_fini(&map);
	dwarf_file_close(&d);
	if (ret)
		own_functions_fini(o);
	else
		sort_functions(o);
	return ret;
}

size_t own_functions_match(struct own_functions *o, const struct kernel_names *k)
{
	size_t common = 0;

	for (size_t i = 0; i < o->nr; i++) {
		o->functions[i].in_kernel = kernel_names_have(k, o->functions[i].name);
		common += o->functions[i].in_kernel;
	}
	return common;
}

void own_functions_fini(struct own_functions *o)
{
	for (size_t i = 0; i < o->nr; i++)
		free_function(&o->functions[i]);
	free(o->functions);
	memset(o, 0, sizeof(*o));
}
