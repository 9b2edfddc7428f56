/*
 * Every input of tests/fuzz/corpus gives an answer or one line of error, under the sanitizers, and
 * so do inputs made from them: a seeded few in a test run, for FL_FUZZ_SECONDS a target otherwise.
 *
 *     build/asan/tests/fuzz/test_corpus TARGET FILE...    runs these files only
 *
 * What is about to run is kept in the file "fuzz-input", so that a crash leaves it behind.
 */
#include "unit.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "lib/prng.h"

#define INPUT_MAX (1u << 20)
#define MUTATIONS 8

typedef void (*fuzz_target)(const u8 *data, size_t size);

static const struct {
	const char *name;
	fuzz_target run;
} targets[] = {
#define X(name) {#name, fuzz_##name},
	FUZZ_TARGETS(X)
#undef X
};

struct input {
	u8 *bytes;
	size_t size;
};

static bool load(const char *path, struct input *in)
{
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	in->bytes = malloc(INPUT_MAX);
	assert_non_null(in->bytes);
	in->size = fread(in->bytes, 1, INPUT_MAX, f);
	fclose(f);
	return true;
}

/* On a copy of exactly that size, so that a byte too far is noticed. */
static void run(fuzz_target target, const u8 *bytes, size_t size)
{
	u8 *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	target(copy, size);
	free(copy);
}

static void keep(const struct input *in)
{
	FILE *f = fopen("fuzz-input", "w");

	assert_non_null(f);
	assert_int_equal(fwrite(in->bytes, 1, in->size, f), in->size);
	assert_int_equal(fclose(f), 0);
}

/* ---- damage ---- */

static void overwrite(struct prng *p, struct input *in, const struct input *other)
{
	size_t at = prng_below(p, in->size), from = prng_below(p, other->size);
	size_t n = prng_below(p, min(in->size - at, other->size - from) + 1);

	memmove(in->bytes + at, other->bytes + from, n);
}

static void insert(struct prng *p, struct input *in, const struct input *other)
{
	size_t at = prng_below(p, in->size), from = prng_below(p, other->size);
	size_t n = prng_below(p, min_t(size_t, other->size - from, INPUT_MAX - in->size) + 1);

	memmove(in->bytes + at + n, in->bytes + at, in->size - at);
	memcpy(in->bytes + at, other->bytes + from, n);
	in->size += n;
}

static void cut(struct prng *p, struct input *in, const struct input *other)
{
	size_t at = prng_below(p, in->size), n = prng_below(p, in->size - at);

	memmove(in->bytes + at, in->bytes + at + n, in->size - at - n);
	in->size -= n;
}

static void set_byte(struct prng *p, struct input *in, const struct input *other)
{
	static const u8 favourites[] = {0, 1, 0x7f, 0x80, 0xff, '0', '9', '-', '\n', ' '};

	in->bytes[prng_below(p, in->size)] =
		prng_below(p, 2) ? prng_u64(p) : favourites[prng_below(p, sizeof(favourites))];
}

static void mutate(struct prng *p, struct input *in, const struct input *other)
{
	static void (*const ways[])(struct prng * p, struct input * in,
				    const struct input *other) = {set_byte, set_byte, set_byte,
								  cut,	    insert,   overwrite};
	u64 n = 1 + prng_below(p, MUTATIONS);

	while (n-- && in->size && other->size)
		ways[prng_below(p, ARRAY_SIZE(ways))](p, in, other);
}

/* ---- the tests ---- */

static void corpus_of(const char *name, glob_t *g)
{
	char pattern[400];

	snprintf(pattern, sizeof(pattern), "%s/fuzz/corpus/%s/*", getenv("TESTDATA"), name);
	if (glob(pattern, 0, NULL, g))
		fail_msg("no corpus: %s", pattern);
}

static void the_corpora_do_no_harm(void **state)
{
	u64 nr = 0;

	for (size_t t = 0; t < ARRAY_SIZE(targets); t++) {
		glob_t g;

		corpus_of(targets[t].name, &g);
		for (size_t i = 0; i < g.gl_pathc; i++, nr++) {
			struct input in;

			assert_true(load(g.gl_pathv[i], &in));
			keep(&in);
			run(targets[t].run, in.bytes, in.size);
			free(in.bytes);
		}
		globfree(&g);
	}
	print_message("# %llu inputs\n", (unsigned long long)nr);
}

static void run_mutated(fuzz_target target, const glob_t *g, u64 seed)
{
	struct input in, other;
	struct prng p;

	prng_seed(&p, seed);
	assert_true(load(g->gl_pathv[prng_below(&p, g->gl_pathc)], &in));
	assert_true(load(g->gl_pathv[prng_below(&p, g->gl_pathc)], &other));
	mutate(&p, &in, &other);
	keep(&in);
	run(target, in.bytes, in.size);
	free(in.bytes);
	free(other.bytes);
}

static void neither_does_what_is_made_from_them(void **state)
{
	const char *seconds = getenv("FL_FUZZ_SECONDS"), *first = getenv("FL_FUZZ_SEED");
	u64 seed = first ? strtoull(first, NULL, 10) : 1, nr = 0;

	for (size_t t = 0; t < ARRAY_SIZE(targets); t++) {
		time_t end = time(NULL) + (seconds ? atoi(seconds) : 0);
		unsigned long left = soak_count(300);
		glob_t g;

		corpus_of(targets[t].name, &g);
		for (; left || time(NULL) < end; left -= !!left, nr++)
			run_mutated(targets[t].run, &g, seed++);
		globfree(&g);
	}
	print_message("# %llu inputs\n", (unsigned long long)nr);
}

/* Named files only. */
static int run_files(const char *name, char **files)
{
	for (size_t t = 0; t < ARRAY_SIZE(targets); t++) {
		if (strcmp(targets[t].name, name))
			continue;
		for (; *files; files++) {
			struct input in;

			if (!load(*files, &in)) {
				perror(*files);
				return 1;
			}
			run(targets[t].run, in.bytes, in.size);
			free(in.bytes);
			printf("%s: fine\n", *files);
		}
		return 0;
	}
	fprintf(stderr, "test_corpus: no target '%s'\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_corpora_do_no_harm),
		cmocka_unit_test(neither_does_what_is_made_from_them),
	};

	if (argc > 1)
		return run_files(argv[1], argv + 2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
