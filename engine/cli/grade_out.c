/* Text like xv6's make grade, our JSON and CSV. */
#include "cli/grade_out.h"

#include <errno.h>
#include <string.h>

#include "cli/grade_formats.h"

/* ---- text ---- */

static void print_part(FILE *f, const struct grade *g, const struct grade_result *r,
		       const struct lab_step *step)
{
	double got = 0, max = 0;

	for (unsigned int i = 0; i < g->nr_items; i++)
		if (g->items[i].step == step) {
			max += g->items[i].q->points;
			got += grade_points(g, r, i);
		}
	fprintf(f, "Part %s score: %g/%g\n", step->id, got, max);
}

static void print_item(FILE *f, const struct grade *g, const struct grade_result *r, unsigned int i)
{
	const struct grade_verdict *v = &r->verdicts[i];
	const char *id = g->items[i].q->id;

	fprintf(f, "== Test %s ==\n%s: %s\n", id, id, v->right ? "OK" : "FAIL");
	if (!v->right)
		fprintf(f, "    %s\n", v->why);
}

static void print_result(FILE *f, const struct grade *g, const struct grade_result *r)
{
	fprintf(f, "Submission %s: student %s, seed %08x\n", r->path, r->student, r->seed);
	if (r->broken)
		fprintf(f, "    nothing could be graded: %s\n", r->why);
	for (unsigned int i = 0; i < g->nr_items; i++) {
		if (!r->broken)
			print_item(f, g, r, i);
		if (i + 1 == g->nr_items || g->items[i + 1].step != g->items[i].step)
			print_part(f, g, r, g->items[i].step);
	}
	fprintf(f, "Score: %g/%g\n", r->score, g->max);
}

static void write_text(FILE *f, const struct grade *g)
{
	unsigned int full = 0;

	for (unsigned int i = 0; i < g->nr; i++) {
		if (i)
			fputc('\n', f);
		print_result(f, g, &g->results[i]);
		full += grade_is_full(g, &g->results[i]);
	}
	if (g->nr > 1)
		fprintf(f, "\n%u submissions, %u with full marks\n", g->nr, full);
}

/* ---- JSON ---- */

static cJSON *question_json(const struct grade *g, const struct grade_result *r, unsigned int i)
{
	const struct grade_verdict *v = &r->verdicts[i];
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "id", g->items[i].q->id);
	cJSON_AddStringToObject(obj, "step", g->items[i].step->id);
	cJSON_AddStringToObject(obj, "kind", lab_kind_name(g->items[i].q->kind));
	cJSON_AddNumberToObject(obj, "points", grade_points(g, r, i));
	cJSON_AddNumberToObject(obj, "max", g->items[i].q->points);
	cJSON_AddBoolToObject(obj, "right", v->right);
	cJSON_AddStringToObject(obj, "why", v->right ? "" : v->why);
	cJSON_AddStringToObject(obj, "limit", lab_limit_name(v->limit));
	return obj;
}

static cJSON *result_json(const struct grade *g, const struct grade_result *r)
{
	cJSON *obj = cJSON_CreateObject(), *list;
	char seed[16];

	snprintf(seed, sizeof(seed), "%08x", r->seed);
	cJSON_AddStringToObject(obj, "path", r->path);
	cJSON_AddStringToObject(obj, "student", r->student);
	cJSON_AddStringToObject(obj, "seed", seed);
	cJSON_AddNumberToObject(obj, "score", r->score);
	cJSON_AddNumberToObject(obj, "max", g->max);
	cJSON_AddStringToObject(obj, "error", r->why);
	list = cJSON_AddArrayToObject(obj, "questions");
	for (unsigned int i = 0; i < g->nr_items; i++)
		cJSON_AddItemToArray(list, question_json(g, r, i));
	return obj;
}

static cJSON *grades_json(const struct grade *g)
{
	cJSON *obj = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(obj, "lab", g->lab->name);
	cJSON_AddStringToObject(obj, "title", g->lab->title);
	list = cJSON_AddArrayToObject(obj, "submissions");
	for (unsigned int i = 0; i < g->nr; i++)
		cJSON_AddItemToArray(list, result_json(g, &g->results[i]));
	return obj;
}

/* ---- CSV ---- */

/* A field; a spreadsheet must not take a stranger's text for a formula. */
static void csv_text(FILE *f, const char *s)
{
	fputc('"', f);
	if (*s && strchr("=+-@", *s))
		fputc('\'', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

static void write_csv(FILE *f, const struct grade *g)
{
	fprintf(f, "submission,student,score,max");
	for (unsigned int i = 0; i < g->nr_items; i++)
		fprintf(f, ",%s", g->items[i].q->id);
	fprintf(f, ",error\n");
	for (unsigned int n = 0; n < g->nr; n++) {
		const struct grade_result *r = &g->results[n];

		csv_text(f, r->path);
		fputc(',', f);
		csv_text(f, r->student);
		fprintf(f, ",%g,%g", r->score, g->max);
		for (unsigned int i = 0; i < g->nr_items; i++)
			fprintf(f, ",%g", grade_points(g, r, i));
		fputc(',', f);
		csv_text(f, r->why);
		fputc('\n', f);
	}
}

/* ---- all ---- */

static int write_json(struct out *o, cJSON *obj)
{
	int ret = obj ? out_json(o, obj) : -ENOMEM;

	cJSON_Delete(obj);
	return ret;
}

int grade_write(struct out *o, const struct grade *g, enum grade_format format)
{
	switch (format) {
	case GRADE_JSON:
		return write_json(o, grades_json(g));
	case GRADE_CSV:
		write_csv(o->f, g);
		return 0;
	case GRADE_JUNIT:
		grade_write_junit(o->f, g);
		return 0;
	case GRADE_GRADESCOPE:
		return write_json(o, grade_gradescope(g, &g->results[0]));
	case GRADE_PRAIRIELEARN:
		return write_json(o, grade_prairielearn(g, &g->results[0]));
	default:
		write_text(o->f, g);
		return 0;
	}
}
