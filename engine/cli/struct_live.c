#include "cli/struct_live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live_roots.h"
#include "lab/rerun.h"

struct live_show {
	const struct live_args *a;
	enum cli_format format;
	FILE *f;
	struct live live;
	cJSON *fields; /* JSON: where they are collected */
};

void live_args_init(struct live_args *a)
{
	memset(a, 0, sizeof(*a));
	a->at = ~0ull;
	recording_args_init(&a->recording);
	machine_options_init(&a->machine);
}

/* ---- what is printed ---- */

static int print_field(void *ctx, const struct live_field *field)
{
	struct live_show *s = ctx;

	fprintf(s->f, "\t%-30s %s\n", field->name, field->value);
	return 0;
}

static int collect_field(void *ctx, const struct live_field *field)
{
	struct live_show *s = ctx;
	cJSON *one = cJSON_CreateObject();
	char text[300];

	cJSON_AddItemToArray(s->fields, one);
	if (!cJSON_AddStringToObject(one, "name", field->name) ||
	    !cJSON_AddStringToObject(one, "type", type_text(field->type, text, sizeof(text))) ||
	    !cJSON_AddStringToObject(one, "value", field->value))
		return -ENOMEM;
	return 0;
}

static int show_json(struct live_show *s, const struct live_roots *roots,
		     const struct live_object *o, struct fl_error *err)
{
	cJSON *obj = cJSON_CreateObject();
	char *text = NULL, type[300];
	int ret;

	cJSON_AddStringToObject(obj, "expression", s->a->expression);
	cJSON_AddStringToObject(obj, "type", type_text(o->type, type, sizeof(type)));
	if (s->a->at != ~0ull)
		json_add_u64(obj, "event", s->a->at);
	s->fields = cJSON_AddArrayToObject(obj, "fields");
	ret = live_each_field(&s->live, roots, o, collect_field, s, err);
	if (!ret)
		text = cJSON_Print(obj);
	cJSON_Delete(obj);
	if (!ret && !text)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (text)
		fprintf(s->f, "%s\n", text);
	free(text);
	return ret;
}

static int show_text(struct live_show *s, const struct live_roots *roots,
		     const struct live_object *o, struct fl_error *err)
{
	char type[300];

	fprintf(s->f, "%s: %s", s->a->expression, type_text(o->type, type, sizeof(type)));
	if (s->a->at != ~0ull)
		fprintf(s->f, ", at event %" PRIu64 "\n", s->a->at);
	else
		fprintf(s->f, ", at the end\n");
	return live_each_field(&s->live, roots, o, print_field, s, err);
}

static int look(void *ctx, const struct run *run, struct fl_error *err)
{
	struct live_show *s = ctx;
	const struct live_roots roots = live_roots_of(run);
	struct live_object o;
	int ret = live_evaluate(&s->live, &roots, s->a->expression, &o, err);

	if (ret)
		return ret;
	return s->format == FORMAT_JSON ? show_json(s, &roots, &o, err)
					: show_text(s, &roots, &o, err);
}

/* ---- the run ---- */

static int from_recording(struct live_show *s, struct fl_error *err)
{
	struct recording_args args = s->a->recording;
	struct recorded r;
	int ret;

	if (s->a->at != ~0ull)
		args.to = s->a->at;
	ret = recorded_open(&r, &args, NULL, err);
	if (ret)
		return ret;
	ret = rerun(&r.info, &r.tape, r.first, s->a->at, look, s, err);
	if (ret && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", args.path);
	recorded_close(&r);
	return ret;
}

static int from_workload(struct live_show *s, struct fl_error *err)
{
	struct run_config config = s->a->machine.config;
	struct workload w;
	struct run *run;
	int ret = workload_arg_load(&s->a->workload, &w, err);

	if (ret)
		return ret;
	ret = run_open(&config, &run, err);
	if (!ret) {
		ret = run_workload(run, &w, err);
		if (!ret)
			ret = look(s, run, err);
		run_close(run);
	}
	workload_fini(&w);
	return ret;
}

int struct_live(const struct live_args *a, enum cli_format format, FILE *f, struct fl_error *err)
{
	struct live_show s = {.a = a, .format = format, .f = f};
	int ret = live_init(&s.live, err);

	if (ret)
		return ret;
	ret = a->recording.path ? from_recording(&s, err) : from_workload(&s, err);
	live_fini(&s.live);
	return ret;
}
