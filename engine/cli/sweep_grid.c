#include "cli/sweep_grid.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/textfile.h"
#include "lab/workload.h"
#include "lib/strutil.h"

#define WORD_SHOWN 40 /* bytes of a wrong word repeated in a message */
#define BLANKS	   " \t\r"

static const struct cli_option machine_rows[] = {MACHINE_OPTION_ROWS_AND_END};

/* What is measured where the grid does not say. */
static const char *const default_measures[] = {"virtual_ns", "pages.read", "pages.wasted", "ios"};

/* The grid's line @line is wrong. */
#define bad_line(err, code, g, line, ...) fl_error_set(err, code, (g)->path, line, __VA_ARGS__)

/* ---- values ---- */

/* FNV-1a: tells grids apart, hides nothing. */
static u64 text_id(const char *text, size_t len)
{
	u64 h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return h;
}

static int add_value(struct sweep_grid *g, struct sweep_axis *axis, const char *value,
		     struct fl_error *err)
{
	for (unsigned int i = 0; i < axis->nr; i++)
		if (!strcmp(axis->values[i], value))
			return bad_line(err, -EINVAL, g, axis->line,
					"'%.*s' is there twice, expected each value once",
					shown_len(value, WORD_SHOWN), value);
	if (axis->nr == SWEEP_VALUES_MAX)
		return bad_line(err, -E2BIG, g, axis->line,
				"too many values of %s, expected up to %d", axis->name,
				SWEEP_VALUES_MAX);
	axis->values[axis->nr++] = value;
	return 0;
}

/* Would the command line take it? */
static int check_value(const struct sweep_grid *g, const struct sweep_axis *axis, const char *value,
		       struct fl_error *err)
{
	struct machine_options scratch;
	struct fl_error why = {0};

	if (axis->flag) {
		if (!strcmp(value, "on") || !strcmp(value, "off"))
			return 0;
		return bad_line(err, -EINVAL, g, axis->line, "%s: '%.*s', expected on or off",
				axis->name, shown_len(value, WORD_SHOWN), value);
	}
	machine_options_init(&scratch);
	if (!machine_option_set(&scratch, axis->option, value, &why))
		return 0;
	return bad_line(err, why.code, g, axis->line, "%s: %.400s", axis->name, why.text);
}

/* "A..B": every whole number from A to B, made anew. 1 if @word is none. */
static int add_range(struct sweep_grid *g, struct sweep_axis *axis, const char *word,
		     struct fl_error *err)
{
	unsigned int low, high;
	int end = 0, ret = 0;
	char **bigger;

	if (!isdigit((unsigned char)*word) || sscanf(word, "%9u..%9u%n", &low, &high, &end) != 2 ||
	    word[end])
		return 1;
	if (high < low || high - low >= SWEEP_VALUES_MAX)
		return bad_line(err, -EINVAL, g, axis->line,
				"'%.*s', expected up to %d rising numbers",
				shown_len(word, WORD_SHOWN), word, SWEEP_VALUES_MAX);
	bigger = realloc(g->made, (g->nr_made + high - low + 1) * sizeof(*bigger));
	if (!bigger)
		return bad_line(err, -ENOMEM, g, axis->line, "out of memory");
	g->made = bigger;
	for (unsigned int v = low; v <= high && !ret; v++) {
		char *text = malloc(16);

		if (!text)
			return bad_line(err, -ENOMEM, g, axis->line, "out of memory");
		snprintf(text, 16, "%u", v);
		g->made[g->nr_made++] = text;
		ret = check_value(g, axis, text, err);
		if (!ret)
			ret = add_value(g, axis, text, err);
	}
	return ret;
}

static int take_values(struct sweep_grid *g, struct sweep_axis *axis, char *words,
		       struct fl_error *err)
{
	char *save, *word = strtok_r(words, BLANKS, &save);
	int ret = 0;

