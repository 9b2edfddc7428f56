#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lab.h"
#include "cli/lab_autograder.h"
#include "lab/lab_check.h"
#include "lab/textfile.h"
#include "lib/strutil.h"

enum {
	OPT_STUDENT,
	OPT_YES,
	OPT_SEEDS,
	OPT_OUTPUT,
	OPT_ONCE,
	OPT_PLAIN,
	OPT_NO_SETTINGS,
	OPT_FOR,
	OPT_PROGRAM
};

static const struct cli_option lab_options[] = {
	{"student", NULL, "ID", "whose numbers (default guest, or who began)", OPT_STUDENT},
	{"plain", NULL, NULL, "run: plain text, not the terminal view", OPT_PLAIN},
	{"no-settings", NULL, NULL, "run: the view remembers nothing", OPT_NO_SETTINGS},
	{"yes", NULL, NULL, "reset: do not ask", OPT_YES},
	{"once", NULL, NULL, "watch: check once; exit 1 if something is left", OPT_ONCE},
	{"seeds", NULL, "N", "check: students to look at, 1 to 1000 (default 200)", OPT_SEEDS},
	{"output", "o", "FILE", "package: write there instead of standard output", OPT_OUTPUT},
	{"for", NULL, "PLATFORM",
	 "package: a zip for the instructor to upload: gradescope or prairielearn", OPT_FOR},
	{"program", NULL, "DEB", "package --for: the Debian package of FolioLab that grades",
	 OPT_PROGRAM},
	{0},
};

/* ---- subcommands: each returns an exit status, negative for the error in @err ---- */

static int sub_list(struct lab_args *a, struct fl_error *err)
{
	(void)a;
	return lab_list(err);
}

static int with_session(struct lab_args *a, struct lab_session *s, struct fl_error *err)
{
	return lab_session_open(s, a->lab, a->student, 0, err);
}

static int sub_show(struct lab_args *a, struct fl_error *err)
{
	char dir[LAB_PATH], path[LAB_PATH], *text;
	struct lab_session s = {.columns = 80, .colour = out_colour(stdout), .out = stdout};
	struct lab_remote *remote;
	const struct lab *lab;
	size_t len;
	int ret = lab_find(a->lab, dir, err);

	if (!ret)
		ret = lab_look(dir, a->student ? a->student : LAB_DEFAULT_STUDENT, &remote, err);
	if (ret)
		return ret;
	lab = lab_remote_lab(remote);
	if (!lab_join(path, dir, "README.md"))
		ret = fl_error_set(err, -ENAMETOOLONG, dir, 0, "path too long");
	if (!ret)
		ret = textfile_read(path, 1 << 20, &text, &len, err);
	if (!ret) {
		lab_print(&s, text);
		free(text);
		printf("\nSteps (about %u minutes):\n", lab->minutes);
		for (unsigned int i = 0; i < lab->nr_steps; i++)
			printf("  %u. %s\n", i + 1, lab->steps[i].title);
		printf("\nStart: foliolab lab run %s\n", lab->name);
	}
	lab_remote_close(remote);
	return ret;
}

static int sub_run(struct lab_args *a, struct fl_error *err)
{
	return lab_run_here(a->lab, a->student, a->plain || !lab_can_view(), a->no_settings, err);
}

static int sub_watch(struct lab_args *a, struct fl_error *err)
{
	struct lab_session s;
	int done = 0, ret = with_session(a, &s, err);

	if (ret)
		return ret;
	ret = lab_watch(&s, a->once, &done, err);
	lab_session_close(&s);
	return ret ? ret : done ? CLI_DONE : CLI_NO;
}

static int package_for(const struct lab_args *a, struct fl_error *err)
{
	char dir[LAB_PATH];
	int ret = lab_find(a->lab, dir, err);

	return ret ? ret : lab_autograder(dir, a->platform, a->program, a->output, err);
}

