/*
 * Command lines and output: what cli_next() understands and refuses, what the help looks like,
 * and that output is complete or an error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/out.h"

enum { OPT_SIZE, OPT_DATA, OPT_EVAL, OPT_QUIET };

static const struct cli_option options[] = {
	{"size", NULL, "SIZE",
	 "size of the file the workload runs on, which does not exist "
	 "before and is a hole from one end to the other",
	 OPT_SIZE},
	{"data", NULL, NULL, "move real bytes", OPT_DATA},
	{"eval", "e", "OPS", "operations instead of a file", OPT_EVAL},
	{NULL, "q", NULL, "say less", OPT_QUIET},
	{"a-very-long-option-name", NULL, "ARGUMENT", "help below", OPT_QUIET},
	{0},
};

static const struct cli_command command = {
	.name = "run",
	.synopsis = "FILE.wl [options]\n-e OPS [options]",
	.summary = "Run a workload.",
	.options = options,
	.details = "Examples:\n  foliolab run -e 'read 4k'",
};

static const struct cli_command bare = {.name = "doctor", .summary = "Say what works."};

#define ARGS(...)                                                                                  \
	(char *[])                                                                                 \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void start(struct cli_args *a, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	cli_args_init(a, &command, argc, argv);
}

static void expect_next(struct cli_args *a, int want_id, const char *want_value)
{
	struct fl_error err = {0};
	const char *value = "unset";
	int id = -99;

	assert_int_equal(cli_next(a, &id, &value, &err), 1);
	assert_int_equal(id, want_id);
	if (want_value)
		assert_string_equal(value, want_value);
	else
		assert_null(value);
}

static void expect_end(struct cli_args *a)
{
	struct fl_error err;
	const char *value;
	int id;

	assert_int_equal(cli_next(a, &id, &value, &err), 0);
	assert_int_equal(cli_next(a, &id, &value, &err), 0);
}

static void expect_error(char **argv, const char *text)
{
	struct fl_error err = {0};
	struct cli_args a;
	const char *value;
	int id;

	start(&a, argv);
	assert_int_equal(cli_next(&a, &id, &value, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.file, "");
	assert_string_equal(err.text, text);
}

/* Every way to write an option, in order, twice as well. */
static void test_forms(void **state)
{
	struct cli_args a;

	(void)state;
	start(&a, ARGS("--size", "4k", "--size=8k", "--size=", "a.wl", "--data", "-e", "read 4k",
		       "-efsync", "-q", "-", "--eval", "-1", "--help", "-h", "--", "--data", "-q"));
	expect_next(&a, OPT_SIZE, "4k");
	expect_next(&a, OPT_SIZE, "8k");
	expect_next(&a, OPT_SIZE, "");
	expect_next(&a, CLI_POSITIONAL, "a.wl");
	expect_next(&a, OPT_DATA, NULL);
	expect_next(&a, OPT_EVAL, "read 4k");
	expect_next(&a, OPT_EVAL, "fsync");
	expect_next(&a, OPT_QUIET, NULL);
	expect_next(&a, CLI_POSITIONAL, "-");
	expect_next(&a, OPT_EVAL, "-1");
	expect_next(&a, CLI_HELP, NULL);
	expect_next(&a, CLI_HELP, NULL);
	expect_next(&a, CLI_POSITIONAL, "--data");
	expect_next(&a, CLI_POSITIONAL, "-q");
	expect_end(&a);
	start(&a, ARGS("--"));
	expect_end(&a);
	cli_args_init(&a, &bare, 0, NULL);
	expect_end(&a);
}

/* What is wrong with an option is told, with what was meant. */
static void test_bad_options(void **state)
{
	(void)state;
	expect_error(ARGS("--sise=4k"), "unknown option '--sise', expected one that 'foliolab run "
					"--help' lists (did you mean '--size'?)");
	expect_error(ARGS("--hlep"), "unknown option '--hlep', expected one that 'foliolab run "
				     "--help' lists (did you mean '--help'?)");
	expect_error(ARGS("-data"), "unknown option '-data', expected one that 'foliolab run "
				    "--help' lists (did you mean '--data'?)");
	expect_error(ARGS("-x"),
		     "unknown option '-x', expected one that 'foliolab run --help' lists");
	expect_error(ARGS("-qq"),
		     "unknown option '-qq', expected one that 'foliolab run --help' lists");
	expect_error(ARGS("--=4"),
		     "unknown option '--', expected one that 'foliolab run --help' lists");
	expect_error(ARGS("--size"), "option '--size' has no value, expected SIZE");
	expect_error(ARGS("-e"), "option '-e' has no value, expected OPS");
	expect_error(ARGS("--size", "--data"),
		     "option '--size' has no value, expected SIZE before '--data'");
	expect_error(ARGS("--data=1"), "option '--data' has a value, expected none");
}

