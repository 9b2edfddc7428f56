#include "view/web/page.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/encode.h"
#include "view/timeline.h"
#include "view/tui/canvas.h"
#include "view/web/stream.h"

/* The viewer, as it lies in assets/html/ when this is compiled. */
#define EMBED(name, file)                                                                          \
	__asm__(".section .rodata\n" #name ": .incbin \"" file "\"\n.byte 0\n.previous\n");        \
	extern const char name[]

EMBED(web_style, "assets/html/viewer.css");
EMBED(web_body, "assets/html/viewer.html");
EMBED(web_script, "assets/html/viewer.js");

/* ---- what goes before the events, as JSON ---- */

static bool add_colours(cJSON *head)
{
	static const struct {
		const char *name;
		enum canvas_role role;
		bool ink;
	} others[] = {{"mark", ROLE_MARK, true},
		      {"dirty", ROLE_DIRTY, true},
		      {"poison", ROLE_POISON, false},
		      {"reader", ROLE_READER, false},
		      {"window", ROLE_BAR, true}};
	cJSON *colours = cJSON_AddObjectToObject(head, "colours");
	cJSON *orders = cJSON_AddArrayToObject(colours, "orders");
	cJSON *ink = cJSON_AddArrayToObject(colours, "ink");
	char text[8];

	for (unsigned int o = 0; o < 10; o++) {
		struct colour c = theme_colour(0, role_order(o, true));

		snprintf(text, sizeof(text), "#%06x", c.bg);
		cJSON_AddItemToArray(orders, cJSON_CreateString(text));
		snprintf(text, sizeof(text), "#%06x", c.fg);
		cJSON_AddItemToArray(ink, cJSON_CreateString(text));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct colour c = theme_colour(0, others[i].role);

		snprintf(text, sizeof(text), "#%06x", others[i].ink ? c.fg : c.bg);
		cJSON_AddStringToObject(colours, others[i].name, text);
	}
	return colours && orders && ink;
}

static bool add_tables(cJSON *head, const struct web_stream *w)
{
	cJSON *templates = cJSON_AddArrayToObject(head, "templates");
	cJSON *values = cJSON_AddArrayToObject(head, "values");
	cJSON *files = cJSON_AddArrayToObject(head, "files");

	for (size_t i = 0; i < w->nr_templates; i++)
		cJSON_AddItemToArray(templates, cJSON_CreateString(w->templates[i].text));
	for (size_t i = 0; i < w->nr_values; i++)
		cJSON_AddItemToArray(values, cJSON_CreateNumber(w->values[i]));
	for (unsigned int i = 0; i < w->scene->nr_files; i++) {
		cJSON *file = cJSON_CreateObject();

		cJSON_AddNumberToObject(file, "ino", w->scene->files[i].ino);
		cJSON_AddNumberToObject(file, "end", w->scene->files[i].end);
		cJSON_AddItemToArray(files, file);
	}
	return templates && values && files;
}

/* When each window had its last byte, in the order of their events. */
static int add_window_ends(cJSON *head, const struct scene *s)
{
	cJSON *ends = cJSON_AddArrayToObject(head, "ends");
	struct timeline line;
	int ret;

	timeline_init(&line, s->tape, s->info->page_size);
	line.real = s->info->source[0];
	ret = ends ? timeline_update(&line) : -ENOMEM;
	for (size_t i = 0; i < line.nr_windows && !ret; i++)
		cJSON_AddItemToArray(ends, cJSON_CreateNumber(line.windows[i].end_ns));
	timeline_fini(&line);
	return ret;
}

static char *make_head(const struct web_stream *w, const struct web_page *page)
{
	const struct recording_info *info = w->scene->info;
	cJSON *head = cJSON_CreateObject(), *lab = page->lab ? cJSON_Parse(page->lab) : NULL;
	char *text = NULL;

	cJSON_AddStringToObject(head, "kernel", info->kernel);
	cJSON_AddStringToObject(head, "fs", info->fs);
	cJSON_AddStringToObject(head, "workload", info->workload ? info->workload : "");
	cJSON_AddNumberToObject(head, "pages", DIV_ROUND_UP(info->size, info->page_size));
	cJSON_AddNumberToObject(head, "ra_pages", info->ra_pages);
	cJSON_AddNumberToObject(head, "seed", info->seed);
	cJSON_AddNumberToObject(head, "events", w->scene->pos);
	cJSON_AddNumberToObject(head, "first", page->first_event);
	cJSON_AddNumberToObject(head, "at", min(page->at, w->scene->pos));
	if (lab)
		cJSON_AddItemToObject(head, "lab", lab);
	if (head && add_colours(head) && add_tables(head, w) && !add_window_ends(head, w->scene) &&
	    (lab || !page->lab))
		text = cJSON_PrintUnformatted(head);
	cJSON_Delete(head);
	return text;
}

/* ---- packing ---- */

/* "length of the JSON\n", the JSON, the stream: deflated, as text. */
static int put_data(const char *head, const struct web_bytes *stream, FILE *f)
{
	size_t head_len = strlen(head), len;
	uLongf packed_len;
	u8 *all = malloc(head_len + stream->used + 32), *packed;
	int ret = -ENOMEM;

	if (!all)
		return -ENOMEM;
	len = sprintf((char *)all, "%zu\n", head_len);
	memcpy(all + len, head, head_len);
	len += head_len;
	memcpy(all + len, stream->at, stream->used);
	len += stream->used;
	packed_len = compressBound(len);
	packed = malloc(packed_len);
	if (packed && compress2(packed, &packed_len, all, len, Z_BEST_COMPRESSION) == Z_OK)
		ret = encode_base64(f, packed, packed_len);
	free(packed);
	free(all);
	return ret;
}

static int put_page(const struct web_stream *w, const struct web_page *page, FILE *f)
{
	char *head = make_head(w, page);
	int ret;

	if (!head)
		return -ENOMEM;
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n<title>",
	      f);
	encode_entities(f, page->title);
	fprintf(f, "</title>\n<style>\n%s</style></head>\n<body>\n<h1 id=\"title\">", web_style);
	encode_entities(f, page->title);
	fprintf(f, "</h1>\n%s<script id=\"data\" type=\"text/plain\">", web_body);
	ret = put_data(head, &w->out, f);
	fprintf(f, "</script>\n<script>\n%s</script>\n</body></html>\n", web_script);
	free(head);
	return ret;
}

int web_page_write(const struct tape *tape, const struct recording_info *info,
		   const struct web_page *page, FILE *f, struct fl_error *err)
{
	struct web_stream w;
	struct scene s;
	int ret;

	if (tape->events > WEB_EVENTS_MAX)
		return fl_error_set(err, -E2BIG, NULL, 0,
				    "%" PRIu64 " events, a page holds %u; --from and --to choose",
				    tape->events, WEB_EVENTS_MAX);
	ret = scene_init(&s, tape, info);
	if (!ret) {
		ret = web_stream_init(&w, &s);
		while (!ret && web_stream_event(&w))
			;
		ret = ret ? ret : w.error;
		if (!ret)
			ret = put_page(&w, page, f);
		web_stream_fini(&w);
		scene_fini(&s);
	}
	return ret ? fl_error_set(err, ret, NULL, 0, "out of memory") : 0;
}
