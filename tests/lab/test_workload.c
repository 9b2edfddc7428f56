/*
 * The workload language: every operation in every form, what is refused and where, and that no
 * text whatsoever does harm.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/workload.h"
#include "lib/strutil.h"

#define MAX	 INT64_MAX
#define MAX_TEXT "9223372036854775807"

static int parse(struct workload *w, const char *text, struct fl_error *err)
{
	*err = (struct fl_error){0};
	return workload_parse(w, "-e", text, strlen(text), err);
}

struct good {
	const char *text;
	struct wl_op op;
	const char *canonical;
};

#define OP(t, ...)                                                                                 \
	{                                                                                          \
		.type = WL_##t, .line = 1, .n = 1, ##__VA_ARGS__                                   \
	}

static const struct good good[] = {
	{"read 4096", OP(READ, .len = 4096), "read 4k"},
	{"read 64K 7", {WL_READ, 1, 0, 0, 65536, 0, 7}, "read 64k 7"},
	{"read 0x10 3145728", {WL_READ, 1, 0, 0, 16, 0, 3145728}, "read 16 3145728"},
	{"read 0", OP(READ), "read 0"},
	{"read 2g 1", OP(READ, .len = 2LL << 30), "read 2g"},
	{"read " MAX_TEXT, OP(READ, .len = MAX), "read " MAX_TEXT},
	{"pread 1m 4k", OP(PREAD, .off = 1 << 20, .len = 4096), "pread 1m 4k"},
	{"pread 9223372036854775806 1", OP(PREAD, .off = MAX - 1, .len = 1),
	 "pread 9223372036854775806 1"},
	{"seek 3T", OP(SEEK, .off = 3LL << 40), "seek 3t"},
	{"seek " MAX_TEXT, OP(SEEK, .off = MAX), "seek " MAX_TEXT},
	{"fd 0", {WL_FD, 1, 0, 0, 0, 0, 0}, "fd 0"},
	{"fd 3", {WL_FD, 1, 0, 0, 0, 0, 3}, "fd 3"},
	{"reopen", OP(REOPEN), "reopen"},
	{"fadvise normal 0 0", OP(FADVISE), "fadvise normal 0 0"},
	{"fadvise random 0 0", OP(FADVISE, .advice = WL_ADV_RANDOM), "fadvise random 0 0"},
	{"fadvise sequential 0 0", OP(FADVISE, .advice = WL_ADV_SEQUENTIAL),
	 "fadvise sequential 0 0"},
	{"fadvise willneed 4k 1m",
	 OP(FADVISE, .advice = WL_ADV_WILLNEED, .off = 4096, .len = 1 << 20),
	 "fadvise willneed 4k 1m"},
	{"fadvise dontneed 0 1", OP(FADVISE, .advice = WL_ADV_DONTNEED, .len = 1),
	 "fadvise dontneed 0 1"},
	{"fadvise noreuse 0 0", OP(FADVISE, .advice = WL_ADV_NOREUSE), "fadvise noreuse 0 0"},
	{"readahead 4k 128k", OP(READAHEAD, .off = 4096, .len = 131072), "readahead 4k 128k"},
	{"mmap", OP(MMAP), "mmap"},
	{"munmap", OP(MUNMAP), "munmap"},
	{"touch 5000", OP(TOUCH, .off = 5000), "touch 5000"},
	{"touch 0 4k 16", {WL_TOUCH, 1, 0, 0, 0, 4096, 16}, "touch 0 4k 16"},
	{"touch 60k -4k 16", {WL_TOUCH, 1, 0, 61440, 0, -4096, 16}, "touch 60k -4k 16"},
	{"touch 8 0 1", OP(TOUCH, .off = 8), "touch 8"},
	{"touch 8 4k 1", OP(TOUCH, .off = 8, .step = 4096), "touch 8 4k 1"},
	{"wtouch 1m", OP(WTOUCH, .off = 1 << 20), "wtouch 1m"},
	{"wtouch 4k -1 4097", {WL_WTOUCH, 1, 0, 4096, 0, -1, 4097}, "wtouch 4k -1 4097"},
	{"pwrite 1 2", OP(PWRITE, .off = 1, .len = 2), "pwrite 1 2"},
	{"pwrite 0 4k 100", {WL_PWRITE, 1, 0, 0, 4096, 0, 100}, "pwrite 0 4k 100"},
	{"fsync", OP(FSYNC), "fsync"},
	{"ftruncate 10k", OP(FTRUNCATE, .len = 10240), "ftruncate 10k"},
	{"punch 0 8k", OP(PUNCH, .len = 8192), "punch 0 8k"},
	{"fallocate 1 1", OP(FALLOCATE, .off = 1, .len = 1), "fallocate 1 1"},
	{"splice 0 1m", OP(SPLICE, .len = 1 << 20), "splice 0 1m"},
	{"poison 4k", OP(POISON, .off = 4096), "poison 4k"},
	{"soft-offline 4k", OP(SOFT_OFFLINE, .off = 4096), "soft-offline 4k"},
	{"unpoison 4k", OP(UNPOISON, .off = 4096), "unpoison 4k"},
	{"defrag", OP(DEFRAG), "defrag"},
	{"task 0", {WL_TASK, 1, 0, 0, 0, 0, 0}, "task 0"},
	{"task 63", {WL_TASK, 1, 0, 0, 0, 0, 63}, "task 63"},
	{" \t\rread\v4k\f2 \r# twice; not an operation",
	 {WL_READ, 1, 0, 0, 4096, 0, 2},
	 "read 4k 2"},
};

static void assert_same_op(const struct wl_op *a, const struct wl_op *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->advice, b->advice);
	assert_true(a->off == b->off);
	assert_true(a->len == b->len);
	assert_true(a->step == b->step);
	assert_true(a->n == b->n);
}

/* Every operation parses in every form, prints canonically, and parses back the same. */
static void test_round_trip(void **state)
{
	bool seen[WL_NR_OPS] = {false};
	struct fl_error err;
	struct workload w;
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(parse(&w, good[i].text, &err), 0);
		assert_int_equal(w.nr, 1);
		assert_same_op(&w.ops[0], &good[i].op);
		assert_int_equal(workload_format_op(&w.ops[0], text, sizeof(text)),
				 strlen(good[i].canonical));
		assert_string_equal(text, good[i].canonical);
		workload_fini(&w);
		assert_int_equal(parse(&w, text, &err), 0);
		assert_same_op(&w.ops[0], &good[i].op);
		seen[w.ops[0].type] = true;
		workload_fini(&w);
	}
	for (int i = 0; i < WL_NR_OPS; i++)
		assert_true(seen[i] || i == WL_MADVISE);
}