static void test_find_command(void **state)
{
	const struct cli_command *const cmds[] = {&command, &bare};
	struct fl_error err = {0};

	(void)state;
	assert_ptr_equal(cli_find_command("doctor", cmds, 2, &err), &bare);
	assert_null(cli_find_command("docter", cmds, 2, &err));
	assert_string_equal(err.text, "unknown command 'docter', expected one of run, doctor (did "
				      "you mean 'doctor'?)");
	assert_null(cli_find_command("docter", cmds, 2, NULL));
}

#define EXIT_STATUS                                                                                \
	"Exit status:\n"                                                                           \
	"  0  done\n"                                                                              \
	"  1  the answer is no: a mismatch, a failed check\n"                                      \
	"  2  bad usage or input\n"

static void expect_usage(const struct cli_command *cmd, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cli_usage(f, cmd);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

/* The help comes from the table: aligned, wrapped at 80 columns, --help added. */
static void test_usage(void **state)
{
	(void)state;
	expect_usage(
		&command,
		"Usage: foliolab run FILE.wl [options]\n"
		"                    -e OPS [options]\n"
		"\n"
		"Run a workload.\n"
		"\n"
		"Options:\n"
		"      --size SIZE  size of the file the workload runs on, which does not exist\n"
		"                   before and is a hole from one end to the other\n"
		"      --data       move real bytes\n"
		"  -e, --eval OPS   operations instead of a file\n"
		"  -q               say less\n"
		"      --a-very-long-option-name ARGUMENT\n"
		"                   help below\n"
		"  -h, --help       show this help\n"
		"\n" EXIT_STATUS "\n"
		"Examples:\n"
		"  foliolab run -e 'read 4k'\n");
	expect_usage(&bare, "Usage: foliolab doctor\n"
			    "\n"
			    "Say what works.\n"
			    "\n"
			    "Options:\n"
			    "  -h, --help  show this help\n"
			    "\n" EXIT_STATUS);
}

/* A directory of its own for every test about files. */
struct place {
	char dir[32];
	char path[64];
};

static int setup_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/test_options.XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/out", p->dir);
	*state = p;
	return 0;
}

static int teardown_place(void **state)
{
	struct place *p = *state;

	unlink(p->path);
	assert_int_equal(rmdir(p->dir), 0);
	free(p);
	return 0;
}

