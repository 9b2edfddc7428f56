/*
 * Damaged ELF files, DWARF, BTF and code positions get an answer or one line of error, and nothing
 * else: no crash of the parent, no endless wait.
 *
 * Every case is a small file with a few bytes changed, by a seed that is printed when something is
 * wrong; FL_FUZZ_SECONDS=600 goes on for that long. tests/debuginfo/corpus holds what once meant
 * trouble. What libdwarf reads is read in the jail, as the program does it; what only our own code
 * reads is read right here.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "debuginfo/btf.h"
#include "debuginfo/code.h"
#include "debuginfo/dwarf_source.h"
#include "debuginfo/guard.h"
#include "debuginfo/layout.h"
#include "lib/prng.h"
#include "trace/code.h"

#define CASE	   "case.bin"
#define TIME_LIMIT 90 /* seconds; the jail ends a child after 60 */
#define TYPES_MAX  200u

enum format { FORMAT_DWARF, FORMAT_BTF, FORMAT_CODE };

/* How the files are made that are then damaged. */
static const struct {
	enum format format;
	const char *make; /* a shell command that makes the file "made" */
} makes[] = {
	{FORMAT_DWARF, "gcc -O2 -g -gdwarf-4 -o made \"$TESTDATA/debuginfo/inlined.c\""},
	{FORMAT_DWARF, "gcc -O0 -g -gdwarf-5 -o made \"$TESTDATA/debuginfo/odd.c\""},
	{FORMAT_DWARF, "gcc -O0 -g -gdwarf-5 -c -o made \"$TESTDATA/debuginfo/odd.c\""},
	{FORMAT_DWARF, "gcc -O2 -g -gz -o made \"$TESTDATA/debuginfo/inlined.c\""},
	{FORMAT_DWARF, "clang -O2 -g -gdwarf-5 -o made \"$TESTDATA/debuginfo/inlined.c\""},
	{FORMAT_BTF,
	 "gcc -g -gdwarf-4 -o with \"$TESTDATA/debuginfo/odd.c\" && pahole -J with && "
	 "objcopy -O binary --only-section=.BTF --set-section-flags .BTF=alloc with made"},
	{FORMAT_BTF, "gcc -g -gdwarf-4 -o made \"$TESTDATA/debuginfo/odd.c\" && pahole -J made"},
	{FORMAT_CODE, "\"$FOLIOLAB\" run -e 'read 4k 9' --trace made --trace-code >out"},
};

struct original {
	enum format format;
	u8 *bytes; /* NULL: it could not be made here */
	size_t size;
	size_t start; /* where it gets interesting */
};

static struct original originals[ARRAY_SIZE(makes)];

/* What came of it, for the reader. */
static struct {
	u64 answers, errors, signals;
} outcomes;

/* ---- files ---- */

static bool load(const char *path, struct original *o)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return false;
	assert_int_equal(fstat(fd, &st), 0);
	o->size = st.st_size;
	o->bytes = malloc(o->size + 1);
	assert_non_null(o->bytes);
	assert_int_equal(read(fd, o->bytes, o->size), o->size);
	close(fd);
	return true;
}