/* fadvise and madvise take exactly their own advice. */
static void test_advice(void **state)
{
	static const char madvise_takes[] =
		"normal random sequential willneed dontneed hugepage nohugepage populate_read "
		"populate_write cold pageout";
	struct fl_error err;
	struct workload w;
	char text[64], back[64];

	(void)state;
	for (int i = 0; i < WL_NR_ADVICES; i++) {
		const char *name = workload_advice_name((u8)i);
		bool taken = strstr(madvise_takes, name) != NULL;

		snprintf(text, sizeof(text), "madvise %s", name);
		assert_int_equal(parse(&w, text, &err), taken ? 0 : -EINVAL);
		if (!taken)
			continue;
		assert_int_equal(w.ops[0].advice, i);
		workload_format_op(&w.ops[0], back, sizeof(back));
		assert_string_equal(back, text);
		workload_fini(&w);
	}
	assert_int_equal(parse(&w, "fadvise hugepage 0 0", &err), -EINVAL);
	assert_string_equal(err.text, "unknown advice 'hugepage', expected one of normal, random, "
				      "sequential, willneed, dontneed, noreuse");
	assert_string_equal(workload_advice_name(WL_NR_ADVICES), "?");
}

/* Newlines count lines, ';' does not; comments hide both words and ';'. */
static void test_lines(void **state)
{
	static const char text[] =
		"# head; read\n\nread 4k; fsync;;\n; seek 0 # x ; defrag\r\nmmap";
	static const u32 lines[] = {3, 3, 4, 5};
	struct fl_error err;
	struct workload w;

	(void)state;
	assert_int_equal(parse(&w, text, &err), 0);
	assert_int_equal(w.nr, 4);
	assert_string_equal(w.name, "-e");
	for (size_t i = 0; i < w.nr; i++)
		assert_int_equal(w.ops[i].line, lines[i]);
	assert_int_equal(w.ops[3].type, WL_MMAP);
	workload_fini(&w);
	workload_fini(&w);
	assert_int_equal(parse(&w, " # nothing\n\n", &err), 0);
	assert_int_equal(w.nr, 0);
	workload_fini(&w);
}

