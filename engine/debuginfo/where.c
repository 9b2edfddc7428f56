#include "debuginfo/where.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int same_build(const struct where *w, const char *recording, struct fl_error *err)
{
	const struct elf_file *own = &w->own.elf;

	if (own->build_id_len && w->code.build_id_len == own->build_id_len &&
	    !memcmp(w->code.build_id, own->build_id, own->build_id_len))
		return 0;
	return fl_error_set(err, -ESTALE, recording, 0,
			    "its code positions are of another build of foliolab, expected a "
			    "recording made by this one");
}

int where_open(struct where *w, const char *recording, struct fl_error *err)
{
	int ret;

	memset(w, 0, sizeof(*w));
	ret = trace_code_load(&w->code, recording, err);
	if (!ret)
		ret = dwarf_file_map_own(&w->own, err);
	if (!ret)
		ret = same_build(w, recording, err);
	if (!ret)
		ret = dwarf_file_start(&w->own, err);
	if (!ret)
		ret = code_map_init(&w->map, &w->own, err);
	if (ret)
		where_close(w);
	return ret;
}

void where_close(struct where *w)
{
	code_map_fini(&w->map);
	dwarf_file_close(&w->own);
	trace_code_fini(&w->code);
}

/* What fills an event's fields in: trace_event() and the trace_ and _trace functions of the floors.
 */
static bool is_messenger(const struct code_frame *f)
{
	return strstr(f->file, "engine/trace/") || !strncmp(f->function, "trace_", 6) ||
	       !strcmp(f->function, "folio_trace");
}

int where_frames(struct where *w, u64 nr, struct code_frame *frames, struct fl_error *err)
{
	return where_chain(&w->map, &w->code, nr, frames, err);
}

int where_chain(struct code_map *map, const struct trace_code *code, u64 nr,
		struct code_frame *frames, struct fl_error *err)
{
	unsigned int found = 0;
	const u32 *positions;
	u32 len;

	if (nr >= code->events)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "event %" PRIu64 ", expected one below %" PRIu64, nr,
				    code->events);
	positions = trace_code_chain(code, nr, &len);
	for (u32 i = 0; i < len; i++) {
		/* A return address is behind the call. */
		int got = code_lookup(map, positions[i] - 1ull, frames + found,
				      min(WHERE_FRAMES_MAX - found, (u32)CODE_FRAMES_MAX), err);

		if (got < 0)
			return got;
		found += got;
		while (found && got && is_messenger(&frames[0])) {
			memmove(frames, frames + 1, --found * sizeof(*frames));
			got--;
		}
	}
	return found;
}
