/*
 * The miniature's structs against those of six real kernels: a struct that bears a kernel's name
 * has that kernel's fields, or says in own-fields.txt why not.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "debuginfo/diff.h"
#include "debuginfo/dwarf_source.h"

#define FIELDS_MAX 20000

/* "struct field" of all kernels, sorted. */
static struct {
	char *lines[FIELDS_MAX];
	size_t nr;
} kernels;

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool in_kernels(const char *in, const char *field)
{
	char line[400], *key = line;

	snprintf(line, sizeof(line), "%s %s", in, field);
	return bsearch(&key, kernels.lines, kernels.nr, sizeof(char *), compare_lines);
}

/* Recorded as `struct field bit-offset bits type`, the struct itself as field ".". */
static int load_kernels(void **state)
{
	char line[600], in[100], field[200];
	FILE *f = popen("xz -dc \"$TESTDATA\"/debuginfo/fields/linux-*.txt.xz", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (*line == '#' || sscanf(line, "%99s %199s", in, field) != 2)
			continue;
		assert_true(kernels.nr < FIELDS_MAX);
		snprintf(line, sizeof(line), "%s %s", in, field);
		kernels.lines[kernels.nr++] = strdup(line);
	}
	assert_int_equal(pclose(f), 0);
	assert_true(kernels.nr > 8000);
	qsort(kernels.lines, kernels.nr, sizeof(char *), compare_lines);
	return 0;
}

static int free_kernels(void **state)
{
	while (kernels.nr)
		free(kernels.lines[--kernels.nr]);
	return 0;
}

/* The names of structs that engine/mm, fs and block define, one a line. */
static FILE *own_structs(void)
{
	return popen("cd \"$FL_ROOT/engine\" && find mm fs block -name '*.[ch]' -exec "
		     "sed -n 's/^struct \\([a-z_0-9]*\\) {$/\\1/p' {} + | sort -u",
		     "r");
}

static unsigned int strangers;

static int check_field(void *in, const struct layout_field *f)
{
	if (in_kernels(in, f->name) == !own_field_find(in, f->name))
		return 0;
	strangers++;
	print_error("struct %s: %s is %s\n", (char *)in, f->name,
		    own_field_find(in, f->name)
			    ? "a kernel's, expected it not to be in own-fields.txt"
			    : "no kernel's, expected a line in engine/debuginfo/own-fields.txt");
	return 0;
}

static void every_mirrored_field_is_a_kernels_or_has_its_reason(void **state)
{
	struct dwarf_source s;
	struct fl_error err = {0};
	unsigned int mirrored = 0;
	char name[100];
	struct type *t;
	FILE *f = own_structs();

	assert_non_null(f);
	if (dwarf_source_map(&s, getenv("FOLIOLAB_O2"), &err) || dwarf_source_start(&s, &err))
		fail_msg("%s", err.text);
	while (fscanf(f, "%99s", name) == 1) {
		if (!in_kernels(name, ".") || type_find(&s.types.types, name, 0, &t, &err))
			continue;
		assert_int_equal(layout_each_field(&s.types.types, t, 0, check_field, name, &err),
				 0);
		mirrored++;
	}
	pclose(f);
	dwarf_source_close(&s);
	assert_int_equal(strangers, 0);
	assert_true(mirrored >= 30);
}

struct wanted {
	const char *name;
	bool found;
};

static int match_field(void *ctx, const struct layout_field *f)
{
	struct wanted *w = ctx;

	w->found |= !strcmp(f->name, w->name);
	return 0;
}

static bool has_field(struct types *types, const char *in, const char *field)
{
	struct wanted w = {.name = field};
	struct fl_error err = {0};
	struct type *t;

	for (u32 nr = 0; !type_find(types, in, nr, &t, &err); nr++)
		layout_each_field(types, t, 0, match_field, &w, &err);
	return w.found;
}

static void the_list_holds_nothing_else(void **state)
{
	const struct own_field *own;
	struct dwarf_source s;
	struct fl_error err = {0};

	if (dwarf_source_map(&s, getenv("FOLIOLAB_O2"), &err) || dwarf_source_start(&s, &err))
		fail_msg("%s", err.text);
	for (unsigned int i = 0; (own = own_field(i)); i++) {
		if (!has_field(&s.types.types, own->in, own->name))
			fail_msg("struct %s has no %s", own->in, own->name);
		if (strcmp(own->kernel, "-") && !in_kernels(own->in, own->kernel))
			fail_msg("no kernel's struct %s has %s", own->in, own->kernel);
		assert_true(strlen(own->reason) > 5);
		assert_ptr_equal(own_field_find(own->in, own->name), own);
	}
	dwarf_source_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mirrored_field_is_a_kernels_or_has_its_reason),
		cmocka_unit_test(the_list_holds_nothing_else),
	};

	return cmocka_run_group_tests(tests, load_kernels, free_kernels);
}
