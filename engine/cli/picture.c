#include "cli/picture.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/watch.h"
#include "lib/strutil.h"
#include "view/gui/gui.h"
#include "view/image/picture.h"

#define SIDE_MIN 160
#define SIDE_MAX 8192

void picture_args_init(struct picture_args *p)
{
	*p = (struct picture_args){.at = ~0ull, .width = 1280, .height = 800, .theme = "dark"};
}

int picture_args_size(const char *value, struct picture_args *p, struct fl_error *err)
{
	int end = 0;

	if (sscanf(value, "%5dx%5d%n", &p->width, &p->height, &end) == 2 && !value[end] &&
	    min(p->width, p->height) >= SIDE_MIN && max(p->width, p->height) <= SIDE_MAX)
		return 0;
	return fl_error_set(err, -EINVAL, "--size", 0,
			    "'%.40s', expected WIDTHxHEIGHT in pixels, each %d to %d", value,
			    SIDE_MIN, SIDE_MAX);
}

int picture_args_theme(const char *value, struct picture_args *p, struct fl_error *err)
{
	const char *names[8];
	struct name_list list = {"theme", names, 0};
	char text[sizeof(err->text)];

	p->theme = value;
	while (list.nr < ARRAY_SIZE(names) && (names[list.nr] = theme_name(list.nr)))
		list.nr++;
	if (theme_by_name(value) >= 0)
		return 0;
	return fl_error_set(err, -EINVAL, "--theme", 0, "%s",
			    describe_unknown(text, sizeof(text), value, &list));
}

/* The number at *@s, which moves behind it; false if there is none. */
static bool take_number(const char **s, u64 *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(*s, &end, 10);
	if (!isdigit((unsigned char)**s) || errno)
		return false;
	*s = end;
	return true;
}

int picture_args_range(const char *value, struct picture_args *p, struct fl_error *err)
{
	const char *s = value;

	if (take_number(&s, &p->range[0]) && *s++ == '-' && take_number(&s, &p->range[1]) && !*s &&
	    p->range[0] < p->range[1])
		return 0;
	return fl_error_set(err, -EINVAL, "--range", 0,
			    "'%.40s', expected two events, FIRST-LAST with the smaller first",
			    value);
}

/* Virtual time of an event in the file's numbers. */
static u64 time_of(const struct recorded *r, u64 nr)
{
	nr = nr > r->first ? nr - r->first : 0;
	return r->tape.events ? tape_record(&r->tape, min(nr, r->tape.events - 1))->first.ns : 0;
}

static int draw_recorded(const struct recorded *r, const struct recording_args *a,
			 const struct picture_args *p, struct font *font, struct draw *draw,
			 struct fl_error *err)
{
	const struct tui_machine machine = {.tape = &r->tape, .info = &r->info};
	struct gui_picture what = {
		.at = p->at > r->first ? p->at - r->first : 0,
		.width = p->width,
		.height = p->height,
		.theme = theme_by_name(p->theme),
	};
	struct tui_options options;

	if (p->range[0] != p->range[1]) {
		what.from_ns = time_of(r, p->range[0]);
		what.to_ns = time_of(r, p->range[1]);
	}
	watch_options(&options, a);
	return gui_picture(&machine, 1, &options, &what, font, draw, err);
}

int picture_write(const struct recording_args *a, const struct picture_args *p, FILE *f,
		  struct fl_error *err)
{
	struct font *font = font_builtin();
	struct draw draw = {0};
	struct recorded r;
	int ret = font ? recorded_open(&r, a, NULL, err)
		       : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	if (!ret) {
		ret = draw_recorded(&r, a, p, font, &draw, err);
		recorded_close(&r);
	}
	if (!ret) {
		ret = p->png ? picture_png(&draw, f) : picture_svg(&draw, f);
		if (ret)
			fl_error_set(err, ret, NULL, 0, "%s", strerror(-ret));
	}
	draw_fini(&draw);
	font_close(font);
	return ret;
}
