/* The program: finds the command, sees to it that its output arrived. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/lab.h"
#include "cli/version.h"

/* In the order of the overview. */
static const struct cli_command *const commands[] = {
	&cmd_lab,    &cmd_grade,     &cmd_run,	  &cmd_compare, &cmd_sweep,
	&cmd_golden, &cmd_bench,     &cmd_ext4,	  &cmd_kernels, &cmd_doctor,
	&cmd_host,   &cmd_calibrate, &cmd_replay, &cmd_attach,	&cmd_export,
	&cmd_import, &cmd_struct,    &cmd_where,  &cmd_names,
};

static void print_overview(FILE *f)
{
	fprintf(f, "FolioLab " FL_VERSION ": a kernel you can watch. It plays a faithful miniature "
		   "of Linux's\npage cache as an ordinary program and shows what each kernel "
		   "version does with\nthe same reads: which folios, which windows, what was read "
		   "in vain.\n\nUsage: foliolab COMMAND [options]\n\nCommands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(f,
		"\nExamples:\n"
		"  foliolab run -e 'read 4k 4096'\n"
		"  foliolab compare -e 'read 4k 4096' --kernel v6.7 --kernel ab4443fe3ca6\n"
		"  foliolab bench dd\n"
		"\n'foliolab help COMMAND' or 'foliolab COMMAND --help' says more; --version what "
		"this is built of.\n");
}

static const struct cli_command *find_command(const char *name, struct fl_error *err)
{
	return cli_find_command(name, commands, ARRAY_SIZE(commands), err);
}

/* "help" or "help COMMAND". */
static int help(int argc, char **argv)
{
	const struct cli_command *cmd;
	struct cli_args args;
	struct fl_error err = {0};

	if (!argc) {
		print_overview(stdout);
		return CLI_DONE;
	}
	cmd = find_command(argv[0], &err);
	if (!cmd)
		return cli_fail(&err);
	cli_args_init(&args, cmd, 0, NULL);
	return cli_help(&args);
}

static int run_named(const char *name, int argc, char **argv)
{
	const struct cli_command *cmd;
	struct cli_args args;
	struct fl_error err = {0};

	cmd = find_command(name, &err);
	if (!cmd)
		return cli_fail(&err);
	cli_args_init(&args, cmd, argc, argv);
	return cmd->run(&args);
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "help";

	if (argc <= 1 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return lab_menu();
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		version_print(stdout);
		return CLI_DONE;
	}
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return help(max(argc - 2, 0), argv + min(argc, 2));
	return run_named(word, argc - 2, argv + 2);
}

/*
 * Descriptors 0 to 2 must not become a file of ours: fill the ones that are closed with what
 * fails when it is used.
 */
static void fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16]; /* glibc takes a size only with a buffer */
	struct fl_error err = {0};
	int status;

	fill_standard_descriptors();
	signal(SIGPIPE, SIG_IGN);
	/* Help fits into one write, whose error then is the one that is told. */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	signal(SIGXFSZ, SIG_IGN);
	status = dispatch(argc, argv);
	if (out_finish_stdout(&err))
		return cli_fail(&err);
	return status;
}
