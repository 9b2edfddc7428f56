/*
 * cli/options.h - commands and options: one table parses the command line and prints the help.
 *
 * A command walks its arguments with cli_next() until that returns 0:
 *
 *     while ((r = cli_next(args, &id, &value, &err)) > 0)
 *             switch (id) { case CLI_HELP: ...; case CLI_POSITIONAL: ...; case OPT_SIZE: ... }
 *
 * Understood are --name VALUE, --name=VALUE, -e VALUE, -eVALUE, "--" (what follows is
 * positional) and "-" (positional). --help and -h are known everywhere. A value may not begin
 * with "--" unless it is joined by '=': "--kernel --data" has forgotten something. Names are not
 * abbreviated, flags not bundled; an option given twice comes twice, the caller decides.
 *
 * Owner      values point into argv; tables and commands are constant and never copied.
 * Errors     -EINVAL with a struct fl_error; walking on after an error is allowed.
 */
#ifndef FL_CLI_OPTIONS_H
#define FL_CLI_OPTIONS_H

#include <stdio.h>

#include "lib/error.h"
#include "lib/types.h"

/* What cli_next() returns as id besides the ids of the table, which are 0 and up. */
enum {
	CLI_POSITIONAL = -1,
	CLI_HELP = -2,
};

/* A table of these ends with one that has neither name. */
struct cli_option {
	const char *name;	/* "size" for --size; NULL when there is only a short one */
	const char *short_name; /* "e" for -e, or NULL */
	const char *arg;	/* "SIZE": what stands for the value in the help; NULL for flags;
				   "[FILE]": it may be missing before another option or the end */
	const char *help;	/* one sentence; it is wrapped */
	int id;			/* 0 and up, the caller's */
};

struct cli_args;

struct cli_command {
	const char *name;
	const char *group;    /* the command it belongs to, "host"; or NULL */
	const char *synopsis; /* after the name: "FILE.wl | -e OPS [options]"; '\n' breaks lines */
	const char *summary;  /* one sentence */
	const struct cli_option *options; /* NULL when there is none but --help */
	void (*print_words)(FILE *f);	  /* prints what the arguments are made of; or NULL */
	const char *details; /* printed last as it stands: examples, JSON keys; or NULL */
	int (*run)(struct cli_args *args); /* returns the exit status 0, 1 or 2 */
};

/* The walk over one command's arguments. */
struct cli_args {
	const struct cli_command *cmd;
	char **argv; /* the words after the command's name */
	int argc;
	int pos;	      /* the next word */
	bool no_more_options; /* "--" was seen */
};

/* Start a walk over the @argc words @argv that follow the name of @cmd. */
void cli_args_init(struct cli_args *a, const struct cli_command *cmd, int argc, char **argv);

/*
 * The next option or argument: @id from the table, CLI_HELP, or CLI_POSITIONAL; @value is its
 * value or the positional word, NULL for a flag.
 * Returns 1, 0 at the end, -EINVAL for an unknown option, a missing or an unwanted value.
 */
int cli_next(struct cli_args *a, int *id, const char **value, struct fl_error *err);

/* The command called @name out of @nr, or NULL with an error that suggests the nearest. */
const struct cli_command *cli_find_command(const char *name, const struct cli_command *const *cmds,
					   size_t nr, struct fl_error *err);

/* Print the help of @cmd: usage, summary, options, exit status, details; 80 columns. */
void cli_usage(FILE *f, const struct cli_command *cmd);

#endif
