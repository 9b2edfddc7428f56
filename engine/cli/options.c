#include "cli/options.h"

#include <errno.h>
#include <string.h>

#include "lib/strutil.h"

#define HELP_COLUMNS	80
#define HELP_INDENT_MAX 30  /* a longer option has its help on the next line */
#define MAX_NAMES	128 /* of one table, as far as suggestions go */
#define WORD_SHOWN	60  /* bytes of a wrong word repeated in a message */

static const struct cli_option no_options[] = {{0}};
static const struct cli_option help_option = {"help", "h", NULL, "show this help", CLI_HELP};

static const struct cli_option *options_of(const struct cli_command *cmd)
{
	return cmd->options ? cmd->options : no_options;
}

static bool is_end(const struct cli_option *o)
{
	return !o->name && !o->short_name;
}

void cli_args_init(struct cli_args *a, const struct cli_command *cmd, int argc, char **argv)
{
	*a = (struct cli_args){.cmd = cmd, .argc = argc, .argv = argv};
}

static const struct cli_option *find_long(const struct cli_command *cmd, const char *name,
					  size_t len)
{
	const struct cli_option *o = options_of(cmd);

	for (; !is_end(o); o++)
		if (o->name && strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return len == 4 && !memcmp(name, "help", 4) ? &help_option : NULL;
}

/* @word follows the '-': a short name, or one with its value right behind it. */
static const struct cli_option *find_short(const struct cli_command *cmd, const char *word)
{
	const struct cli_option *o = options_of(cmd);

	for (; !is_end(o); o++) {
		size_t len = o->short_name ? strlen(o->short_name) : 0;

		if (len && !strncmp(o->short_name, word, len) && (!word[len] || o->arg))
			return o;
	}
	return strcmp(word, "h") ? NULL : &help_option;
}

/* @word is the option as it was written, perhaps with its value; only long names are near. */
static int unknown_option(const struct cli_args *a, const char *word, struct fl_error *err)
{
	int len = min((int)strcspn(word, "="), shown_len(word, WORD_SHOWN));
	const char *names[MAX_NAMES] = {help_option.name};
	const struct cli_option *o = options_of(a->cmd);
	const char *guess = NULL;
	char shown[WORD_SHOWN + 1];
	size_t nr = 1;

	snprintf(shown, sizeof(shown), "%.*s", len, word);
	for (; !is_end(o) && nr < MAX_NAMES; o++)
		if (o->name)
			names[nr++] = o->name;
	if (len > 2)
		guess = nearest(shown + strspn(shown, "-"), names, nr);
	return fl_error_set(err, -EINVAL, NULL, 0,
			    "unknown option '%s', expected one that 'foliolab %s --help' lists"
			    "%s%s%s",
			    shown, a->cmd->name, guess ? " (did you mean '--" : "",
			    guess ? guess : "", guess ? "'?)" : "");
}

/*
 * Take the word after the option; @word is the option as it was written. A value in brackets may
 * be missing: NULL.
 */
static int next_value(struct cli_args *a, const char *word, const struct cli_option *o,
		      const char **value, struct fl_error *err)
{
	const char *next = a->pos < a->argc ? a->argv[a->pos] : NULL;

	if (*o->arg == '[' && (!next || *next == '-')) {
		*value = NULL;
		return 1;
	}
	if (!next)
		return fl_error_set(err, -EINVAL, NULL, 0, "option '%s' has no value, expected %s",
				    word, o->arg);
	if (!strncmp(next, "--", 2))
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "option '%s' has no value, expected %s before '%.*s'", word,
				    o->arg, shown_len(next, WORD_SHOWN), next);
	a->pos++;
	*value = next;
	return 1;
}

static int long_option(struct cli_args *a, const char *word, int *id, const char **value,
		       struct fl_error *err)
{
	size_t len = strcspn(word, "=");
	const struct cli_option *o = find_long(a->cmd, word + 2, len - 2);

	if (!o)
		return unknown_option(a, word, err);
	*id = o->id;
	if (word[len] && !o->arg)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "option '--%s' has a value, expected none", o->name);
	if (word[len]) {
		*value = word + len + 1;
		return 1;
	}
	return o->arg ? next_value(a, word, o, value, err) : 1;
}

static int short_option(struct cli_args *a, const char *word, int *id, const char **value,
			struct fl_error *err)
{
	const struct cli_option *o = find_short(a->cmd, word + 1);
	size_t len;

	if (!o)
		return unknown_option(a, word, err);
	*id = o->id;
	if (!o->arg)
		return 1;
	len = 1 + strlen(o->short_name);
	if (!word[len])
		return next_value(a, word, o, value, err);
	*value = word + len;
	return 1;
}