static int count_entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void expect_content(const char *path, const char *want)
{
	char text[256] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	(void)!fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	assert_string_equal(text, want);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

/* The target is old or new, never half; its mode stays, links to it stay links. */
static void test_file(void **state)
{
	struct place *p = *state;
	char link[64];
	struct fl_error err;
	struct stat st;
	struct out o;

	assert_int_equal(out_open(&o, p->path, &err), 0);
	assert_false(o.colour);
	fputs("first", o.f);
	assert_int_equal(access(p->path, F_OK), -1);
	assert_int_equal(out_commit(&o, &err), 0);
	expect_content(p->path, "first");
	chmod(p->path, 0640);
	snprintf(link, sizeof(link), "%s/link", p->dir);
	assert_int_equal(symlink("out", link), 0);
	assert_int_equal(out_open(&o, link, &err), 0);
	fputs("second", o.f);
	expect_content(p->path, "first");
	assert_int_equal(out_commit(&o, &err), 0);
	expect_content(p->path, "second");
	assert_int_equal(mode_of(p->path), 0640);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(link);
	assert_int_equal(count_entries(p->dir), 1);
}

/* Giving up leaves no trace, and may be done once more. */
static void test_abort(void **state)
{
	struct place *p = *state;
	struct fl_error err;
	struct out o;

	assert_int_equal(out_open(&o, p->path, &err), 0);
	fputs("half", o.f);
	assert_int_equal(count_entries(p->dir), 1);
	out_abort(&o);
	out_abort(&o);
	assert_int_equal(count_entries(p->dir), 0);
}

/* The rename fails (a directory has taken the name): error, and nothing of ours is left. */
static void test_rename_fails(void **state)
{
	struct place *p = *state;
	struct fl_error err;
	struct out o;

	assert_int_equal(out_open(&o, p->path, &err), 0);
	fputs("lost", o.f);
	assert_int_equal(mkdir(p->path, 0700), 0);
	assert_int_equal(out_commit(&o, &err), -EISDIR);
	assert_string_equal(err.file, p->path);
	assert_string_equal(err.text, "Is a directory");
	assert_int_equal(count_entries(p->dir), 1);
	assert_int_equal(out_open(&o, p->path, &err), -EISDIR);
	rmdir(p->path);
}

/* Targets that cannot be: each with its errno, none created. */
static void test_bad_targets(void **state)
{
	struct place *p = *state;
	struct fl_error err;
	char path[96];
	struct out o;

	assert_int_equal(out_open(&o, "", &err), -ENOENT);
	snprintf(path, sizeof(path), "%s/none/out", p->dir);
	assert_int_equal(out_open(&o, path, &err), -ENOENT);
	assert_string_equal(err.file, path);
	assert_string_equal(err.text,
			    "No such file or directory, expected a file that can be written");
	snprintf(path, sizeof(path), "%s/", p->path);
	assert_int_equal(out_open(&o, path, &err), -ENOENT);
	assert_int_equal(symlink("nowhere", p->path), 0);
	assert_int_equal(out_open(&o, p->path, &err), -ENOENT);
	assert_int_equal(count_entries(p->dir), 1);
}

static void fill(FILE *f)
{
	for (int i = 0; i < 10000; i++)
		fputs("a line that is longer than nothing\n", f);
}

/* A device is written in place, and its first error is the one told, also after many writes. */
static void test_dev_full(void **state)
{
	struct fl_error err;
	struct stat st;
	struct out o;

	(void)state;
	assert_int_equal(out_open(&o, "/dev/full", &err), 0);
	fputs("a little", o.f);
	assert_int_equal(out_commit(&o, &err), -ENOSPC);
	assert_string_equal(err.file, "/dev/full");
	assert_string_equal(err.text, "No space left on device");
	assert_int_equal(out_open(&o, "/dev/full", &err), 0);
	fill(o.f);
	assert_int_equal(out_commit(&o, &err), -ENOSPC);
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(out_open(&o, "/dev/null", &err), 0);
	fill(o.f);
	assert_int_equal(out_commit(&o, &err), 0);
}

/* Put @fd in the place of standard output; the return value undoes it. */
static int redirect(int fd)
{
	int saved;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	return saved;
}

static void restore(int saved)
{
	dup2(saved, STDOUT_FILENO);
	close(saved);
	clearerr(stdout);
}

static int closed_pipe(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	return fds[1];
}

/* Standard output through struct out: success, a closed pipe, a full disk. */
static void test_stdout(void **state)
{
	struct place *p = *state;
	struct fl_error err = {0};
	int saved, r[3];
	struct out o;

	saved = redirect(open(p->path, O_WRONLY | O_CREAT, 0600));
	printf("before ");
	r[0] = out_open(&o, "-", &err);
	fputs("after", o.f);
	r[0] |= out_commit(&o, &err);
	restore(saved);
	assert_int_equal(r[0], 0);
	expect_content(p->path, "before after");

	saved = redirect(closed_pipe());
	r[0] = out_open(&o, NULL, &err);
	fill(o.f);
	r[1] = out_commit(&o, &err);
	restore(saved);
	assert_int_equal(r[0], 0);
	assert_int_equal(r[1], -EPIPE);
	assert_string_equal(err.file, "standard output");
	assert_string_equal(err.text, "Broken pipe");

	saved = redirect(open("/dev/full", O_WRONLY));
	r[0] = out_open(&o, NULL, &err);
	fputs("x", o.f);
	r[1] = out_commit(&o, &err);
	restore(saved);
	assert_int_equal(r[0], 0);
	assert_int_equal(r[1], -ENOSPC);
}

static int finish_after(int fd, bool much, struct fl_error *err)
{
	int saved = redirect(fd), r;

	if (much)
		fill(stdout);
	else
		printf("x");
	r = out_finish_stdout(err);
	restore(saved);
	return r;
}

/* The same for stdio's stdout, with the error in the last flush or long before it. */
static void test_finish_stdout(void **state)
{
	struct fl_error err = {0};

	(void)state;
	assert_int_equal(finish_after(open("/dev/null", O_WRONLY), true, &err), 0);
	assert_int_equal(finish_after(open("/dev/full", O_WRONLY), false, &err), -ENOSPC);
	assert_string_equal(err.text, "No space left on device");
	assert_int_not_equal(finish_after(open("/dev/full", O_WRONLY), true, &err), 0);
	assert_int_equal(finish_after(closed_pipe(), false, &err), -EPIPE);
	assert_int_equal(finish_after(closed_pipe(), true, &err), -EPIPE);
	assert_string_equal(err.file, "standard output");
	assert_string_equal(err.text, "Broken pipe");
}

static void expect_printed(const struct fl_error *err, const char *want)
{
	char text[256] = "";
	int fds[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	out_error(err);
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	assert_true(n > 0);
	assert_string_equal(text, want);
}

static void test_print_error(void **state)
{
	(void)state;
	expect_printed(&(struct fl_error){-EINVAL, 3, "a.wl", "no"}, "foliolab: a.wl:3: no\n");
	expect_printed(&(struct fl_error){-EINVAL, 0, "a.wl", "no"}, "foliolab: a.wl: no\n");
	expect_printed(&(struct fl_error){-EINVAL, 3, "", "no"}, "foliolab: 3: no\n");
	expect_printed(&(struct fl_error){-EINVAL, 0, "", "no"}, "foliolab: no\n");
}

static void expect_bar(u64 n, u64 max, unsigned int width, const char *want)
{
	char text[64] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	print_bar(f, n, max, width);
	fclose(f);
	assert_string_equal(text, want);
}

static void test_bar(void **state)
{
	(void)state;
	expect_bar(4, 8, 8, "|****    |");
	expect_bar(0, 8, 8, "|        |");
	expect_bar(8, 8, 8, "|********|");
	expect_bar(9, 8, 8, "|*******+|");
	expect_bar(1, 1000, 8, "|        |");
	expect_bar(5, 0, 4, "|    |");
	expect_bar(5, 5, 0, "||");
	expect_bar(UINT64_MAX - 1, UINT64_MAX, 8, "|******* |");
}

static void test_json(void **state)
{
	struct place *p = *state;
	cJSON *obj = cJSON_CreateObject();
	struct fl_error err;
	struct out o;

	assert_int_equal(json_add_u64(obj, "bytes", UINT64_MAX), 0);
	cJSON_AddStringToObject(obj, "fs", "xfs");
	assert_int_equal(out_open(&o, p->path, &err), 0);
	assert_int_equal(out_json(&o, obj), 0);
	assert_int_equal(out_commit(&o, &err), 0);
	expect_content(p->path, "{\n\t\"bytes\":\t18446744073709551615,\n\t\"fs\":\t\"xfs\"\n}\n");
	cJSON_Delete(obj);
}

/* No colour but on a terminal, and only if neither NO_COLOR nor TERM forbids it. */
static void test_colour(void **state)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	FILE *null = fopen("/dev/null", "w"), *tty;

	(void)state;
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	assert_false(out_colour(null));
	fclose(null);
	if (fd < 0)
		skip();
	tty = fdopen(fd, "w");
	assert_true(out_colour(tty));
	setenv("NO_COLOR", "", 1);
	assert_true(out_colour(tty));
	setenv("NO_COLOR", "1", 1);
	assert_false(out_colour(tty));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_false(out_colour(tty));
	unsetenv("TERM");
	assert_false(out_colour(tty));
	fclose(tty);
}

#define PLACE_TEST(f) cmocka_unit_test_setup_teardown(f, setup_place, teardown_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_find_command),
		cmocka_unit_test(test_usage),
		PLACE_TEST(test_file),
		PLACE_TEST(test_abort),
		PLACE_TEST(test_rename_fails),
		PLACE_TEST(test_bad_targets),
		cmocka_unit_test(test_dev_full),
		PLACE_TEST(test_stdout),
		cmocka_unit_test(test_finish_stdout),
		cmocka_unit_test(test_print_error),
		cmocka_unit_test(test_bar),
		PLACE_TEST(test_json),
		cmocka_unit_test(test_colour),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