struct bad {
	const char *text;
	int code;
	unsigned int line;
	const char *message;
};

#define ONE_OF                                                                                     \
	"expected one of read, pread, seek, fd, reopen, fadvise, readahead, mmap, munmap, "        \
	"madvise, touch, wtouch, pwrite, fsync, ftruncate, punch, fallocate, splice, poison, "     \
	"soft-offline, unpoison, defrag, task"
#define NUMBER "expected a number with an optional k, m, g or t"
#define RANGE  " is out of range, expected 0 to 2^63-1"
#define LARGE  " is too large, expected at most 2^63-1"

static const struct bad bad[] = {
	{"reed 4k", -EINVAL, 1, "unknown operation 'reed', " ONE_OF " (did you mean 'read'?)"},
	{"fsync\n\nraed 4k", -EINVAL, 3,
	 "unknown operation 'raed', " ONE_OF " (did you mean 'read'?)"},
	{"xyzzy", -EINVAL, 1, "unknown operation 'xyzzy', " ONE_OF},
	{"\x1b[2J", -EINVAL, 1, "unknown operation '?[2J', " ONE_OF},
	{"fsync; fsync\nread", -EINVAL, 2, "read: too few arguments, expected 'read LEN [N]'"},
	{"read 1 2 3", -EINVAL, 1, "read: too many arguments, expected 'read LEN [N]'"},
	{"read 4096 x57", -EINVAL, 1, "read: N 'x57' is not a number, " NUMBER},
	{"touch 0 4k", -EINVAL, 1, "touch: too few arguments, expected 'touch OFF [STEP N]'"},
	{"touch 0 1 2 3 4 5 6", -EINVAL, 1,
	 "touch: too many arguments, expected 'touch OFF [STEP N]'"},
	{"mmap 1", -EINVAL, 1, "mmap: too many arguments, expected 'mmap'"},
	{"read -4k", -EINVAL, 1, "read: LEN '-4k' is negative, expected 0 or more"},
	{"seek -9999999999999999999", -EINVAL, 1,
	 "seek: OFF '-9999999999999999999' is negative, expected 0 or more"},
	{"read 4q", -EINVAL, 1, "read: LEN '4q' is not a number, " NUMBER},
	{"read --4", -EINVAL, 1, "read: LEN '--4' is not a number, " NUMBER},
	{"touch 0 --4 1", -EINVAL, 1, "touch: STEP '--4' is not a number, " NUMBER},
	{"read 4k 0", -EINVAL, 1, "read: N is 0, expected at least 1"},
	{"read 4k -1", -EINVAL, 1, "read: N '-1' is negative, expected 0 or more"},
	{"seek 8388608t", -ERANGE, 1, "seek: OFF '8388608t'" LARGE},
	{"seek 9223372036854775808", -ERANGE, 1, "seek: OFF '9223372036854775808'" LARGE},
	{"fd 99999999999999999999", -ERANGE, 1, "fd: K '99999999999999999999'" LARGE},
	{"pread " MAX_TEXT " 1", -ERANGE, 1, "pread: OFF + LEN" RANGE},
	{"fadvise normal 1 " MAX_TEXT, -ERANGE, 1, "fadvise: OFF + LEN" RANGE},
	{"readahead 1 " MAX_TEXT, -ERANGE, 1, "readahead: OFF + LEN" RANGE},
	{"punch 1 " MAX_TEXT, -ERANGE, 1, "punch: OFF + LEN" RANGE},
	{"fallocate 1 " MAX_TEXT, -ERANGE, 1, "fallocate: OFF + LEN" RANGE},
	{"splice 1 " MAX_TEXT, -ERANGE, 1, "splice: OFF + LEN" RANGE},
	{"pwrite 0 4m 4t", -ERANGE, 1, "pwrite: OFF + LEN * N" RANGE},
	{"touch 4k -4k 3", -ERANGE, 1, "touch: OFF + STEP * (N - 1)" RANGE},
	{"wtouch 1 4t 4t", -ERANGE, 1, "wtouch: OFF + STEP * (N - 1)" RANGE},
	{"madvise wilneed", -EINVAL, 1,
	 "unknown advice 'wilneed', expected one of normal, random, sequential, willneed, "
	 "dontneed, hugepage, nohugepage, populate_read, populate_write, cold, pageout "
	 "(did you mean 'willneed'?)"},
	{"READ 4k", -EINVAL, 1, "unknown operation 'READ', " ONE_OF " (did you mean 'read'?)"},
};