int cli_next(struct cli_args *a, int *id, const char **value, struct fl_error *err)
{
	const char *word;

	if (a->pos >= a->argc)
		return 0;
	word = a->argv[a->pos++];
	if (!a->no_more_options && !strcmp(word, "--")) {
		a->no_more_options = true;
		return cli_next(a, id, value, err);
	}
	*value = NULL;
	if (a->no_more_options || word[0] != '-' || !word[1]) {
		*id = CLI_POSITIONAL;
		*value = word;
		return 1;
	}
	if (word[1] == '-')
		return long_option(a, word, id, value, err);
	return short_option(a, word, id, value, err);
}

const struct cli_command *cli_find_command(const char *name, const struct cli_command *const *cmds,
					   size_t nr, struct fl_error *err)
{
	const char *names[MAX_NAMES];
	struct name_list list = {"command", names, 0};
	char text[sizeof(err->text)];

	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(name, cmds[i]->name))
			return cmds[i];
		if (list.nr < MAX_NAMES)
			names[list.nr++] = cmds[i]->name;
	}
	fl_error_set(err, -EINVAL, NULL, 0, "%s",
		     describe_unknown(text, sizeof(text), name, &list));
	return NULL;
}

/* "-e, --eval OPS" or "    --size SIZE"; returns its width. */
static int option_words(const struct cli_option *o, char *buf, size_t n)
{
	return snprintf(buf, n, "%s%s%s%s%s%s%s", o->short_name ? "-" : "    ",
			o->short_name ? o->short_name : "", o->short_name && o->name ? ", " : "",
			o->name ? "--" : "", o->name ? o->name : "", o->arg ? " " : "",
			o->arg ? o->arg : "");
}

/* Print words of @text from column @indent on, never past HELP_COLUMNS if it can be helped. */
static void print_wrapped(FILE *f, const char *text, int indent)
{
	int column = indent;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > indent && column + 1 + len > HELP_COLUMNS) {
			fprintf(f, "\n%*s", indent, "");
			column = indent;
		}
		column += fprintf(f, "%s%.*s", column > indent ? " " : "", len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

static void print_option(FILE *f, const struct cli_option *o, int indent)
{
	char words[128];
	int width = 2 + option_words(o, words, sizeof(words));

	fprintf(f, "  %s", words);
	if (width + 2 > indent)
		fprintf(f, "\n%*s", indent, "");
	else
		fprintf(f, "%*s", indent - width, "");
	print_wrapped(f, o->help, indent);
}

/* The column where the help of all options starts. */
static int help_indent(const struct cli_command *cmd)
{
	char words[128];
	int indent = 4 + option_words(&help_option, words, sizeof(words));

	for (const struct cli_option *o = options_of(cmd); !is_end(o); o++) {
		int width = 4 + option_words(o, words, sizeof(words));

		if (width <= HELP_INDENT_MAX)
			indent = max(indent, width);
	}
	return indent;
}

static void print_options(FILE *f, const struct cli_command *cmd)
{
	int indent = help_indent(cmd);

	fprintf(f, "\nOptions:\n");
	for (const struct cli_option *o = options_of(cmd); !is_end(o); o++)
		print_option(f, o, indent);
	if (find_long(cmd, "help", 4) == &help_option)
		print_option(f, &help_option, indent);
}

/* A synopsis of several lines is aligned under its first. */
static void print_usage_line(FILE *f, const struct cli_command *cmd)
{
	const char *s = cmd->synopsis ? cmd->synopsis : "";
	int indent = fprintf(f, "Usage: foliolab %s%s%s", cmd->group ? cmd->group : "",
			     cmd->group ? " " : "", cmd->name) +
		     1;

	if (*s)
		fputc(' ', f);
	for (; *s; s++) {
		fputc(*s, f);
		if (*s == '\n')
			fprintf(f, "%*s", indent, "");
	}
	fputc('\n', f);
}

void cli_usage(FILE *f, const struct cli_command *cmd)
{
	print_usage_line(f, cmd);
	fputc('\n', f);
	print_wrapped(f, cmd->summary, 0);
	print_options(f, cmd);
	if (cmd->print_words)
		cmd->print_words(f);
	fprintf(f, "\nExit status:\n"
		   "  0  done\n"
		   "  1  the answer is no: a mismatch, a failed check\n"
		   "  2  bad usage or input\n");
	if (cmd->details)
		fprintf(f, "\n%s%s", cmd->details,
			*cmd->details && cmd->details[strlen(cmd->details) - 1] == '\n' ? ""
											: "\n");
}