static void save(const void *bytes, size_t size)
{
	int fd = open(CASE, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* Code positions are the end of a file; debug information begins where the program ends. */
static size_t interesting(const struct original *o)
{
	struct elf_file e;
	size_t start = 0;

	if (o->format == FORMAT_CODE)
		return o->size > 600 ? o->size - 600 : 0;
	save(o->bytes, o->size);
	if (elf_open(&e, CASE, NULL))
		return 0;
	if (elf_section(&e, o->format == FORMAT_BTF ? ".BTF" : ".debug_abbrev"))
		start = elf_section(&e, o->format == FORMAT_BTF ? ".BTF" : ".debug_info")->data -
			e.map;
	elf_close(&e);
	return start;
}

static int make_originals(void **state)
{
	setenv("XDG_CACHE_HOME", "/nowhere", 1);
	for (size_t i = 0; i < ARRAY_SIZE(makes); i++) {
		char command[600];

		snprintf(command, sizeof(command), "{ %s; } 2>/dev/null", makes[i].make);
		originals[i].format = makes[i].format;
		unlink("made");
		if (!system(command) && load("made", &originals[i]))
			originals[i].start = interesting(&originals[i]);
	}
	return 0;
}

static int free_originals(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(originals); i++)
		free(originals[i].bytes);
	return 0;
}

/* ---- reading everything ---- */

static void read_types(FILE *f, struct types *types)
{
	struct fl_error err = {0};
	struct type *t;
	u32 pos = 0, nr = 0;

	while (nr++ < TYPES_MAX && type_next(types, &pos, &t, &err) > 0) {
		cJSON *json = layout_json(types, t, LAYOUT_EXPAND, &err);

		cJSON_Delete(json);
		layout_print(f, types, t, nr % 2 ? LAYOUT_EXPAND : 0, &err);
	}
	type_find(types, "outer", 0, &t, &err);
}

static int skip_function(void *ctx, const struct code_function *f)
{
	fprintf(ctx, "%s %s %u\n", f->name, f->file, f->line);
	return 0;
}

static void read_code(FILE *f, struct dwarf_file *d)
{
	struct code_frame frames[CODE_FRAMES_MAX];
	struct fl_error err = {0};
	struct code_map map;

	if (code_map_init(&map, d, &err))
		return;
	for (size_t i = 0; i < map.nr_ranges && i < 20; i++)
		for (u64 at = 0; at < 40; at += 8)
			code_lookup(&map, map.ranges[i].low + at, frames, CODE_FRAMES_MAX, &err);
	code_each_function(&map, "", skip_function, f, &err);
	code_map_fini(&map);
}

/* In the jail. What it prints is not looked at, so it is bounded. */
static int read_dwarf(void *ctx, FILE *f, struct guard_reply *keep, struct fl_error *err)
{
	struct dwarf_source *s = ctx;
	FILE *nowhere = fmemopen(NULL, 1 << 16, "w");
	struct elf_symbol symbol;
	u64 pos = 0;
	int ret = dwarf_source_start(s, err);

	if (!nowhere)
		return -ENOMEM;
	if (!ret) {
		read_types(nowhere, &s->types.types);
		read_code(nowhere, &s->file);
		while (elf_next_symbol(&s->file.elf, &pos, &symbol))
			;
	}
	fclose(nowhere);
	return ret;
}

static int try_dwarf(struct fl_error *err)
{
	struct guard_reply reply = {0};
	struct dwarf_source s;
	int ret = dwarf_source_map(&s, CASE, err);

	if (!ret)
		ret = guard_run(CASE, read_dwarf, &s, &reply, err);
	guard_reply_fini(&reply);
	dwarf_source_close(&s);
	return ret;
}

static int try_btf(struct fl_error *err)
{
	FILE *nowhere = fopen("/dev/null", "w");
	struct btf_file b;
	u32 pos = 0;
	int ret = btf_open(&b, CASE, err);

	assert_non_null(nowhere);
	if (!ret) {
		read_types(nowhere, &b.types);
		while (btf_next_function(&b, &pos))
			;
	}
	fclose(nowhere);
	btf_close(&b);
	return ret;
}

static int try_code(struct fl_error *err)
{
	struct trace_code c;
	int ret = trace_code_load(&c, CASE, err);
	volatile u32 sum = 0;

	for (u64 i = 0; !ret && i < c.events; i++) {
		u32 len;
		const u32 *positions = trace_code_chain(&c, i, &len);

		for (u32 p = 0; p < len; p++)
			sum += positions[p];
	}
	trace_code_fini(&c);
	return ret;
}

static void check_case(enum format format, const char *what)
{
	struct fl_error err = {0};
	time_t start = time(NULL);
	int ret = format == FORMAT_DWARF ? try_dwarf(&err)
		  : format == FORMAT_BTF ? try_btf(&err)
					 : try_code(&err);

	if (ret && (!err.code || !*err.text || strchr(err.text, '\n')))
		fail_msg("%s: error %d without its line: '%s'", what, ret, err.text);
	if (time(NULL) - start > TIME_LIMIT)
		fail_msg("%s: took more than %d s", what, TIME_LIMIT);
	if (!ret)
		outcomes.answers++;
	else if (strstr(err.text, "signal"))
		outcomes.signals++;
	else
		outcomes.errors++;
}

/* ---- damage ---- */

static void damage(const struct original *o, struct prng *p, u8 *bytes, size_t *size)
{
	static const u8 favourites[] = {0, 1, 0x7f, 0x80, 0xff};
	unsigned int n = 1 + prng_below(p, 8);

	memcpy(bytes, o->bytes, o->size);
	*size = o->size;
	for (unsigned int i = 0; i < n; i++) {
		/* Mostly the debug information, sometimes anything. */
		u64 from = prng_below(p, 4) ? o->start : 0;
		u64 at = from + prng_below(p, o->size - from);

		bytes[at] = prng_below(p, 2) ? prng_u64(p)
					     : favourites[prng_below(p, sizeof(favourites))];
	}
	if (!prng_below(p, 10))
		*size = prng_below(p, o->size);
}

static void check_seed(u64 seed)
{
	struct prng p;
	struct original *o;
	char what[100];
	size_t size;
	u8 *bytes;

	prng_seed(&p, seed);
	o = &originals[prng_below(&p, ARRAY_SIZE(originals))];
	if (!o->bytes)
		return;
	bytes = malloc(o->size);
	assert_non_null(bytes);
	damage(o, &p, bytes, &size);
	save(bytes, size);
	free(bytes);
	snprintf(what, sizeof(what), "seed %llu (file %d)", (unsigned long long)seed,
		 (int)(o - originals));
	check_case(o->format, what);
}

static void damaged_files_get_one_line_or_an_answer(void **state)
{
	const char *seconds = getenv("FL_FUZZ_SECONDS"), *first = getenv("FL_FUZZ_SEED");
	time_t end = time(NULL) + (seconds ? atoi(seconds) : 0);
	u64 seed = first ? strtoull(first, NULL, 10) : 1, nr = 0;

	do
		check_seed(seed++);
	while (++nr < soak_count(2000) || time(NULL) < end);
	print_message("# %llu files: %llu answered, %llu with an error, %llu whose reader died\n",
		      (unsigned long long)nr, (unsigned long long)outcomes.answers,
		      (unsigned long long)outcomes.errors, (unsigned long long)outcomes.signals);
}

static void what_once_meant_trouble_does_not(void **state)
{
	glob_t g;
	char pattern[400];

	snprintf(pattern, sizeof(pattern), "%s/debuginfo/corpus/*", getenv("TESTDATA"));
	if (glob(pattern, 0, NULL, &g))
		skip_because("no corpus");
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct original o;

		assert_true(load(g.gl_pathv[i], &o));
		save(o.bytes, o.size);
		free(o.bytes);
		check_case(strstr(g.gl_pathv[i], ".btf")    ? FORMAT_BTF
			   : strstr(g.gl_pathv[i], ".code") ? FORMAT_CODE
							    : FORMAT_DWARF,
			   g.gl_pathv[i]);
	}
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_files_get_one_line_or_an_answer),
		cmocka_unit_test(what_once_meant_trouble_does_not),
	};

	return cmocka_run_group_tests(tests, make_originals, free_originals);
}
