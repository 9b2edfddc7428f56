#include "cli/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live_roots.h"
#include "lab/rerun.h"

#define WATCHED_FIRST "file_ra_state"

static struct inspector *inspector_of(struct inspect *in)
{
	return container_of(in, struct inspector, in);
}

/* ---- what is needed for anything ---- */

static bool open_program(struct inspector *i)
{
	if (i->opened)
		return i->ready;
	i->opened = true;
	if (live_init(&i->live, &i->err))
		return false;
	i->ready = !code_map_init(&i->map, &i->live.own.file, &i->err);
	return i->ready;
}

static bool near_enough(struct inspector *i, u64 nr, u64 most, const char *hint)
{
	if (i->first + nr < most)
		return true;
	fl_error_set(&i->err, -EFBIG, NULL, 0,
		     "more than %llu events from the beginning, too far to play all of it again%s",
		     (unsigned long long)most, hint);
	return false;
}

/* ---- calls ---- */

static int look_at_nothing(void *ctx, const struct run *run, struct fl_error *err)
{
	(void)ctx;
	(void)run;
	(void)err;
	return 0;
}

/* All events there are once more, with the calls that lead to them. */
static int record_calls(struct inspector *i)
{
	struct code_recorder *r;
	struct trace_code code;
	int ret = code_recorder_new(&r);

	if (ret)
		return fl_error_set(&i->err, ret, NULL, 0, "out of memory");
	ret = rerun_with(i->info, i->tape, i->first, i->first + i->tape->events - 1,
			 code_recorder_sink(r), look_at_nothing, NULL, &i->err);
	if (!ret)
		ret = code_recorder_take(r, &code)
			      ? fl_error_set(&i->err, -ENOMEM, NULL, 0, "out of memory")
			      : 0;
	code_recorder_free(r);
	if (ret)
		return ret;
	trace_code_fini(&i->code);
	free(i->chain_inside);
	i->chain_inside = NULL;
	i->code = code;
	return 0;
}

static bool same_build(const struct inspector *i, const struct trace_code *code)
{
	const struct elf_file *own = &i->live.own.file.elf;

	return code->build_id_len && code->build_id_len == own->build_id_len &&
	       !memcmp(code->build_id, own->build_id, own->build_id_len);
}

static bool have_calls(struct inspector *i, u64 nr)
{
	if (i->first + nr < i->code.events)
		return true;
	if (!i->code.events && i->recording && !trace_code_load(&i->code, i->recording, NULL)) {
		if (same_build(i, &i->code) && i->first + nr < i->code.events)
			return true;
		trace_code_fini(&i->code);
	}
	return near_enough(i, i->tape->events, INSPECT_CALLS_MAX,
			   "; a recording made with --trace-code has the calls") &&
	       !record_calls(i) && i->first + nr < i->code.events;
}

static int frames(struct inspect *in, u64 nr, const struct inspect_frame **ret, const char **why)
{
	struct inspector *i = inspector_of(in);
	struct code_frame found[WHERE_FRAMES_MAX];
	int n;

	*why = i->err.text;
	*ret = i->frames;
	if (i->frames_of == nr + 1)
		return i->nr_frames;
	if (!open_program(i) || !have_calls(i, nr))
		return 0;
	n = where_chain(&i->map, &i->code, i->first + nr, found, &i->err);
	i->nr_frames = max(n, 0);
	i->frames_of = nr + 1;
	for (int f = 0; f < i->nr_frames; f++)
		i->frames[f] = (struct inspect_frame){.function = found[f].function,
						      .file = found[f].file,
						      .line = found[f].line,
						      .inlined = found[f].inlined};
	return i->nr_frames;
}

/* ---- places ---- */

static bool ends_with(const char *s, const char *end)
{
	size_t a = strlen(s), b = strlen(end);

	return b && a >= b && !strcmp(s + a - b, end) && (a == b || s[a - b - 1] == '/');
}

/* "filemap_read", or "filemap.c:620" and "mm/filemap.c:620". */
static bool frame_inside(const struct code_frame *f, const char *place)
{
	char at[300];

	snprintf(at, sizeof(at), "%s:%u", f->file, f->line);
	return !strcmp(f->function, place) || ends_with(at, place);
}

static bool inside(struct inspect *in, u64 nr, const char *place)
{
	struct inspector *i = inspector_of(in);
	struct code_frame found[WHERE_FRAMES_MAX];
	u8 *known;
	int n;

	if (!open_program(i) || !have_calls(i, nr))
		return false;
	if (!i->chain_inside || strcmp(i->place, place)) {
		free(i->chain_inside);
		i->chain_inside = calloc(i->code.nr_chains, 1);
		if (!i->chain_inside)
			return false;
		snprintf(i->place, sizeof(i->place), "%s", place);
	}
	known = &i->chain_inside[i->code.chain_of[i->first + nr]];
	if (!*known) {
		n = where_chain(&i->map, &i->code, i->first + nr, found, &i->err);
		*known = 1;
		for (int f = 0; f < n; f++)
			if (frame_inside(&found[f], place))
				*known = 2;
	}
	return *known == 2;
}