/* What is wrong is told with its line and what was expected; nothing is left allocated. */
static void test_errors(void **state)
{
	struct fl_error err;
	struct workload w;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(parse(&w, bad[i].text, &err), bad[i].code);
		assert_int_equal(err.code, bad[i].code);
		assert_int_equal(err.line, bad[i].line);
		assert_string_equal(err.file, "-e");
		assert_string_equal(err.text, bad[i].message);
		assert_null(w.ops);
		assert_int_equal(workload_parse(&w, "-e", bad[i].text, strlen(bad[i].text), NULL),
				 bad[i].code);
	}
	assert_int_equal(workload_parse(&w, "-e", "fsync\nre\0ad", 11, &err), -EINVAL);
	assert_int_equal(err.line, 2);
	assert_string_equal(err.text, "NUL byte, expected text");
}

/* Line length, number of lines and number of operations: the last one that fits, and one more. */
static void test_limits(void **state)
{
	size_t len = 7 * (WL_MAX_LINES + 1);
	char *text = malloc(len);
	struct fl_error err;
	struct workload w;

	(void)state;
	assert_non_null(text);
	memset(text, '#', WL_MAX_LINE + 1);
	assert_int_equal(workload_parse(&w, "-e", text, WL_MAX_LINE, &err), 0);
	assert_int_equal(workload_parse(&w, "-e", text, WL_MAX_LINE + 1, &err), -E2BIG);
	assert_string_equal(err.text, "line too long, expected at most 4096 bytes");
	memset(text, '\n', len);
	assert_int_equal(workload_parse(&w, "-e", text, WL_MAX_LINES, &err), 0);
	assert_int_equal(workload_parse(&w, "-e", text, WL_MAX_LINES + 1, &err), -E2BIG);
	assert_int_equal(err.line, WL_MAX_LINES + 1);
	for (size_t i = 0; i < len; i += 7)
		memcpy(text + i, "fsync ;", 7);
	assert_int_equal(workload_parse(&w, "-e", text, 7 * WL_MAX_LINES, &err), 0);
	assert_int_equal(w.nr, WL_MAX_LINES);
	workload_fini(&w);
	assert_int_equal(workload_parse(&w, "-e", text, len, &err), -E2BIG);
	assert_string_equal(err.text, "too many operations, expected at most 1000000");
	assert_int_equal(workload_parse(&w, "-e", text, WL_MAX_BYTES + 1, &err), -E2BIG);
	free(text);
}

