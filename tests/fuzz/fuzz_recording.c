#include <stdlib.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "trace/code.h"
#include "trace/export.h"
#include "trace/recording.h"
#include "view/narrate.h"
#include "view/scene.h"
#include "view/timeline.h"

#define EVENTS_MAX 4000

/* There and back again: the scene must stand where it is told to. */
static void draw(const struct tape *tape, const struct recording_info *info)
{
	struct scene *s = malloc(sizeof(*s));
	struct trace_event ev;
	char text[400];
	u64 at = 0;

	fuzz_require(s);
	if (scene_init(s, tape, info)) {
		free(s);
		return;
	}
	for (; at < EVENTS_MAX && scene_forward(s); at++)
		if (scene_event(s, &ev)) {
			narrate_event(s, &ev, text, sizeof(text));
			narrate_rule(s, &ev, text, sizeof(text));
		}
	while (at && scene_back(s))
		at--;
	scene_goto(s, tape->events);
	scene_goto(s, tape->events / 2);
	scene_fini(s);
	free(s);
}

static void measure(const struct tape *tape, const struct recording_info *info)
{
	struct timeline t;

	timeline_init(&t, tape, info->page_size);
	timeline_update(&t);
	timeline_event_at(&t, timeline_ns_of(&t, tape->events / 2));
	timeline_fini(&t);
}

static void write_out(const struct tape *tape, const struct recording_info *info)
{
	bool shown[EV_NR];
	FILE *f = fuzz_nowhere();

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		shown[i] = true;
	export_ftrace(f, tape, info, shown);
	export_csv(f, tape, 0, shown);
	fclose(f);
}

static void read_code(const char *path)
{
	struct fl_error err = {0};
	struct trace_code c;
	int ret = trace_code_load(&c, path, &err);

	for (u64 i = 0; !ret && i < c.events && i < EVENTS_MAX; i++) {
		u32 len;

		trace_code_chain(&c, i, &len);
		fuzz_require(len <= TRACE_CODE_DEPTH);
	}
	fuzz_require_error(ret, &err);
	trace_code_fini(&c);
}

void fuzz_recording(const u8 *data, size_t size)
{
	const struct recording_range all = {.to = ~0ull};
	struct recording_result result;
	struct recording_info info;
	struct fl_error err = {0};
	struct tape tape;
	char path[40];
	int fd = fuzz_file(data, size, path);
	int ret = recording_load(path, &all, &info, &tape, &result, &err);

	fuzz_require_error(ret, &err);
	if (!ret) {
		draw(&tape, &info);
		measure(&tape, &info);
		write_out(&tape, &info);
		read_code(path);
		tape_fini(&tape);
		recording_info_fini(&info);
	}
	close(fd);
}