static int sub_package(struct lab_args *a, struct fl_error *err)
{
	struct lab_session s;
	int ret;

	if (a->platform)
		return package_for(a, err);
	ret = with_session(a, &s, err);

	if (ret)
		return ret;
	ret = lab_package(&s, a->output, err);
	lab_session_close(&s);
	return ret;
}

static bool confirm(const char *dir)
{
	char answer[16] = "";

	printf("Forget all answers in %s? Type yes: ", dir);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && !strcmp(answer, "yes\n");
}

/* The student's programs are kept as answers.lua.old: they may be worth more than the points. */
static int sub_reset(struct lab_args *a, struct fl_error *err)
{
	char dir[LAB_PATH], state[LAB_PATH], path[LAB_PATH], old[LAB_PATH];
	int ret = lab_find(a->lab, dir, err);

	if (!ret)
		ret = lab_state_dir(strrchr(dir, '/') + 1, false, state, err);
	if (ret)
		return ret;
	if (!a->yes && !confirm(state)) {
		printf("Nothing was changed.\n");
		return CLI_NO;
	}
	if (!lab_join(path, state, "progress.json"))
		return fl_error_set(err, -ENAMETOOLONG, state, 0, "path too long");
	if (unlink(path) && errno != ENOENT)
		return fl_error_set(err, -errno, path, 0, "%s", strerror(errno));
	if (!lab_join(path, state, "answers.lua") || !lab_join(old, state, "answers.lua.old"))
		return fl_error_set(err, -ENAMETOOLONG, state, 0, "path too long");
	if (rename(path, old) && errno != ENOENT)
		return fl_error_set(err, -errno, path, 0, "%s", strerror(errno));
	printf("Forgotten. Your programs are kept in %s\n", old);
	return 0;
}

static int sub_new(struct lab_args *a, struct fl_error *err)
{
	return lab_new(a->lab, err);
}

static void check_progress(void *ctx, unsigned int done, unsigned int total)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (done == total)
		fprintf(stderr, "\r\033[K");
	else if (done % 10 == 0)
		fprintf(stderr, "\r%s: %u of %u students ", (const char *)ctx, done, total);
}

static int check_one(const char *dir, unsigned int seeds, struct fl_error *err)
{
	const char *name = strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir;
	struct lab_check check = {
		.out = stdout, .students = seeds, .progress = check_progress, .ctx = (void *)name};
	int ret = lab_check(dir, &check, err);

	if (ret)
		return ret;
	printf("%s: %u questions, %u students: %s\n", name, check.questions, seeds,
	       check.failures ? "does not hold" : "all holds");
	return check.failures ? CLI_NO : CLI_DONE;
}

static int sub_check(struct lab_args *a, struct fl_error *err)
{
	char root[LAB_PATH], dir[LAB_PATH];
	struct lab_list all;
	int ret, status = CLI_DONE;

	if (a->lab) {
		ret = lab_find(a->lab, dir, err);
		return ret ? ret : check_one(dir, a->seeds, err);
	}
	ret = lab_find_root(root, err);
	if (!ret)
		ret = lab_find_all(root, &all, err);
	for (unsigned int i = 0; !ret && i < all.nr; i++) {
		if (!lab_join(dir, root, all.names[i]))
			return fl_error_set(err, -ENAMETOOLONG, root, 0, "path too long");
		ret = check_one(dir, a->seeds, err);
		if (ret > 0)
			status = ret;
		ret = min(ret, 0);
	}
	return ret ? ret : status;
}

/* ---- which of them ---- */

enum lab_argument { NO_LAB, MAY_LAB, NEEDS_LAB };

static const struct {
	const char *name;
	enum lab_argument lab;
	int (*run)(struct lab_args *a, struct fl_error *err);
} subcommands[] = {
	{"list", NO_LAB, sub_list},	 {"show", NEEDS_LAB, sub_show},
	{"run", NEEDS_LAB, sub_run},	 {"check", MAY_LAB, sub_check},
	{"new", NEEDS_LAB, sub_new},	 {"watch", NEEDS_LAB, sub_watch},
	{"reset", NEEDS_LAB, sub_reset}, {"package", NEEDS_LAB, sub_package},
};