static u32 next_random(u32 *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* One random word: a name, a number, an advice, or bytes. */
static size_t random_word(char *buf, u32 *x)
{
	static const char *const numbers[] = {
		"0",  "1", "4k", "-4k", "8388607t", MAX_TEXT, "0x7f", "9g", "-9223372036854775807",
		"x3", ";", "\n"};
	size_t len = next_random(x) % 8;

	switch (next_random(x) % 4) {
	case 0:
		return (size_t)sprintf(buf, "%s ", workload_op_name(next_random(x) % WL_NR_OPS));
	case 1:
		return (size_t)sprintf(buf, "%s ",
				       workload_advice_name((u8)(next_random(x) % WL_NR_ADVICES)));
	case 2:
		return (size_t)sprintf(buf, "%s ", numbers[next_random(x) % ARRAY_SIZE(numbers)]);
	default:
		for (size_t i = 0; i < len; i++)
			buf[i] = (char)next_random(x);
		return len;
	}
}

/* Whatever the bytes: no harm, and what does parse is in range and round-trips. */
static void test_random(void **state)
{
	struct wl_op op, again;
	struct fl_error err;
	u32 x = 0x5eed;
	int parsed = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[256], back[160];
		size_t len = 0, words = next_random(&x) % 6;
		struct workload w;

		if (next_random(&x) % 2)
			len = (size_t)sprintf(text, "%s ",
					      workload_op_name(next_random(&x) % WL_NR_OPS));
		while (words--)
			len += random_word(text + len, &x);
		if (!workload_parse(&w, "-e", text, len, &err))
			workload_fini(&w);
		op.line = again.line = 1;
		if (workload_parse_op(&op, "-e", text, len, &err) <= 0)
			continue;
		parsed++;
		assert_true(op.off >= 0 && op.len >= 0);
		assert_true(workload_format_op(&op, back, sizeof(back)) > 0);
		assert_int_equal(workload_parse_op(&again, "-e", back, strlen(back), &err), 1);
		assert_same_op(&op, &again);
	}
	assert_true(parsed > 1000);
}

/* Operations nobody can have parsed are not printed; a short buffer is cut as by snprintf(). */
static void test_format_refuses(void **state)
{
	struct wl_op op = OP(READ, .len = -1);
	char buf[8];

	(void)state;
	assert_int_equal(workload_format_op(&op, buf, sizeof(buf)), -EINVAL);
	op = (struct wl_op)OP(MADVISE, .advice = WL_ADV_NOREUSE);
	assert_int_equal(workload_format_op(&op, buf, sizeof(buf)), -EINVAL);
	op = (struct wl_op){.type = WL_NR_OPS, .n = 1};
	assert_int_equal(workload_format_op(&op, buf, sizeof(buf)), -EINVAL);
	assert_string_equal(workload_op_name(WL_NR_OPS), "?");
	op = (struct wl_op)OP(TOUCH, .off = -1);
	assert_int_equal(workload_format_op(&op, buf, sizeof(buf)), -EINVAL);
	op = (struct wl_op)OP(SOFT_OFFLINE);
	assert_int_equal(workload_format_op(&op, buf, sizeof(buf)), 14);
	assert_string_equal(buf, "soft-of");
	assert_string_equal(workload_op_args(WL_READ), "LEN [N]");
	assert_non_null(workload_op_help(WL_DEFRAG));
}

static void write_file(const char *path, const char *text, off_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fflush(f), 0);
	if (size)
		assert_int_equal(ftruncate(fileno(f), size), 0);
	fclose(f);
}

/* Only regular files and standard input; a FIFO is refused without waiting for a writer. */
static void test_load(void **state)
{
	char dir[] = "/tmp/test_workload.XXXXXX", path[64];
	int saved = dup(STDIN_FILENO), fd;
	struct fl_error err;
	struct workload w;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(workload_load(&w, dir, &err), -EISDIR);
	assert_string_equal(err.text, "is a directory, expected a file");
	snprintf(path, sizeof(path), "%s/a.wl", dir);
	assert_int_equal(workload_load(&w, path, &err), -ENOENT);
	assert_string_equal(err.file, path);
	assert_string_equal(err.text, "No such file or directory, expected a workload file");
	write_file(path, "read 4k\nread 4k\nbogus\n", 0);
	assert_int_equal(workload_load(&w, path, &err), -EINVAL);
	assert_int_equal(err.line, 3);
	write_file(path, "read 4k 2\nfsync", 0);
	assert_int_equal(workload_load(&w, path, &err), 0);
	assert_int_equal(w.nr, 2);
	assert_string_equal(w.name, path);
	workload_fini(&w);
	fd = open(path, O_RDONLY);
	dup2(fd, STDIN_FILENO);
	close(fd);
	assert_int_equal(workload_load(&w, "-", &err), 0);
	assert_int_equal(w.nr, 2);
	workload_fini(&w);
	dup2(saved, STDIN_FILENO);
	close(saved);
	write_file(path, "", 0);
	assert_int_equal(workload_load(&w, path, &err), 0);
	workload_fini(&w);
	write_file(path, "", WL_MAX_BYTES + 1);
	assert_int_equal(workload_load(&w, path, &err), -E2BIG);
	assert_string_equal(err.text, "too long, expected at most 64 MiB");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(workload_load(&w, path, &err), -EINVAL);
	assert_string_equal(err.text, "is not a regular file, expected one");
	unlink(path);
	rmdir(dir);
}