/* ---- source ---- */

static FILE *open_below(const char *folder, const char *file)
{
	char path[800];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return fopen(path, "re");
}

/* "/src/build/foliolab" lies in a folder of the tree it was made from. */
static FILE *open_beside_program(const char *file)
{
	char folder[400];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	FILE *f = NULL;

	if (n < 0)
		return NULL;
	folder[n] = 0;
	while (!f && strrchr(folder, '/')) {
		*strrchr(folder, '/') = 0;
		f = open_below(folder, file);
	}
	return f;
}

/* From here, in the folder that was compiled in, or in one that the program lies in. */
static FILE *open_source(struct inspector *i, const char *file)
{
	FILE *f = fopen(file, "re");

	if (!f && *file != '/')
		f = open_below(code_map_folder(&i->map), file);
	if (!f && *file != '/')
		f = open_beside_program(file);
	return f;
}

static bool load_source(struct inspector *i, const char *file)
{
	char line[sizeof(i->source_line)];
	FILE *f, *copy;

	if (!strcmp(i->source_path, file))
		return i->source != NULL;
	snprintf(i->source_path, sizeof(i->source_path), "%s", file);
	free(i->source);
	i->source = NULL;
	f = open_source(i, file);
	if (!f)
		return false;
	copy = open_memstream(&i->source, &i->source_size);
	while (copy && fgets(line, sizeof(line), f))
		fputs(line, copy);
	fclose(f);
	if (copy)
		fclose(copy);
	return i->source != NULL;
}

static const char *source(struct inspect *in, const struct inspect_frame *frame, u32 nr)
{
	struct inspector *i = inspector_of(in);
	const char *p;
	size_t n = 0;

	if (!nr || !load_source(i, frame->file))
		return NULL;
	for (p = i->source; --nr && p; p = p ? p + 1 : NULL)
		p = strchr(p, '\n');
	if (!p || !*p)
		return NULL;
	for (; *p && *p != '\n' && n + 8 < sizeof(i->source_line); p++) {
		if (*p == '\t')
			for (int blanks = 4; blanks--;)
				i->source_line[n++] = ' ';
		else
			i->source_line[n++] = *p;
	}
	i->source_line[n] = 0;
	return i->source_line;
}

/* ---- values ---- */

static int take_value(void *ctx, const struct live_field *f)
{
	struct inspector *i = ctx;
	struct inspect_value *v;

	if (i->nr_values == INSPECT_VALUES_MAX)
		return 0;
	v = &i->values[i->nr_values++];
	snprintf(v->name, sizeof(v->name), "%.99s", f->name);
	snprintf(v->value, sizeof(v->value), "%s", f->value);
	return 0;
}

static int look_at_values(void *ctx, const struct run *run, struct fl_error *err)
{
	struct inspector *i = ctx;
	const struct live_roots roots = live_roots_of(run);
	struct live_object o;
	int ret = live_evaluate(&i->live, &roots, i->expression, &o, err);

	return ret ? ret : live_each_field(&i->live, &roots, &o, take_value, i, err);
}

static int values(struct inspect *in, u64 nr, const struct inspect_value **ret, const char **why)
{
	struct inspector *i = inspector_of(in);

	*why = i->err.text;
	*ret = i->values;
	if (i->values_of == nr + 1)
		return i->nr_values;
	i->nr_values = 0;
	if (!open_program(i) || !near_enough(i, nr, INSPECT_EVENTS_MAX, ""))
		return 0;
	i->values_of = nr + 1;
	if (rerun(i->info, i->tape, i->first, i->first + nr, look_at_values, i, &i->err))
		i->nr_values = 0;
	return i->nr_values;
}

static void watch(struct inspect *in, const char *expression)
{
	struct inspector *i = inspector_of(in);

	snprintf(i->expression, sizeof(i->expression), "%s", expression);
	i->values_of = 0;
}

static const char *watched(struct inspect *in)
{
	return inspector_of(in)->expression;
}

void inspector_init(struct inspector *i, const struct tape *tape, const struct recording_info *info,
		    u64 first, const char *recording)
{
	memset(i, 0, sizeof(*i));
	i->in = (struct inspect){frames, source, values, inside, watch, watched};
	i->tape = tape;
	i->info = info;
	i->first = first;
	i->recording = recording;
	watch(&i->in, WATCHED_FIRST);
}

void inspector_fini(struct inspector *i)
{
	code_map_fini(&i->map);
	live_fini(&i->live);
	trace_code_fini(&i->code);
	free(i->source);
	free(i->chain_inside);
}
