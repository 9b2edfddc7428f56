/*
 * File and line of an address are those that readelf decodes, and inlined calls are seen, for
 * whatever compiler and DWARF version made the file.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "debuginfo/code.h"
#include "lib/prng.h"
#include "lib/types.h"

#define SAMPLES	  1000
#define ROWS_MAX  2000000
#define NAME_SIZE 64

struct row {
	u64 addr;
	u32 line, nr; /* line 0: the end of a sequence; place in the listing */
	char file[NAME_SIZE];
};

struct rows {
	struct row *rows;
	size_t nr;
};

/* ---- readelf ---- */

static int compare(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (!a->line != !b->line)
		return a->line ? 1 : -1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Lines such as "readahead.c   123   0x41f0   4   x"; an end has "-" for its line. */
static void read_rows(const char *path, struct rows *r)
{
	char command[600], line[600], file[200], number[40], addr[40];
	FILE *f;

	r->rows = calloc(ROWS_MAX, sizeof(*r->rows));
	r->nr = 0;
	assert_non_null(r->rows);
	snprintf(command, sizeof(command), "readelf -W --debug-dump=decodedline '%s' 2>/dev/null",
		 path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct row *row = &r->rows[r->nr];

		if (sscanf(line, "%199s %39s %39s", file, number, addr) != 3 ||
		    strncmp(addr, "0x", 2))
			continue;
		assert_true(r->nr + 1 < ROWS_MAX);
		row->addr = strtoull(addr, NULL, 16);
		row->line = strtoul(number, NULL, 10);
		snprintf(row->file, sizeof(row->file), "%.63s", base_name(file));
		/* A row at the very end of a sequence holds no code. */
		while (!row->line && r->nr && row[-1].line && row[-1].addr == row->addr) {
			row[-1] = row[0];
			row--;
			r->nr--;
		}
		row->nr = r->nr++;
	}
	pclose(f);
	qsort(r->rows, r->nr, sizeof(*r->rows), compare);
}

/* The row an address belongs to. */
static const struct row *row_at(const struct rows *r, u64 addr)
{
	size_t low = 0, high = r->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->rows[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &r->rows[low - 1] : NULL;
}

/* ---- the comparison ---- */

static void check_address(struct code_map *c, const struct rows *r, u64 addr)
{
	const struct row *want = row_at(r, addr);
	struct code_frame frames[CODE_FRAMES_MAX];
	struct fl_error err = {0};
	int nr = code_lookup(c, addr, frames, CODE_FRAMES_MAX, &err);

	if (nr < 0)
		fail_msg("%s", err.text);
	if (!want || !want->line)
		return;
	if (!nr)
		fail_msg("%#llx: nothing, readelf says %s:%u", (unsigned long long)addr, want->file,
			 want->line);
	if (frames[0].line != want->line || strcmp(base_name(frames[0].file), want->file))
		fail_msg("%#llx: %s:%u, readelf says %s:%u", (unsigned long long)addr,
			 frames[0].file, frames[0].line, want->file, want->line);
}

static void open_map(const char *path, struct dwarf_file *d, struct code_map *c)
{
	struct fl_error err = {0};

	if (dwarf_file_map(d, path, &err) || dwarf_file_start(d, &err) || code_map_init(c, d, &err))
		fail_msg("%s: %s", path, err.text);
}

static void check_file(const char *path, unsigned int samples)
{
	struct dwarf_file d;
	struct code_map c;
	struct rows r;
	struct prng prng;

	read_rows(path, &r);
	assert_true(r.nr > 3);
	open_map(path, &d, &c);
	prng_seed(&prng, 1);
	for (unsigned int i = 0; i < samples; i++) {
		const struct row *row = &r.rows[prng_below(&prng, r.nr)];

		check_address(&c, &r, row->addr + prng_below(&prng, 4));
	}
	code_map_fini(&c);
	dwarf_file_close(&d);
	free(r.rows);
}

static void a_thousand_addresses_of_this_program(void **state)
{
	if (system("readelf --version >/dev/null 2>&1"))
		skip_because("no readelf here");
	check_file(getenv("FOLIOLAB_O2"), SAMPLES);
}

static void a_thousand_addresses_with_sanitizers(void **state)
{
	if (system("readelf --version >/dev/null 2>&1"))
		skip_because("no readelf here");
	check_file(getenv("FOLIOLAB"), SAMPLES);
}

/* Compile code.c of this folder to @out; false without that compiler. */
static bool compile(const char *cc, const char *flags, const char *out)
{
	char command[600];

	snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", cc);
	if (system(command))
		return false;
	snprintf(command, sizeof(command), "%s %s -o %s \"$TESTDATA/debuginfo/inlined.c\"", cc,
		 flags, out);
	assert_int_equal(system(command), 0);
	return true;
}

static const char *const ways[] = {
	"-O0 -g -gdwarf-4", "-O2 -g -gdwarf-4", "-O0 -g -gdwarf-5",
	"-O2 -g -gdwarf-5", "-O2 -g -gz",
};

static void check_compiler(const char *cc)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!compile(cc, ways[i], "inlined"))
			skip_because("no %s here", cc);
		check_file("inlined", SAMPLES / 10);
	}
}

