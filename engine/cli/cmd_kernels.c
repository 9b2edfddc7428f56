#include "cli/commands.h"

#include <errno.h>
#include <string.h>

#include "cli/common.h"
#include "machine/knobs.h"

enum { OPT_KNOBS, OPT_FORMAT };

static const struct cli_option kernels_options[] = {
	{"knobs", NULL, NULL, "every change between the kernels, and which kernel has it",
	 OPT_KNOBS},
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{0},
};

struct kernels_args {
	bool knobs;
	enum cli_format format;
};

#define COLUMN_MAX 7 /* of the matrix: a commit is cut to what git shows */

/* The knobs of the nr-th profile; a table that does not parse would be found by every run. */
static struct knobs profile_knobs(const struct profile_info *p)
{
	struct knobs k;

	knobs_parse(&k, p->name, NULL);
	return k;
}

/* ---- text ---- */

static void print_profiles(FILE *f)
{
	const struct profile_info *p;

	for (unsigned int i = 0; (p = profile_info(i)); i++)
		fprintf(f, "%-13s %s\n", p->name, p->what);
}

static void print_knob_list(struct out *o)
{
	const struct knob_info *k;

	for (unsigned int i = 0; (k = knob_info(i)); i++)
		fprintf(o->f, "%s%s%s  %s%s%s\n    %s\n", o->colour ? "\033[1m" : "", k->name,
			o->colour ? "\033[0m" : "", k->commit, *k->commit ? ", " : "", k->since,
			k->what);
}

static int column_width(const struct profile_info *p)
{
	return min((int)strlen(p->name), COLUMN_MAX);
}

static void print_matrix_head(FILE *f)
{
	const struct profile_info *p;

	fprintf(f, "%-21s", "");
	for (unsigned int i = 0; (p = profile_info(i)); i++)
		fprintf(f, " %.*s", column_width(p), p->name);
	fputc('\n', f);
}

static void print_matrix(FILE *f)
{
	const struct profile_info *p;
	const struct knob_info *k;

	print_matrix_head(f);
	for (unsigned int id = 0; (k = knob_info(id)); id++) {
		fprintf(f, "%-21s", k->name);
		for (unsigned int i = 0; (p = profile_info(i)); i++) {
			struct knobs knobs = profile_knobs(p);

			fprintf(f, " %*s", column_width(p), knobs_test(&knobs, id) ? "y" : "-");
		}
		fputc('\n', f);
	}
}

static void show_text(struct out *o, const void *data)
{
	const struct kernels_args *a = data;

	print_profiles(o->f);
	if (!a->knobs)
		return;
	fputc('\n', o->f);
	print_knob_list(o);
	fputc('\n', o->f);
	print_matrix(o->f);
}

/* ---- JSON ---- */

static cJSON *profile_json(const struct profile_info *p)
{
	struct knobs knobs = profile_knobs(p);
	cJSON *obj = cJSON_CreateObject(), *on;

	cJSON_AddStringToObject(obj, "name", p->name);
	cJSON_AddStringToObject(obj, "what", p->what);
	cJSON_AddStringToObject(obj, "base", p->base);
	on = cJSON_AddArrayToObject(obj, "knobs");
	for (unsigned int i = 0; i < KNOB_NR; i++)
		if (knobs_test(&knobs, i))
			cJSON_AddItemToArray(on, cJSON_CreateString(knob_info(i)->name));
	return obj;
}

static cJSON *knob_json(const struct knob_info *k)
{
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "name", k->name);
	cJSON_AddStringToObject(obj, "commit", k->commit);
	cJSON_AddStringToObject(obj, "since", k->since);
	cJSON_AddStringToObject(obj, "what", k->what);
	return obj;
}

static cJSON *show_json(const void *data)
{
	const struct kernels_args *a = data;
	cJSON *obj = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(obj, "profiles");
	const struct profile_info *p;
	const struct knob_info *k;

	for (unsigned int i = 0; (p = profile_info(i)); i++)
		cJSON_AddItemToArray(list, profile_json(p));
	if (!a->knobs)
		return obj;
	list = cJSON_AddArrayToObject(obj, "knobs");
	for (unsigned int i = 0; (k = knob_info(i)); i++)
		cJSON_AddItemToArray(list, knob_json(k));
	return obj;
}

/* ---- the command ---- */

static int take(struct cli_args *args, struct kernels_args *a, int id, const char *value,
		struct fl_error *err)
{
	switch (id) {
	case OPT_KNOBS:
		a->knobs = true;
		return 0;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	default:
		return cli_unexpected(args, value, err);
	}
}

static int cmd_kernels_main(struct cli_args *args)
{
	static const struct cli_result result = {show_text, show_json};
	struct kernels_args a = {.format = FORMAT_TEXT};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (id == CLI_HELP)
			return cli_help(args);
		if (take(args, &a, id, value, &err))
			return cli_fail(&err);
	}
	if (!ret)
		ret = cli_show(&result, &a, a.format, NULL, &err);
	return ret ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_kernels = {
	.name = "kernels",
	.synopsis = "[--knobs] [--format text|json]",
	.summary = "List the kernels that can be played and the commits they differ by.",
	.options = kernels_options,
	.details = "A kernel is a profile with knobs toggled: v6.7+ab4443fe3ca6, v6.12-ORDER1.\n"
		   "\n"
		   "JSON keys:\n"
		   "  profiles   [{name, what, base, knobs: [names of the ones that are on]}]\n"
		   "  knobs      with --knobs: [{name, commit (\"\" if unknown), since, what}]\n",
	.run = cmd_kernels_main,
};
