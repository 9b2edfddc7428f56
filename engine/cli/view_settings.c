#include "cli/view_settings.h"

#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/user_files.h"
#include "lab/textfile.h"

#define SIZE_MAX_READ (1u << 16)

/* ---- settings ---- */

static const char *const panes[] = {"main", "memory", "page", "events"};
static const char *const off_on[] = {"off", "on"};
static const char *const glyphs[] = {"unicode", "ascii"};

/* The place of @value among @nr names; @none if it is none. */
static unsigned int place(const char *const *names, unsigned int nr, const char *value,
			  unsigned int none)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(names[i], value))
			return i;
	return none;
}

static void take_setting(struct tui_settings *s, const char *name, const char *value)
{
	if (!strcmp(name, "theme"))
		s->theme = max(theme_by_name(value), 0);
	else if (!strcmp(name, "speed"))
		s->speed = min(strtoul(value, NULL, 10), (unsigned long)TUI_SPEEDS - 1);
	else if (!strcmp(name, "panes"))
		s->group = place(panes, ARRAY_SIZE(panes), value, s->group);
	else if (!strcmp(name, "mouse"))
		s->mouse = place(off_on, ARRAY_SIZE(off_on), value, s->mouse);
	else if (!strcmp(name, "glyphs"))
		s->ascii = place(glyphs, ARRAY_SIZE(glyphs), value, s->ascii);
}

static void take_settings(struct tui_settings *s, char *text)
{
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = 0;
		take_setting(s, line, value);
	}
}

static void print_settings(const struct tui_settings *s, FILE *f)
{
	fprintf(f, "theme %s\nspeed %u\npanes %s\nmouse %s\nglyphs %s\n", theme_name(s->theme),
		s->speed, panes[s->group % ARRAY_SIZE(panes)], off_on[s->mouse], glyphs[s->ascii]);
}

/* ---- marked moments ---- */

static int bookmarks_path(const struct recording_info *info, char *path)
{
	char text[1024], name[40];
	u64 crc;

	snprintf(text, sizeof(text),
		 "%s %s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		 " %" PRIu64,
		 info->kernel, info->fs, info->disk, info->file, info->page_size, info->block_size,
		 info->memory, info->size, info->ra_pages, info->io_pages, info->seed);
	crc = lzma_crc64((const u8 *)text, strlen(text), 0);
	if (info->workload)
		crc = lzma_crc64((const u8 *)info->workload, strlen(info->workload), crc);
	snprintf(name, sizeof(name), "bookmarks/%016" PRIx64, crc);
	return user_path(USER_STATE, name, path);
}

static void take_bookmarks(struct tui_settings *s, char *text)
{
	char *end;

	for (char *p = text; s->nr_bookmarks < TUI_BOOKMARKS; p = end) {
		u64 nr = strtoull(p, &end, 10);

		if (end == p)
			return;
		if (!s->nr_bookmarks || nr > s->bookmarks[s->nr_bookmarks - 1])
			s->bookmarks[s->nr_bookmarks++] = nr;
	}
}

static void print_bookmarks(const struct tui_settings *s, FILE *f)
{
	for (unsigned int i = 0; i < s->nr_bookmarks; i++)
		fprintf(f, "%" PRIu64 "\n", s->bookmarks[i]);
}

/* ---- the window ---- */

static void take_window(struct tui_settings *s, char *text)
{
	struct tui_window w;

	if (sscanf(text, "%6d %6d %6d %6d", &w.x, &w.y, &w.width, &w.height) == 4 &&
	    min(w.width, w.height) > 0)
		s->window = w;
}

static void print_window(const struct tui_settings *s, FILE *f)
{
	const struct tui_window *w = &s->window;

	fprintf(f, "%d %d %d %d\n", w->x, w->y, w->width, w->height);
}

/* ---- files ---- */

static void load(struct tui_settings *s, const char *path,
		 void (*take)(struct tui_settings *s, char *text))
{
	size_t len;
	char *text;

	if (textfile_read(path, SIZE_MAX_READ, &text, &len, NULL))
		return;
	take(s, text);
	free(text);
}

static void save(const struct tui_settings *s, const char *path,
		 void (*print)(const struct tui_settings *s, FILE *f))
{
	struct out o;

	if (user_make_folders(path) || out_open(&o, path, NULL))
		return;
	print(s, o.f);
	out_commit(&o, NULL);
}

void view_settings_load(struct tui_settings *s, const struct recording_info *info)
{
	char path[USER_PATH];

	tui_settings_init(s);
	if (!user_path(USER_CONFIG, "view", path))
		load(s, path, take_settings);
	if (!user_path(USER_STATE, "window", path))
		load(s, path, take_window);
	if (info && !bookmarks_path(info, path))
		load(s, path, take_bookmarks);
}

void view_settings_save(const struct tui_settings *s, const struct recording_info *info)
{
	char path[USER_PATH];

	if (!user_path(USER_CONFIG, "view", path))
		save(s, path, print_settings);
	if (s->window.width && !user_path(USER_STATE, "window", path))
		save(s, path, print_window);
	if (!info || bookmarks_path(info, path))
		return;
	if (s->nr_bookmarks)
		save(s, path, print_bookmarks);
	else
		unlink(path);
}
