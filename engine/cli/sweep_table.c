#include "cli/sweep_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play.h"
#include "lab/textfile.h"

#define ROWS_TEXT_MAX (256 << 20) /* bytes of a file of rows */

int sweep_table_init(struct sweep_table *t, const struct sweep_grid *g, struct fl_error *err)
{
	*t = (struct sweep_table){.grid = g};
	t->values = calloc((size_t)g->points * g->nr_measures, sizeof(*t->values));
	t->there = calloc(g->points, sizeof(*t->there));
	if (t->values && t->there)
		return 0;
	sweep_table_fini(t);
	return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
}

void sweep_table_fini(struct sweep_table *t)
{
	free(t->values);
	free(t->there);
	*t = (struct sweep_table){0};
}

static double *row_of(const struct sweep_table *t, unsigned int point)
{
	return t->values + (size_t)point * t->grid->nr_measures;
}

/* Take @row for @point; a row that is there must be the same. 0 or -EEXIST. */
static int take_row(struct sweep_table *t, unsigned int point, const double *row)
{
	size_t size = t->grid->nr_measures * sizeof(*row);

	if (t->there[point])
		return memcmp(row_of(t, point), row, size) ? -EEXIST : 0;
	memcpy(row_of(t, point), row, size);
	t->there[point] = true;
	t->nr++;
	return 0;
}

/* ---- playing ---- */

/* The number at @key ("pages.wasted", "folios_added.5") of a report; NAN where there is none. */
static double number_at(const cJSON *report, const char *key)
{
	const cJSON *obj = report;
	char word[64];

	while (obj) {
		size_t len = strcspn(key, ".");
		const cJSON *next;

		if (!len || len >= sizeof(word))
			return NAN;
		memcpy(word, key, len);
		word[len] = 0;
		next = cJSON_GetObjectItemCaseSensitive(obj, word);
		/* Orders that did not occur have no key. */
		if (!next && !key[len] && obj != report && !word[strspn(word, "0123456789")])
			return 0;
		obj = next;
		if (!key[len])
			break;
		key += len + 1;
	}
	if (cJSON_IsRaw(obj))
		return strtod(obj->valuestring, NULL);
	return cJSON_IsNumber(obj) ? obj->valuedouble : NAN;
}

static int measure(const struct sweep_grid *g, const struct report *r, double *row,
		   struct fl_error *err)
{
	cJSON *obj = report_json(r);
	int ret = 0;

	if (!obj)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	for (unsigned int i = 0; i < g->nr_measures && !ret; i++) {
		row[i] = number_at(obj, g->measures[i]);
		if (isnan(row[i]))
			ret = fl_error_set(err, -EINVAL, NULL, 0,
					   "measure '%.60s' is no number of this run, expected a "
					   "key of 'foliolab run --format json'",
					   g->measures[i]);
	}
	cJSON_Delete(obj);
	return ret;
}

/* A report is large: on the heap. */
static int play_into(const struct machine_options *machine, const struct workload *w,
		     const struct sweep_grid *g, double *row, struct fl_error *err)
{
	struct report *report = calloc(1, sizeof(*report));
	int ret;

	if (!report)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = play(&machine->config, w, NULL, report, err);
	if (!ret)
		ret = measure(g, report, row, err);
	free(report);
	return ret;
}

int sweep_play(struct sweep_table *t, unsigned int point, struct fl_error *err)
{
	const struct sweep_grid *g = t->grid;
	const char *ops = sweep_workload(g, point);
	double row[SWEEP_MEASURES_MAX];
	struct machine_options machine;
	struct fl_error why = {0};
	struct workload w;
	int ret = sweep_machine(g, point, &machine, &why);

	if (!ret)
		ret = workload_parse(&w, g->path, ops, strlen(ops), &why);
	if (!ret) {
		ret = play_into(&machine, &w, g, row, &why);
		workload_fini(&w);
	}
	if (ret)
		return fl_error_set(err, ret, g->path, 0, "point %u: %.80s%s%.400s", point + 1,
				    why.file, *why.file ? ": " : "", why.text);
	take_row(t, point, row);
	return 0;
}

/* ---- rows ---- */

/* The digits that read back as @v, few where few do. */
static void print_number(FILE *f, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	fputs(text, f);
}

void sweep_print_row(FILE *f, const struct sweep_table *t, unsigned int point)
{
	const struct sweep_grid *g = t->grid;

	fprintf(f, "{\"grid\": \"%016" PRIx64 "\", \"point\": %u, \"measures\": {", g->id,
		point + 1);
	for (unsigned int i = 0; i < g->nr_measures; i++) {
		fprintf(f, "%s\"%s\": ", i ? ", " : "", g->measures[i]);
		print_number(f, row_of(t, point)[i]);
	}
	fprintf(f, "}}\n");
}

/* ---- merging ---- */

static int row_values(const struct sweep_grid *g, const cJSON *obj, double *row)
{
	const cJSON *measures = cJSON_GetObjectItemCaseSensitive(obj, "measures");

	for (unsigned int i = 0; i < g->nr_measures; i++) {
		const cJSON *v = cJSON_GetObjectItemCaseSensitive(measures, g->measures[i]);

		if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble))
			return -EINVAL;
		row[i] = v->valuedouble;
	}
	return 0;
}

