#include "cli/grade_formats.h"

#include <string.h>

#include "lib/encode.h"

/* ---- JUnit ---- */

/* " name="value"". */
static void xml_attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	encode_entities(f, value);
	fputc('"', f);
}

static unsigned int count_failures(const struct grade *g, const struct grade_result *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < g->nr_items; i++)
		n += !r->verdicts[i].right;
	return n;
}

/* What could not be judged at all is an error, what is wrong a failure. */
static void junit_case(FILE *f, const struct grade *g, const struct grade_result *r, unsigned int i)
{
	const struct grade_verdict *v = &r->verdicts[i];
	const char *tag = r->broken ? "error" : "failure";

	fputs("\t\t<testcase", f);
	xml_attribute(f, "classname", g->items[i].step->id);
	xml_attribute(f, "name", g->items[i].q->id);
	if (v->right) {
		fputs("/>\n", f);
		return;
	}
	fprintf(f, ">\n\t\t\t<%s", tag);
	xml_attribute(f, "message", v->why);
	xml_attribute(f, "type", v->limit ? lab_limit_name(v->limit) : "wrong");
	fputs("/>\n\t\t</testcase>\n", f);
}

static void junit_suite(FILE *f, const struct grade *g, const struct grade_result *r)
{
	unsigned int wrong = count_failures(g, r);

	fputs("\t<testsuite", f);
	xml_attribute(f, "name", r->student);
	fprintf(f, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\">\n", g->nr_items,
		r->broken ? 0 : wrong, r->broken ? wrong : 0);
	for (unsigned int i = 0; i < g->nr_items; i++)
		junit_case(f, g, r, i);
	fputs("\t\t<system-out>", f);
	encode_entities(f, r->path);
	fprintf(f, ": %g/%g</system-out>\n\t</testsuite>\n", r->score, g->max);
}

void grade_write_junit(FILE *f, const struct grade *g)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", f);
	xml_attribute(f, "name", g->lab->name);
	fputs(">\n", f);
	for (unsigned int i = 0; i < g->nr; i++)
		junit_suite(f, g, &g->results[i]);
	fputs("</testsuites>\n", f);
}

/* ---- Gradescope ---- */

static void add_summary(cJSON *obj, const struct grade *g, const struct grade_result *r)
{
	char text[GRADE_WHY + 400];

	if (r->broken)
		snprintf(text, sizeof(text), "Nothing could be graded: %s", r->why);
	else
		snprintf(text, sizeof(text), "%s, student %s, seed %08x: %g of %g points",
			 g->lab->title, r->student, r->seed, r->score, g->max);
	cJSON_AddStringToObject(obj, "output", text);
}

static cJSON *gradescope_test(const struct grade *g, const struct grade_result *r, unsigned int i)
{
	const struct grade_item *item = &g->items[i];
	const struct grade_verdict *v = &r->verdicts[i];
	cJSON *obj = cJSON_CreateObject();
	char number[24];

	snprintf(number, sizeof(number), "%u.%u", item->step_nr, item->nr);
	cJSON_AddStringToObject(obj, "name", item->q->id);
	cJSON_AddStringToObject(obj, "number", number);
	cJSON_AddNumberToObject(obj, "score", grade_points(g, r, i));
	cJSON_AddNumberToObject(obj, "max_score", item->q->points);
	cJSON_AddStringToObject(obj, "status", v->right ? "passed" : "failed");
	cJSON_AddStringToObject(obj, "output", v->right ? "" : v->why);
	cJSON_AddStringToObject(obj, "output_format", "text");
	cJSON_AddStringToObject(obj, "visibility", "visible");
	return obj;
}

cJSON *grade_gradescope(const struct grade *g, const struct grade_result *r)
{
	cJSON *obj = cJSON_CreateObject(), *tests;

	cJSON_AddNumberToObject(obj, "score", r->score);
	add_summary(obj, g, r);
	cJSON_AddStringToObject(obj, "output_format", "text");
	cJSON_AddStringToObject(obj, "visibility", "visible");
	tests = cJSON_AddArrayToObject(obj, "tests");
	for (unsigned int i = 0; i < g->nr_items; i++)
		cJSON_AddItemToArray(tests, gradescope_test(g, r, i));
	return obj;
}

/* ---- PrairieLearn ---- */

static cJSON *prairielearn_test(const struct grade *g, const struct grade_result *r, unsigned int i)
{
	const struct grade_item *item = &g->items[i];
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "name", item->q->id);
	cJSON_AddStringToObject(obj, "description", item->step->title);
	cJSON_AddNumberToObject(obj, "points", grade_points(g, r, i));
	cJSON_AddNumberToObject(obj, "max_points", item->q->points);
	cJSON_AddStringToObject(obj, "message", r->verdicts[i].right ? "" : r->verdicts[i].why);
	return obj;
}

/* A file that cannot be read takes no attempt; one that breaks a limit does. */
cJSON *grade_prairielearn(const struct grade *g, const struct grade_result *r)
{
	cJSON *obj = cJSON_CreateObject(), *tests;
	bool gradable = !r->broken || r->limit;

	cJSON_AddNumberToObject(obj, "score", g->max > 0 ? r->score / g->max : 0);
	cJSON_AddBoolToObject(obj, "gradable", gradable);
	if (!gradable)
		cJSON_AddStringToObject(obj, "format_errors", r->why);
	add_summary(obj, g, r);
	tests = cJSON_AddArrayToObject(obj, "tests");
	for (unsigned int i = 0; i < g->nr_items; i++)
		cJSON_AddItemToArray(tests, prairielearn_test(g, r, i));
	return obj;
}