	for (; word && !ret; word = strtok_r(NULL, BLANKS, &save)) {
		ret = add_range(g, axis, word, err);
		if (ret <= 0)
			continue;
		ret = check_value(g, axis, word, err);
		if (!ret)
			ret = add_value(g, axis, word, err);
	}
	if (!ret && !axis->nr)
		return bad_line(err, -EINVAL, g, axis->line,
				"%s has no value, expected one or more", axis->name);
	return ret;
}

/* ---- lines ---- */

static const struct cli_option *find_option(const char *name)
{
	const struct cli_option *o = machine_rows;

	while (o->name && strcmp(o->name, name))
		o++;
	return o->name ? o : NULL;
}

static int unknown_word(const struct sweep_grid *g, unsigned int line, const char *word,
			struct fl_error *err)
{
	const char *names[ARRAY_SIZE(machine_rows) + 1] = {"workload", "measure"};
	struct name_list list = {"word", names, 2};
	char text[sizeof(err->text)];

	for (const struct cli_option *o = machine_rows; o->name; o++)
		names[list.nr++] = o->name;
	return bad_line(err, -EINVAL, g, line, "%s",
			describe_unknown(text, sizeof(text), word, &list));
}

static int new_axis(struct sweep_grid *g, const char *name, unsigned int line,
		    struct sweep_axis **ret, struct fl_error *err)
{
	struct sweep_axis *axis;

	for (unsigned int i = 0; i < g->nr_axes; i++)
		if (!strcmp(g->axes[i].name, name))
			return bad_line(err, -EINVAL, g, line,
					"%s has its line already (%u), expected all values there",
					name, g->axes[i].line);
	if (g->nr_axes == SWEEP_AXES_MAX)
		return bad_line(err, -E2BIG, g, line,
				"too many lines of options, expected up to %d", SWEEP_AXES_MAX - 1);
	axis = &g->axes[g->nr_axes];
	*axis = (struct sweep_axis){.name = name, .option = -1, .line = line};
	axis->values = calloc(SWEEP_VALUES_MAX, sizeof(*axis->values));
	if (!axis->values)
		return bad_line(err, -ENOMEM, g, line, "out of memory");
	g->nr_axes++;
	*ret = axis;
	return 0;
}

static int take_option(struct sweep_grid *g, const char *name, char *words, unsigned int line,
		       struct fl_error *err)
{
	const struct cli_option *o = find_option(name);
	struct sweep_axis *axis;
	int ret;

	if (!o)
		return unknown_word(g, line, name, err);
	ret = new_axis(g, name, line, &axis, err);
	if (ret)
		return ret;
	axis->option = o->id;
	axis->flag = !o->arg;
	return take_values(g, axis, words, err);
}

/* "NAME OPERATIONS" */
static int take_workload(struct sweep_grid *g, char *words, unsigned int line, struct fl_error *err)
{
	char *save, *name = strtok_r(words, BLANKS, &save), *ops = strtok_r(NULL, "", &save);
	struct sweep_axis *axis = &g->axes[0];
	struct workload w;
	int ret;

	if (!name || !ops)
		return bad_line(err, -EINVAL, g, line,
				"no operations, expected workload NAME OPERATIONS");
	axis->line = line;
	ret = add_value(g, axis, name, err);
	if (ret)
		return ret;
	g->workloads[axis->nr - 1] = ops;
	ret = workload_parse(&w, g->path, ops, strlen(ops), err);
	if (ret) {
		if (err)
			err->line = line;
		return ret;
	}
	workload_fini(&w);
	return 0;
}