static int merge_row(struct sweep_table *t, const cJSON *obj, const char *path, unsigned int line,
		     struct fl_error *err)
{
	const struct sweep_grid *g = t->grid;
	const cJSON *grid = cJSON_GetObjectItemCaseSensitive(obj, "grid");
	const cJSON *point = cJSON_GetObjectItemCaseSensitive(obj, "point");
	double row[SWEEP_MEASURES_MAX];
	char id[24];

	snprintf(id, sizeof(id), "%016" PRIx64, g->id);
	if (!cJSON_IsString(grid) || !cJSON_IsNumber(point))
		return fl_error_set(err, -EINVAL, path, line,
				    "no row of a sweep, expected a line that 'foliolab sweep GRID "
				    "--point N' printed");
	if (strcmp(grid->valuestring, id))
		return fl_error_set(err, -EINVAL, path, line,
				    "a row of another grid, expected one of %.200s", g->path);
	if (!(point->valuedouble >= 1 && point->valuedouble <= g->points) ||
	    point->valuedouble != floor(point->valuedouble) || row_values(g, obj, row))
		return fl_error_set(err, -EINVAL, path, line,
				    "a damaged row, expected a point from 1 to %u and all measures",
				    g->points);
	if (take_row(t, (unsigned int)point->valuedouble - 1, row))
		return fl_error_set(err, -EINVAL, path, line,
				    "point %.0f was measured otherwise before, expected the same",
				    point->valuedouble);
	return 0;
}

int sweep_merge(struct sweep_table *t, const char *path, struct fl_error *err)
{
	char *text, *line, *next;
	size_t len;
	int ret = textfile_read(path, ROWS_TEXT_MAX, &text, &len, err);

	if (ret)
		return ret;
	line = text;
	for (unsigned int nr = 1; line && !ret; nr++, line = next) {
		cJSON *obj;

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (!line[strspn(line, " \t\r")])
			continue;
		obj = cJSON_ParseWithOpts(line, NULL, true);
		ret = merge_row(t, obj, path, nr, err);
		cJSON_Delete(obj);
	}
	free(text);
	return ret;
}

/* ---- showing ---- */

/* Lists of ext4's options have commas. */
static void csv_word(FILE *f, const char *word)
{
	if (!strpbrk(word, ",\"")) {
		fputs(word, f);
		return;
	}
	fputc('"', f);
	for (; *word; word++) {
		if (*word == '"')
			fputc('"', f);
		fputc(*word, f);
	}
	fputc('"', f);
}

void sweep_csv(struct out *o, const void *table)
{
	const struct sweep_table *t = table;
	const struct sweep_grid *g = t->grid;

	fprintf(o->f, "point");
	for (unsigned int i = 0; i < g->nr_axes; i++)
		fprintf(o->f, ",%s", g->axes[i].name);
	for (unsigned int i = 0; i < g->nr_measures; i++)
		fprintf(o->f, ",%s", g->measures[i]);
	fputc('\n', o->f);
	for (unsigned int p = 0; p < g->points; p++) {
		if (!t->there[p])
			continue;
		fprintf(o->f, "%u", p + 1);
		for (unsigned int i = 0; i < g->nr_axes; i++) {
			fputc(',', o->f);
			csv_word(o->f, g->axes[i].values[sweep_value(g, p, i)]);
		}
		for (unsigned int i = 0; i < g->nr_measures; i++) {
			fputc(',', o->f);
			print_number(o->f, row_of(t, p)[i]);
		}
		fputc('\n', o->f);
	}
}

static cJSON *row_json(const struct sweep_table *t, unsigned int point)
{
	const struct sweep_grid *g = t->grid;
	cJSON *obj = cJSON_CreateObject(), *child;

	cJSON_AddNumberToObject(obj, "point", point + 1);
	child = cJSON_AddObjectToObject(obj, "parameters");
	for (unsigned int i = 0; i < g->nr_axes; i++)
		cJSON_AddStringToObject(child, g->axes[i].name,
					g->axes[i].values[sweep_value(g, point, i)]);
	child = cJSON_AddObjectToObject(obj, "measures");
	for (unsigned int i = 0; i < g->nr_measures; i++)
		cJSON_AddNumberToObject(child, g->measures[i], row_of(t, point)[i]);
	return obj;
}

cJSON *sweep_json(const void *table)
{
	const struct sweep_table *t = table;
	cJSON *obj = cJSON_CreateObject(), *rows;
	char id[24];

	snprintf(id, sizeof(id), "%016" PRIx64, t->grid->id);
	cJSON_AddStringToObject(obj, "grid", id);
	cJSON_AddNumberToObject(obj, "points", t->grid->points);
	rows = cJSON_AddArrayToObject(obj, "rows");
	for (unsigned int p = 0; p < t->grid->points; p++)
		if (t->there[p])
			cJSON_AddItemToArray(rows, row_json(t, p));
	return obj;
}