/* Sizes: both cases of every suffix, hexadecimal, the edges, and what is none. */
static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		int r;
		s64 size;
	} sizes[] = {
		{"0", 0, 0},
		{"010", 0, 10},
		{"1K", 0, 1024},
		{"1m", 0, 1 << 20},
		{"1G", 0, 1 << 30},
		{"2t", 0, 2LL << 40},
		{"0xFf", 0, 255},
		{"0X1k", 0, 1024},
		{MAX_TEXT, 0, MAX},
		{"0x7fffffffffffffff", 0, MAX},
		{"8388607t", 0, 8388607LL << 40},
		{"8388608t", -ERANGE, 0},
		{"0x8000000000000000", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"k", -EINVAL, 0},
		{"0x", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1kb", -EINVAL, 0},
		{"1.5k", -EINVAL, 0},
		{"1p", -EINVAL, 0},
		{"99999999999999999999z", -EINVAL, 0},
	};
	char buf[24];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		s64 size = 0;

		assert_int_equal(parse_size(sizes[i].text, &size), sizes[i].r);
		assert_true(size == sizes[i].size);
	}
	assert_string_equal(format_size(0, buf, sizeof(buf)), "0");
	assert_string_equal(format_size(1023, buf, sizeof(buf)), "1023");
	assert_string_equal(format_size(1536, buf, sizeof(buf)), "1536");
	assert_string_equal(format_size(12ULL << 30, buf, sizeof(buf)), "12g");
	assert_string_equal(format_size(1ULL << 50, buf, sizeof(buf)), "1024t");
	assert_string_equal(format_size(UINT64_MAX, buf, sizeof(buf)), "18446744073709551615");
}

/* A suggestion is close or there is none. */
static void test_nearest(void **state)
{
	static const char *const names[] = {"read",	    "pread", "fd",
					    "soft-offline", "v6.12", "v6.18"};
	char text[64], longer[200];
	struct name_list list = {"thing", names, 1};

	(void)state;
	assert_string_equal(nearest("read", names, 6), "read");
	assert_string_equal(nearest("raed", names, 6), "read");
	assert_string_equal(nearest("prread", names, 6), "pread");
	assert_string_equal(nearest("softoflin", names, 6), "soft-offline");
	assert_string_equal(nearest("V6.13", names, 6), "v6.12");
	assert_string_equal(nearest("fx", names, 6), "fd");
	assert_null(nearest("foo", names, 6));
	assert_null(nearest("", names, 6));
	assert_null(nearest("read", names, 0));
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_null(nearest(longer, names, 6));
	describe_unknown(text, sizeof(text), longer, &list);
	assert_int_equal(strlen(text), sizeof(text) - 1);
	assert_int_equal(shown_len("a\xc3\xa4", 2), 1);
	assert_int_equal(shown_len("a\xc3\xa4", 3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_advice),
		cmocka_unit_test(test_lines),	       cmocka_unit_test(test_errors),
		cmocka_unit_test(test_limits),	       cmocka_unit_test(test_random),
		cmocka_unit_test(test_format_refuses), cmocka_unit_test(test_load),
		cmocka_unit_test(test_sizes),	       cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