static void gcc_in_every_way(void **state)
{
	check_compiler("gcc");
}

static void clang_in_every_way(void **state)
{
	check_compiler("clang");
}

/* The address in @path of the symbol @name. */
static u64 address_of(struct elf_file *e, const char *name)
{
	struct elf_symbol s;
	u64 pos = 0;

	while (elf_next_symbol(e, &pos, &s))
		if (!strcmp(s.name, name))
			return s.value;
	fail_msg("no symbol %s", name);
	return 0;
}

/*
 * inlined.c stores to a volatile in innermost(), which is inlined into middle() and that into
 * outer(): some address of outer() lies in all three.
 */
static void check_inlined(const char *cc, const char *flags)
{
	struct code_frame f[CODE_FRAMES_MAX];
	struct fl_error err = {0};
	struct dwarf_file d;
	struct code_map c;
	bool seen = false;
	u64 addr;

	if (!compile(cc, flags, "inlined"))
		return;
	open_map("inlined", &d, &c);
	addr = address_of(&d.elf, "outer");
	for (unsigned int i = 0; i < 64 && !seen; i++)
		seen = code_lookup(&c, addr + i, f, CODE_FRAMES_MAX, &err) == 3;
	if (!seen)
		fail_msg("%s %s: no address with three frames", cc, flags);
	assert_string_equal(f[0].function, "innermost");
	assert_string_equal(f[1].function, "middle");
	assert_string_equal(f[2].function, "outer");
	assert_int_equal(f[0].line, 10);
	assert_int_equal(f[1].line, 15);
	assert_int_equal(f[2].line, 20);
	assert_true(f[0].inlined && f[1].inlined && !f[2].inlined);
	assert_string_equal(base_name(f[2].file), "inlined.c");
	code_map_fini(&c);
	dwarf_file_close(&d);
}

static void inlined_calls_are_seen(void **state)
{
	check_inlined("gcc", "-O2 -g -gdwarf-4");
	check_inlined("gcc", "-O2 -g -gdwarf-5");
	check_inlined("clang", "-O2 -g -gdwarf-4");
	check_inlined("clang", "-O2 -g -gdwarf-5");
}

/* A unit whose first code is a header's: the line table says so only in its default file. */
static void code_of_headers_is_the_headers(void **state)
{
	struct code_frame f[CODE_FRAMES_MAX];
	struct fl_error err = {0};
	struct dwarf_file d;
	struct code_map c;

	if (system("printf 'static int __attribute__((noinline)) in_header(int a)\\n{\\n"
		   "\\treturn a * 3;\\n}\\n' >first.h; printf '#include \"first.h\"\\n"
		   "int main(int n, char **v)\\n{\\n\\treturn in_header(n);\\n}\\n' >first.c; "
		   "gcc -O0 -g -gdwarf-5 -o first first.c"))
		skip_because("no gcc here");
	open_map("first", &d, &c);
	assert_int_equal(code_lookup(&c, address_of(&d.elf, "in_header"), f, 1, &err), 1);
	assert_string_equal(base_name(f[0].file), "first.h");
	assert_string_equal(f[0].function, "in_header");
	code_map_fini(&c);
	dwarf_file_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_addresses_of_this_program),
		cmocka_unit_test(a_thousand_addresses_with_sanitizers),
		cmocka_unit_test(gcc_in_every_way),
		cmocka_unit_test(clang_in_every_way),
		cmocka_unit_test(inlined_calls_are_seen),
		cmocka_unit_test(code_of_headers_is_the_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