static int take_word(struct lab_args *a, struct cli_args *args, const char *word,
		     struct fl_error *err)
{
	if (!a->what)
		a->what = word;
	else if (!a->lab)
		a->lab = word;
	else
		return cli_unexpected(args, word, err);
	return 0;
}

static int take_seeds(struct lab_args *a, const char *value, struct fl_error *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (!*value || *end || n < 1 || n > 1000)
		return fl_error_set(err, -EINVAL, "--seeds", 0, "'%.40s', expected 1 to 1000",
				    value);
	a->seeds = n;
	return 0;
}

static int parse(struct lab_args *a, struct cli_args *args, struct fl_error *err)
{
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		ret = 0;
		if (id == CLI_HELP) {
			a->help = true;
			return 0;
		} else if (id == CLI_POSITIONAL) {
			ret = take_word(a, args, value, err);
		} else if (id == OPT_STUDENT) {
			a->student = value;
		} else if (id == OPT_YES) {
			a->yes = true;
		} else if (id == OPT_ONCE) {
			a->once = true;
		} else if (id == OPT_PLAIN) {
			a->plain = true;
		} else if (id == OPT_FOR) {
			a->platform = value;
		} else if (id == OPT_PROGRAM) {
			a->program = value;
		} else if (id == OPT_NO_SETTINGS) {
			a->no_settings = true;
		} else if (id == OPT_SEEDS) {
			ret = take_seeds(a, value, err);
		} else {
			a->output = value;
		}
		if (ret)
			return ret;
	}
	return ret;
}

static int dispatch(struct lab_args *a, struct fl_error *err)
{
	const char *names[ARRAY_SIZE(subcommands)];
	struct name_list list = {"lab command", names, ARRAY_SIZE(subcommands)};
	char text[sizeof(err->text)];

	if (!a->what)
		a->what = "list";
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		names[i] = subcommands[i].name;
		if (strcmp(a->what, names[i]))
			continue;
		if (subcommands[i].lab == NEEDS_LAB && !a->lab)
			return fl_error_set(err, -EINVAL, NULL, 0,
					    "no lab, expected 'foliolab lab %s LAB'", a->what);
		if (subcommands[i].lab == NO_LAB && a->lab)
			return fl_error_set(err, -EINVAL, NULL, 0,
					    "unexpected argument '%.60s', expected none", a->lab);
		return subcommands[i].run(a, err);
	}
	return fl_error_set(err, -EINVAL, NULL, 0, "%s",
			    describe_unknown(text, sizeof(text), a->what, &list));
}

static int cmd_lab_main(struct cli_args *args)
{
	struct lab_args a = {.seeds = 200};
	struct fl_error err = {0};
	int ret = parse(&a, args, &err);

	if (ret)
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	ret = dispatch(&a, &err);
	if (ret >= 0)
		return ret;
	fflush(stdout);
	return cli_fail(&err);
}

const struct cli_command cmd_lab = {
	.name = "lab",
	.synopsis = "list\n"
		    "show LAB\n"
		    "run LAB [--student ID] [--plain]\n"
		    "check [LAB] [--seeds N]\n"
		    "new NAME\n"
		    "watch LAB [--once]\n"
		    "reset LAB [--yes]\n"
		    "package LAB [-o FILE]\n"
		    "package LAB --for PLATFORM --program DEB [-o FILE]",
	.summary = "Labs: read, predict, run, answer, program a little.",
	.options = lab_options,
	.details = "LAB is a number, a name or the path of a lab's folder (with a '/').\n"
		   "Progress is kept in $XDG_STATE_HOME/foliolab, by default\n"
		   "~/.local/state/foliolab; labs are looked for in $FOLIOLAB_LABS first.\n"
		   "\n"
		   "Examples:\n"
		   "  foliolab lab run 1\n"
		   "  foliolab lab new 07-my-lab && foliolab lab check ./07-my-lab\n",
	.run = cmd_lab_main,
};