static int take_measures(struct sweep_grid *g, char *words, unsigned int line, struct fl_error *err)
{
	char *save, *word = strtok_r(words, BLANKS, &save);

	for (; word; word = strtok_r(NULL, BLANKS, &save)) {
		if (g->nr_measures == SWEEP_MEASURES_MAX)
			return bad_line(err, -E2BIG, g, line,
					"too many measures, expected up to %d", SWEEP_MEASURES_MAX);
		if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_.")])
			return bad_line(err, -EINVAL, g, line,
					"measure '%.*s', expected a key of 'foliolab run --format "
					"json' such as pages.wasted",
					shown_len(word, WORD_SHOWN), word);
		g->measures[g->nr_measures++] = word;
	}
	return 0;
}

/* @text is one line, without its end. */
static int take_line(struct sweep_grid *g, char *text, unsigned int line, struct fl_error *err)
{
	char *save, *word, *rest;

	text[strcspn(text, "#")] = 0;
	word = strtok_r(text, BLANKS, &save);
	if (!word)
		return 0;
	rest = save ? save : word + strlen(word);
	if (!strcmp(word, "workload"))
		return take_workload(g, rest, line, err);
	if (!strcmp(word, "measure"))
		return take_measures(g, rest, line, err);
	return take_option(g, word, rest, line, err);
}

/* ---- all of it ---- */

static int finish(struct sweep_grid *g, struct fl_error *err)
{
	u64 points = 1;

	if (!g->axes[0].nr)
		return bad_line(err, -EINVAL, g, 0,
				"no workload, expected a line workload NAME OPERATIONS");
	for (unsigned int i = 0; i < g->nr_axes && points <= SWEEP_POINTS_MAX; i++)
		points *= g->axes[i].nr;
	if (points > SWEEP_POINTS_MAX)
		return bad_line(err, -E2BIG, g, 0, "more than %d combinations, expected fewer",
				SWEEP_POINTS_MAX);
	g->points = points;
	if (g->nr_measures)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(default_measures); i++)
		g->measures[g->nr_measures++] = default_measures[i];
	return 0;
}

static int parse(struct sweep_grid *g, struct fl_error *err)
{
	char *line = g->text, *next;
	struct sweep_axis *workloads;
	int ret = new_axis(g, "workload", 0, &workloads, err);

	for (unsigned int nr = 1; line && !ret; nr++, line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		ret = take_line(g, line, nr, err);
	}
	return ret ? ret : finish(g, err);
}

int sweep_grid_load(struct sweep_grid *g, const char *path, struct fl_error *err)
{
	size_t len;
	int ret;

	memset(g, 0, sizeof(*g));
	g->path = path;
	ret = textfile_read(path, SWEEP_TEXT_MAX, &g->text, &len, err);
	if (ret)
		return ret;
	g->id = text_id(g->text, len);
	ret = strlen(g->text) == len ? parse(g, err)
				     : bad_line(err, -EINVAL, g, 0, "a NUL byte, expected text");
	if (ret)
		sweep_grid_fini(g);
	return ret;
}

void sweep_grid_fini(struct sweep_grid *g)
{
	for (unsigned int i = 0; i < g->nr_axes; i++)
		free(g->axes[i].values);
	for (size_t i = 0; i < g->nr_made; i++)
		free(g->made[i]);
	free(g->made);
	free(g->text);
	memset(g, 0, sizeof(*g));
}

unsigned int sweep_value(const struct sweep_grid *g, unsigned int point, unsigned int axis)
{
	for (unsigned int i = g->nr_axes - 1; i > axis; i--)
		point /= g->axes[i].nr;
	return point % g->axes[axis].nr;
}

int sweep_machine(const struct sweep_grid *g, unsigned int point, struct machine_options *ret,
		  struct fl_error *err)
{
	machine_options_init(ret);
	for (unsigned int i = 1; i < g->nr_axes; i++) {
		const struct sweep_axis *axis = &g->axes[i];
		const char *value = axis->values[sweep_value(g, point, i)];
		int error;

		if (axis->flag && !strcmp(value, "off"))
			continue;
		error = machine_option_set(ret, axis->option, value, err);
		if (error)
			return error;
	}
	return machine_options_check(ret, err);
}
